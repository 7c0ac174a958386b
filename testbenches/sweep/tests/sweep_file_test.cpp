// Sweep files: which points they mean, and what is said of a bad one.
#include "testbenches/sweep/sweep_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "testbenches/program/input_error.h"
#include "testbenches/unit/catch.h"

using namespace hcasim;

namespace {

namespace fs = std::filesystem;

class directory {
public:
    directory() : m_path(fs::temp_directory_path() / ("hcasim_sweep_file." + std::to_string(::getpid()))) {
        fs::create_directories(m_path);
        std::ofstream(m_path / "s.toml") << "schema = \"hcasim.scenario/1\"\nname = \"s\"\n";
    }
    ~directory() {
        std::error_code error;
        fs::remove_all(m_path, error);
    }
    directory(const directory&) = delete;
    directory& operator=(const directory&) = delete;

    // Lines 1 to 2 are the head.
    std::string sweep(const std::string& text) const {
        const fs::path path = m_path / "sweep.toml";
        std::ofstream(path) << "schema = \"hcasim.sweep/1\"\nscenario = \"s.toml\"\n" + text;
        return path.string();
    }
    sweep_plan read(const std::string& text, const std::vector<std::string>& sets = {}) const {
        return read_sweep(sweep(text), sets);
    }

private:
    fs::path m_path;
};

std::vector<std::string> values_of(const sweep_plan& plan, const std::string& key) {
    std::vector<std::string> values;
    for (std::uint64_t n = 0; n < plan.points(); ++n) {
        for (const auto& [name, value] : plan.labels_of(plan.point(n))) {
            if (name == key) {
                values.push_back(value);
            }
        }
    }
    return values;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("all combinations, the last axis changes fastest, then the seed", "[sweep_file]") {
    const directory d;
    const sweep_plan plan = d.read(R"(
[repeat]
seeds = 2
first_seed = 7
[[axis]]
key = "topology.connections"
values = [1, 2]
[[axis]]
key = "cm.rtu_loss"
values = [0, 0.5, 1.0]
)");
    REQUIRE(plan.points() == 12);
    CHECK(values_of(plan, "topology.connections") ==
          texts{"1", "1", "1", "1", "1", "1", "2", "2", "2", "2", "2", "2"});
    CHECK(values_of(plan, "cm.rtu_loss") ==
          texts{"0", "0", "0.5", "0.5", "1", "1", "0", "0", "0.5", "0.5", "1", "1"});
    CHECK(plan.point(0).seed == 7);
    CHECK(plan.point(1).seed == 8);
    CHECK(plan.point(2).seed == 7);
}

TEST_CASE("ranges hold both ends and whole numbers are rounded and come once", "[sweep_file]") {
    const directory d;
    const auto range = [&d](const std::string& key, const std::string& text) {
        return values_of(d.read("[[axis]]\nkey = \"" + key + "\"\n" + text + "\n"), key);
    };
    CHECK(range("host.interrupt_ns", "linear = { from = 1000, to = 5000, count = 5 }") ==
          texts{"1000", "2000", "3000", "4000", "5000"});
    CHECK(range("topology.connections", "log = { from = 1, to = 256, count = 5 }") ==
          texts{"1", "4", "16", "64", "256"});
    // 1, 1.26, 1.59, 2, 2.52, 3.17, 4: rounded, without what comes twice.
    CHECK(range("topology.connections", "log = { from = 1, to = 4, count = 7 }") ==
          texts{"1", "2", "3", "4"});
    CHECK(range("cm.rtu_loss", "linear = { from = 0, to = 1, count = 3 }") == texts{"0", "0.5", "1"});
    CHECK(range("host.interrupt_ns", "linear = { from = 20, to = 10, count = 3 }") ==
          texts{"20", "15", "10"});
}

TEST_CASE("keys that change together, presets, and conditions", "[sweep_file]") {
    const directory d;
    const sweep_plan plan = d.read(R"(
[[axis]]
zip = [ { key = "qp_context_cache.sets", values = [4, 16] }, { key = "qp_context_cache.ways", values = [1, 2] } ]
[[axis]]
name = "design"
[[axis.preset]]
name = "gate"
set = { gate.open_on = ["packet"] }
[[axis.preset]]
name = "queue"
set = { gate.policy = "software", gate.open_on = ["rtu"] }
[[skip]]
design = "queue"
qp_context_cache.sets = [16, 64]
)");
    CHECK(values_of(plan, "qp_context_cache.ways") == texts{"1", "1", "2"});
    CHECK(values_of(plan, "design") == texts{"gate", "queue", "gate"});
    const settings second = plan.settings_of(plan.point(1));
    scenario_editor editor(plan.base);
    for (const auto& [parameter, value] : second) {
        value.apply(editor.parameters()[parameter]);
    }
    CHECK(editor.config().policy == gate_policy::software);
    CHECK(editor.config().open_on == open_on_rtu);
    CHECK(editor.config().hca.qp_context_cache.sets == 4);
}

TEST_CASE("only keeps what matches one of its conditions", "[sweep_file]") {
    const directory d;
    const sweep_plan plan = d.read(R"(
[[axis]]
key = "topology.connections"
values = [1, 2, 3, 4]
[[axis]]
key = "gate.open_on"
values = [["rtu"], ["rtu", "packet"]]
[[only]]
topology.connections = [1, 2]
gate.open_on = ["rtu", "packet"]
[[only]]
topology.connections = 4
)");
    CHECK(values_of(plan, "topology.connections") == texts{"1", "2", "4", "4"});
    CHECK(values_of(plan, "gate.open_on") == texts{"rtu, packet", "rtu, packet", "rtu", "rtu, packet"});
}

TEST_CASE("grids share what stands at the top", "[sweep_file]") {
    const directory d;
    const sweep_plan plan = d.read(R"(
[set]
traffic.messages = 3
[[axis]]
key = "gate.policy"
values = ["hardware", "reject"]
[[grid]]
name = "a"
[[grid.axis]]
key = "topology.connections"
values = [1, 2, 3]
[[grid]]
name = "b"
set = { topology.connections = 9 }
[[grid.axis]]
key = "cm.rtu_loss"
values = [0.0, 1.0]
[[grid.skip]]
gate.policy = "reject"
)");
    REQUIRE(plan.points() == 8);
    CHECK(plan.point(5).grid->name == "a");
    CHECK(plan.point(6).grid->name == "b");
    CHECK(plan.base.config.messages == 3);
    CHECK(values_of(plan, "gate.policy") ==
          texts{"hardware", "hardware", "hardware", "reject", "reject", "reject", "hardware", "hardware"});
}

TEST_CASE("identity changes with the base, an axis or a condition, not with a comment", "[sweep_file]") {
    const directory d;
    const std::string axis = "[[axis]]\nkey = \"topology.connections\"\nvalues = [1, 2]\n";
    const sweep_plan plan = d.read(axis);
    CHECK(plan.identity() == d.read("# a comment\n" + axis).identity());
    CHECK(plan.base_hash() != d.read(axis, {"traffic.messages=5"}).base_hash());
    CHECK(plan.identity() != d.read(axis, {"traffic.messages=5"}).identity());
    CHECK(plan.identity() != d.read(axis + "[[skip]]\ntopology.connections = 2\n").identity());
    CHECK(plan.identity() !=
          d.read("[[axis]]\nkey = \"topology.connections\"\nvalues = [1, 3]\n").identity());
    CHECK(plan.base_hash() ==
          d.read("[[axis]]\nkey = \"topology.connections\"\nvalues = [1, 3]\n").base_hash());
}

TEST_CASE("filters choose points and keep their numbers", "[sweep_file]") {
    const directory d;
    const sweep_plan plan = d.read(R"(
[repeat]
seeds = 2
[[axis]]
key = "topology.connections"
values = [1, 2, 3]
)");
    CHECK(filter_points(plan, {"topology.connections=2"}) == std::vector<std::uint64_t>{2, 3});
    CHECK(filter_points(plan, {"topology.connections=3", "seed=1"}) == std::vector<std::uint64_t>{4});
    CHECK_THROWS_WITH(filter_points(plan, {"topology.conections=3"}),
                      has_part("did you mean 'topology.connections'?"));
    CHECK_THROWS_WITH(filter_points(plan, {"topology.connections=9"}), has_part("matches no point"));
}

TEST_CASE("a filter's value may be written in any way that TOML knows", "[sweep_file]") {
    const directory d;
    const sweep_plan plan = d.read(R"(
[[axis]]
key = "cm.rtu_loss"
values = [0.0, 0.5, 1e-3]
[[axis]]
key = "gate.open_on"
values = [["rtu"], ["rtu", "packet"]]
)");
    using points = std::vector<std::uint64_t>;
    for (const char* half : {"0.5", "5e-1", "0.50", "+0.5"}) {
        CHECK(filter_points(plan, {std::string("cm.rtu_loss=") + half}) == points{2, 3});
    }
    CHECK(filter_points(plan, {"cm.rtu_loss=0"}) == points{0, 1});
    CHECK(filter_points(plan, {"cm.rtu_loss=0.001", "point=0x5"}) == points{5});
    for (const char* both : {"rtu, packet", "[\"rtu\",\"packet\"]", "[ 'rtu', 'packet' ]"}) {
        CHECK(filter_points(plan, {std::string("gate.open_on=") + both}) == points{1, 3, 5});
    }
    for (const char* one : {"rtu", "\"rtu\"", "['rtu']"}) {
        CHECK(filter_points(plan, {std::string("gate.open_on=") + one}) == points{0, 2, 4});
    }
    for (const char* nothing : {"0.5x", "", "true", "nan", "\"0.5"}) {
        CHECK_THROWS_WITH(filter_points(plan, {std::string("cm.rtu_loss=") + nothing}),
                          has_part("matches no point"));
    }
}

TEST_CASE("a bad sweep file gives one line with its place", "[sweep_file]") {
    struct bad {
        const char* text;
        const char* place;
        const char* fragment;
    };
    const std::vector<bad> files = {
        {"", ":1:1", "at least one [[axis]]"},
        {"[[axi]]\nkey = \"seed\"\n", ":3:", "did you mean 'axis'?"},
        {"[[axis]]\nkey = \"cm.rtu_los\"\nvalues = [1]\n", ":4:", "did you mean 'cm.rtu_loss'?"},
        {"[[axis]]\nkey = \"cm.rtu_loss\"\nvalues = [0.5, 1.5]\n", ":5:", "too large"},
        {"[[axis]]\nkey = \"cm.rtu_loss\"\nvalues = []\n", ":5:", "not a list of values"},
        {"[[axis]]\nkey = \"cm.rtu_loss\"\n", ":3:", "none or several of values, linear, log"},
        {"[[axis]]\nkey = \"cm.rtu_loss\"\nlog = { from = 0, to = 1, count = 3 }\n", ":5:", "above 0"},
        {"[[axis]]\nkey = \"cm.rtu_loss\"\nlinear = { from = 0, to = 1, count = 1 }\n", ":5:", "from 2 to"},
        {"[[axis]]\nkey = \"gate.policy\"\nlinear = { from = 0, to = 1, count = 3 }\n",
         ":5:", "is no number"},
        {"[[axis]]\nkey = \"seed\"\nvalues = [1]\n", ":4:", "[repeat]"},
        {"[[axis]]\nkey = \"hca.qps\"\nvalues = [64, 65]\n", ":5:", "power of two"},
        {"[[axis]]\nkey = \"hca.qps\"\nvalues = [64]\n[[axis]]\nkey = \"hca.qps\"\nvalues = [64]\n",
         ":6:", "is an axis already"},
        {"[[axis]]\nzip = [{ key = \"hca.qps\", values = [64] }, { key = \"cm.rtu_loss\", values = [0, 1] "
         "}]\n",
         ":4:", "cm.rtu_loss has 2 values, hca.qps has 1"},
        {"[[axis]]\nname = \"d\"\n[[axis.preset]]\nname = \"x\"\n", ":5:", "axis.preset.set"},
        {"[[axis]]\nname = \"d\"\n[[axis.preset]]\nname = \"x\"\nset = { gate.polcy = \"reject\" }\n",
         ":7:", "did you mean 'gate.policy'?"},
        {"[[axis]]\nkey = \"hca.qps\"\nvalues = [64]\n[[skip]]\ncm.rtu_loss = 1\n", ":7:", "is on no axis"},
        {"[[axis]]\nkey = \"hca.qps\"\nvalues = [64]\n[[skip]]\nhca.qps = 64\n", ":1:1", "leave no point"},
        {"[[axis]]\nkey = \"hca.qps\"\nvalues = [64]\n[repeat]\nseeds = 0\n", ":7:", "from 1 to"},
        {"[set]\nhca.qps = 3\n[[axis]]\nkey = \"cm.rtu_loss\"\nvalues = [0]\n", ":4:", "power of two"},
        {"[[grid]]\n[[grid.axis]]\nkey = \"hca.qps\"\nvalues = [64]\n", ":3:", "grid.name"},
        {"[[axis\n", ":3:", "valid TOML"},
        {"[[axis]]\nkey = \"cm.rtu_loss\"\nlinear = { from = 0, to = 1, count = 20000 }\n[[axis]]\nkey = "
         "\"host.interrupt_ns\"\nlinear = { from = 1, to = 1000, count = 1000 }\n",
         ":1:1", "10 million"},
    };
    const directory d;
    for (const bad& b : files) {
        INFO(b.text);
        std::string line;
        try {
            d.read(b.text);
        } catch (const input_error& error) {
            line = error.what();
        }
        INFO(line);
        CHECK(line.find(std::string("sweep.toml") + b.place) != std::string::npos);
        CHECK(line.find(b.fragment) != std::string::npos);
        CHECK(line.find('\n') == std::string::npos);
    }
    CHECK_THROWS_WITH(d.read("[[axis]]\nkey = \"hca.qps\"\nvalues = [64]\n", {"hca.qps=64"}),
                      has_part("is changed by the sweep itself"));
    CHECK_THROWS_WITH(d.read("[[axis]]\nkey = \"hca.qps\"\nvalues = [64]\n", {"hca.qp=4"}),
                      has_part("--set hca.qp=4"));
}
