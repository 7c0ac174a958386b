#include "testbenches/unit/source_directory.h"

namespace hcasim {

std::string source_directory() { return HCASIM_SOURCE_DIR; }

}  // namespace hcasim
