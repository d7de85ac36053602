#!/usr/bin/env bash
# Judges the commits of a branch in CI by `conductor verify`, with what variables of the environment say: docs/ci.md names them and the exit codes.
# In a checkout of Conductor it installs the packages of the lock file and builds; it needs no network but npm's registry.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
if [ -f "$root/run-cli.mjs" ]; then
  [ -d "$root/node_modules" ] || (cd "$root" && npm ci --no-audit --no-fund >&2)
  conductor=(node "$root/with-node.mjs" node "$root/run-cli.mjs")
else
  conductor=(node "$root/dist/cli.mjs")
fi

workspace="${VERIFY_WORKSPACE:-.}"
reports="${VERIFY_REPORTS:-conductor-reports}"
base="${VERIFY_BASE:-${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}}"
if [ -z "$base" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
  if ! base="$(git -C "$workspace" merge-base "origin/$GITHUB_BASE_REF" HEAD)"; then
    echo "It is not in this clone where the branch leaves $GITHUB_BASE_REF: fetch the whole history, with fetch-depth: 0 of actions/checkout." >&2
    exit 2
  fi
fi
if [ -z "$base" ]; then
  echo "There is no commit to judge on top of: name one with the input base, or VERIFY_BASE." >&2
  exit 2
fi

options=(--workspace "$workspace" --base "$base" --tests "${VERIFY_TESTS:-base}")
[ -z "${VERIFY_COMMAND:-}" ] || options+=(--command "$VERIFY_COMMAND")
[ -z "${VERIFY_TIMEOUT:-}" ] || options+=(--timeout "$VERIFY_TIMEOUT")
[ "${VERIFY_REQUIRE_VERIFIED:-false}" != true ] || options+=(--require-verified)
[ "${VERIFY_NO_SANDBOX:-false}" != true ] || options+=(--no-sandbox)

# What stands in the checkout is the branch's: a link of it would lead what is written and removed here to another place of the runner.
place="$reports/."
while [ ! -L "$place" ] && [ "$place" != . ] && [ "$place" != / ]; do place="$(dirname -- "$place")"; done
for file in "$place" "$reports"/{.gitignore,junit.xml,conductor.sarif,verdict.json}; do
  if [ -L "$file" ]; then
    echo "\"$file\" is a symbolic link, so no report is written there: name another folder with the input reports, or VERIFY_REPORTS." >&2
    exit 2
  fi
done

# Before the change is read: reports of an earlier step are part of no change, and nor are these.
mkdir -p "$reports"
printf '*\n' >"$reports/.gitignore"
rm -f "$reports"/{junit.xml,conductor.sarif,verdict.json}
status=0
"${conductor[@]}" verify "${options[@]}" --junit "$reports/junit.xml" --sarif "$reports/conductor.sarif" --out "$reports/verdict.json" || status=$?

if [ -n "${GITHUB_OUTPUT:-}" ] && [ -f "$reports/verdict.json" ]; then
  # The outcome is one of five words. The reason holds names of tests, which a branch chooses, so it is no output.
  outcome="$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).outcome' "$reports/verdict.json")"
  printf '%s\n' "outcome=$outcome" "junit=$reports/junit.xml" "sarif=$reports/conductor.sarif" >>"$GITHUB_OUTPUT"
fi
exit "$status"
