#!/usr/bin/env bash
# Puts amplint on the path of a GitHub job: the release AMPLINT_VERSION, whose checksum must be right,
# or, where that is empty, what this checkout builds.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${RUNNER_TEMP:-$(mktemp -d)}/amplint-bin
mkdir -p "$bin"

if [ -z "${AMPLINT_VERSION:-}" ]; then
  (cd "$root" && CGO_ENABLED=0 go build -o "$bin/" .)
else
  case ${RUNNER_OS:-$(uname -s)} in
    Linux) os=linux ext=tar.gz ;;
    macOS | Darwin) os=darwin ext=tar.gz ;;
    Windows) os=windows ext=zip ;;
    *) echo "amplint: no release for ${RUNNER_OS:-this system}" >&2; exit 2 ;;
  esac
  case ${RUNNER_ARCH:-$(uname -m)} in
    X64 | x86_64) arch=amd64 ;;
    ARM64 | arm64 | aarch64) arch=arm64 ;;
    *) echo "amplint: no release for ${RUNNER_ARCH:-this processor}" >&2; exit 2 ;;
  esac
  version=${AMPLINT_VERSION#v}
  name=amplint_${version}_${os}_${arch}
  url=${AMPLINT_RELEASES:-https://github.com/amplint/amplint/releases/download}/v$version
  cd "$(mktemp -d)"
  curl --fail --silent --show-error --location --remote-name "$url/$name.$ext" --remote-name "$url/SHA256SUMS"
  if command -v sha256sum >/dev/null; then sum="sha256sum"; else sum="shasum -a 256"; fi
  grep " $name.$ext\$" SHA256SUMS | $sum -c - >/dev/null
  if [ "$ext" = zip ]; then unzip -q "$name.zip"; else tar xzf "$name.tar.gz"; fi
  cp "$name"/amplint* "$bin/"
fi

echo "$bin" >>"${GITHUB_PATH:-/dev/null}"
"$bin/amplint" version
