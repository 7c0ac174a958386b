#ifndef HCASIM_TESTBENCHES_PROGRAM_INPUT_ERROR_H
#define HCASIM_TESTBENCHES_PROGRAM_INPUT_ERROR_H

#include <stdexcept>
#include <string>

namespace hcasim {

/// Input that cannot be used: what() is the complete line for the user, "WHERE: KEY: what was wrong; expected
/// ...; did you mean 'x'?", without the newline. The program prints it and exits with 2.
class input_error : public std::runtime_error {
public:
    explicit input_error(const std::string& line);
};

/// The parts of such a line; empty ones are left out.
struct complaint {
    std::string where;     ///< "FILE:LINE:COL", or the option of the command line
    std::string key;       ///< dotted key, or what else is complained about
    std::string what;      ///< what was wrong
    std::string expected;  ///< what stands after "expected"
    std::string nearest;   ///< a valid name close to the one that was given
};
std::string to_line(const complaint& c);

/// The text with everything that would break a line or a terminal written as \xNN, cut after `limit`
/// characters.
std::string printable(const std::string& text, std::size_t limit = 60);

}  // namespace hcasim

#endif
