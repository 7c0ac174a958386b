#!/bin/bash
# Tests the root script without touching the machine: a copy of it runs with a PATH of its own, on which the package
# tools, the build tools and the privileges are stand-ins that write down how they were called.
# usage: set_up_test.sh DIRECTORY   (emptied first)
set -eu
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$1
rm -rf "$work"
mkdir -p "$work"/{tree,bin,elsewhere}
cp "$source/hcasim" "$source/CMakePresets.json" "$work/tree/"

for tool in bash cat chmod env flock grep mkdir nproc readlink rm sed tail touch; do
  ln -s "$(command -v "$tool")" "$work/bin/$tool"
done
stand_in() {
  printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
stand_in dpkg-query 'for p; do [[ " $MISSING " == *" $p "* || $p == -* || $p == *\$* ]] || echo "installed $p "; done'
stand_in apt-get 'echo "apt-get $*" >>"$CALLS"; exit "${APT_RESULT:-0}"'
stand_in id 'echo "${USER_ID:-0}"'
stand_in ctest 'echo "ctest $*"'
stand_in cmake '
echo "cmake $*" >>"$CALLS"
case $1 in
  --preset) mkdir -p build/$2/bin && touch build/$2/build.ninja && echo "HCASIM_TESTS:BOOL=${3#*=}" >build/$2/CMakeCache.txt ;;
  --build)
    [[ ${BUILD_RESULT:-0} == 0 ]] || { echo "error: no such thing"; exit 1; }
    printf "#!/bin/bash\necho program in \$PWD: \$*\n" >"$2/bin/hcasim"
    chmod +x "$2/bin/hcasim" ;;
esac'

failures=0
check() {
  local what=$1
  shift
  if ! "$@"; then
    echo "FAILED: $what"
    echo "  exit $result"
    sed 's/^/  stdout: /' "$work/out"
    sed 's/^/  stderr: /' "$work/err"
    sed 's/^/  call: /' "$work/calls"
    failures=$((failures + 1))
  fi
}
# Runs the script: [variable=value...] -- arguments
run() {
  local settings=()
  while [[ $1 != -- ]]; do settings+=("$1"); shift; done
  shift
  : >"$work/calls"
  result=0
  (cd "$work/elsewhere" && env -i PATH="$work/bin" CALLS="$work/calls" MISSING= "${settings[@]}" \
    "${script:-$work/tree/hcasim}" "$@" >"$work/out" 2>"$work/err") || result=$?
}
out_is() { [[ $(cat "$work/out") == "$1" ]]; }
err_is() { [[ $(cat "$work/err") == "$1" ]]; }
called() { grep -qx -- "$1" "$work/calls"; }
not_called() { ! grep -q -- "$1" "$work/calls"; }
exits_with() { [[ $result == "$1" ]]; }

run -- run 'a b' c
check "the program runs where the caller is" out_is "program in $work/elsewhere: run a b c"
check "the program alone talks" err_is ""
check "nothing is installed when all is there" not_called apt-get
check "it is configured" called "cmake --preset release -DHCASIM_TESTS=OFF"
check "only the program is built" called "cmake --build $work/tree/build/release --target hcasim --parallel [0-9]*"

run -- doctor
check "it is configured once" not_called --preset

ln -s ../tree/hcasim "$work/elsewhere/link"
script=$work/elsewhere/link run -- run
check "a link to the script works" out_is "program in $work/elsewhere: run"

run MISSING="libsystemc-dev catch2" -- run
check "a missing package is installed, and none that only the tests need" \
  called "apt-get .*install --no-install-recommends libsystemc-dev"
check "package lists are fetched first" called "apt-get .*update"
check "it says what it installs" err_is "hcasim: installing with apt-get: libsystemc-dev"

run MISSING="libsystemc-dev libfmt-dev" USER_ID=1000 -- run
check "without the right to install it gives up" exits_with 2
check "and says how" err_is "hcasim: missing packages and no right to install them. As root: \
apt-get update && apt-get install --no-install-recommends libsystemc-dev libfmt-dev"
check "and installs nothing" not_called apt-get

stand_in sudo 'echo "sudo $*" >>"$CALLS"; [[ $1 != -n ]] || shift; exec "$@"'
run MISSING="libfmt-dev" USER_ID=1000 -- run
check "sudo is used where there is one" called "sudo .*install --no-install-recommends libfmt-dev"

run MISSING="libfmt-dev" APT_RESULT=100 -- run
check "a failed installation ends it" exits_with 2

run MISSING="verilator" -- run
check "Verilator is installed for the program" called "apt-get .*install --no-install-recommends verilator"

run MISSING="verilator" APT_RESULT=100 -- run
check "without Verilator it goes on" out_is "program in $work/elsewhere: run"
check "and says so" grep -q "^hcasim: goes on without verilator" "$work/err"
run MISSING="verilator" APT_RESULT=100 -- run
check "and does not try again" not_called apt-get
check "nor speak of it" err_is ""

run MISSING="catch2" -- test -L unit
check "the tests bring their packages" called "apt-get .*install --no-install-recommends catch2"
check "the tests are configured" called "cmake --preset release -DHCASIM_TESTS=ON"
check "all is built" called "cmake --build $work/tree/build/release --target all --parallel [0-9]*"
check "ctest gets the arguments" \
  out_is "ctest --test-dir $work/tree/build/release --output-on-failure --parallel 2 -L unit"

run -- run
check "the tests stay configured" not_called --preset

run BUILD_RESULT=1 -- run
check "a failed build ends it" exits_with 2
check "with the compiler's words" grep -q "error: no such thing" "$work/err"
check "and nothing on standard output" out_is ""

run HCASIM_PRESET=dev -- run
check "another preset can be chosen" called "cmake --preset dev -DHCASIM_TESTS=OFF"

run BUILD_RESULT=1 -- test --help
check "help needs no build" exits_with 0
check "and is there" grep -q "usage: ./hcasim test" "$work/out"

exit $((failures > 0))
