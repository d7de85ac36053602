import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepFiles } from '../../backend/verify/copies/keep-files.ts';
import { makeScratch, type Scratch } from './setup.ts';

const { signal } = new AbortController();
const FILES = {
  '.gitignore': '*.log\nignored/\n', 'src/a.js': 'a', 'run.sh': '#!/bin/sh\n', 'target/tracked.js': 't', 'kept.log': 'tracked although ignored',
  'test/server.pem': 'a fixture', 'ignored/x.js': 'x', 'link.js': { link: 'src/a.js' }, '.env': 'KEY=1', 'crlf.txt': 'a\r\n',
};

async function kept(scratch: Scratch, workspace: string): Promise<string> {
  const to = path.join(scratch.folder, 'training', 'files', 'project');
  return await scratch.verifier.onBase({ base: workspace }, signal, (folder, paths) =>
    keepFiles(folder, paths, { to, hasRepository: existsSync(path.join(workspace, '.git')), signal }));
}

describe('kept files', () => {
  it.each([true, false])('are judged as the workspace was, whatever becomes of it (in Git: %s)', async (isInGit) => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    await chmod(path.join(workspace, 'run.sh'), 0o755);
    if (isInGit) {
      execFileSync('git', ['-C', workspace, 'init', '-q']);
      execFileSync('git', ['-C', workspace, 'add', '-f', 'target', 'kept.log', 'test', 'crlf.txt'], { stdio: 'pipe' });
    }
    const before = await scratch.copies.snapshot({ folder: workspace }, signal);
    const folder = await kept(scratch, workspace);
    await writeFile(path.join(workspace, 'src/a.js'), 'changed');
    await rm(path.join(workspace, 'test'), { recursive: true });
    const after = await scratch.copies.snapshot({ folder, installed: workspace }, signal);
    expect([...after.paths].sort()).toEqual([...before.paths].sort());
    expect(after.fingerprint).toBe(before.fingerprint);
    const copy = await scratch.copies.lease(after, signal);
    expect(await readFile(path.join(copy.folder, 'src/a.js'), 'utf8')).toBe('a');
    expect(existsSync(path.join(copy.folder, '.git'))).toBe(isInGit);
    await copy.release();
  });
});
