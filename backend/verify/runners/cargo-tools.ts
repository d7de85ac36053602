/**
 * cargo starts every test binary through this program (`target.*.runner`). libtest's JSON is an unstable feature. RUSTC_BOOTSTRAP enables
 * it in a stable toolchain. It is set only for the test binary, so the build stays the same. Each binary has its own file, which begins
 * with the binary's name and ends with its exit code.
 *
 * A binary without libtest's harness does not know these options. It runs unchanged, and cargo uses its exit code.
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

/** Replaces rustdoc, and does the same for documentation tests, which rustdoc runs itself. */
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
