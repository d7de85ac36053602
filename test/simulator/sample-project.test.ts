import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { BUGS } from '../../backend/simulator/families/all-families.ts';
import { bugOf, questionOf, writeSampleProject } from '../../backend/simulator/sample-project.ts';

const directories: string[] = [];
afterEach(() => Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true }))));

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'sample-project-'));
  directories.push(directory);
  return directory;
}

async function testsPass(directory: string): Promise<boolean> {
  const environment = { ...process.env };
  delete environment['NODE_TEST_CONTEXT'];
  const tests = spawn(process.execPath, ['--test'], { cwd: directory, env: environment, stdio: 'ignore' });
  const [code] = (await once(tests, 'exit')) as [number | null];
  return code === 0;
}

async function filesOf(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.sort().map(async (file) => [path.relative(directory, file), await readFile(file, 'utf8')])),
  );
}

describe('the sample project', () => {
  it('fails its tests until the module with the bug is corrected', async () => {
    const directory = path.join(await temporaryDirectory(), 'project');
    const project = await writeSampleProject(directory, { seed: 3 });
    expect(await testsPass(directory)).toBe(false);
    await writeFile(path.join(directory, project.path), project.correctSource);
    expect(await testsPass(directory)).toBe(true);
  });

  it('is the same for the same seed', async () => {
    const [first, second] = [await temporaryDirectory(), await temporaryDirectory()];
    expect(await writeSampleProject(first, { seed: 7 })).toEqual(await writeSampleProject(second, { seed: 7 }));
    expect(await filesOf(first)).toEqual(await filesOf(second));
  });

  it('has several modules, each with its tests', async () => {
    const directory = await temporaryDirectory();
    const { path: buggy } = await writeSampleProject(directory, { seed: 0 });
    const files = Object.keys(await filesOf(directory));
    expect(files).toEqual(expect.arrayContaining(['README.md', 'package.json', buggy]));
    expect(files.filter((file) => file.startsWith('src'))).toHaveLength(5);
    expect(files.filter((file) => file.startsWith('test'))).toHaveLength(5);
  });

  it('has a bug of its own for each of at least 24 seeds, in any order of kinds', () => {
    const seeds = Array.from({ length: BUGS.length }, (_, seed) => seed);
    const ids = seeds.map(bugOf).map(({ family, variant }) => `${family.name} ${variant.id}`);
    expect(new Set(ids).size).toBe(BUGS.length);
    expect(BUGS.length).toBeGreaterThanOrEqual(24);
    expect(new Set(seeds.slice(0, 12).map((seed) => bugOf(seed).family.name)).size).toBe(12);
    expect(bugOf(-1)).toBe(BUGS.at(-1));
  });

  it('is asked about in several phrasings of one bug, and always by a function that it exports', () => {
    const again = Array.from({ length: 12 }, (_, round) => 4 + round * BUGS.length);
    expect(new Set(again.map(questionOf)).size).toBeGreaterThan(4);
    for (let seed = 0; seed < 200; seed += 1) {
      expect(bugOf(seed).family.exports.some((name) => questionOf(seed).includes(name))).toBe(true);
    }
  });
});
