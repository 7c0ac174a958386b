#ifndef HCASIM_MODEL_HCA_H
#define HCASIM_MODEL_HCA_H

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "model/clock/channel.h"
#include "model/clock/clock_domain.h"
#include "model/clock/interrupt_if.h"
#include "model/hca_config.h"
#include "model/ib/messages.h"
#include "model/ib/packet.h"
#include "model/stats/observer.h"

namespace hcasim {

class block_factory;

/// A host channel adapter with one port: the blocks and the channels between them, no behaviour of its own.
///
/// Sockets and ports:
/// - `mmio_targ_socket`: BAR of ib::bar_bytes; 8-byte writes to the command page and to UAR pages
/// (model/ib/work_queue.h). Writes are
///   posted; b_transport returns at once. The write is visible at the first edge strictly after
///   sc_time_stamp() + the annotated delay.
/// - `dma_init_socket`: reads and writes of host memory by b_transport. The annotated delay is when the
/// request leaves the HCA; the target
///   adds its latency to it and must not call wait().
/// - `interrupt_o`: may stay unbound.
/// - `link_o`, `link_i`: packets of the port; connect to another HCA's or to a switch port with a channel
/// each way, whose latency is
///   the cable's propagation delay in cycles.
class hca : public sc_core::sc_module {
public:
    /// All HCAs of a fabric share one clock domain and one packet pool. `order_seed` permutes the order in
    /// which the blocks are constructed (0 = natural order); results do not depend on it. `factory` makes the
    /// blocks that something else may stand in for; null for the model's own.
    hca(const sc_core::sc_module_name& name, clock_domain& domain, ib::packet_pool& pool,
        std::uint64_t order_seed = 0, block_factory* factory = nullptr);
    ~hca() override;

    tlm::tlm_target_socket<64>& mmio_targ_socket();
    tlm::tlm_initiator_socket<64>& dma_init_socket();
    sc_core::sc_port<interrupt_if, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt_o;
    sc_core::sc_port<channel_out_if<ib::packet*>> link_o;
    sc_core::sc_port<channel_in_if<ib::packet*>> link_i;

    /// Applies sizes and policies and empties every structure. The clock domain is reset by its owner before
    /// this, the packet pool is reclaimed by its owner. Throws std::invalid_argument for an impossible
    /// combination (a line naming the parameter).
    void reset(const hca_config& config);

    /// Watches every block; null for none. Set before reset().
    void set_observer(observer* o);

    /// Counters of all blocks ("doorbell_unit.coalesced", 3), sorted by name.
    std::vector<std::pair<std::string, std::uint64_t>> counters() const;

    /// Visible state for waveforms and "why is this QP not scheduled": FIFO levels, gate bits.
    std::uint32_t doorbell_fifo_level() const;
    bool gate_is_open(std::uint32_t qpn) const;
    bool is_pending(std::uint32_t qpn) const;

private:
    struct blocks;
    std::unique_ptr<blocks> m_blocks;
    hca_config m_config;
};

}  // namespace hcasim

#endif
