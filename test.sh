#!/usr/bin/env bash
# Runs every check of the project. Needs Go and Python 3 with venv; fetches the rest: staticcheck,
# govulncheck and its database through the module proxy, onnx and onnxruntime into .venv, and for root
# on Debian chromium.
set -euo pipefail
cd "$(dirname "$0")"

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
vulndb=golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018

step() { printf '== %s\n' "$*"; }

step gofmt
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  printf 'not formatted:\n%s\n' "$unformatted"
  exit 1
fi

step go vet
go vet ./...

step builds for other platforms
# Every system and both processors; ALL_PLATFORMS=1 builds all six that scripts/release.sh makes.
platforms='linux/arm64 darwin/arm64 windows/amd64'
[ -z "${ALL_PLATFORMS:-}" ] || platforms+=' darwin/amd64 windows/arm64'
for platform in $platforms; do
  CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -o /dev/null .
done

step staticcheck
go run "$staticcheck" ./...

step govulncheck
# The database comes as a module: its server need not be in reach.
db=$(cd / && GOFLAGS=-mod=mod go mod download -json "$vulndb" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
# Only modules fail the gate: what is wrong with the standard library is the installed Go's, and a
# newer Go puts it right without a change here.
if ! found=$(go run "$govulncheck" -db "file://$db/data/osv" ./... 2>&1); then
  printf '%s\n' "$found"
  grep -Eq '^Your code is affected by [0-9]+ vulnerabilit(y|ies) from the Go standard library\.$' <<<"$found"
fi

step python
if [ -z "${AMPLINT_PYTHON:-}" ]; then
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r testdata/requirements.txt
  AMPLINT_PYTHON=$PWD/.venv/bin/python
fi
export AMPLINT_PYTHON

if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
  step go test -race, where goroutines are
  go test -race -short ./refeval/... ./graph/schema
fi

step assembly is what its generator writes
(cd refeval/kern/gen && go vet . && go generate .)
(cd numfmt/gen && go vet . && go generate .)
git diff --exit-code -- refeval/kern numfmt

step go test
go test -timeout 40m ./...

step go test with the onnxruntime engine
go vet -tags ort ./ort
go test -tags ort ./ort ./cmd ./trace

step second opinion
(cd secondopinion && go vet . && go test .)

step pages in a browser
if [ -z "${AMPLINT_BROWSER:-}" ]; then
  find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || command -v chrome || true; }
  AMPLINT_BROWSER=$(find_browser)
  if [ -z "$AMPLINT_BROWSER" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null || true
    AMPLINT_BROWSER=$(find_browser)
  fi
fi
if [ -n "$AMPLINT_BROWSER" ]; then
  export AMPLINT_BROWSER
  (cd browser && go vet . && go test .)
else
  echo 'SKIPPED: no browser was found and none could be installed; name one in AMPLINT_BROWSER'
fi
