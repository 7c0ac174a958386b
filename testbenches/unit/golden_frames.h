#ifndef HCASIM_TESTBENCHES_UNIT_GOLDEN_FRAMES_H
#define HCASIM_TESTBENCHES_UNIT_GOLDEN_FRAMES_H

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace hcasim {

/// A packet as it was seen on a link, from traces/golden_frames.txt.
struct golden_frame {
    std::string name;
    std::string source;               ///< where the bytes come from
    std::vector<std::uint8_t> bytes;  ///< LRH .. VCRC
};

/// Reads frames in the format that traces/golden_frames.txt explains. Throws std::runtime_error
/// "file_name:line: what" for text that is not in that format.
std::vector<golden_frame> read_golden_frames(std::istream& in, const std::string& file_name);

/// All frames of traces/golden_frames.txt, in the order of the file.
const std::vector<golden_frame>& golden_frames();

/// The frame of that name; throws std::runtime_error when there is none.
const golden_frame& golden_frame_named(std::string_view name);

}  // namespace hcasim

#endif
