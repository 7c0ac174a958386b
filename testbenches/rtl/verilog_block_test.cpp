// Verilog compiled on the spot: pins of every width, reset, registers, and what is said when it does not
// work.
#include "rtl_cosim/wrap/verilog_block.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "rtl_cosim/wrap/child_process.h"
#include "rtl_cosim/wrap/rtl_places.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;

namespace {

namespace fs = std::filesystem;

// A directory for designs, of this process alone and gone with it.
class scratch_directory {
public:
    scratch_directory()
        : m_path(fs::temp_directory_path() / ("hcasim_rtl_test." + std::to_string(::getpid()))) {
        fs::create_directories(m_path);
        set_rtl_places({m_path.string(), HCASIM_RTL_CACHE_DIRECTORY});
    }
    ~scratch_directory() {
        std::error_code error;
        fs::remove_all(m_path, error);
    }
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;
    const fs::path& path() const { return m_path; }

private:
    fs::path m_path;
};

const fs::path& scratch() {
    static const scratch_directory directory;
    return directory.path();
}

std::string design(const std::string& name, const std::string& text) {
    const fs::path file = scratch() / (name + ".v");
    std::ofstream(file) << text;
    return file.string();
}

verilog_source source_of(const std::string& name, const std::string& text) {
    verilog_source s;
    s.top = name;
    s.files = {design(name, text)};
    return s;
}

constexpr const char* echo = R"(`default_nettype none
module echo #(parameter STEP = 1) (
    input  wire        clk_i, rst_ni,
    input  wire [7:0]  small_i,
    input  wire [63:0] wide_i,
    input  wire [99:0] wider_i,
    output wire [7:0]  small_o,
    output wire [63:0] wide_o,
    output wire [99:0] wider_o,
    output reg  [15:0] count_o
);
  assign small_o = ~small_i;
  assign wide_o  = ~wide_i;
  assign wider_o = ~wider_i;
  always @(posedge clk_i) count_o <= rst_ni ? count_o + STEP[15:0] : 16'd0;
endmodule
`default_nettype wire
)";

std::string message_of(const verilog_source& source) {
    try {
        verilog_block::compile(source);
    } catch (const verilog_error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("pins carry values of every width", "[verilog_block]") {
    if (find_in_path("verilator").empty()) {
        WARN("skipped: verilator is not installed");
        return;
    }
    verilog_block v(source_of("echo", echo));
    v.reset();
    v.pin("small_i").set(0x1a5);  // cut to 8 bits
    v.pin("wide_i").set(0x0123456789abcdef);
    v.pin("wider_i").set(5);
    v.pin("wider_i").set_slice(60, 40, 0xa5a5a5a5a5);
    v.settle();
    CHECK(v.pin("small_o").get() == 0x5a);
    CHECK(v.pin("wide_o").get() == 0xfedcba9876543210);
    CHECK(v.pin("wider_o").get_slice(0, 60) == (~std::uint64_t{5} & 0x0fffffffffffffff));
    CHECK(v.pin("wider_o").get_slice(60, 40) == 0x5a5a5a5a5a);
    std::uint8_t bytes[12] = {};
    v.pin("wider_i").get_bytes(bytes, 12);
    CHECK(bytes[0] == 5);
    CHECK((bytes[7] & 0xf0) == 0x50);
    CHECK(bytes[11] == 0x5a);
    CHECK_FALSE(v.find("nothing"));
    CHECK_THROWS_AS(v.pin("nothing"), verilog_error);
}

TEST_CASE("a cycle is settle and edge and parameters are those given", "[verilog_block]") {
    if (find_in_path("verilator").empty()) {
        WARN("skipped: verilator is not installed");
        return;
    }
    verilog_source source = source_of("echo", echo);
    source.parameters["STEP"] = 7;
    verilog_block v(source);
    v.reset();
    v.settle();
    CHECK(v.pin("count_o").get() == 0);
    for (int i = 0; i < 3; ++i) {
        v.settle();
        v.clock_edge();
    }
    v.settle();
    CHECK(v.pin("count_o").get() == 21);
    // Another instance does not know of it.
    verilog_block other(source);
    other.reset();
    other.settle();
    CHECK(other.pin("count_o").get() == 0);
    CHECK(v.pin("count_o").get() == 21);
}

TEST_CASE("registers begin at random, so that a reset that forgets one is found", "[verilog_block]") {
    if (find_in_path("verilator").empty()) {
        WARN("skipped: verilator is not installed");
        return;
    }
    const verilog_source source = source_of("forgets", R"(
module forgets(input wire clk_i, rst_ni, output reg [31:0] kept_o, reset_o);
  always @(posedge clk_i) begin
    if (!rst_ni) reset_o <= 0;
    else begin kept_o <= kept_o; reset_o <= reset_o; end
  end
endmodule
)");
    verilog_block a(source, 1);
    verilog_block b(source, 2);
    a.reset();
    b.reset();
    CHECK(a.pin("reset_o").get() == 0);
    CHECK(b.pin("reset_o").get() == 0);
    CHECK(a.pin("kept_o").get() != b.pin("kept_o").get());
}

TEST_CASE("what cannot be compiled is said in one line and the tool's words", "[verilog_block]") {
    if (find_in_path("verilator").empty()) {
        WARN("skipped: verilator is not installed");
        return;
    }
    const std::string broken =
        message_of(source_of("broken", "module broken(input wire a);\nassign b = ;\nendmodule\n"));
    CHECK(broken.find("broken.v: verilator failed") != std::string::npos);
    CHECK(broken.find("broken.v:2") != std::string::npos);
    verilog_source missing;
    missing.top = "none";
    missing.files = {(scratch() / "none.v").string()};
    CHECK(message_of(missing).find("none.v: there is no such file") != std::string::npos);
    // A warning is an error only where that is asked for.
    verilog_source loose = source_of(
        "loose",
        "module loose(input wire [3:0] a_i, output wire [7:0] b_o);\nassign b_o = a_i;\nendmodule\n");
    CHECK(message_of(loose).empty());
    loose.strict = true;
    CHECK(message_of(loose).find("WIDTH") != std::string::npos);
}

TEST_CASE("a design is compiled again when a file that it includes has changed", "[verilog_block]") {
    if (find_in_path("verilator").empty()) {
        WARN("skipped: verilator is not installed");
        return;
    }
    verilog_source source = source_of("includes", R"(
`include "step.vh"
module includes(input wire clk_i, rst_ni, output reg [7:0] count_o);
  always @(posedge clk_i) count_o <= rst_ni ? count_o + `STEP : 8'd0;
endmodule
)");
    source.directory = scratch().string();
    for (const int step : {3, 5}) {
        std::ofstream(scratch() / "step.vh") << "`define STEP 8'd" << step << "\n";
        verilog_block v(source);
        v.reset();
        v.settle();
        v.clock_edge();
        v.settle();
        CHECK(v.pin("count_o").get() == static_cast<std::uint64_t>(step));
    }
}
