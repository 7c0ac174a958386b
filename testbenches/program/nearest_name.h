#ifndef HCASIM_TESTBENCHES_PROGRAM_NEAREST_NAME_H
#define HCASIM_TESTBENCHES_PROGRAM_NEAREST_NAME_H

#include <cstddef>
#include <string>
#include <vector>

namespace hcasim {

/// Letters to insert, delete, replace or swap with their neighbour to make `b` of `a`; case does not count.
std::size_t edit_distance(const std::string& a, const std::string& b);

/// The name that `word` was probably meant to be: within a third of its length, or one that begins with it.
/// Empty when none is near.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

/// The same for dotted keys; when none is near as a whole, one whose last part is (`policy` gives
/// `gate.policy`).
std::string nearest_key(const std::string& key, const std::vector<std::string>& keys);

}  // namespace hcasim

#endif
