#!/usr/bin/env bash
# Checks models in a GitHub job: annotations on stdout, the summary of the job, SARIF. The exit code
# of the check goes to the outputs, so that the report can be uploaded before the job fails.
set -euo pipefail

report=$(mktemp)
flags=() root=()
[ -z "${AMPLINT_FAIL_ON:-}" ] || flags+=(--fail-on "$AMPLINT_FAIL_ON")
[ -z "${AMPLINT_SOURCE_ROOT:-}" ] || root+=(--source-root "$AMPLINT_SOURCE_ROOT")
models=()
while IFS= read -r line; do
  [ -z "$line" ] || models+=("$line")
done <<<"${AMPLINT_MODELS:-.}"
# The flags are words of a command line, as in a shell without quotes.
read -r -a more <<<"${AMPLINT_ARGS:-}"

code=0
amplint check "${models[@]}" ${more[@]+"${more[@]}"} ${flags[@]+"${flags[@]}"} --format json -o "$report" || code=$?
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
if [ -s "$report" ]; then
  merge() { amplint merge "$report" --fail-on never ${root[@]+"${root[@]}"} "$@" 2>/dev/null || [ $? = 3 ]; }
  merge --format github
  merge --format markdown >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
  merge --format sarif -o "${AMPLINT_SARIF:-amplint.sarif}"
fi
