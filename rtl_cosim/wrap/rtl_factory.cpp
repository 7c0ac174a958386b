#include "rtl_cosim/wrap/rtl_factory.h"

#include "rtl_cosim/wrap/rtl_doorbell_unit.h"
#include "rtl_cosim/wrap/rtl_link_rx.h"
#include "rtl_cosim/wrap/rtl_link_tx.h"
#include "rtl_cosim/wrap/rtl_qp_context_cache.h"
#include "rtl_cosim/wrap/rtl_send_scheduler.h"

namespace hcasim {

void rtl_factory::set_modes(const rtl_config& config) {
    m_config = config;
    m_difference.reset();
    for (const auto& set : m_set_mode) {
        set();
    }
    for (const auto& path : m_paths) {
        path->set_used(config.send_path && path->is_complete());
    }
}

void rtl_factory::note(const rtl_difference& d) {
    if (!m_difference) {
        m_difference = d;
        if (on_difference) {
            on_difference();
        }
    }
}

void rtl_factory::watch(rtl_block& block, rtl_send_path::part part, clock_domain& domain) {
    m_blocks.push_back(&block);
    block.on_difference = [this](const rtl_difference& d) { note(d); };
    // A card's blocks are made one after the other.
    if (m_paths.empty() || m_paths.back()->is_complete()) {
        m_paths.push_back(std::make_unique<rtl_send_path>(domain.cycles()));
        m_paths.back()->on_difference = [this](const rtl_difference& d) { note(d); };
    }
    m_paths.back()->set_part(part, block);
}

void rtl_factory::prepare() {
    for (const auto& path : m_paths) {
        path->prepare();
    }
}

void rtl_factory::finish() {
    for (const auto& path : m_paths) {
        path->finish();
    }
}

std::unique_ptr<doorbell_unit> rtl_factory::make_doorbell_unit(const char* name, clock_domain& domain) {
    auto made = std::make_unique<rtl_doorbell_unit>(name, domain, rtl_mode::model);
    watch(made->verilog(), rtl_send_path::doorbell_unit, domain);
    m_set_mode.emplace_back([this, block = made.get()] { block->set_mode(m_config.doorbell_unit); });
    return made;
}

std::unique_ptr<qp_context_cache> rtl_factory::make_qp_context_cache(const char* name, clock_domain& domain,
                                                                     ib::packet_pool& pool) {
    auto made = std::make_unique<rtl_qp_context_cache>(name, domain, pool, rtl_mode::model);
    watch(made->verilog(), rtl_send_path::qp_context_cache, domain);
    m_set_mode.emplace_back([this, block = made.get()] { block->set_mode(m_config.qp_context_cache); });
    return made;
}

std::unique_ptr<send_scheduler> rtl_factory::make_send_scheduler(const char* name, clock_domain& domain) {
    auto made = std::make_unique<rtl_send_scheduler>(name, domain, rtl_mode::model);
    watch(made->verilog(), rtl_send_path::send_scheduler, domain);
    m_set_mode.emplace_back([this, block = made.get()] { block->set_mode(m_config.send_scheduler); });
    return made;
}

std::unique_ptr<link_tx> rtl_factory::make_link_tx(const char* name, clock_domain& domain,
                                                   ib::packet_pool& pool, std::uint32_t sources) {
    auto made = std::make_unique<rtl_link_tx>(name, domain, pool, sources, rtl_mode::model);
    watch(made->verilog(), rtl_send_path::link_tx, domain);
    m_set_mode.emplace_back([this, block = made.get()] { block->set_mode(m_config.link_tx); });
    return made;
}

std::unique_ptr<link_rx> rtl_factory::make_link_rx(const char* name, clock_domain& domain,
                                                   ib::packet_pool& pool) {
    auto made = std::make_unique<rtl_link_rx>(name, domain, pool, rtl_mode::model);
    watch(made->verilog(), rtl_send_path::link_rx, domain);
    m_set_mode.emplace_back([this, block = made.get()] { block->set_mode(m_config.link_rx); });
    return made;
}

}  // namespace hcasim
