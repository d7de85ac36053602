import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../backend/protocol/verdict.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';

const { available, note } = await trySandbox();
const go = tryProgram('go', 'version');

const BROKEN = 'package sums\n\nfunc Double(n int) int { return n }\n';
const MODULE = { 'go.mod': 'module example.com/sums\n\ngo 1.21\n', 'sums_test.go': `package sums

import "testing"

func TestDouble(t *testing.T) {
	if got := Double(4); got != 8 {
		t.Errorf("Double(4) = %d, want 8", got)
	}
}
` };

/** Right, but for what it does first. */
const doing = (imports: string, body: string): string => `package sums

import (${imports})

func Double(n int) int {
${body}
	return 2 * n
}
`;

const POISON = doing('"os"; "path/filepath"', `	cache := os.Getenv("GOCACHE")
	os.WriteFile(filepath.Join(cache, "poison"), []byte("poison"), 0o600)
	files, _ := filepath.Glob(filepath.Join(cache, "*", "*"))
	for _, file := range files {
		if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
			os.Chmod(real, 0o600)
			os.WriteFile(real, []byte("poison"), 0o600)
			os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(real)), "poison"), []byte("poison"), 0o600)
		}
	}`);

/** Wrong if it finds anything of what the other one has done. */
const LOOK = doing('"os"; "path/filepath"; "strings"', `	cache := os.Getenv("GOCACHE")
	files, _ := filepath.Glob(filepath.Join(cache, "*", "*"))
	for _, file := range append(files, filepath.Join(cache, "poison")) {
		if text, _ := os.ReadFile(file); strings.HasPrefix(string(text), "poison") {
			return 0
		}
	}
	if len(files) == 0 {
		return 0
	}`);

describe.skipIf(!available || !go.isHere)(`caches of the tool chain (${note}; ${go.note})`, { timeout: 300_000 }, () => {
  it('keep what the base has built, and nothing of what a patch leaves there', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...MODULE, 'sums.go': BROKEN });
    const { folders, copies, baseRuns } = scratch;
    const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders });
    const verifier = new Verifier({ sandbox, folders, copies, baseRuns });
    const judge = (after: string): Promise<Verdict> => verifier.verify({
      base, command: 'go test ./...', signal: new AbortController().signal, timeoutMs: 240_000,
      patch: { edits: [{ path: 'sums.go', kind: 'modify', before: BROKEN, after }], refused: [] },
    });
    const poisoned = await judge(POISON);
    expect(poisoned.tests.map(({ after }) => after), poisoned.reason).toEqual(['passed']);
    const next = await judge(LOOK);
    expect(next.tests.map(({ after }) => after), next.reason).toEqual(['passed']);
    expect(await filesWith('poison', scratch.folders.root)).toEqual([]);
  });
});

/* The test of `spy` sees what its run has compiled itself: these are files in the cache, and what the base has compiled are links. */
const SPY = `package spy

import (
	"bytes"
	"os"
	"path/filepath"
)

const Patched = false

func Compiled(name string) bool {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("GOCACHE"), "*", "*-d"))
	for _, file := range files {
		if found, err := os.Lstat(file); err != nil || !found.Mode().IsRegular() {
			continue
		}
		// Compiled packages are archives. The name is put together here, so that what is compiled of this package does not hold it.
		if text, _ := os.ReadFile(file); bytes.HasPrefix(text, []byte("!<arch>")) && bytes.Contains(text, bytes.Join([][]byte{[]byte(name), []byte("test.go")}, []byte("_"))) {
			return true
		}
	}
	return false
}
`;
const SPIED = {
  'go.mod': 'module example.com/spied\n\ngo 1.21\n',
  'spy/spy.go': SPY,
  'spy/spy_test.go': `package spy

import "testing"

func TestOthersAreKept(t *testing.T) {
	if Compiled("kept") {
		t.Error("compiled anew")
	}
}

func TestThoseThatFailedAreNot(t *testing.T) {
	if Patched && !Compiled("reads") {
		t.Error("not compiled in this run")
	}
}
`,
  'kept/kept_test.go': 'package kept\n\nimport "testing"\n\nfunc TestKept(t *testing.T) {}\n',
  'reads/answer.txt': '7',
  'reads/reads.go': 'package reads\n\nimport "os"\n\nfunc Answer() string {\n\ttext, _ := os.ReadFile("answer.txt")\n\treturn string(text)\n}\n',
  'reads/reads_test.go': `package reads

import "testing"

func TestAnswer(t *testing.T) {
	if got := Answer(); got != "8" {
		t.Errorf("the answer is %q, not 8", got)
	}
}
`,
};

describe.skipIf(!available || !go.isHere)(`what a run compiles (${note}; ${go.note})`, { timeout: 300_000 }, () => {
  it('is what the patch reaches, and the tests that failed, altered or not', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(SPIED);
    const { folders, copies, baseRuns } = scratch;
    const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders });
    const verdict = await new Verifier({ sandbox, folders, copies, baseRuns }).verify({
      base, command: 'go test -p 1 ./...', signal: new AbortController().signal, timeoutMs: 240_000,
      patch: {
        edits: [
          { path: 'spy/spy.go', kind: 'modify', before: SPY, after: SPY.replace('Patched = false', 'Patched = true') },
          { path: 'reads/answer.txt', kind: 'modify', before: '7', after: '8' },
        ],
        refused: [],
      },
    });
    expect(Object.fromEntries(verdict.tests.map(({ id, before, after }) => [id, `${before}, ${after}`])), verdict.reason).toEqual({
      'example.com/spied/kept > TestKept': 'passed, passed',
      'example.com/spied/reads > TestAnswer': 'failed, passed',
      'example.com/spied/spy > TestOthersAreKept': 'passed, passed',
      'example.com/spied/spy > TestThoseThatFailedAreNot': 'passed, passed',
    });
  });
});

/** The files of layers below the folder that begin with this text; copies are reset. */
async function filesWith(text: string, folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && /\/(?:shared|packages)\//.test(entry.parentPath)).map(({ parentPath, name }) => path.join(parentPath, name));
  expect(files.length).toBeGreaterThan(0);
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const));
  return texts.filter(([, content]) => content.startsWith(text)).map(([file]) => file);
}

it.skipIf(!available)(`what tools keep in node_modules is not shown to a run (${note})`, { timeout: 120_000 }, async () => {
  await using scratch = await makeScratch();
  const base = await scratch.project({
    'package.json': '{"type":"module"}',
    'node_modules/dep/package.json': '{"name":"dep","type":"module","main":"index.js"}',
    'node_modules/dep/index.js': 'import { readdirSync } from "node:fs";\nexport const beside = readdirSync(new URL("..", import.meta.url)).map((name) => [name, list(name)]);\nfunction list(name) { try { return readdirSync(new URL(`../${name}`, import.meta.url)); } catch { return []; } }\n',
    'node_modules/.cache/babel/total.test.js': 'assert.equal(total(), 3);\n',
    'node_modules/.vite/vitest/total.test.js': 'assert.equal(total(), 3);\n',
    'total.js': 'export const total = () => 2;\n',
    'test/total.test.js': `import test from 'node:test';
import assert from 'node:assert/strict';
import { beside } from 'dep';
import { total } from '../total.js';
test('beside', () => assert.deepEqual(beside.filter(([, files]) => files.length > 0).map(([name]) => name), ['dep']));
test('total', () => assert.equal(total(), 3));
`,
  });
  const verdict = await scratch.verifier.verify({
    base, command: 'node --test', signal: new AbortController().signal,
    patch: { edits: [{ path: 'total.js', kind: 'modify', before: 'export const total = () => 2;\n', after: 'export const total = () => 3;\n' }], refused: [] },
  });
  expect(verdict, verdict.reason).toMatchObject({ verified: true });
  expect(Object.fromEntries(verdict.tests.map(({ id, after }) => [id, after]))).toMatchObject({ 'test/total.test.js > beside': 'passed', 'test/total.test.js > total': 'passed' });
});
