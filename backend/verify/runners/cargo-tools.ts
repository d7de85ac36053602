/**
 * cargo starts every test binary through this program (`target.*.runner`). libtest's JSON is an unstable feature. RUSTC_BOOTSTRAP enables
 * it in a stable toolchain. It is set only for the test binary, so the build stays the same. Each binary has its own file, which begins
 * with the binary's name and ends with its exit code.
 *
 * A binary with a harness of its own need not know these options, and many take any option for a filter. So it is told by how it lists its
 * tests. It runs unchanged, and is one test by its exit code.
 */
export const cargoRunner = (report: string): string => `#!/bin/sh
binary=$1
shift
case "$binary" in
  */deps/*) ;;
  *) exec "$binary" "$@" ;;
esac
list=$(mktemp) || exit 1
harness=true
"$binary" --list --format terse >"$list" 2>/dev/null || harness=false
if grep -Evq '^$|: [a-z]+$|^[0-9]+ tests?, [0-9]+ benchmarks?$' "$list"; then harness=false; fi
if [ $harness = true ] && [ ! -s "$list" ]; then "$binary" --list 2>/dev/null | grep -Eq '^[0-9]+ tests?, ' || harness=false; fi
rm -f "$list"
file=$(mktemp ${report}/binary-XXXXXXXX) || exit 1
printf '{"type":"binary","package":"%s","path":"%s","harness":%s}\\n' "$CARGO_PKG_NAME" "$binary" "$harness" >"$file"
if [ $harness = true ]; then
  RUSTC_BOOTSTRAP=1 "$binary" "$@" -Z unstable-options --format json --report-time >>"$file"
else
  "$binary" "$@"
fi
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
