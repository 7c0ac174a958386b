#include "testbenches/report/sqlite_db.h"

#include <sqlite3.h>

#include "testbenches/report/report_error.h"

namespace hcasim::report {

sqlite_statement::sqlite_statement(sqlite3* db, const std::string& sql) : m_db(db) {
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &m_statement, nullptr) != SQLITE_OK) {
        throw report_error(sqlite3_errmsg(db));
    }
}

sqlite_statement::~sqlite_statement() { sqlite3_finalize(m_statement); }

bool sqlite_statement::step() {
    const int result = sqlite3_step(m_statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        throw report_error(sqlite3_errmsg(m_db));
    }
    return result == SQLITE_ROW;
}

bool sqlite_statement::is_null(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL;
}
bool sqlite_statement::is_integer(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_INTEGER;
}
bool sqlite_statement::is_real(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_FLOAT;
}
std::int64_t sqlite_statement::integer(int column) const { return sqlite3_column_int64(m_statement, column); }
double sqlite_statement::real(int column) const { return sqlite3_column_double(m_statement, column); }

std::string sqlite_statement::text(int column) const {
    const auto* begin = static_cast<const char*>(sqlite3_column_blob(m_statement, column));
    const int size = sqlite3_column_bytes(m_statement, column);
    return begin == nullptr ? std::string() : std::string(begin, static_cast<std::size_t>(size));
}

sqlite_db::sqlite_db(const std::string& path) {
    // Writing is allowed where the user may: the log of a sweep that runs or was killed is then read too.
    if (sqlite3_open_v2(path.c_str(), &m_db, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) {
        const std::string why = m_db == nullptr ? "no memory" : sqlite3_errmsg(m_db);
        sqlite3_close(m_db);
        throw report_error(why);
    }
    sqlite3_busy_timeout(m_db, 5000);
}

sqlite_db::~sqlite_db() { sqlite3_close(m_db); }

}  // namespace hcasim::report
