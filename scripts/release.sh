#!/usr/bin/env bash
# Builds the release: archives for six platforms with manual pages and completions, wheels, and their
# checksums. The same source and the same Go give the same bytes, whatever the machine or the day.
#
#   scripts/release.sh [VERSION [FOLDER]]      # the version of cmd/version.go, dist/
#
# PLATFORMS="linux/amd64 ..." builds fewer. Needs Go and Python 3, and no network once the modules
# are there.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:-$(sed -n 's/^var Version = "\(.*\)"$/\1/p' cmd/version.go)}
out=${2:-dist}
platforms=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
python=${PYTHON:-python3}
if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]]; then
  echo "release: \"$version\" is no version like 1.2.3" >&2
  exit 2
fi

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build PLATFORM FILE: no paths of this machine, no state of the checkout, no C.
build() {
  CGO_ENABLED=0 GOOS=${1%/*} GOARCH=${1#*/} GOFLAGS= GOAMD64=v1 GOARM64=v8.0 \
    go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X github.com/amplint/amplint/cmd.Version=$version" -o "$2" .
}

build "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" "$work/host"
mkdir -p "$work/man" "$work/completions"
"$work/host" man "$work/man"
for shell in bash zsh fish powershell; do
  "$work/host" completion "$shell" >"$work/completions/amplint.$shell"
done

sums=()
for platform in $platforms; do
  name=amplint_${version}_${platform/\//_}
  exe=amplint ext=tar.gz
  if [ "${platform%/*}" = windows ]; then exe=amplint.exe ext=zip; fi
  mkdir -p "$work/$name"
  build "$platform" "$work/$name/$exe"
  cp -r LICENSE README.md CHANGELOG.md "$work/man" "$work/completions" "$work/$name"
  "$python" scripts/pack.py "$work/$name" "$out/$name.$ext"
  sums+=("$name.$ext")
  wheel=$("$python" scripts/wheel.py --version "$version" --platform "$platform" --binary "$work/$name/$exe" --out "$out")
  sums+=("$wheel")
  echo "$name.$ext $wheel"
done

cd "$out"
"$python" - "${sums[@]}" >SHA256SUMS <<'EOF'
import hashlib, pathlib, sys
for name in sorted(sys.argv[1:]):
    print(hashlib.sha256(pathlib.Path(name).read_bytes()).hexdigest() + "  " + name)
EOF
