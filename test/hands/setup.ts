import { mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { onTestFinished } from 'vitest';
import { StepCopies } from '../../backend/hands/step-copies.ts';
import type { StepCopy } from '../../backend/hands/step-copy.ts';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import { CopyPool } from '../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../backend/verify/files/run-folder.ts';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const signal = new AbortController().signal;

/** A project with a bug that one of its tests shows. */
export const PROJECT = {
  'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }',
  'src/shapes.js': 'export function area(width, height) {\n  return width + height;\n}\n',
  'src/circle.js': 'export const round = (r) => r * 2;\n',
  'test/shapes.test.js':
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { area } from '../src/shapes.js';\n" +
    "test('area', () => assert.equal(area(2, 3), 6));\ntest('empty', () => assert.equal(area(0, 0), 0));\n",
};

export interface HandsFixture {
  readonly workspace: string;
  readonly home: string;
  readonly copies: StepCopies;
  readonly pool: CopyPool;
  readonly verifier: Verifier;
  readonly sandbox: Sandbox;
  readonly folders: RunFolders;
  open(options?: { readonly newTests?: boolean; readonly command?: string }): Promise<StepCopy>;
}

/** Real copies of a project, in the real sandbox. */
export async function withHands(files: Readonly<Record<string, string>> = PROJECT, { limit = 4 } = {}): Promise<HandsFixture> {
  const home = await realpath(await temporaryFolder());
  const workspace = path.join(home, 'project');
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(workspace, file)), { recursive: true });
    await writeFile(path.join(workspace, file), text);
  }
  const folders = new RunFolders(path.join(home, 'runs'), isProcessAlive);
  const sandbox = new Sandbox({ searchPath: process.env['PATH'] ?? '', homeFolder: process.env['HOME'] ?? '/', hiddenFolders: [path.join(home, 'conductor')], folders });
  const pool = new CopyPool({ folders, limit });
  onTestFinished(() => pool.close());
  const verifier = new Verifier({ sandbox, folders, copies: pool, baseRuns: new MemoryBaseRunCache() });
  const copies = new StepCopies({ copies: pool, sandbox, folders, ripgrepPath: rgPath, verifier });
  return {
    workspace, home, copies, pool, verifier, sandbox, folders,
    open: async ({ newTests = false, command = 'node --test' } = {}) => {
      const copy = await copies.open({ of: { base: workspace }, test: { command }, newTests }, signal);
      onTestFinished(() => copy.release());
      return copy;
    },
  };
}
