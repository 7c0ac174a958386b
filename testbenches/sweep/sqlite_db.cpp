#include "testbenches/sweep/sqlite_db.h"

#include <sqlite3.h>

#include <utility>

namespace hcasim {

void sqlite_statement::finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

sqlite_statement::sqlite_statement(sqlite3_stmt* statement, std::string path)
    : m_statement(statement), m_path(std::move(path)) {}

void sqlite_statement::check(int code) const {
    if (code != SQLITE_OK) {
        throw sqlite_error(m_path + ": " + sqlite3_errmsg(sqlite3_db_handle(m_statement.get())));
    }
}

void sqlite_statement::bind(int parameter, std::int64_t value) {
    check(sqlite3_bind_int64(m_statement.get(), parameter, value));
}

void sqlite_statement::bind(int parameter, double value) {
    check(sqlite3_bind_double(m_statement.get(), parameter, value));
}

void sqlite_statement::bind(int parameter, const std::string& value) {
    check(sqlite3_bind_text(m_statement.get(), parameter, value.data(), static_cast<int>(value.size()),
                            SQLITE_STATIC));
}

void sqlite_statement::bind_null(int parameter) { check(sqlite3_bind_null(m_statement.get(), parameter)); }

bool sqlite_statement::step() {
    const int code = sqlite3_step(m_statement.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        const sqlite_error error(m_path + ": " + sqlite3_errmsg(sqlite3_db_handle(m_statement.get())));
        sqlite3_reset(m_statement.get());
        throw error;
    }
    return code == SQLITE_ROW;
}

void sqlite_statement::reset() { sqlite3_reset(m_statement.get()); }

void sqlite_statement::run() {
    step();
    reset();
}

int sqlite_statement::columns() const { return sqlite3_column_count(m_statement.get()); }

std::string sqlite_statement::column_name(int column) const {
    const char* name = sqlite3_column_name(m_statement.get(), column);
    return name == nullptr ? "" : name;
}

bool sqlite_statement::is_null(int column) const {
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL;
}

bool sqlite_statement::is_text(int column) const {
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_TEXT;
}

bool sqlite_statement::is_integer(int column) const {
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_INTEGER;
}

bool sqlite_statement::is_real(int column) const {
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_FLOAT;
}

std::int64_t sqlite_statement::integer(int column) const {
    return sqlite3_column_int64(m_statement.get(), column);
}

double sqlite_statement::real(int column) const { return sqlite3_column_double(m_statement.get(), column); }

std::string sqlite_statement::text(int column) const {
    const unsigned char* text = sqlite3_column_text(m_statement.get(), column);
    return text == nullptr
               ? std::string{}
               : std::string(reinterpret_cast<const char*>(text),
                             static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column)));
}

void sqlite_db::close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

sqlite_db::sqlite_db(const std::string& path, mode how) : m_path(path) {
    sqlite3* db = nullptr;
    // One thread uses it.
    const int flags = SQLITE_OPEN_NOMUTEX |
                      (how == mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
    m_db.reset(db);
    if (code != SQLITE_OK) {
        throw sqlite_error(path + ": " + (db == nullptr ? "out of memory" : sqlite3_errmsg(db)));
    }
    sqlite3_busy_timeout(db, 5000);
}

void sqlite_db::execute(const std::string& sql) {
    if (sqlite3_exec(m_db.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw sqlite_error(m_path + ": " + sqlite3_errmsg(m_db.get()));
    }
}

sqlite_statement sqlite_db::prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(m_db.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) !=
        SQLITE_OK) {
        throw sqlite_error(m_path + ": " + sqlite3_errmsg(m_db.get()));
    }
    return {statement, m_path};
}

std::string sqlite_db::value(const std::string& sql) {
    sqlite_statement s = prepare(sql);
    return s.step() ? s.text(0) : std::string{};
}

}  // namespace hcasim
