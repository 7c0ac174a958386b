#include "rtl_cosim/wrap/rtl_places.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace hcasim {

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool can_write(const std::string& directory) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    return !error && ::access(directory.c_str(), W_OK) == 0;
}

std::string of_user() {
    const std::string cache = environment("XDG_CACHE_HOME");
    if (!cache.empty()) {
        return cache + "/hcasim/rtl";
    }
    const std::string home = environment("HOME");
    return (home.empty() ? std::filesystem::temp_directory_path().string() : home + "/.cache") +
           "/hcasim/rtl";
}

rtl_places& given() {
    static rtl_places places;
    return places;
}

rtl_places resolve() {
    rtl_places p = given();
    const std::string sources = environment("HCASIM_RTL_SOURCES");
    const std::string cache = environment("HCASIM_RTL_CACHE");
    if (!sources.empty()) {
        p.sources = sources;
    }
    if (!cache.empty()) {
        p.cache = cache;
    } else if (p.cache.empty() || !can_write(p.cache)) {
        p.cache = of_user();
    }
    return p;
}

}  // namespace

void set_rtl_places(const rtl_places& places) { given() = places; }

const rtl_places& places_of_rtl() {
    static const rtl_places places = resolve();
    return places;
}

}  // namespace hcasim
