#ifndef HCASIM_TESTBENCHES_PROGRAM_RTL_MAP_FILE_H
#define HCASIM_TESTBENCHES_PROGRAM_RTL_MAP_FILE_H

#include <string>

#include "rtl_cosim/lockstep/rtl_map.h"

namespace hcasim {

/// Reads a map (TOML, schema "hcasim.rtl_map/1"; docs/rtl.md has its keys). Throws input_error on the first
/// fault: unknown key with the nearest one, wrong type, missing key, a comparison that the block does not
/// have.
rtl_map read_rtl_map(const std::string& path);

/// The same from text; `path` is only named in messages.
rtl_map parse_rtl_map(const std::string& text, const std::string& path);

}  // namespace hcasim

#endif
