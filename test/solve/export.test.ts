import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { exportedRun } from '../../backend/solve/export/exported-run.ts';
import { code, fenced, words } from '../../backend/solve/export/markdown-text.ts';
import { runMarkdown } from '../../backend/solve/export/run-markdown.ts';

const worker = (id: string, more: Partial<WorkerConfig> = {}): WorkerConfig => workerConfigSchema.parse({
  id, provider: 'openai-compatible', baseUrl: 'https://models.example/v1', model: `model-of-${id}`, key: 'SOME_KEY', ...more,
});
const spent = { usage: { ...NO_USAGE, uncachedInput: 100, output: 20 }, cost: { usd: 0.25, estimated: false }, durationMs: 1_500 };

interface Texts {
  readonly question?: string;
  readonly plan?: string;
  readonly subtask?: string;
  readonly output?: string;
  readonly test?: string;
  readonly said?: string;
  readonly path?: string;
  readonly reason?: string;
}

/** A run of one round and two steps that mended a test, with texts of others in every place that has one. */
function run(texts: Texts = {}, pool = [worker('ada'), worker('bob')]): RunSnapshot {
  const { question = 'Why?', plan = 'Ada looks.', subtask = 'Mend it.', output = 'Done.', test = 'a > b', said = 'no', path = 'src/a.js', reason = 'it is' } = texts;
  const events: RunEvent[] = [
    {
      type: 'run.accepted', kind: 'solve', request: runRequestSchema.parse({ question, workspace: '/home/someone/shop' }), pool,
      policy: { kind: 'endpoint', model: 'planner', worker: worker('planner'), promptVersion: '1' }, budget: budgetSchema.parse({}),
    },
    {
      type: 'context.gathered', pieces: [{ path, startLine: 1, endLine: 2, reason, tokens: 3 }], leftOut: [{ path, reason }], tokens: 3, text: 'a = 1',
    },
    { type: 'plan.rejected', round: 0, attemptId: '1', text: plan, reason: 'no-steps', message: reason, ...spent },
    {
      type: 'plan.proposed', round: 0, attemptId: '2', text: plan, plan: { modelIds: [0, 1], subtasks: [subtask, subtask], accessList: [[], 'all'] },
      steps: [{ worker: 0, subtask, reads: [], readsPreviousRound: false }, { worker: 1, subtask, reads: [0], readsPreviousRound: false }], ...spent,
    },
    { type: 'step.completed', round: 0, step: 0, attemptId: '3', output, finishReason: 'stop', ...spent },
    { type: 'step.completed', round: 0, step: 1, attemptId: '4', output, finishReason: 'stop', ...spent },
    { type: 'answer.ready', round: 0, step: 1, edits: [{ path, kind: 'modify', diff: output }], refused: [{ path, reason }] },
    {
      type: 'verify.completed', round: 0, verdict: {
        verified: true, score: 1, outcome: 'verified', reason, notes: [reason], command: said, sandboxed: true, durationMs: 10,
        tests: [{ id: test, before: 'failed', after: 'passed', message: said }, { id: `${test} kept`, before: 'passed', after: 'passed' }],
      },
    },
    { type: 'run.completed', outcome: 'verified', round: 0, message: reason },
  ];
  return snapshotOf(events.map((event, index) => ({ runId: 'run-1', seq: index + 1, at: 1_000 * index, event })));
}

const markdown = (snapshot: RunSnapshot, keys: string[] = []): string => runMarkdown(exportedRun(snapshot, keys));

/** What a reader of the document sees as headings, and whether anything in it is a link, a picture or HTML. */
function seen(text: string): { headings: string[]; foreign: string[] } {
  const tokens = new MarkdownIt({ html: true, linkify: false }).parse(text, {});
  const all = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
  return {
    headings: tokens.flatMap((token, index) => (token.type === 'heading_open' ? [tokens[index + 1]?.content ?? ''] : [])),
    foreign: all.map(({ type }) => type).filter((type) => /html|link|image/.test(type)),
  };
}

const HEADINGS = [
  'Conductor run run-1', 'Question', 'Context', 'Round 1', 'Plan', 'Step 1: `ada`', 'Step 2: `bob`, the answer of the round', 'Tests', 'Changes', 'Answer', 'Cost',
];

describe('the document', () => {
  it('has the conversation that the question continues, with its results and what became of the change', () => {
    const exchange = { runId: 'run-0', question: '# Why?', result: 'The run *failed*.', answer: '## Done', state: 'failed' as const, isTold: true };
    const snapshot: RunSnapshot = {
      ...run(),
      earlier: {
        thread: 'run-00', exchanges: [{ ...exchange, runId: 'run-00', answer: '', isTold: false }, exchange],
        change: { runId: 'run-0', state: 'pending', edits: [{ path: 'src/a.js', kind: 'modify', diff: '-a\n+b' }] },
      },
    };
    const text = markdown(snapshot);
    expect(seen(text).headings.slice(1, 5)).toEqual(['Earlier in this conversation', 'Run `run-00`', 'Run `run-0`', 'Question']);
    expect(text).toContain('The run \\*failed\\*. The models of this run were not told of it.');
    expect(text).toContain('Answer:\n\n```text\n## Done\n```\n\nThe change of the earlier answer is not applied yet, so this answer has both.');
    expect(JSON.parse(JSON.stringify(exportedRun(snapshot, [])))).toMatchObject({ run: { earlier: snapshot.earlier } });
  });

  it('tells who did what, what came of it and what it cost', () => {
    const text = markdown(run());
    expect(seen(text)).toEqual({ headings: HEADINGS, foreign: [] });
    expect(text).toContain('- Result: **Verified**: it is');
    expect(text).toContain('| 2 | `bob` | 1 | done | 1.5 s |');
    expect(text).toContain('- mended: `a > b`, failed before, passed after');
    expect(text).toContain('| Plans | `planner` | 200 | 40 | $0.50 |');
    expect(text).toContain('| Round 1, step 2 | `bob` | 100 | 20 | $0.25 |');
    expect(text).toContain('| **In all** |  | 400 | 80 | $1.00 |');
    expect(text).toContain('- Project: `shop`');
    expect(text).not.toContain('/home/someone');
    expect(text).not.toContain('SIMULATED');
  });

  it('shows what the tests said of the code as it is, and what was sent with each round', () => {
    const contexts = [0, 0, 1].map((round, index) => ({
      pieces: [{ path: `src/${index}.js`, startLine: 1, endLine: 9, reason: 'it is', tokens: 3 }], leftOut: [], tokens: 3, text: 'a = 1', round, knowsBase: index > 0, failing: '',
    }));
    const whole = run();
    const [first] = whole.rounds as [RunSnapshot['rounds'][number]];
    const failing = [{ id: 'a > b', message: '# Out', places: [{ path: 'test/a.js', startLine: 3, endLine: 4 }] }];
    const base = { command: 'npm test', startedAt: 0, result: { total: 9, failed: 3, flaky: 1, failing, durationMs: 1_500 } };
    const text = markdown({ ...whole, base, contexts, rounds: [first, { ...first, index: 1 }] });
    expect(seen(text).headings.filter((heading) => /Context|Round|code as/.test(heading))).toEqual(['Tests on the code as it is', 'Context', 'Context', 'Round 1', 'Round 2', 'Context']);
    expect(text).toContain('Of 9 tests, 3 fail: `npm test`, 1.5 s. 1 test ended differently in two runs and does not count.');
    expect(text).toMatch(/- `a > b`, `test\/a\.js:3-4`[^]*# Out[^]*And 2 more\./);
    expect(text).toMatch(/`src\/0\.js:1-9`[^]*when the tests had said what fails\.[^]*`src\/1\.js:1-9`[^]*## Round 2[^]*in this round\.[^]*`src\/2\.js:1-9`/);
    const { result: _none, ...running } = base;
    expect(markdown({ ...whole, base: running })).toContain('`npm test` gave no result before the run ended.');
    expect(markdown({ ...whole, base: { ...base, result: { ...base.result, problem: 'No report.' } } })).toContain('`npm test` gave no result: No report.');
    expect(markdown(whole)).not.toContain('as it is');
  });

  it('says where nothing came from a real model', () => {
    expect(markdown(run({}, [worker('ada', { simulated: true }), worker('bob')]))).toMatch(/^# .*\n\n\*\*SIMULATED: /);
  });

  it.each<[string, string]>([
    ['headings', '# Verified\n\n## Cost\n\nFree.'],
    ['a longer fence than its own', '```\n# Out\n``````\n# Out\n`````````````\n## Cost'],
    ['a fence that its line begins with', '``` js\n~~~\n# Out\n~~~\n```'],
    ['HTML', '<h1>Verified</h1>\n<script>alert(1)</script>\n<!-- '],
    ['links', '[Verified](https://evil.example) ![p](https://evil.example/p.png) <https://evil.example>'],
    ['a heading underlined', 'Verified\n=====\n\nCost\n---'],
    ['cells', '| a | b |\n| --- | --- |\n| c ` | d'],
    ['other ends of lines', 'a\r# Out\r\n# Out\u2028# Out'],
  ])('takes nothing of others for its own words: %s', (_what, text) => {
    const texts = { question: text, plan: text, subtask: text, output: text, test: text, said: text, path: text, reason: text };
    expect(seen(markdown(run(texts)))).toEqual({ headings: HEADINGS, foreign: [] });
  });

  it('shows what was failing and what was kept of another run', () => {
    const whole = run();
    const [round] = whole.rounds as [RunSnapshot['rounds'][number]];
    const steps = round.steps.map((step) => (step.index === 0
      ? { ...step, keptFrom: 'run-0' }
      : { ...step, state: 'failed' as const, failure: { kind: 'server', message: 'It is *down*.', retryable: true } }));
    const text = markdown({ ...whole, parentId: 'run-0', retried: { round: 0, step: 1 }, rounds: [{ ...round, steps }] });
    expect(text).toContain('- Asked again: round 1, step 2 of run `run-0`');
    expect(text).toContain('Kept from run `run-0`.');
    expect(text).toContain('| Round 1, step 1 (kept) |');
    expect(text).toContain('Failed: It is \\*down\\*.');
  });
});

describe('no file of a run', () => {
  const key = 'not-a-shape-2f';
  const leaked = `The key is ${key}.\nOPENAI_API_KEY=sk-proj-abcdefghij0123456789abcdefghij\nAnd so on.`;

  it.each(['markdown', 'json'])('holds a key of its workers or a line that looks like one: %s', (format) => {
    const snapshot = run({ question: leaked, plan: leaked, subtask: leaked, output: leaked, said: leaked, reason: leaked });
    const exported = exportedRun(snapshot, [key, '']);
    const text = format === 'json' ? JSON.stringify(exported) : runMarkdown(exported);
    expect(text).not.toContain(key);
    expect(text).not.toContain('sk-proj');
    expect(text).toContain('And so on.');
  });

  it('holds what may stand in a server\'s address beside it', () => {
    const pool = [worker('ada', { baseUrl: 'https://me:secret@models.example/v1?token=secret#secret' }), worker('bob')];
    const exported = exportedRun(run({}, pool), []);
    expect(JSON.stringify(exported)).not.toContain('secret');
    expect(exported.run.pool[0]?.baseUrl).toBe('https://models.example/v1');
  });
});

it('the document says who failed at a step before another one did it', () => {
  const snapshot = run();
  const [round, ...rest] = snapshot.rounds;
  const handedOn = [{ worker: 0, failure: { kind: 'payment', message: 'Worker "ada": no *credit* is left.', retryable: false } }];
  const steps = round?.steps.map((step) => ({ ...step, worker: 1, ...(step.index === 0 && { handedOn }) })) ?? [];
  const text = markdown({ ...snapshot, rounds: [...(round ? [{ ...round, steps }] : []), ...rest] });
  expect(text).toContain('### Step 1: `bob`');
  expect(text.split('Handed on by `ada`, which failed: Worker')).toHaveLength(2);
  expect(text).not.toContain('*credit*');
});

it('the file for programs holds what was sent for each plan and each step', () => {
  const { format, prompts } = exportedRun(run({ question: 'Why so?' }), []);
  expect(format).toBe('conductor-run/1');
  expect(prompts.map(({ round, step }) => [round, step])).toEqual([[0, null], [0, 0], [0, 1]]);
  const texts = prompts.map(({ messages }) => messages.map(({ content }) => content).join('\n'));
  for (const text of texts) expect(text).toContain('Why so?');
  expect(texts[2]).toContain('Done.');
});

describe('text of others', () => {
  it('is told by a fence longer than any in it', () => expect(fenced('a ```` b')).toBe('`````text\na ```` b\n`````'));
  it('is code with more backticks than it has', () => expect([code('a'), code('`a``'), code('a\nb')]).toEqual(['`a`', '``` `a`` ```', '`a b`']));
  it('commands no terminal', () => expect([fenced('a\u001b[2Jb'), words('a\u202eb')]).toEqual(['```text\na\ufffd[2Jb\n```', 'a\ufffdb']));
});
