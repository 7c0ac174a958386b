#include "testbenches/program/cosim_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rtl_cosim/wrap/child_process.h"
#include "rtl_cosim/wrap/rtl_places.h"

namespace hcasim {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

std::vector<cosim_mutant> find_mutants(const std::string& block) {
    std::vector<cosim_mutant> found;
    std::error_code error;
    for (const auto& directory : fs::directory_iterator(places_of_rtl().sources + "/mutants", error)) {
        const std::string name = directory.path().filename().string();
        if (!directory.is_directory() || (!block.empty() && block != "all" && block != name)) {
            continue;
        }
        for (const auto& file : fs::directory_iterator(directory.path())) {
            if (file.path().extension() != ".patch") {
                continue;
            }
            std::ifstream in(file.path());
            cosim_mutant m;
            m.block = name;
            m.name = file.path().stem().string();
            m.patch = file.path().string();
            std::getline(in, m.description);
            found.push_back(m);
        }
    }
    std::sort(found.begin(), found.end(), [](const cosim_mutant& a, const cosim_mutant& b) {
        return a.block != b.block ? a.block < b.block : a.name < b.name;
    });
    return found;
}

verilog_source apply_mutant(const cosim_mutant& mutant, const std::string& directory) {
    // The patch names rtl_cosim/rtl/FILE.
    const fs::path root = directory;
    const fs::path rtl = root / "rtl_cosim" / "rtl";
    fs::remove_all(root);
    fs::create_directories(rtl);
    for (const auto& file : fs::directory_iterator(places_of_rtl().sources + "/rtl")) {
        if (file.path().extension() == ".v") {
            fs::copy_file(file.path(), rtl / file.path().filename());
        }
    }
    const fs::path log = root / "patch.txt";
    if (find_in_path("patch").empty()) {
        throw verilog_error("patch is not installed: apt-get install patch");
    }
    const int code =
        run_child({"patch", "-p1", "--no-backup-if-mismatch", "-i", fs::absolute(mutant.patch).string()},
                  directory, log.string());
    if (code != 0) {
        throw verilog_error(fmt::format("{}: does not apply: {}", mutant.patch, text_of(log)));
    }
    bool changed = false;
    for (const auto& file : fs::directory_iterator(rtl)) {
        changed = changed || text_of(file.path()) !=
                                 text_of(fs::path(places_of_rtl().sources) / "rtl" / file.path().filename());
    }
    if (!changed) {
        throw verilog_error(fmt::format("{}: changes nothing", mutant.patch));
    }
    verilog_source source;
    source.top = mutant.block;
    source.directory = rtl.string();
    source.files = {(rtl / (mutant.block + ".v")).string()};
    source.strict = false;
    source.optimize = false;
    return source;
}

}  // namespace hcasim
