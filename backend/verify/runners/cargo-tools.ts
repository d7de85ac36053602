/**
 * cargo starts every test binary through this program (`target.*.runner`). libtest writes JSON only as an unstable feature, which
 * RUSTC_BOOTSTRAP opens in a stable toolchain; here it is set for the test binary alone, so that nothing is compiled otherwise.
 * Every binary has a file of its own, which begins with what it is and ends with how it ended.
 *
 * A binary without libtest's harness takes no such options: it is run as it is, and its exit code is cargo's.
 */
export const cargoRunner = (report: string): string => `#!/bin/sh
binary=$1
shift
case "$binary" in
  */deps/*) ;;
  *) exec "$binary" "$@" ;;
esac
if ! "$binary" --list --format terse >/dev/null 2>&1; then exec "$binary" "$@"; fi
file=$(mktemp ${report}/binary-XXXXXXXX) || exit 1
printf '{"type":"binary","package":"%s","path":"%s"}\\n' "$CARGO_PKG_NAME" "$binary" >"$file"
RUSTC_BOOTSTRAP=1 "$binary" "$@" -Z unstable-options --format json --report-time >>"$file"
code=$?
printf '\\n{"type":"end","code":%d}\\n' "$code" >>"$file"
exit "$code"
`;

/** Instead of rustdoc: the same for tests in documentation, which rustdoc runs by itself. */
export const rustdocWrapper = (report: string, rustdoc: string): string => `#!/bin/sh
for argument in "$@"; do
  if [ "$argument" = --test ]; then
    file=$(mktemp ${report}/binary-XXXXXXXX) || exit 1
    printf '{"type":"binary","package":"%s","path":"doc"}\\n' "$CARGO_PKG_NAME" >"$file"
    RUSTC_BOOTSTRAP=1 ${rustdoc} "$@" --test-args "-Z unstable-options --format json" >>"$file"
    code=$?
    printf '\\n{"type":"end","code":%d}\\n' "$code" >>"$file"
    exit "$code"
  fi
done
exec ${rustdoc} "$@"
`;
