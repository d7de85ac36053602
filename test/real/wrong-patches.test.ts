import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git } from '../bench/context/historic-fix.ts';
import { applyFix, checkOut, difference, putBack, write, type Workspace } from './workspace.ts';
import { wrongPatches } from './wrong-patches.ts';

const BROKEN = `def first(items):
    return items[1]


def is_small(number):
    # Ten is not small.
    return number < 12


def last(items):
    return items[-2]
`;
const FIXED = BROKEN.replace('items[1]', 'items[0]').replace('number < 12', 'number < 10').replace('items[-2]', 'items[-1]');

describe('what is made of a historic fix', () => {
  let folder: string;
  let workspace: Workspace;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'real-test-')));
    const repository = path.join(folder, 'repositories', 'owner+name', 'repo');
    await mkdir(path.join(repository, 'tests'), { recursive: true });
    const commit = async (files: Readonly<Record<string, string>>): Promise<string> => {
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(repository, name), text);
      await git(repository, 'add', '-A');
      await git(repository, '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'Change');
      return (await git(repository, 'rev-parse', 'HEAD')).trim();
    };
    await git(folder, 'init', '-q', repository);
    await commit({ 'lists.py': BROKEN, 'tests/test_lists.py': 'old\n', 'NEWS': 'none\n', 'large.csv': 'a,b\n' });
    const fix = { repository: 'owner/name', commit: await commit({ 'lists.py': FIXED, 'tests/test_lists.py': 'new\n', 'NEWS': 'fixed\n' }) };
    workspace = await checkOut(fix, path.join(folder, 'work'), path.join(folder, 'repositories'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const read = (name: string): Promise<string> => readFile(path.join(workspace.folder, name), 'utf8');

  it('checks out the parent with the tests of the fix, and judges the rest', async () => {
    expect(await read('tests/test_lists.py')).toBe('new\n');
    expect(await read('lists.py')).toBe(BROKEN);
    expect(await difference(workspace)).toBe('');
    await applyFix(workspace);
    expect(await read('lists.py')).toBe(FIXED);
    const diff = await difference(workspace);
    expect(diff.match(/^\+\+\+ .*$/gm)).toEqual(['+++ b/NEWS', '+++ b/lists.py']);
  });

  it('leaves out files that a repository at hand lacks', async () => {
    const repository = path.join(folder, 'repositories', 'owner+name', 'repo');
    const { fix } = workspace;
    const blob = (await git(repository, 'rev-parse', `${fix.commit}:large.csv`)).trim();
    await rm(path.join(repository, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    workspace = await checkOut(fix, path.join(folder, 'work'), path.join(folder, 'repositories'));
    expect(await git(workspace.folder, 'ls-files')).toBe('NEWS\nlists.py\ntests/test_lists.py\n');
    expect(await difference(workspace)).toBe('');
  });

  it('leaves out hunks, mistakes tokens of added lines, and writes a comment, each by itself', async () => {
    await applyFix(workspace);
    const patches = await wrongPatches(workspace);
    const texts = patches.map((patch) => patch.texts.get('lists.py'));
    expect(patches.map(({ what, on }) => `${on}: ${what}`)).toEqual([
      'fix: one token mistaken in lists.py:2',
      'fix: without hunk 1 of 3 of lists.py',
      'base: a comment alone in lists.py',
      expect.stringMatching(/^fix: one token mistaken in lists\.py:(7|11)$/),
      'fix: without hunk 2 of 3 of lists.py',
    ]);
    expect([texts[0], texts[1], texts[2], texts[4]]).toEqual([
      FIXED.replace('items[0]', 'items[1]'),
      FIXED.replace('items[0]', 'items[1]'),
      `${BROKEN}# It is right now.\n`,
      FIXED.replace('number < 10', 'number < 12'),
    ]);
    await write(workspace, patches[1]?.texts ?? new Map());
    expect(await difference(workspace)).not.toContain('+    return items[0]');
    await putBack(workspace);
    expect(await difference(workspace)).toBe('');
  });
});
