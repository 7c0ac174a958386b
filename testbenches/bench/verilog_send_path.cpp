#include "testbenches/bench/verilog_send_path.h"

#include <optional>

namespace hcasim {

struct verilog_send_path::player {
    rtl_block* block = nullptr;
    rtl_recording recording;
    std::unique_ptr<verilog_block> design;
    std::optional<rtl_recording::player> inputs;
};

verilog_send_path::verilog_send_path(const sc_core::sc_module_name& name)
    : m_path(name, model_send_path::host_side::inside, &m_factory) {}

verilog_send_path::~verilog_send_path() = default;

void verilog_send_path::record(const send_path_config& config, cycle_t cycles) {
    rtl_config modes;
    for (rtl_mode* mode :
         {&modes.doorbell_unit, &modes.qp_context_cache, &modes.send_scheduler, &modes.link_tx}) {
        *mode = rtl_mode::shadow;
    }
    m_factory.set_modes(modes);
    m_players.clear();
    for (rtl_block* block : m_factory.blocks()) {
        m_players.push_back(std::make_unique<player>());
        m_players.back()->block = block;
        block->set_recording(&m_players.back()->recording);
    }
    m_path.reset(config, engine_kind::wheel);
    m_path.run_to(cycles);
    m_path.stop();
    for (const auto& p : m_players) {
        p->block->set_recording(nullptr);
        p->design = std::make_unique<verilog_block>(p->block->source());
    }
    if (m_factory.difference()) {
        throw rtl_mismatch(*m_factory.difference());
    }
}

void verilog_send_path::reset() {
    for (const auto& p : m_players) {
        p->inputs.emplace(p->recording, *p->design);
    }
}

void verilog_send_path::run_to(cycle_t last) {
    for (const auto& p : m_players) {
        p->inputs->run_to(last);
    }
}

std::size_t verilog_send_path::blocks() const { return m_players.size(); }

}  // namespace hcasim
