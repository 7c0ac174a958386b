#ifndef HCASIM_TESTBENCHES_REPORT_SQLITE_DB_H
#define HCASIM_TESTBENCHES_REPORT_SQLITE_DB_H

#include <cstdint>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace hcasim::report {

/// A prepared query; its columns count from 0. Throws report_error when the database cannot be read.
class sqlite_statement {
public:
    sqlite_statement(sqlite3* db, const std::string& sql);
    ~sqlite_statement();
    sqlite_statement(const sqlite_statement&) = delete;
    sqlite_statement& operator=(const sqlite_statement&) = delete;

    /// Goes to the next row; false behind the last one.
    bool step();
    bool is_null(int column) const;
    bool is_integer(int column) const;
    bool is_real(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;

private:
    sqlite3* m_db;
    sqlite3_stmt* m_statement = nullptr;
};

/// A database opened for reading. Throws report_error when there is none.
class sqlite_db {
public:
    explicit sqlite_db(const std::string& path);
    ~sqlite_db();
    sqlite_db(const sqlite_db&) = delete;
    sqlite_db& operator=(const sqlite_db&) = delete;

    sqlite_statement prepare(const std::string& sql) const { return {m_db, sql}; }

private:
    sqlite3* m_db = nullptr;
};

}  // namespace hcasim::report

#endif
