import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');
const depcruise = path.join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs');

interface Report {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
    readonly totalCruised: number;
  };
}

/** Judges `folders` under `cwd` by the repository's own rules. @returns what was found, as "rule: file", and how many files there are. */
async function judge(cwd: string, folders: readonly string[]): Promise<{ broken: string[]; files: number }> {
  const args = [depcruise, '--config', path.join(root, '.dependency-cruiser.cjs'), '--output-type', 'json', ...folders];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  const { violations, totalCruised } = (JSON.parse(stdout) as Report).summary;
  return { broken: [...new Set(violations.map(({ rule, from }) => `${rule.name}: ${from}`))].sort(), files: totalCruised };
}

describe('the import rules', () => {
  it('catch every arrow that points the wrong way, and nothing else', async () => {
    const { broken } = await judge(path.join(root, 'test', 'fixtures', 'import-rules'), ['backend', 'extension', 'webview']);
    expect(broken).toEqual([
      'backend-context-imports: backend/context/leans-on-a-test.ts',
      'backend-solve-imports: backend/solve/knows-the-panel.ts',
      'backend-workers-imports: backend/workers/reaches-up.ts',
      'extension-imports: extension/skips-the-protocol.ts',
      'extension-runs-imports: extension/runs/knows-the-panel.ts',
      'lm-graph-imports: backend/lm/graph/knows-the-decoder.ts',
      'no-circles: backend/solve/circle-first.ts',
      'not-to-tests: backend/context/leans-on-a-test.ts',
      'nothing-unresolved: backend/context/misses-a-file.ts',
      'only-the-extension-sees-vscode: backend/context/sees-vscode.ts',
      'onnxruntime-in-the-models-process: backend/lm/decoder/runs-anywhere.ts',
      'protocol-is-portable: backend/protocol/uses-node.ts',
      'toolkit-in-one-file: webview/second-toolkit-file.ts',
      'webview-is-a-page: webview/reads-files.ts',
    ]);
  });

  it('hold for the repository, which they really look at', async () => {
    const { broken, files } = await judge(root, ['backend', 'extension', 'webview']);
    expect(broken).toEqual([]);
    expect(files).toBeGreaterThan(100);
  });
});
