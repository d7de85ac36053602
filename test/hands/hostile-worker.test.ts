import { execFileSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StepCopy } from '../../backend/hands/step-copy.ts';
import { PROJECT, signal, withHands } from './setup.ts';

/* What a worker with hands may try or break by mistake. Each time it is told in a few words, and its next command is done. */

const run = async (copy: StepCopy, command: string): Promise<string> => (await copy.do({ kind: 'run', command }, signal)).text;
const isWell = async (copy: StepCopy): Promise<void> => {
  expect(await run(copy, 'echo well')).toMatch(/^Ended with exit code 0\.\nwell$/m);
};

describe('a command of a step', () => {
  it('that prints 50 MB is cut in the middle', async () => {
    const copy = await (await withHands()).open();
    const text = await run(copy, 'echo first; head -c 50000000 /dev/zero | tr "\\0" "x"; echo; echo last');
    expect(text.length).toBeLessThan(14_000);
    expect(/^Ended with exit code 0[\s\S]*first[\s\S]*left out[\s\S]*last\s*$/.test(text)).toBe(true);
    await isWell(copy);
  });

  it('that waits for input gets none, and what it leaves running ends with it', async () => {
    const copy = await (await withHands()).open();
    expect(await run(copy, 'read line; echo "got <$line>"; cat; python3 -c "input()" 2>&1 | tail -1')).toContain('got <>');
    const name = `left-running-${process.pid}`;
    await run(copy, `(exec -a ${name} sleep 600) & (exec -a ${name} setsid sleep 600) & echo started`);
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(name);
    await isWell(copy);
  });

  it('that is a fork bomb is stopped', async () => {
    const copy = await (await withHands()).open();
    expect(await run(copy, 'bomb() { bomb | bomb & }; bomb; sleep 30')).toMatch(/Stopped: it started more processes|Ended with/);
    await isWell(copy);
  }, 120_000);

  it('that replaces what its output is written to changes nothing outside', async () => {
    const { open, home } = await withHands();
    await writeFile(path.join(home, 'outside'), 'the secret outside');
    const copy = await open();
    for (const replace of [`ln -sf ${home}/outside "$said"`, 'rm "$said"; mkfifo "$said"', 'rm "$said"; mkdir "$said"'])
      expect(await run(copy, `said=$(readlink /proc/self/fd/1); ${replace}`)).not.toContain('the secret outside');
    expect((await run(copy, 'echo again')).length).toBeLessThan(500);
  });

  it('that fills its copy with files is told that they are no part of the change', async () => {
    const copy = await (await withHands()).open();
    const text = await run(copy, 'for i in $(seq 500); do echo $i > src/f$i.js; done');
    expect(text).toContain('A step changes at most 100 files.');
    expect(text.length).toBeLessThan(14_000);
    expect(copy.edits).toHaveLength(100);
  });

  it('that is not a command of a shell is told so', async () => {
    const copy = await (await withHands()).open();
    for (const command of [')', "'", 'if', 'a\0b', `echo ${"'".repeat(200_000)}`, `: ${"'".repeat(30_000)}`, '$(', 'exit 3', 'kill -9 $$', '> $TMPDIR/x; rm -rf "$PWD"/* ; cd ..; rm -rf *'])
      expect((await run(copy, command)).length, command.slice(0, 40)).toBeGreaterThan(10);
    expect((await copy.do({ kind: 'read', path: 'src/shapes.js' }, signal)).text).toContain('There is no such file');
  });

  it('reads no other copy, no workspace, no journal and no key', async () => {
    const { open, home, workspace } = await withHands({ ...PROJECT, 'src/mine.js': 'export const of = "the workspace";\n' });
    await mkdir(path.join(home, 'conductor'), { recursive: true });
    await writeFile(path.join(home, 'conductor', 'journal.sqlite'), 'the journal of all runs');
    process.env['HANDS_TEST_KEY'] = 'sk-the-key-of-this-user';
    const [copy, other] = [await open(), await open()];
    await other.do({ kind: 'create', path: 'src/other.js', content: 'the other step' }, signal);
    const copies = await readdir(path.join(home, 'runs'));
    expect(copies.length).toBeGreaterThan(2);
    const text = await run(copy, [
      `ls ${workspace} ${home}/conductor ${home}/runs/*/workspace/src/other.js`, `cat ${home}/conductor/journal.sqlite ${home}/runs/*/workspace/src/other.js ${workspace}/src/mine.js`,
      'env', 'cat /proc/*/environ', `grep -r "the other step" ${home} /tmp /var/tmp`, 'curl -m 2 http://example.com', 'cat ../../*/workspace/src/other.js',
      `find / -name "journal.sqlite" -not -path "/proc/*" 2>/dev/null`,
    ].join('; '));
    delete process.env['HANDS_TEST_KEY'];
    for (const secret of ['the other step', 'the journal of all runs', 'the workspace', 'sk-the-key', 'HANDS_TEST_KEY']) expect(text.replaceAll('grep -r "the other step"', '')).not.toContain(secret);
    expect((await run(other, 'cat src/other.js'))).toContain('the other step');
  });
});
