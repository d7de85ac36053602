/**
 * A reporter for `node --test`, in JavaScript because the project's own Node loads it (18.15 or later). One JSON line per event,
 * and a last line that says that the run was not cut off.
 *
 * Why not the built-in `junit`: it writes a test with subtests as a suite, so a test that fails behind passing subtests is
 * reported as nothing but passes (seen on Node 20.20 and 24.21), and on Node 20 it does not name the file.
 *
 * It takes itself out of NODE_OPTIONS before any test file starts: tests see no trace of it in their environment, and a Node that
 * they start does not write over it. That is no wall: the report lies in a folder that the tests can write, so code that looks for
 * it can forge it.
 */
export const NODE_TEST_REPORTER = `
if (process.env.CONDUCTOR_NODE_OPTIONS) process.env.NODE_OPTIONS = process.env.CONDUCTOR_NODE_OPTIONS;
else delete process.env.NODE_OPTIONS;
delete process.env.CONDUCTOR_NODE_OPTIONS;

export default async function* report(source) {
  for await (const { type, data } of source) {
    if (type !== 'test:start' && type !== 'test:pass' && type !== 'test:fail') continue;
    const error = data.details?.error;
    const cause = error?.cause;
    yield JSON.stringify({
      type,
      file: data.file,
      name: data.name,
      nesting: data.nesting,
      suite: data.details?.type === 'suite',
      skipped: Boolean(data.skip ?? false) || data.skip === '' || Boolean(data.todo ?? false) || data.todo === '',
      failureType: error?.failureType,
      message: error && String((typeof cause === 'object' && cause?.message) || cause || error.message).slice(0, 4000),
      durationMs: data.details?.duration_ms,
    }) + '\\n';
  }
  yield JSON.stringify({ type: 'end' }) + '\\n';
}
`;
