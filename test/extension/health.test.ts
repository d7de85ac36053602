// @vitest-environment jsdom
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PlannerReason } from '../../backend/protocol/planner-choice.ts';
import type { HealthDetails, Pool } from '../../backend/protocol/methods.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { healthHtml, rowsHtml, type HealthWords } from '../../extension/health/health-html.ts';
import { healthRows, type HealthFacts, type HealthRow } from '../../extension/health/health-rows.ts';

const l10n = {
  t: (text: unknown, ...values: unknown[]) => String(text).replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)])),
};
const details: HealthDetails = {
  backendVersion: '1.0.0', node: 'v24.0.0', pid: 7, problems: [], sandbox: { available: true },
  storage: { home: '/home/me/.conductor', writable: true, freeBytes: 50e9, journalBytes: 2e6 }, servers: [],
  budget: { today: { usd: 0.1234, tokens: 15_402 }, limits: budgetSchema.parse({}) },
};
const worker = (input: Partial<WorkerConfig>): WorkerConfig => workerConfigSchema.parse({ id: 'w', provider: 'openai', model: 'gpt', ...input });
const bundledConductor = worker({ id: 'conductor-mini', provider: 'local', model: '/x/conductor-mini' });
const ready = (input: Partial<WorkerConfig> = {}) => ({ worker: worker(input), ready: true, priced: true });
const planned = (worker: WorkerConfig, why: PlannerReason = 'chosen'): Pick<Pool, 'planner'> => ({ planner: { worker, choice: { why, estimate: { usd: 0.02, plans: 0 } } } });
const poolOf = (...workers: Pool['workers']): Pool => ({ file: '/home/me/.conductor/workers.json', bundledConductor, workers, ...planned(bundledConductor, 'none-can') });
const vitestFound = { command: 'npx vitest run', runner: 'vitest', folder: '' };

function rowsOf(facts: Partial<HealthFacts> = {}): ReadonlyMap<string, HealthRow> {
  const rows = healthRows({
    backendProblem: undefined, extensionVersion: '1.0.0', details, pool: poolOf(ready()), models: undefined,
    folders: [{ name: 'project', chosen: undefined, found: [vitestFound] }], trusted: true, tried: new Map(), ...facts,
  }, l10n as never);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  return new Map(rows.map((row) => [row.id, row]));
}
const acts = (row: HealthRow | undefined) => row?.mends.map(({ id }) => id);

describe('what the health page says', () => {
  it('is that everything works where it does', () => {
    const rows = [...rowsOf().values()];
    expect(rows.map(({ id, state }) => [id, state])).toEqual([
      ['backend', 'works'], ['worker-w', 'note'], ['conductor', 'works'], ['tests-0', 'works'], ['sandbox', 'works'], ['local-models', 'note'],
      ['budget', 'note'], ['storage', 'works'],
    ]);
    expect(rows.map(({ text }) => text).join('\n')).toContain('npx vitest run (vitest)');
  });

  it('is what today has cost, of what it and a run may, and where that is set', () => {
    const row = rowsOf().get('budget');
    expect(row?.text).toBe(
      'Today $0.1234 of $10.00 are spent, and 15k of 4.0M tokens. A run may spend $1.00 and 400k tokens. Models on this machine do not count.',
    );
    expect(acts(row)).toEqual(['openWorkersFile']);
    const spent = { today: { usd: 10, tokens: 15_402 }, limits: budgetSchema.parse({}) };
    expect(rowsOf({ details: { ...details, budget: spent } }).get('budget')).toMatchObject({ state: 'broken', text: expect.stringContaining('until tomorrow') });
  });

  it('is why the backend does not answer, and nothing that only it knows', () => {
    const rows = [...rowsOf({ details: undefined, backendProblem: 'No Node was found.' }).values()];
    expect(rows).toMatchObject([{ id: 'backend', state: 'broken', text: 'No Node was found.' }]);
    expect(acts(rows[0])).toEqual(['restartBackend', 'showLogs']);
  });

  it('is that another version runs, and offers to restart it', () => {
    const row = rowsOf({ extensionVersion: '1.1.0' }).get('backend');
    expect(row).toMatchObject({ state: 'broken', text: expect.stringContaining('Version 1.0.0 runs') });
    expect(acts(row)).toEqual(['restartBackend']);
  });

  it('is that a worker is wanted, or the demonstration', () => {
    for (const pool of [poolOf(), poolOf(ready({ enabled: false }))]) {
      const row = rowsOf({ pool }).get('workers');
      expect(row?.state).toBe('missing');
      expect(acts(row)).toEqual(['addWorker', 'showDemonstration']);
    }
  });

  it('is which key is missing', () => {
    const status = { worker: worker({ key: 'OPENAI_API_KEY' }), ready: false, priced: true, reason: 'Its key OPENAI_API_KEY is missing.' };
    const row = rowsOf({ pool: poolOf(status) }).get('worker-w');
    expect(row).toMatchObject({ state: 'missing', text: 'Its key OPENAI_API_KEY is missing.' });
    expect(acts(row)).toEqual(['setKey']);
  });

  it('is which server is silent, until a real call says otherwise', () => {
    const silent = { ...details, servers: [{ worker: 'w', state: 'silent' as const, reason: 'Nothing answers at http://127.0.0.1:11434.' }] };
    expect(rowsOf({ details: silent }).get('worker-w')).toMatchObject({ state: 'broken', text: 'Nothing answers at http://127.0.0.1:11434.' });
    const tried = new Map([['w', { ok: true, message: 'Worker "w" works (gpt, 0.4 s).' }]]);
    expect(rowsOf({ details: silent, tried }).get('worker-w')).toMatchObject({ state: 'works', text: 'Worker "w" works (gpt, 0.4 s).' });
    expect(rowsOf({ details: silent, tried }).get('worker-w')?.mends).toMatchObject([{ id: 'tryWorker', subject: 'w' }]);
  });

  it('is how the last call ended, before all that may be guessed', () => {
    const servers = [{ worker: 'w', state: 'answers' as const }];
    const failed = { ...details, servers, lastCalls: [{ worker: 'w', problem: 'No credit is left.' }] };
    expect(rowsOf({ details: failed }).get('worker-w')).toMatchObject({ state: 'broken', text: 'Its last call failed. No credit is left.' });
    const answered = { ...details, lastCalls: [{ worker: 'w' }] };
    expect(rowsOf({ details: answered }).get('worker-w')).toMatchObject({ state: 'works', text: 'Its last call was answered.' });
  });

  it.each([
    ['answers', 'works', 'Its server answers and has gpt.'],
    ['unlisted', 'note', 'Its server answers, and does not say whether it has gpt.'],
    ['unasked', 'note', 'Not tried yet: a call may cost something.'],
  ] as const)('is no more than what the server said (%s)', (state, known, text) => {
    const row = rowsOf({ details: { ...details, servers: [{ worker: 'w', state }] } }).get('worker-w');
    expect(row).toMatchObject({ state: known, text });
  });

  it('is what is estimated, and what has no price', () => {
    const text = rowsOf({ pool: poolOf({ ...ready({ provider: 'vscode', model: 'copilot/gpt' }), priced: false }) }).get('worker-w')?.text;
    expect(text).toContain('estimates');
    expect(text).toContain('price is not known');
  });

  it('is who plans, and why that cannot work', () => {
    expect(rowsOf().get('conductor')).toMatchObject({ state: 'works', text: expect.stringContaining('part of Conductor') });
    const paid = rowsOf({ pool: { ...poolOf(ready()), ...planned(worker({}), 'strongest') } }).get('conductor');
    expect(paid?.text).toBe('"w" plans, with the model gpt (the best planner for its price among your workers, about $0.02 a plan).');
    const rows = rowsOf({ details: { ...details, problems: ['Local models are not available.'] } });
    expect(rows.get('conductor')).toMatchObject({ state: 'broken', text: expect.stringContaining('Local models are not available.') });
    expect(acts(rows.get('conductor'))).toEqual(['chooseConductor']);
    expect(rows.get('local-models')?.state).toBe('broken');
    const { planner: _nobody, ...bare } = poolOf(ready());
    const chosen = rowsOf({ pool: { ...bare, conductor: 'conductor-mini' }, details: { ...details, problems: ['Local models are not available.'] } });
    expect(chosen.get('conductor')).toMatchObject({ state: 'broken', text: expect.stringContaining('"conductor-mini" should plan and cannot run here.') });
    expect(rowsOf({ pool: bare }).get('conductor')?.state).toBe('missing');
  });

  it.each<[string, Partial<HealthFacts>, string, Partial<HealthRow>, string[]]>([
    ['a workspace that is not trusted', { trusted: false }, 'tests', { state: 'missing' }, ['manageTrust']],
    ['no folder', { folders: [] }, 'tests', { state: 'note' }, []],
    ['no tests that are found', { folders: [{ name: 'p', chosen: undefined, found: [] }] }, 'tests-0', { state: 'missing' }, ['chooseTestCommand']],
    ['tests that nobody wants', { folders: [{ name: 'p', chosen: null, found: [vitestFound] }] }, 'tests-0', { state: 'note' }, ['chooseTestCommand']],
    ['a folder that could not be looked into', { folders: [{ name: 'p', chosen: undefined, found: undefined }] }, 'tests-0', { state: 'broken', text: 'The search for its tests failed.' }, ['chooseTestCommand']],
    ['a command of their own', { folders: [{ name: 'p', chosen: 'make test', found: [] }] }, 'tests-0', { state: 'works', text: 'Answers are checked with the command you chose: make test' }, ['chooseTestCommand']],
    ['a sandbox by bubblewrap', { details: { ...details, sandbox: { available: true, walls: 'bubblewrap' } } }, 'sandbox', { state: 'works', text: 'Tests run without network, and write only to their own copy of the project. The sandbox is made by bubblewrap.' }, []],
    ['a sandbox without it', { details: { ...details, sandbox: { available: true, walls: 'namespaces' } } }, 'sandbox', { state: 'works', text: 'Tests run without network, and write only to their own copy of the project. The sandbox is made of namespaces, without bubblewrap.' }, []],
    ['no sandbox', { details: { ...details, sandbox: { available: false, reason: 'bubblewrap is missing.', remedy: 'sudo apt-get install bubblewrap' } } }, 'sandbox', { state: 'missing' }, ['copyRemedy']],
    ['no sandbox to be had', { details: { ...details, sandbox: { available: false } } }, 'sandbox', { state: 'missing' }, []],
    ['a full disk', { details: { ...details, storage: { ...details.storage, freeBytes: 1e6 } } }, 'storage', { state: 'broken' }, []],
    ['a folder that is read-only', { details: { ...details, storage: { ...details.storage, writable: false } } }, 'storage', { state: 'broken' }, []],
    ['a broken workers.json', { pool: undefined, details: { ...details, workersFileProblem: 'workers.json: "id" is missing.' } }, 'workers-file', { state: 'broken', text: 'workers.json: "id" is missing.' }, ['openWorkersFile']],
  ])('names %s', (_name, facts, id, expected, mends) => {
    const row = rowsOf(facts).get(id);
    expect(row).toMatchObject(expected);
    expect(acts(row)).toEqual(mends);
  });
});

describe('the health page', () => {
  const words: HealthWords = {
    title: 'Health', introduction: 'What works.', lookAgain: 'Look Again', looking: 'Looking …',
    states: { works: 'Works.', missing: 'Missing.', broken: 'Does not work.', note: 'Good to know.' },
  };
  const row: HealthRow = {
    id: 'worker-w', state: 'broken', title: 'Worker "<b>"', text: '<img src=x onerror=alert(1)>',
    mends: [{ id: 'tryWorker', label: 'Try & See', subject: '"><script>' }],
  };

  /** The page in a browser of its own, and what it posted to the extension. */
  function open(): { readonly page: Document; readonly posted: unknown[]; readonly show: (rows: readonly HealthRow[], summary?: string) => void } {
    const posted: unknown[] = [];
    const frame = document.body.appendChild(document.createElement('iframe'));
    onTestFinished(() => frame.remove());
    const { contentWindow: window, contentDocument: page } = frame;
    if (!window || !page) throw new Error('The frame has no page.');
    Object.assign(window, { acquireVsCodeApi: () => ({ postMessage: (message: unknown) => posted.push(message) }) });
    page.write(healthHtml({ nonce: 'n', language: 'en', words }));
    page.close();
    const show = (rows: readonly HealthRow[], summary = '1 problem needs your attention.'): void => {
      window.dispatchEvent(new MessageEvent('message', { data: { rows: rowsHtml(rows, words), summary } }));
    };
    return { page, posted, show };
  }

  it('asks for its rows, and shows texts as texts', () => {
    const { page, posted, show } = open();
    expect(posted).toEqual([{ act: 'ready', subject: '' }]);
    show([row]);
    expect(page.querySelector('h2')?.textContent).toContain('Worker "<b>"');
    expect(page.querySelectorAll('img, b, #rows script')).toHaveLength(0);
    expect(page.querySelector('[role=status]')?.textContent).toBe('1 problem needs your attention.');
  });

  it('says which button was pressed, and for whom', () => {
    const { page, posted, show } = open();
    show([row]);
    page.querySelector<HTMLElement>('#worker-w-tryWorker')?.click();
    page.querySelector<HTMLElement>('#look-again')?.click();
    expect(posted.slice(1)).toEqual([{ act: 'tryWorker', subject: '"><script>' }, { act: 'lookAgain', subject: '' }]);
  });

  it('leaves the focus where it was, or where it can still be', () => {
    const { page, show } = open();
    show([row]);
    page.querySelector<HTMLElement>('#worker-w-tryWorker')?.focus();
    show([{ ...row, text: 'It works now.' }]);
    expect(page.activeElement?.id).toBe('worker-w-tryWorker');
    show([]);
    expect(page.activeElement?.id).toBe('look-again');
  });

  it('may load and run nothing but itself', () => {
    const html = healthHtml({ nonce: 'abc', language: 'en', words });
    expect(html).toContain("default-src 'none'; style-src 'nonce-abc'; script-src 'nonce-abc'");
    expect(html.match(/<(?:script|style)\b[^>]*>/g)).toEqual(['<style nonce="abc">', '<script nonce="abc">']);
    expect(rowsHtml([row], words)).not.toContain('style=');
  });
});
