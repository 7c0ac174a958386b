#include <sstream>
#include <stdexcept>
#include <string>

#include "testbenches/unit/catch.h"
#include "testbenches/unit/golden_frames.h"

using namespace hcasim;

namespace {

// What reading this text says: the error, or the bytes of its first frame.
std::string outcome(const std::string& text) {
    std::istringstream in(text);
    try {
        const auto frames = read_golden_frames(in, "file");
        return frames.empty() ? "nothing" : std::to_string(frames.front().bytes.size()) + " bytes";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("golden frames: what a well-formed file holds") {
    CHECK(outcome("") == "nothing");
    CHECK(outcome("# nothing but a remark\n\n") == "nothing");
    CHECK(outcome("frame a\nsource s\nhex 0102\nhex 00*4\nfill none\nicrc 01020304\nvcrc 0506\n") ==
          "12 bytes");
    CHECK(outcome("frame a\nsource s\nhex 0102\nfill 20\nicrc 01020304\nvcrc 0506\n") == "26 bytes");
}

TEST_CASE("golden frames: a malformed file names the line") {
    CHECK(outcome("frame\n") == "file:1: expected a key, a space and a value");
    CHECK(outcome("hex 00\n") == "file:1: a frame begins with the key \"frame\"");
    CHECK(outcome("frame a\ncolour red\n") == "file:2: unknown key colour");
    CHECK(outcome("frame a\nhex 0g\n") == "file:2: expected a hexadecimal digit, found g");
    CHECK(outcome("frame a\nhex 012\n") == "file:2: odd number of hexadecimal digits");
    CHECK(outcome("frame a\nhex 00*x\n") == "file:2: expected a number of bytes, found x");
    CHECK(outcome("frame a\nhex 0000\nfill 1\n") == "file:3: the frame is longer than its fill");
    CHECK(outcome("frame a\nfill none\n") == "file:2: fill comes once, behind hex");
    CHECK(outcome("frame a\nhex 00\nfill none\nhex 00\n") == "file:4: hex comes before fill");
    CHECK(outcome("frame a\nhex 00\nicrc 01020304\n") ==
          "file:3: behind fill come icrc with 8 and vcrc with 4 digits");
    CHECK(outcome("frame a\nhex 00\nfill none\nicrc 0102\n") ==
          "file:4: behind fill come icrc with 8 and vcrc with 4 digits");
    CHECK(outcome("frame a\nsource s\nhex 00\nfill none\nicrc 01020304\n") ==
          "file:5: frame a needs source, hex, fill, icrc and vcrc");
    const std::string whole = "frame a\nsource s\nhex 00\nfill none\nicrc 01020304\nvcrc 0506\n";
    CHECK(outcome(whole + whole) == "file:7: there is a frame a already");
}

TEST_CASE("golden frames: every frame says where it comes from") {
    for (const golden_frame& frame : golden_frames()) {
        CHECK_FALSE(frame.source.empty());
    }
    CHECK_THROWS_AS(golden_frame_named("no such frame"), std::runtime_error);
}
