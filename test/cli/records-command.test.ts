import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordsCommand } from '../../backend/cli/records-command.ts';
import type { CommandContext } from '../../backend/cli/command.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import { UsageError } from '../../backend/cli/usage-error.ts';
import { done, endedBy, planned, ran } from '../journal/judged.ts';
import { serve, type Serving } from '../server/support/serving.ts';

/* The command against a real server and journal; only the terminal is this test's. */

let serving: Serving;
beforeEach(async () => { serving = await serve(); });
afterEach(() => serving.close());

/** Answers of one worker alone, of which some are verified. */
function answered(worker: number, all: number, verified: number, usd: number): void {
  for (let index = 0; index < all; index += 1) {
    ran(serving.journal, `w${worker}-${index}`, [planned([worker]), done(0, usd, 2_000), ...endedBy(index % all < verified ? 'verified' : 'failed')],
      { asks: { kind: 'bug', wants: 'change' } });
  }
}

async function records(args: readonly string[], ask?: Terminal['ask']) {
  const output = { result: '', said: '' };
  const terminal: Pick<Terminal, 'result' | 'say' | 'resultStyle' | 'ask'> = {
    result: (text) => { output.result += `${text}\n`; },
    say: (text) => { output.said += `${text}\n`; },
    resultStyle: (_format, text) => text,
    ask,
  };
  const code = await recordsCommand(args, {
    terminal: terminal as Terminal, currentFolder: '/projects', connect: () => serving.open(), interrupted: new AbortController().signal,
  } as CommandContext);
  return { code, ...output };
}

async function inPool(): Promise<void> {
  const client = await serving.open();
  await client.request('worker/save', { worker: { id: 'first', provider: 'openai', model: 'model-a', key: 'OPENAI_API_KEY' } });
  await client.request('worker/save', { worker: { id: 'second', provider: 'openai-compatible', model: 'model-b', baseUrl: 'http://127.0.0.1:8080/v1' } });
}

describe('conductor records', () => {
  it('answers which worker earns its price', async () => {
    answered(0, 20, 18, 0.1);
    answered(1, 20, 5, 0.01);
    await inPool();
    const { code, result, said } = await records([]);
    expect(code).toBe(0);
    const [head, first, second, ...rest] = result.trimEnd().split('\n');
    expect(rest).toEqual([]);
    expect(head).toMatch(/^worker +expected +verified +95 % +\$ a verified one +\$ an answer +time$/);
    expect(first).toMatch(/^first \(model-a\) +\d\d % +18 of 20 +\d\d to \d\d % +\$0\.\d+ +\$0\.10 +2\.0 s$/);
    expect(second).toMatch(/^second \(model-b\) +\d\d % +5 of 20 +\d+ to \d\d % +\$0\.0\d+ +\$0\.01 +2\.0 s$/);
    expect(said).toContain('A verified answer costs least with second: $0.0');
    expect(said).toMatch(/first is expected to be right most often: \d\d %, at \$0\.1/);
    expect(said).not.toContain('overlap');
    expect(said).toContain('From 40 answers that tests judged.');
  });

  it('says that it is not known who is better while the intervals overlap', async () => {
    answered(0, 3, 2, 0.1);
    answered(1, 3, 1, 0.01);
    await inPool();
    expect((await records([])).said).toContain('The intervals of first and second overlap');
  });

  it('calls nobody the best of equals', async () => {
    answered(0, 2, 1, 0.1);
    answered(1, 2, 1, 0.01);
    await inPool();
    const { said } = await records([]);
    expect(said).toContain('A verified answer costs least with second');
    expect(said).not.toContain('most often:');
  });

  it('parts them by role and kind with --details, and prints one object with --json', async () => {
    answered(0, 3, 2, 0.1);
    const { result, said } = await records(['list', '--details', '-w', 'sample']);
    expect(result).toMatch(/\nfirst \(model-a\), not in the pool .*\n {2}writing, bug +2 of 3 /);
    // Nobody is compared with a worker that cannot be asked.
    expect(said).not.toContain('costs least');
    expect(JSON.parse((await records(['--json'])).result)).toMatchObject({ used: true, answers: 3, workers: [{ worker: 'first' }] });
    const elsewhere = await records(['-w', 'other']);
    expect(elsewhere).toMatchObject({ code: 0, result: '' });
    expect(elsewhere.said).toContain('Tests have judged no answer of a worker in /projects/other yet.');
  });

  it('forgets after a question, and without one only with --yes', async () => {
    answered(0, 3, 2, 0.1);
    await expect(records(['forget'])).rejects.toThrow(UsageError);
    expect(await records(['forget'], () => Promise.resolve(false))).toMatchObject({ code: 1, said: 'Nothing was forgotten.\n' });
    expect(serving.journal.judgedSteps(10)).toHaveLength(3);
    expect((await records(['forget', '-w', 'other', '--yes'])).said).toBe('Forgot what tests said of 0 steps.\n');
    expect((await records(['forget'], () => Promise.resolve(true))).said).toBe('Forgot what tests said of 3 steps.\n');
    expect(serving.journal.judgedSteps(10)).toEqual([]);
  });

  it('switches their use off and on, and shows them meanwhile', async () => {
    answered(0, 3, 2, 0.1);
    await records(['off']);
    expect((await records([])).said).toContain('Nobody is chosen by records');
    await records(['on']);
    expect((await records([])).said).not.toContain('Nobody is chosen by records');
  });

  it('refuses what it does not know in one sentence', async () => {
    await expect(records(['improve'])).rejects.toThrow('There is no "records improve"; there are list, forget, on, off.');
    await expect(records(['off', '--details'])).rejects.toThrow('"records off" takes no --details; "records list" does.');
    await expect(records(['list', 'first'])).rejects.toThrow('takes no more words');
  });
});
