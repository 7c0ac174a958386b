#include <cstdint>
#include <string>
#include <vector>

#include "model/stats/parameter.h"
#include "testbenches/unit/catch.h"

using hcasim::about;
using hcasim::evidence;
using hcasim::parameter;
using hcasim::parameter_list;

namespace {

enum class colour : std::uint8_t { red, green, blue };

struct settings {
    std::uint32_t depth = 4;
    std::uint8_t small = 7;
    double loss = 0.25;
    bool fast = true;
    std::string file = "a.toml";
    colour paint = colour::green;
    std::uint32_t openers = 5;

    void describe(parameter_list& list) {
        list.integer("fifo.depth", depth, 1, 64,
                     {"entries", "depth of the FIFO", evidence::documented, "data sheet"})
            .power_of_two = true;
        list.integer("fifo.small", small, 0, 255, {"1", "a small one"});
        list.real("link.loss", loss, 0, 1, {"1", "loss", evidence::measured, "tap"});
        list.boolean("fast", fast, {"1", "fast"});
        list.text("file", file, {"1", "file"});
        list.choice("paint", paint, {"red", "green", "blue"}, {"1", "paint"});
        list.flags("open_on", openers, {"rtu", "packet", "comm_est"}, {"1", "openers"});
    }
};

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("parameter: what describe() says is all there, in order") {
    settings s;
    parameter_list list;
    s.describe(list);
    REQUIRE(list.all().size() == 7);
    const parameter& depth = list.all()[0];
    CHECK(depth.key == "fifo.depth");
    CHECK(depth.kind == parameter::kind_t::integer);
    CHECK(depth.unit == "entries");
    CHECK(depth.meaning == "depth of the FIFO");
    CHECK(depth.origin == evidence::documented);
    CHECK(depth.source == "data sheet");
    CHECK(depth.minimum == 1);
    CHECK(depth.maximum == 64);
    CHECK(depth.power_of_two);
    CHECK_FALSE(list.all()[1].power_of_two);
    CHECK(list.all()[1].origin == evidence::assumed);
    CHECK(list.all()[1].source.empty());
    CHECK(list.all()[2].kind == parameter::kind_t::real);
    CHECK(list.all()[2].real_minimum == 0.0);
    CHECK(list.all()[2].real_maximum == 1.0);
    CHECK(list.all()[3].kind == parameter::kind_t::boolean);
    CHECK(list.all()[4].kind == parameter::kind_t::text);
    CHECK(list.all()[5].kind == parameter::kind_t::choice);
    CHECK(list.all()[5].choices == strings{"red", "green", "blue"});
    CHECK(list.all()[6].kind == parameter::kind_t::choice_list);
    CHECK(list.all()[6].choices == strings{"rtu", "packet", "comm_est"});
}

TEST_CASE("parameter: values go to the fields and come from them") {
    settings s;
    parameter_list list;
    s.describe(list);
    const auto& p = list.all();
    CHECK(p[0].get_integer() == 4);
    p[0].set_integer(32);
    CHECK(s.depth == 32);
    s.depth = 8;
    CHECK(p[0].get_integer() == 8);
    p[1].set_integer(255);
    CHECK(s.small == 255);
    p[2].set_real(0.5);
    CHECK(s.loss == 0.5);
    CHECK(p[2].get_real() == 0.5);
    p[3].set_boolean(false);
    CHECK_FALSE(s.fast);
    CHECK_FALSE(p[3].get_boolean());
    p[4].set_text("b.toml");
    CHECK(s.file == "b.toml");
    CHECK(p[5].get_text() == "green");
    p[5].set_text("blue");
    CHECK(s.paint == colour::blue);
    CHECK(p[5].get_text() == "blue");
    p[5].set_text("mauve");  // the caller checks against choices
    CHECK(s.paint == colour::blue);
}

TEST_CASE("parameter: a list of flags is a set of bits") {
    settings s;
    parameter_list list;
    s.describe(list);
    const parameter& openers = list.all()[6];
    CHECK(openers.get_list() == strings{"rtu", "comm_est"});
    openers.set_list({"packet"});
    CHECK(s.openers == 2);
    openers.set_list({});
    CHECK(s.openers == 0);
    CHECK(openers.get_list().empty());
    openers.set_list({"comm_est", "rtu", "packet", "rtu"});
    CHECK(s.openers == 7);
    CHECK(openers.get_list() == strings{"rtu", "packet", "comm_est"});
}

TEST_CASE("parameter: exactly the accessors of the kind are set") {
    settings s;
    parameter_list list;
    s.describe(list);
    for (const parameter& p : list.all()) {
        using kind = parameter::kind_t;
        INFO(p.key);
        CHECK(bool(p.get_integer) == (p.kind == kind::integer));
        CHECK(bool(p.set_integer) == (p.kind == kind::integer));
        CHECK(bool(p.get_real) == (p.kind == kind::real));
        CHECK(bool(p.set_real) == (p.kind == kind::real));
        CHECK(bool(p.get_boolean) == (p.kind == kind::boolean));
        CHECK(bool(p.set_boolean) == (p.kind == kind::boolean));
        CHECK(bool(p.get_text) == (p.kind == kind::text || p.kind == kind::choice));
        CHECK(bool(p.set_text) == (p.kind == kind::text || p.kind == kind::choice));
        CHECK(bool(p.get_list) == (p.kind == kind::choice_list));
        CHECK(bool(p.set_list) == (p.kind == kind::choice_list));
    }
}

TEST_CASE("parameter: a list outlives its own growth") {
    std::vector<settings> many(100);
    parameter_list list;
    for (auto& s : many) {
        s.describe(list);
    }
    REQUIRE(list.all().size() == 700);
    list.all()[7 * 50].set_integer(64);
    CHECK(many[50].depth == 64);
    CHECK(many[49].depth == 4);
    CHECK(many[51].depth == 4);
}
