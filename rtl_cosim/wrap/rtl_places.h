#ifndef HCASIM_RTL_COSIM_WRAP_RTL_PLACES_H
#define HCASIM_RTL_COSIM_WRAP_RTL_PLACES_H

#include <string>

namespace hcasim {

/// Where the Verilog lies and where compiled Verilog is kept.
struct rtl_places {
    std::string sources;  ///< directory rtl_cosim of the source tree, or of the installation
    std::string cache;    ///< compiled designs; made when it is not there
};

/// The environment variables HCASIM_RTL_SOURCES and HCASIM_RTL_CACHE, else what set_rtl_places() gave. The
/// cache is one below the user's cache directory when the given one cannot be written to.
const rtl_places& places_of_rtl();

/// To be called once, at the start of the program.
void set_rtl_places(const rtl_places& places);

}  // namespace hcasim

#endif
