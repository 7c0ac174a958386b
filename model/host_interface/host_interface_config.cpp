#include "model/host_interface/host_interface_config.h"

namespace hcasim {

void host_interface_config::describe(parameter_list& list) {
    list.integer("host_interface.reads_outstanding", reads_outstanding, 1, 1024,
                 {"tags", "DMA reads under way", evidence::documented,
                  "pcie-bench: at least 30 for 64-byte line rate"});
    list.integer("host_interface.bytes_per_cycle", bytes_per_cycle, 1, 1024,
                 {"bytes", "bus bandwidth in each direction per core cycle", evidence::documented,
                  "PCIe Gen3 x16: 15.75 GB/s at 250 MHz"});
    list.integer("host_interface.tlp_overhead_bytes", tlp_overhead_bytes, 0, 64,
                 {"bytes", "header and framing of each request or completion of up to 256 bytes",
                  evidence::documented, "Kalia ATC'16: 20 to 26 bytes"});
}

}  // namespace hcasim
