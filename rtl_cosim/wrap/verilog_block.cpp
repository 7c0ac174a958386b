#include "rtl_cosim/wrap/verilog_block.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "rtl_cosim/wrap/child_process.h"
#include "rtl_cosim/wrap/rtl_places.h"

namespace hcasim {

namespace fs = std::filesystem;

namespace {

// What the shared object shows: plain C, so that nothing of Verilator crosses the border.
struct shown_pin {
    const char* name;
    std::uint32_t width_bits;
    std::uint32_t is_output;
    std::uint64_t offset;  // of its storage in the object
};
using create_t = void* (*)(std::uint64_t seed);
using destroy_t = void (*)(void*);
using eval_t = void (*)(void*);
using base_t = void* (*)(void*);
using pins_t = const shown_pin* (*)(std::uint64_t*);

std::string read_text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        throw verilog_error(fmt::format("{}: cannot be written", path.string()));
    }
}

// The first messages of a tool's log, without what only repeats them.
std::string first_messages(const std::string& log) {
    std::istringstream in(log);
    std::string line;
    std::string result;
    int lines = 0;
    while (lines < 12 && std::getline(in, line)) {
        if (line.find("%Error: Exiting") == std::string::npos && !line.empty()) {
            result += "\n  " + line;
            ++lines;
        }
    }
    return result;
}

// Output of `verilator ARGUMENTS`, one line. Other processes may ask at the same time: the file is our own.
std::string ask_verilator(const std::vector<std::string>& arguments, const fs::path& scratch) {
    const fs::path answer = scratch / fmt::format("answer.{}.txt", ::getpid());
    fs::remove(answer);
    std::vector<std::string> command{"verilator"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const int code = run_child(command, "", answer.string());
    std::string text = read_text(answer);
    fs::remove(answer);
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    if (code != 0 || text.empty()) {
        throw verilog_error(fmt::format("{} failed (exit code {}){}{}", fmt::join(command, " "), code,
                                        text.empty() ? "" : ": ", text));
    }
    return text;
}

struct toolchain {
    std::string version;
    std::string root;
};

const toolchain& tools(const fs::path& scratch) {
    static const toolchain found = [&] {
        if (find_in_path("verilator").empty()) {
            throw verilog_error("Verilator is not installed: apt-get install verilator");
        }
        if (find_in_path("g++").empty()) {
            throw verilog_error("g++ is not installed, Verilog cannot be compiled: apt-get install g++");
        }
        toolchain t;
        t.version = ask_verilator({"--version"}, scratch);
        t.root = ask_verilator({"--getenv", "VERILATOR_ROOT"}, scratch);
        return t;
    }();
    return found;
}

std::vector<std::string> compiler(bool optimize) {
    // No symbol of one design may stand in for that of another.
    return {"g++",
            "-std=c++17",
            optimize ? "-O2" : "-O1",
            "-fPIC",
            "-fvisibility=hidden",
            "-fno-gnu-unique",
            "-w",
            "-DVL_NO_LEGACY",
            "-faligned-new",
            "-fcf-protection=none"};
}

void run_or_explain(const std::vector<std::string>& command, const fs::path& directory, const fs::path& log,
                    const std::string& design) {
    const int code = run_child(command, directory.string(), log.string());
    if (code != 0) {
        throw verilog_error(fmt::format("{}: {} failed (exit code {}){}", design, command.front(), code,
                                        first_messages(read_text(log))));
    }
}

// The pins of the design as Verilator declares them, and the functions that the program calls.
std::string shim_text(const std::string& header) {
    // VL_IN8(&name,msb,lsb); VL_OUTW(&name,msb,lsb,words);
    const std::regex declaration(R"(VL_(IN|OUT)(8|16|64|W)?\(&?(\w+),(\d+),(\d+)(,\d+)?\))");
    std::string table;
    std::uint64_t count = 0;
    for (std::sregex_iterator i(header.begin(), header.end(), declaration), end; i != end; ++i) {
        const std::smatch& m = *i;
        table +=
            fmt::format("    {{\"{0}\", {1}, {2}, 0}},\n", m[3].str(),
                        std::stoul(m[4].str()) - std::stoul(m[5].str()) + 1, m[1].str() == "OUT" ? 1 : 0);
        ++count;
    }
    std::string addresses;
    for (std::sregex_iterator i(header.begin(), header.end(), declaration), end; i != end; ++i) {
        addresses += fmt::format("    reinterpret_cast<char*>(&d->{}),\n", (*i)[3].str());
    }
    return fmt::format(R"(#include <cstdint>
#include "Vdesign.h"
#include "verilated.h"
struct shown_pin {{ const char* name; std::uint32_t width_bits, is_output; std::uint64_t offset; }};
struct instance {{ VerilatedContext context; Vdesign* design; }};
static shown_pin table[] = {{
{0}    {{nullptr, 0, 0, 0}}}};
#define SHOWN extern "C" __attribute__((visibility("default")))
SHOWN void* hcasim_create(std::uint64_t seed) {{
  instance* i = new instance;
  i->context.randReset(2);
  i->context.randSeed(static_cast<int>(seed & 0x7fffffff));
  i->design = new Vdesign(&i->context, "design");
  Vdesign* d = i->design;
  char* const addresses[] = {{
{1}    nullptr}};
  for (unsigned n = 0; n < {2}; ++n) table[n].offset = static_cast<std::uint64_t>(addresses[n] - reinterpret_cast<char*>(d));
  return i;
}}
SHOWN void hcasim_destroy(void* p) {{ instance* i = static_cast<instance*>(p); i->design->final(); delete i->design; delete i; }}
SHOWN void hcasim_eval(void* p) {{ static_cast<instance*>(p)->design->eval(); }}
SHOWN void* hcasim_base(void* p) {{ return static_cast<instance*>(p)->design; }}
SHOWN const shown_pin* hcasim_pins(std::uint64_t* n) {{ *n = {2}; return table; }}
)",
                       table, addresses, count);
}

// A lock on a file for as long as it lives: two processes must not compile the same thing at once.
class file_lock {
public:
    explicit file_lock(const fs::path& path) : m_file(::open(path.c_str(), O_RDWR | O_CREAT, 0666)) {
        if (m_file >= 0) {
            ::flock(m_file, LOCK_EX);
        }
    }
    ~file_lock() {
        if (m_file >= 0) {
            ::close(m_file);
        }
    }
    file_lock(const file_lock&) = delete;
    file_lock& operator=(const file_lock&) = delete;

private:
    int m_file;
};

// Verilator's own runtime, compiled once for all designs.
std::vector<std::string> runtime_objects(const fs::path& cache, const toolchain& t, const std::string& log) {
    std::vector<std::string> objects;
    for (const char* name : {"verilated", "verilated_threads"}) {
        const fs::path source = fs::path(t.root) / "include" / (std::string(name) + ".cpp");
        if (!fs::exists(source)) {
            continue;
        }
        const fs::path object =
            cache / fmt::format("{}-{:016x}.o", name, XXH64(t.version.data(), t.version.size(), 0));
        const file_lock lock(object.string() + ".lock");
        if (!fs::exists(object)) {
            const fs::path made = object.string() + fmt::format(".{}", ::getpid());
            auto command = compiler(true);
            for (const std::string& word :
                 {std::string("-I" + t.root + "/include"), std::string("-I" + t.root + "/include/vltstd"),
                  std::string("-c"), source.string(), std::string("-o"), made.string()}) {
                command.push_back(word);
            }
            run_or_explain(command, cache, log, "Verilator's runtime");
            fs::rename(made, object);
        }
        objects.push_back(object.string());
    }
    return objects;
}

// A directory that goes with the object, whatever ends it.
class work_directory {
public:
    explicit work_directory(fs::path path) : m_path(std::move(path)) {
        fs::remove_all(m_path);
        fs::create_directories(m_path);
    }
    ~work_directory() {
        std::error_code error;
        fs::remove_all(m_path, error);
    }
    work_directory(const work_directory&) = delete;
    work_directory& operator=(const work_directory&) = delete;
    const fs::path& path() const { return m_path; }

private:
    fs::path m_path;
};

void build(const verilog_source& source, const fs::path& cache, const fs::path& library, const toolchain& t) {
    const std::string design = source.files.front();
    const work_directory directory(library.string() + fmt::format(".{}.d", ::getpid()));
    const fs::path& work = directory.path();
    const fs::path log = work / "log.txt";
    std::vector<std::string> verilate = {
        "verilator",          "--cc",     "--prefix",   "Vdesign", "--top-module", source.top, "--Mdir",
        work.string(),        "-O3",      "--x-assign", "fast",    "--x-initial",  "unique",   "--noassert",
        "--default-language", "1364-2005"};
    if (source.strict) {
        verilate.emplace_back("-Wall");
    } else {
        verilate.emplace_back("-Wno-fatal");
    }
    if (!source.directory.empty()) {
        verilate.push_back("-y");
        verilate.push_back(source.directory);
    }
    for (const auto& [name, value] : source.parameters) {
        verilate.push_back(fmt::format("-G{}={}", name, value));
    }
    verilate.insert(verilate.end(), source.files.begin(), source.files.end());
    run_or_explain(verilate, "", log, design);

    write_text(work / "shim.cpp", shim_text(read_text(work / "Vdesign.h")));
    // One translation unit: the compiler sees all of the design, and starts once.
    std::string all = "#include \"shim.cpp\"\n";
    std::vector<std::string> parts;
    for (const auto& entry : fs::directory_iterator(work)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind("Vdesign", 0) == 0 && entry.path().extension() == ".cpp") {
            parts.push_back(name);
        }
    }
    std::sort(parts.begin(), parts.end());
    for (const std::string& name : parts) {
        all += fmt::format("#include \"{}\"\n", name);
    }
    write_text(work / "all.cpp", all);
    const auto objects = runtime_objects(cache, t, log);
    auto command = compiler(source.optimize);
    for (const std::string& word :
         {std::string("-shared"), std::string("-I" + t.root + "/include"),
          std::string("-I" + t.root + "/include/vltstd"), std::string("-I."), std::string("all.cpp")}) {
        command.push_back(word);
    }
    command.insert(command.end(), objects.begin(), objects.end());
    for (const char* word : {"-Wl,-Bsymbolic", "-pthread", "-o", "design.so"}) {
        command.emplace_back(word);
    }
    run_or_explain(command, work, log, design);
    fs::rename(work / "design.so", library);
}

// The file in which the compiled design lies.
fs::path library_of(const verilog_source& source) {
    const fs::path cache = places_of_rtl().cache;
    std::error_code error;
    fs::create_directories(cache, error);
    if (error) {
        throw verilog_error(
            fmt::format("{}: compiled Verilog cannot be kept there: {}", cache.string(), error.message()));
    }
    if (source.files.empty()) {
        throw verilog_error("no Verilog file given");
    }
    std::string key;
    for (const std::string& file : source.files) {
        std::error_code bad;
        if (!fs::is_regular_file(file, bad)) {
            throw verilog_error(fmt::format("{}: there is no such file", file));
        }
        key += file + "\n" + read_text(file);
    }
    const toolchain& t = tools(cache);
    if (!source.directory.empty()) {
        std::vector<fs::path> others;
        for (const auto& entry : fs::directory_iterator(source.directory)) {
            // Modules that Verilator looks for there, and files that may be included.
            static const std::set<std::string> read_by_verilator{".v", ".vh", ".sv", ".svh", ".h", ".inc"};
            if (read_by_verilator.count(entry.path().extension().string()) != 0) {
                others.push_back(entry.path());
            }
        }
        std::sort(others.begin(), others.end());
        for (const fs::path& file : others) {
            key += file.filename().string() + "\n" + read_text(file);
        }
    }
    key += t.version + source.top + (source.strict ? "s" : "-") + (source.optimize ? "o" : "-");
    for (const auto& [name, value] : source.parameters) {
        key += fmt::format(" {}={}", name, value);
    }
    const fs::path library =
        cache / fmt::format("{}-{:016x}.so", source.top, XXH64(key.data(), key.size(), 3));
    if (!fs::exists(library)) {
        const file_lock lock(library.string() + ".lock");
        if (!fs::exists(library)) {
            build(source, cache, library, t);
        }
    }
    return library;
}

template <class Function>
Function symbol(void* library, const char* name, const fs::path& path) {
    void* const found = ::dlsym(library, name);
    if (found == nullptr) {
        throw verilog_error(fmt::format("{}: {} is missing; remove the file", path.string(), name));
    }
    return reinterpret_cast<Function>(found);
}

}  // namespace

void verilog_pin::set_bytes(const std::uint8_t* from, std::size_t bytes) const {
    // Verilator keeps words in the order of the processor; so does the simulated memory.
    std::memcpy(m_storage, from, bytes);
}

void verilog_pin::get_bytes(std::uint8_t* to, std::size_t bytes) const { std::memcpy(to, m_storage, bytes); }

void verilog_pin::set_slice(std::uint32_t at, std::uint32_t width_bits, std::uint64_t value) const {
    if (m_width_bits <= 64) {
        const std::uint64_t mask =
            width_bits == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << width_bits) - 1) << at;
        set((get() & ~mask) | (value << at & mask));
        return;
    }
    while (width_bits != 0) {
        const std::uint32_t bit = at & 31;
        const std::uint32_t part = std::min(width_bits, 32 - bit);
        const std::uint32_t mask = part == 32 ? ~std::uint32_t{0} : ((std::uint32_t{1} << part) - 1) << bit;
        std::uint32_t& word = words()[at >> 5];
        word = (word & ~mask) | (static_cast<std::uint32_t>(value) << bit & mask);
        value >>= part;
        at += part;
        width_bits -= part;
    }
}

std::uint64_t verilog_pin::get_slice(std::uint32_t at, std::uint32_t width_bits) const {
    const std::uint64_t mask = width_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width_bits) - 1;
    if (m_width_bits <= 64) {
        return get() >> at & mask;
    }
    std::uint64_t value = 0;
    std::uint32_t done = 0;
    while (done < width_bits) {
        const std::uint32_t bit = (at + done) & 31;
        value |= std::uint64_t{words()[(at + done) >> 5] >> bit} << done;
        done += 32 - bit;
    }
    return value & mask;
}

struct verilog_block::library {
    explicit library(const fs::path& path) : handle(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle == nullptr) {
            const char* why = ::dlerror();
            throw verilog_error(
                fmt::format("{}: cannot be loaded: {}", path.string(), why == nullptr ? "" : why));
        }
        create = symbol<create_t>(handle, "hcasim_create", path);
        destroy = symbol<destroy_t>(handle, "hcasim_destroy", path);
        eval = symbol<eval_t>(handle, "hcasim_eval", path);
        base = symbol<base_t>(handle, "hcasim_base", path);
        pins = symbol<pins_t>(handle, "hcasim_pins", path);
    }

    void* handle;
    create_t create = nullptr;
    destroy_t destroy = nullptr;
    eval_t eval = nullptr;
    base_t base = nullptr;
    pins_t pins = nullptr;
};

struct verilog_block::parts {
    parts(const verilog_source& source, std::uint64_t seed)
        : name(source.files.empty() ? source.top : source.files.front()), code(library_of(source)) {
        object = code.create(seed);
        std::uint64_t n = 0;
        const shown_pin* shown = code.pins(&n);
        auto* base = static_cast<char*>(code.base(object));
        for (std::uint64_t i = 0; i < n; ++i) {
            pins.push_back({shown[i].name, verilog_pin(base + shown[i].offset, shown[i].width_bits,
                                                       shown[i].is_output != 0)});
        }
    }
    // The shared object stays loaded: another instance may use it.
    ~parts() { code.destroy(object); }
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;

    std::string name;
    library code;
    void* object = nullptr;
    std::vector<named_pin> pins;
    std::map<std::string, std::string> names;
    // In the place of handshake pins that the design does not have: it takes whatever comes, and does not
    // hear that nobody takes what it gives.
    std::uint8_t takes_all = 1;
    std::uint8_t unheard = 0;
    verilog_pin clock;
    verilog_pin reset;
    bool reset_is_low = true;
};

verilog_block::verilog_block(const verilog_source& source, std::uint64_t seed)
    : m_parts(std::make_unique<parts>(source, seed)) {
    m_parts->clock = find("clk_i");
    m_parts->reset = find("rst_ni");
}

verilog_block::~verilog_block() = default;

void verilog_block::compile(const verilog_source& source) { library_of(source); }

const std::vector<verilog_block::named_pin>& verilog_block::pins() const { return m_parts->pins; }

void verilog_block::set_names(const std::map<std::string, std::string>& names) { m_parts->names = names; }

verilog_pin verilog_block::find(const std::string& name) const {
    const auto other = m_parts->names.find(name);
    const std::string& wanted = other == m_parts->names.end() ? name : other->second;
    if (wanted.empty()) {
        const auto ends_with = [&name](const std::string& ending) {
            return name.size() > ending.size() &&
                   name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
        };
        if (ends_with("_ready_o")) {
            return {&m_parts->takes_all, 1, true};
        }
        return ends_with("_ready_i") ? verilog_pin(&m_parts->unheard, 1, false) : verilog_pin();
    }
    for (const named_pin& p : m_parts->pins) {
        if (p.name == wanted) {
            return p.pin;
        }
    }
    return {};
}

verilog_pin verilog_block::pin(const std::string& name) const {
    const verilog_pin found = find(name);
    if (!found) {
        throw verilog_error(fmt::format("{}: has no port {}", m_parts->name, name));
    }
    return found;
}

void verilog_block::set_clock_and_reset(const std::string& clock, const std::string& reset,
                                        bool reset_is_low) {
    m_parts->clock = pin(clock);
    m_parts->reset = reset.empty() ? verilog_pin{} : pin(reset);
    m_parts->reset_is_low = reset_is_low;
}

void verilog_block::reset() {
    parts& p = *m_parts;
    if (!p.clock) {
        throw verilog_error(fmt::format("{}: has no port clk_i", p.name));
    }
    if (!p.reset) {
        return;
    }
    p.reset.set(p.reset_is_low ? 0 : 1);
    for (int i = 0; i < 2; ++i) {
        settle();
        clock_edge();
    }
    p.reset.set(p.reset_is_low ? 1 : 0);
}

void verilog_block::settle() {
    m_parts->clock.set(0);
    m_parts->code.eval(m_parts->object);
}

void verilog_block::clock_edge() {
    m_parts->clock.set(1);
    m_parts->code.eval(m_parts->object);
}

}  // namespace hcasim
