import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUGS, FAMILIES } from '../../backend/simulator/families/all-families.ts';
import { KINDS, sourceWith, type Family, type Variant } from '../../backend/simulator/families/family.ts';

interface Candidate {
  readonly name: string;
  readonly family: Family;
  readonly variants: readonly Variant[];
}

/** The correct module, each variant, and each pair of variants that can stand in one file. */
const candidates: Candidate[] = FAMILIES.flatMap((family) => {
  const sets: Variant[][] = [[], ...family.variants.map((variant) => [variant])];
  family.variants.forEach((first, index) => {
    for (const second of family.variants.slice(index + 1)) {
      if (sourceWith(family, [first, second]) !== undefined) sets.push([first, second]);
    }
  });
  return sets.map((variants) => ({ name: [family.name, ...variants.map(({ id }) => id)].join('.'), family, variants }));
});

describe('the families of the sample project', () => {
  let directory: string;
  /** Names of the candidates of which at least one test failed. */
  const failing = new Set<string>();
  let passed = 0;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'families-'));
    await writeFile(path.join(directory, 'package.json'), '{"type":"module"}');
    const files = await Promise.all(candidates.map((candidate) => writeCandidate(directory, candidate)));
    const report = await runTests(directory, files);
    for (const line of report.split('\n')) {
      const [verdict, file] = line.split('\t');
      if (verdict === 'fail' && file) failing.add(path.relative(directory, file).split(path.sep)[0] ?? '');
      if (verdict === 'pass') passed += 1;
    }
  }, 120_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('cover six kinds with at least 24 bugs', () => {
    expect(new Set(FAMILIES.map(({ kind }) => kind))).toEqual(new Set(KINDS));
    expect(BUGS.length).toBeGreaterThanOrEqual(24);
    for (const family of FAMILIES) expect(family.variants.length, family.name).toBeGreaterThanOrEqual(4);
  });

  it('pass their own tests', () => {
    expect(passed).toBeGreaterThan(0);
    const correct = candidates.filter(({ variants }) => variants.length === 0);
    expect(correct.filter(({ name }) => failing.has(name)).map(({ name }) => name)).toEqual([]);
  });

  it('fail at least one test with every variant and every pair of variants', () => {
    const wrong = candidates.filter(({ variants }) => variants.length > 0);
    expect(wrong.filter(({ name }) => !failing.has(name)).map(({ name }) => name)).toEqual([]);
  });

  it('have edits that fit the source exactly once', () => {
    for (const { family, variant } of BUGS) expect(sourceWith(family, [variant]), `${family.name} ${variant.id}`).toBeDefined();
  });

  it('have diagnoses and ids that are unique in their family', () => {
    for (const { variants, name } of FAMILIES) {
      expect(new Set(variants.map(({ id }) => id)).size, name).toBe(variants.length);
      expect(new Set(variants.map(({ diagnosis }) => diagnosis)).size, name).toBe(variants.length);
    }
  });

  it('have several symptoms for each bug, which name an exported function and never the kind', () => {
    for (const { family, variant } of BUGS) {
      expect(variant.symptoms.length).toBeGreaterThanOrEqual(2);
      for (const symptom of variant.symptoms) {
        expect(
          family.exports.some((name) => symptom.includes(name)),
          symptom,
        ).toBe(true);
        expect(symptom).not.toMatch(/string algorithm|number theory|data transformation|geometry/i);
      }
    }
  });
});

async function writeCandidate(directory: string, { name, family, variants }: Candidate): Promise<string> {
  const testFile = path.join(name, family.testPath);
  await mkdir(path.join(directory, name, 'src'), { recursive: true });
  await mkdir(path.join(directory, name, 'test'), { recursive: true });
  await writeFile(path.join(directory, name, family.path), sourceWith(family, variants) ?? '');
  await writeFile(path.join(directory, testFile), family.test);
  return testFile;
}

/** One process for all files: each file imports its own module, so nothing is shared but the time it takes to start Node. */
async function runTests(directory: string, files: string[]): Promise<string> {
  const reporter = path.join(directory, 'reporter.mjs');
  await writeFile(
    reporter,
    `export default async function* (events) {
       for await (const { type, data } of events) {
         if (type === 'test:pass' || type === 'test:fail') yield type.slice(5) + '\\t' + data.file + '\\n';
       }
     }`,
  );
  const environment = { ...process.env };
  delete environment['NODE_TEST_CONTEXT'];
  const options = ['--test', '--test-isolation=none', '--test-reporter', reporter];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...options, ...files],
      { cwd: directory, env: environment, timeout: 100_000, maxBuffer: 16_000_000 },
      (error, stdout) => (error?.killed ? reject(error) : resolve(stdout)),
    );
  });
}
