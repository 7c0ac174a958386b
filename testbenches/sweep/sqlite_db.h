#ifndef HCASIM_TESTBENCHES_SWEEP_SQLITE_DB_H
#define HCASIM_TESTBENCHES_SWEEP_SQLITE_DB_H

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace hcasim {

/// What SQLite says when something does not work: "FILE: what was tried: database or disk is full".
class sqlite_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A prepared statement. Parameters count from 1, columns from 0, as in SQLite.
class sqlite_statement {
public:
    void bind(int parameter, std::int64_t value);
    void bind(int parameter, std::uint64_t value) { bind(parameter, static_cast<std::int64_t>(value)); }
    void bind(int parameter, int value) { bind(parameter, static_cast<std::int64_t>(value)); }
    void bind(int parameter, double value);
    /// The text must live until the statement has been reset or bound anew.
    void bind(int parameter, const std::string& value);
    void bind_null(int parameter);

    /// True when there is a row. Throws sqlite_error.
    bool step();
    void reset();
    /// step() and reset(), for what gives no rows.
    void run();

    int columns() const;
    std::string column_name(int column) const;
    bool is_null(int column) const;
    bool is_text(int column) const;
    bool is_integer(int column) const;
    bool is_real(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;

private:
    friend class sqlite_db;
    sqlite_statement(sqlite3_stmt* statement, std::string path);
    void check(int code) const;

    struct finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    std::unique_ptr<sqlite3_stmt, finalize> m_statement;
    std::string m_path;
};

/// A database file. All of it throws sqlite_error.
class sqlite_db {
public:
    enum class mode : std::uint8_t { read, create };

    /// `read`: the file must be there and is not changed. `create`: it is made when it is not there.
    sqlite_db(const std::string& path, mode how);

    void execute(const std::string& sql);
    sqlite_statement prepare(const std::string& sql);
    /// The one value that a query gives, as text; empty when there is no row.
    std::string value(const std::string& sql);
    const std::string& path() const { return m_path; }

private:
    struct close {
        void operator()(sqlite3* db) const;
    };
    std::string m_path;
    std::unique_ptr<sqlite3, close> m_db;
};

}  // namespace hcasim

#endif
