#!/bin/bash
# usage: skip_without.sh TOOL... -- COMMAND...    runs the command; 77 (skipped) when a tool is not installed
set -u
while [[ $1 != -- ]]; do
  command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 77; }
  shift
done
shift
exec "$@"
