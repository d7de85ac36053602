import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');

/** The command line runs on Node 22 (backend/cli/require-node.ts). One regular expression that its V8 cannot parse, and nothing of a bundle runs. */
it('no regular expression gives one name to two groups, which Node 22 does not parse', () => {
  const files = execFileSync('git', ['ls-files', 'backend', 'extension', 'webview'], { cwd: root, encoding: 'utf8' }).split('\n').filter((file) => /\.tsx?$/.test(file));
  expect(files.length).toBeGreaterThan(500);
  const twice = files.flatMap((file) => readFileSync(path.join(root, file), 'utf8').split('\n').flatMap((line, index) => {
    const names = [...line.matchAll(/\(\?<([A-Za-z]\w*)>/g)].map(([, name]) => name);
    return new Set(names).size < names.length ? [`${file}:${index + 1}`] : [];
  }));
  expect(twice).toEqual([]);
});
