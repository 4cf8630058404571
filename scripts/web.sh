#!/usr/bin/env bash
# Builds the page that checks a model in the browser: a folder for any static server. The program in it
# is the command line itself, compiled to WebAssembly.
#
#   scripts/web.sh FOLDER
#
# Needs Go, and no network once the modules are there.
set -euo pipefail
if [ $# -ne 1 ]; then
  echo "usage: scripts/web.sh FOLDER" >&2
  exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

CGO_ENABLED=0 GOOS=js GOARCH=wasm GOFLAGS= \
  go build -trimpath -buildvcs=false -ldflags "-s -w -buildid=" -o "$out/amplint.wasm" .
# wasm_exec.js takes the file system that is there before it.
cat web/files.js "$(go env GOROOT)/lib/wasm/wasm_exec.js" web/worker.js >"$out/worker.js"
cp web/index.html web/page.css web/page.js "$out"
cp report/html/style.css "$out/report.css"
