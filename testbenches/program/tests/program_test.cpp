// The program itself, as a user runs it: exit codes, what goes to standard output and what to standard error.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "testbenches/unit/catch.h"
#include "testbenches/unit/source_directory.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const fs::path& path, const std::string& text) { std::ofstream{path, std::ios::binary} << text; }

// A directory of its own for each test, gone afterwards.
class place {
public:
    place() {
        std::string pattern = (fs::temp_directory_path() / "hcasim_test_XXXXXX").string();
        m_path = mkdtemp(pattern.data());
    }
    ~place() {
        std::error_code error;
        fs::remove_all(m_path, error);
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    fs::path operator/(const std::string& name) const { return m_path / name; }

    struct outcome {
        int code = -1;
        std::string out, error;
    };
    /// Runs a shell command line here; `hcasim` is the program under test.
    outcome run(const std::string& command) const {
        const std::string line = "cd '" + m_path.string() +
                                 "' && hcasim() { '" HCASIM_PROGRAM "' \"$@\"; } && { " + command +
                                 "\n} >.out 2>.error </dev/null";
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(m_path / ".out"), read(m_path / ".error")};
    }

private:
    fs::path m_path;
};

std::string scenario(const std::string& name) {
    return "'" + hcasim::source_directory() + "/traces/" + name + ".toml'";
}

void check_refused(const place& here, const std::string& command, const std::string& start,
                   const std::string& fragment) {
    const auto o = here.run(command);
    INFO(command << "\n" << o.error);
    CHECK(o.code == 2);
    CHECK(o.out.empty());
    CHECK(std::count(o.error.begin(), o.error.end(), '\n') == 1);
    CHECK(o.error.substr(0, start.size()) == start);
    CHECK(o.error.find(fragment) != std::string::npos);
}

}  // namespace

TEST_CASE("what cannot be done is refused with one line and exit code 2") {
    const place here;
    write(here / "good.toml", "schema = \"hcasim.scenario/1\"\n");
    write(here / "bad.toml", "schema = \"hcasim.scenario/1\"\n[gate]\npolicy = \"hardwre\"\n");
    write(here / "empty.toml", "");
    fs::create_directory(here / "dir");
    const std::string policy = "bad.toml:3:10: gate.policy: ";
    check_refused(here, "hcasim run bad.toml", policy, "did you mean 'hardware'?");
    check_refused(here, "hcasim check bad.toml", policy, "expected one of hardware, software, reject");
    check_refused(here, "hcasim run empty.toml", "empty.toml:1:1: file: ", "is empty");
    check_refused(here, "hcasim run god.toml", "god.toml:1:1: file: ", "did you mean 'good.toml'?");
    check_refused(here, "hcasim run dir", "dir:1:1: file: ", "is a directory");
    check_refused(here, "hcasim run dir/x/y.toml", "dir/x/y.toml:1:1: file: ", "does not exist");
    check_refused(here, "hcasim run /dev/zero", "/dev/zero:1:1: file: ", "larger than");
    check_refused(here, "hcasim run good.toml --set seed", "--set seed: ", "has no '='");
    check_refused(here, "hcasim run good.toml --set sed=1", "--set sed=1: sed: ", "did you mean 'seed'?");
    check_refused(here, "hcasim run good.toml --seed x", "--seed: ", "'x' is not a seed");
    check_refused(here, "hcasim run good.toml --seed -3", "--seed: ", "'-3' is not a seed");
    check_refused(here, "hcasim run good.toml --seed 99999999999999999999",
                  "--seed: ", "expected an integer");
    check_refused(here, "hcasim run good.toml --engine weel", "--engine: ", "did you mean 'wheel'?");
    check_refused(here, "hcasim run good.toml --json dir", "--json: dir: ", "cannot be written");
    check_refused(here, "hcasim run good.toml --json no/x.json", "--json: no/x.json: ", "cannot be written");
    check_refused(here, "hcasim run good.toml --json ''", "hcasim run: --json: ", "is empty");
    check_refused(here, "hcasim run good.toml --json", "hcasim run: ", "--json");
    check_refused(here, "hcasim run good.toml --csv dir/../good.toml", "--csv: ", "is the input file");
    check_refused(here, "hcasim run good.toml --json a --csv ./a",
                  "--csv: ./a: ", "is also the file of --json");
    check_refused(here, "ln good.toml link && hcasim run good.toml --wave link",
                  "--wave: ", "is the input file");
    check_refused(here, "hcasim run good.toml --jsn x", "hcasim run: --jsn: ", "did you mean '--json'?");
    check_refused(here, "hcasim run good.toml more.toml", "hcasim run: more.toml: ", "one argument too many");
    check_refused(here, "hcasim run", "hcasim run: ", "SCENARIO");
    check_refused(here, "hcasim", "hcasim: no command given", "expected one of run");
    check_refused(here, "hcasim regres", "hcasim: regres: ", "did you mean 'regress'?");
    check_refused(here, "hcasim --no-such", "hcasim: --no-such: ", "is not a known option");
    check_refused(here, "hcasim params gte.policy", "params: gte.policy: ", "did you mean 'gate.policy'?");
    check_refused(here, "hcasim regress nowhere", "regress: nowhere: ", "is not a directory");
    check_refused(here, "hcasim regress dir", "regress: dir: ", "holds no scenario");
    check_refused(here, "hcasim regress . --junit dir", "--junit: dir: ", "cannot be written");
    CHECK(read(here / "good.toml") == "schema = \"hcasim.scenario/1\"\n");
    CHECK_FALSE(fs::exists(here / "a"));
}

TEST_CASE("a run that is refused leaves output files as they were") {
    const place here;
    write(here / "bad.toml", "schema = \"hcasim.scenario/1\"\nseed = 0.5\n");
    write(here / "good.toml", "schema = \"hcasim.scenario/1\"\n");
    write(here / "old.json", "old");
    CHECK(here.run("hcasim run bad.toml --json old.json").code == 2);
    CHECK(here.run("hcasim run good.toml --json old.json --csv new.csv --wave no/x.vcd").code == 2);
    CHECK(read(here / "old.json") == "old");
    CHECK_FALSE(fs::exists(here / "new.csv"));
}

TEST_CASE("check tells each file") {
    const place here;
    write(here / "good.toml", "schema = \"hcasim.scenario/1\"\nname = \"mine\"\n");
    write(here / "bad.toml", "schema = 1\n");
    auto o = here.run("hcasim check good.toml");
    CHECK(o.code == 0);
    CHECK(o.out.find("good.toml: good; scenario mine") == 0);
    o = here.run("hcasim check bad.toml good.toml bad.toml");
    CHECK(o.code == 2);
    CHECK(std::count(o.out.begin(), o.out.end(), '\n') == 1);
    CHECK(std::count(o.error.begin(), o.error.end(), '\n') == 2);
}

TEST_CASE("version, help, doctor and params speak on standard output") {
    const place here;
    for (const char* command :
         {"--version", "--help", "help", "run --help", "help regress", "doctor", "params", "params gate"}) {
        const auto o = here.run(std::string("hcasim ") + command);
        INFO(command);
        CHECK(o.code == 0);
        CHECK(o.error.empty());
        CHECK_FALSE(o.out.empty());
    }
    CHECK(here.run("hcasim --help").out.find("Examples:") != std::string::npos);
    CHECK(here.run("hcasim doctor").out.find("SystemC") != std::string::npos);
    const auto parameters = nlohmann::json::parse(here.run("hcasim params --json").out);
    REQUIRE(parameters.is_array());
    for (const auto& p : parameters) {
        INFO(p["key"]);
        CHECK(p.contains("default"));
        CHECK_FALSE(p["meaning"].get<std::string>().empty());
        CHECK((p["evidence"] == "documented" || p["evidence"] == "measured" || p["evidence"] == "assumed"));
    }
}

TEST_CASE("a run gives the same bytes again, on either engine, but for the speed") {
    const place here;
    const std::string run = "hcasim run " + scenario("first_light");
    const auto first = here.run(run + " --json a.json --csv a.csv --wave a.vcd");
    INFO(first.error);
    REQUIRE(first.code == 0);
    CHECK(first.error.empty());
    REQUIRE(here.run(run + " --json b.json --csv b.csv --wave b.vcd").code == 0);
    REQUIRE(here.run(run + " --engine poll --json c.json --csv c.csv --wave c.vcd").code == 0);
    const auto without_speed = [](const std::string& json) {
        return json.substr(0, json.find("\"host_seconds\""));
    };
    CHECK(without_speed(read(here / "a.json")) == without_speed(read(here / "b.json")));
    CHECK(without_speed(read(here / "a.json")) == without_speed(read(here / "c.json")));
    CHECK(read(here / "a.csv") == read(here / "b.csv"));
    CHECK(read(here / "a.csv") == read(here / "c.csv"));
    CHECK(read(here / "a.vcd") == read(here / "b.vcd"));
    CHECK(read(here / "a.vcd") == read(here / "c.vcd"));
    CHECK(here.run(run + " --seed 12345 --json d.json").code == 0);
    const auto json = nlohmann::json::parse(read(here / "d.json"));
    CHECK(json["seed"] == 12345);
    CHECK(json["config_hash"] == nlohmann::json::parse(read(here / "a.json"))["config_hash"]);
}

TEST_CASE("the stages of every send add up to its latency") {
    const place here;
    REQUIRE(here.run("hcasim run " + scenario("first_light") + " --json a.json").code == 0);
    const auto json = nlohmann::json::parse(read(here / "a.json"));
    double stages = 0;
    for (const auto& stage : json["stages"]) {
        stages += stage["mean"].get<double>() * stage["count"].get<double>();
    }
    const double total =
        json["latency_cycles"]["mean"].get<double>() * json["latency_cycles"]["count"].get<double>();
    CHECK(std::llround(stages) == std::llround(total));
}

TEST_CASE("a wave is read by the tools of gtkwave") {
    const place here;
    if (here.run("command -v vcd2fst").code != 0) {
        WARN("vcd2fst (package gtkwave) is not installed: nothing checked");
        return;
    }
    REQUIRE(here.run("hcasim run " + scenario("first_light") + " --wave a.vcd").code == 0);
    const auto o = here.run("vcd2fst a.vcd a.fst");
    INFO(o.out << o.error);
    CHECK(o.code == 0);
    CHECK(fs::file_size(here / "a.fst") > 0);
}

TEST_CASE("regress: update, same, differs, and what has no partner") {
    const place here;
    fs::create_directory(here / "t");
    REQUIRE(here.run("cp " + scenario("first_light") + " t/").code == 0);
    auto o = here.run("hcasim regress t");
    CHECK(o.code == 1);
    CHECK(o.out.find("has no golden result") != std::string::npos);
    o = here.run("hcasim regress t --update");
    INFO(o.out << o.error);
    REQUIRE(o.code == 0);
    CHECK(here.run("hcasim regress t --junit r.xml").code == 0);
    CHECK(read(here / "r.xml").find("tests=\"1\" failures=\"0\" errors=\"0\"") != std::string::npos);

    const fs::path golden = here / "t/golden/first_light.json";
    std::string text = read(golden);
    const std::string key = "\"cycles\": ";
    text.insert(text.find(key) + key.size(), "1");
    write(golden, text);
    o = here.run("hcasim regress t --junit r.xml");
    CHECK(o.code == 1);
    CHECK(o.out.find("DIFFERS") != std::string::npos);
    CHECK(o.out.find("/cycles: expected 1") != std::string::npos);
    CHECK(read(here / "r.xml").find("<failure message=\"1 value differs") != std::string::npos);
    CHECK(read(golden) == text);

    write(golden, "{ not JSON");
    CHECK(here.run("hcasim regress t").code == 1);
    CHECK(here.run("hcasim regress t --update").code == 0);
    write(here / "t/golden/lost.json", "{}");
    o = here.run("hcasim regress t");
    CHECK(o.code == 1);
    CHECK(o.out.find("without a scenario") != std::string::npos);
    fs::remove(here / "t/golden/lost.json");
    write(here / "t/broken.toml", "schema = 1\n");
    o = here.run("hcasim regress t --junit r.xml");
    CHECK(o.code == 2);
    CHECK(o.out.find("BAD INPUT") != std::string::npos);
    CHECK(read(here / "r.xml").find("<error message=") != std::string::npos);
}
