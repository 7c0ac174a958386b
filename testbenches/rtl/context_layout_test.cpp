// The layout of a QP context is written down twice, in model/ib/qp_context.h and in qp_context_step.v, and
// both must say the same.
#include <cstddef>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <type_traits>
#include <utility>

#include "model/ib/qp_context.h"
#include "model/ib/qp_state.h"
#include "testbenches/unit/catch.h"
#include "testbenches/unit/source_directory.h"

using namespace hcasim;

namespace {

static_assert(sizeof(ib::qp_context) == 120);
static_assert(std::has_unique_object_representations_v<ib::qp_context>, "a byte without a name");

struct place {
    std::size_t offset;
    std::size_t bytes;
};
bool operator==(const place& a, const place& b) { return a.offset == b.offset && a.bytes == b.bytes; }
std::ostream& operator<<(std::ostream& out, const place& p) { return out << p.offset << ", " << p.bytes; }

// "    localparam NAME = 12;  // 4" in qp_context_step.v; bits of the attribute mask are named M_...
std::map<std::string, place> layout_in_verilog(std::map<std::string, std::size_t>& mask_bits) {
    std::ifstream in(source_directory() + "/rtl_cosim/rtl/qp_context_step.v");
    const std::regex field(R"(\s*localparam (\w+)\s*= (\d+);\s*// (\d+)\b.*)");
    const std::regex bit(R"(\s*localparam M_(\w+)\s*= (\d+);)");
    std::map<std::string, place> fields;
    std::string line;
    std::smatch match;
    while (std::getline(in, line)) {
        if (std::regex_match(line, match, field)) {
            fields[match[1]] = {std::stoul(match[2]), std::stoul(match[3])};
        } else if (std::regex_match(line, match, bit)) {
            mask_bits[match[1]] = std::stoul(match[2]);
        }
    }
    return fields;
}

#define PLACE(member) \
    place { offsetof(ib::qp_context, member), sizeof(ib::qp_context::member) }
#define PART(part, type, member) \
    place { offsetof(ib::qp_context, part) + offsetof(ib::type, member), sizeof(ib::type::member) }

}  // namespace

TEST_CASE("context layout: Verilog and model agree on every field, and on the bits of the attribute mask") {
    const std::map<std::string, place> model = {
        {"QPN", PLACE(qpn)},
        {"STATE", PLACE(state)},
        {"VALID", PLACE(valid)},
        {"HAS_RTS_ATTRIBUTES", PLACE(has_rts_attributes)},
        {"OPENED_BY", PLACE(opened_by)},
        {"SL_CLASS", PART(resources, qp_resources, sl_class)},
        {"ATTRIBUTES", PLACE(attributes)},
        {"DEST_QPN", PART(attributes, qp_attributes, dest_qpn)},
        {"RQ_PSN", PART(attributes, qp_attributes, rq_psn)},
        {"SQ_PSN", PART(attributes, qp_attributes, sq_psn)},
        {"QKEY", PART(attributes, qp_attributes, qkey)},
        {"PKEY", PART(attributes, qp_attributes, pkey)},
        {"DLID", PART(attributes, qp_attributes, dlid)},
        {"SL", PART(attributes, qp_attributes, sl)},
        {"PORT", PART(attributes, qp_attributes, port)},
        {"PATH_MTU", PART(attributes, qp_attributes, path_mtu)},
        {"TIMEOUT", PART(attributes, qp_attributes, timeout)},
        {"RETRY_CNT", PART(attributes, qp_attributes, retry_cnt)},
        {"RNR_RETRY", PART(attributes, qp_attributes, rnr_retry)},
        {"MIN_RNR_TIMER", PART(attributes, qp_attributes, min_rnr_timer)},
        {"MAX_RD_ATOMIC", PART(attributes, qp_attributes, max_rd_atomic)},
        {"MAX_DEST_RD_ATOMIC", PART(attributes, qp_attributes, max_dest_rd_atomic)},
        {"EN_SQD_NOTIFY", PART(attributes, qp_attributes, en_sqd_async_notify)},
        {"REQUESTER", PLACE(requester)},
        {"NEXT_PSN", PART(requester, requester_context, next_psn)},
        {"REQUESTER_LIFE", PART(requester, requester_context, life)},
        {"RESPONDER", PLACE(responder)},
        {"EXPECTED_PSN", PART(responder, responder_context, expected_psn)},
        {"RESPONDER_LIFE", PART(responder, responder_context, life)},
    };
    const std::map<std::string, std::uint32_t> masks = {
        {"EN_SQD_NOTIFY", ib::attr_en_sqd_async_notify},
        {"PKEY", ib::attr_pkey_index},
        {"PORT", ib::attr_port},
        {"QKEY", ib::attr_qkey},
        {"AV", ib::attr_av},
        {"PATH_MTU", ib::attr_path_mtu},
        {"TIMEOUT", ib::attr_timeout},
        {"RETRY_CNT", ib::attr_retry_cnt},
        {"RNR_RETRY", ib::attr_rnr_retry},
        {"RQ_PSN", ib::attr_rq_psn},
        {"MAX_RD_ATOMIC", ib::attr_max_qp_rd_atomic},
        {"MIN_RNR_TIMER", ib::attr_min_rnr_timer},
        {"SQ_PSN", ib::attr_sq_psn},
        {"MAX_DEST_RD_ATOMIC", ib::attr_max_dest_rd_atomic},
        {"DEST_QPN", ib::attr_dest_qpn},
    };
    std::map<std::string, std::size_t> mask_bits;
    const auto verilog = layout_in_verilog(mask_bits);
    CHECK(verilog.size() == model.size());
    for (const auto& [name, expected] : model) {
        INFO(name);
        const auto found = verilog.find(name);
        REQUIRE(found != verilog.end());
        CHECK(found->second == expected);
    }
    CHECK(mask_bits.size() == masks.size());
    for (const auto& [name, mask] : masks) {
        INFO(name);
        REQUIRE(mask_bits.count(name) == 1);
        CHECK((1u << mask_bits[name]) == mask);
    }
}
