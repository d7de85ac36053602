import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { describe, expect, it, onTestFinished } from 'vitest';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import { nonsenseIn } from '../../backend/conductor/plan/plan-sense.ts';
import { mostSteps } from '../../backend/conductor/plan/read-plan.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { readQuestion } from '../../backend/conductor/question/read-question.ts';
import { ContextGatherer } from '../../backend/context/gather-context.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import type { SenseRule } from '../../backend/protocol/plan-mend.ts';
import type { RunEventOf } from '../../backend/protocol/run-events.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import type { Clients } from '../../backend/solve/clients.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { chooseRunner } from '../../backend/verify/runners/choose-runner.ts';
import { findTestCommands } from '../../backend/verify/runners/find-tests.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import type { Plan } from '../../backend/workflow/plan.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * Questions of several kinds, asked of a larger model as Conductor: a server that plays one writes the plans. Its prompt, the context, the
 * journal, the rules for plans and the calls of workers are the real ones; only the models' words and the verdict are scripted.
 */

const SLUG = 'export function slugify(text) {\n  return text.toLowerCase().replaceAll(" ", "-");\n}\n';
const ANSWER = `\`\`\`js src/slug.js\n${SLUG.replace('" "', '/ +/g')}\`\`\``;

const EXPLAIN = 'Explain what `slugify` in src/slug.js does.';
const FEATURE = 'Add a `titleCase` function to src/slug.js that capitalises every word of a heading.';
const BUG = 'slugify("a  b") in src/slug.js returns "a--b" instead of "a-b", please fix it.';
const THANKS = 'thanks, that works';

const GOOD: Readonly<Record<string, Plan>> = {
  [EXPLAIN]: { modelIds: [1], subtasks: ['Explain in words what `slugify` does with spaces and capitals. Change no file.'], accessList: [[]] },
  [FEATURE]: {
    modelIds: [1, 0, 1],
    subtasks: [
      'List the cases that `titleCase` has to handle (empty headings, several spaces), without code.',
      'Add `titleCase` to src/slug.js for the list of cases you are shown. Return the changed file whole.',
      'Check the draft you are shown against the list of cases, and return the changed file whole.',
    ],
    accessList: [[], [0], 'all'],
  },
  [BUG]: {
    modelIds: [0, 1],
    subtasks: ['Correct `slugify` so that "a  b" becomes "a-b". Return the changed file whole.', 'Check the draft you are shown with "a  b", and return the changed file whole.'],
    accessList: [[], [0]],
  },
  [THANKS]: { modelIds: [0], subtasks: ['Answer the thanks in one sentence.'], accessList: [[]] },
};

const SENDS_TO_FAULT: Plan = {
  modelIds: [0, 1], subtasks: ['Find the bug in `slugify` and say which line is wrong.', 'Apply the plan you are shown and return the corrected file.'], accessList: [[], []],
};

/** A model server, a project and what asks it; `planned` is what the Conductor writes at its n-th try for a question. */
async function solver(planned: (question: string, attempt: number) => Plan) {
  const tries = new Map<string, number>();
  const server = await ScriptedServer.start(({ model, text }) => {
    const question = /USER QUESTION:\n([\s\S]*?)\n\nNow reason/.exec(text)?.[1] ?? '';
    if (model !== 'planner') return readQuestion(/<question>\n([\s\S]*?)\n<\/question>/.exec(text)?.[1] ?? '').wants === 'change' ? ANSWER : 'In words.';
    const attempt = (tries.get(question) ?? 0) + 1;
    tries.set(question, attempt);
    return `I think.\n\n${renderPlan(planned(question, attempt))}`;
  });
  onTestFinished(() => server.close());
  const folder = await temporaryFolder();
  const workspace = path.join(folder, 'project');
  await mkdir(path.join(workspace, 'src'), { recursive: true });
  await writeFile(path.join(workspace, 'package.json'), JSON.stringify({ name: 'slugs', type: 'module', scripts: { test: 'node --test' } }));
  await writeFile(path.join(workspace, 'src/slug.js'), SLUG);
  const journal = Journal.open(path.join(folder, 'journal.sqlite'));
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, price: { inputPerMillion: 1, outputPerMillion: 1 }, maxOutputTokens: 1_000 };
  const clients: Clients = {
    secret: async () => null, confirm: async () => undefined, changed: () => new Promise(() => {}), model: () => Promise.reject(new Error('no client offers models')),
  };
  const context = new ContextGatherer({ ripgrepPath: rgPath });
  const problems: string[] = [];
  const runs = new RunManager({
    journal, clients, holder: holderName(), log: (problem) => problems.push(problem), priced: (one) => one, adapterVersion: NO_ADAPTER,
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices: await loadPrices(), delay: async () => {} }),
    checker: {
      findTestCommands,
      runnerOf: async (test, base) => (await chooseRunner(test, base))?.runner.name,
      sandboxAvailability: async () => ({ available: true }),
      parsePatch: (answer, base, candidates) => parsePatch(answer, base, { candidates }),
      verify: async ({ command, sandboxed }) => ({
        verified: true, score: 1, outcome: 'verified', reason: 'All tests pass.', tests: [], notes: [], command, sandboxed, durationMs: 1,
      }),
    },
    gatherContext: (request) => context.gather(request),
    supply: (request) => context.supply(request),
    loadWorkers: async () => workersFileSchema.parse({
      version: 1, conductor: 'planner',
      workers: [
        { ...worker, id: 'coder', model: 'coder', description: 'Writes code.' }, { ...worker, id: 'reader', model: 'reader', description: 'Explains code.' },
        { ...worker, id: 'planner', model: 'planner', enabled: false },
      ],
    }),
  });
  onTestFinished(async () => {
    await runs.close();
    journal.close();
    expect(problems).toEqual([]);
  });
  const ask = async (question: string, where = workspace): Promise<RunSnapshot> => {
    const runId = await runs.start(runRequestSchema.parse({ question, workspace: where }));
    return new Promise((resolve) => {
      const look = (): void => {
        const run = runs.snapshot(runId);
        if (!isOver(run.state)) return;
        stop();
        resolve(run);
      };
      const stop = runs.listen({ onEvent: () => queueMicrotask(look), onText: () => {}, onChanged: () => {}, onRemoved: () => {} });
      look();
    });
  };
  return { ask, server, workspace, runs };
}

type Solver = Awaited<ReturnType<typeof solver>>;
const proposed = ({ runs }: Solver, { runId }: RunSnapshot) =>
  runs.events(runId, 0).map(({ event }) => event).find((event): event is RunEventOf<'plan.proposed'> => event.type === 'plan.proposed');

describe('a Conductor that plans well', () => {
  it.each([
    [EXPLAIN, 'answered'], [FEATURE, 'verified'], [BUG, 'verified'], [THANKS, 'answered'],
  ])('has its plan run as it is written: %s', async (question, outcome) => {
    const solving = await solver((asked) => GOOD[asked] as Plan);
    const run = await solving.ask(question);
    expect(run).toMatchObject({ state: 'completed', outcome });
    expect(run.rounds[0]).toMatchObject({ plan: GOOD[question], rejections: [] });
    expect(proposed(solving, run)).not.toHaveProperty('mended');
    expect(solving.server.of('planner')).toHaveLength(1);
    const sent = [...solving.server.of('coder'), ...solving.server.of('reader')].map(({ text }) => /Your subtask: (.*)$/s.exec(text)?.[1]);
    expect(new Set(sent)).toEqual(new Set(GOOD[question]?.subtasks));
  });
});

describe('a careless Conductor', () => {
  const careless: [question: string, plan: Plan, rules: SenseRule[], told: RegExp[]][] = [
    [FEATURE, SENDS_TO_FAULT, ['unread', 'fault', 'unseen'], [/Step 0 sends its worker after a fault, and the question reports none/, /Step 1 speaks of others' work and is shown none/, /No later step may read step 0/]],
    [EXPLAIN, SENDS_TO_FAULT, ['steps'], [/one step is enough, and the plan has 2/]],
    [THANKS, SENDS_TO_FAULT, ['steps'], [/The question asks for no work: one step is enough/]],
    [BUG, { ...SENDS_TO_FAULT, subtasks: ['Find the bug in `slugify` and say which line is wrong.', 'Explain to the programmer what is wrong.'], accessList: [[], [0]] }, ['last'], [/The last step returns words, and the question asks for a change/]],
  ];
  const sensible = ({ rounds }: RunSnapshot, question: string): void => {
    const asked = readQuestion(question);
    expect(nonsenseIn(rounds[0]?.plan as Plan, asked, { steps: mostSteps(asked, 0), round: 0 })).toEqual([]);
  };

  it.each(careless)('is told once what is wrong, and then the nearest sensible plan runs: %s', async (question, plan, rules, told) => {
    const solving = await solver(() => plan);
    const run = await solving.ask(question);
    const { server } = solving;
    expect(server.of('planner')).toHaveLength(2);
    for (const sentence of told) expect(server.of('planner')[1]?.text).toMatch(sentence);
    expect(server.of('planner')[0]?.text).not.toContain('does not make sense');
    expect(run.rounds[0]?.rejections).toMatchObject([{ reason: 'senseless' }]);
    // The journal says that the plan is not the written one, and why.
    const { plan: ran, mended, text } = proposed(solving, run) ?? {};
    expect(text).toContain(renderPlan(plan));
    expect(ran).not.toEqual(plan);
    expect(mended?.wrong.map(({ rule }) => rule)).toEqual(expect.arrayContaining(rules));
    expect(run.rounds[0]?.planMended).toEqual(mended);
    sensible(run, question);
    // What runs is the mended plan: each of its steps once, with the outputs that its words speak of.
    const sent = [...server.of('coder'), ...server.of('reader')];
    expect(sent.map(({ text: prompt }) => /Your subtask: (.*)$/s.exec(prompt)?.[1]).toSorted()).toEqual([...(ran?.subtasks ?? [])].toSorted());
    expect(run.state).toBe('completed');
  });

  it.each(careless)('that mends its plan when it is told has that plan run as it is written: %s', async (question, plan) => {
    const solving = await solver((asked, attempt) => (attempt === 1 ? plan : GOOD[asked] as Plan));
    const run = await solving.ask(question);
    expect(solving.server.of('planner')).toHaveLength(2);
    expect(run.rounds[0]?.plan).toEqual(GOOD[question]);
    expect(proposed(solving, run)).not.toHaveProperty('mended');
  });
});

describe('what the Conductor is told', () => {
  const before = (text: string, part: string): string => text.slice(0, text.indexOf(part));

  it('of the project is the same for each question about it, and stands behind what is the same for all projects', async () => {
    const { ask, server, workspace } = await solver((asked) => GOOD[asked] as Plan);
    await ask(EXPLAIN);
    await ask(FEATURE);
    const other = `${workspace}-in-python`;
    await cp(workspace, other, { recursive: true });
    for (const file of ['a.py', 'b.py', 'c.py', 'd.py', 'e.py', 'f.py', 'g.py', 'h.py', 'i.py', 'j.py', 'k.py']) await writeFile(path.join(other, file), 'a = 1\n');
    await ask(EXPLAIN, other);
    const [first = '', second = '', third = ''] = server.of('planner').map(({ text }) => text);
    expect(before(first, '\n\nFILES')).toMatch(/PROJECT:\nWritten mainly in JavaScript\.\nAnswers that change files are judged by: node --test$/);
    expect(before(second, '\n\nFILES')).toBe(before(first, '\n\nFILES'));
    expect(first).toMatch(/FILES that every worker is shown, whole or in part:\n.*src\/slug\.js/);
    expect(before(third, 'PROJECT:')).toBe(before(first, 'PROJECT:'));
    expect(before(first, 'PROJECT:')).toContain(PROMPT_PROFILES.standard.examples.at(-1)?.plan.subtasks.at(-1));
    expect(third).toContain('Written mainly in Python');
  });

  it('of its workers is what tests said of them, once they have judged them, and is shown later as it was', async () => {
    const { ask, server, workspace, runs } = await solver((asked) => GOOD[asked] as Plan);
    const judged = await ask(BUG);
    await ask(EXPLAIN);
    const next = await ask(FEATURE);
    const last = await ask(THANKS);
    await ask(EXPLAIN, await temporaryFolder());
    const texts = server.of('planner').map(({ text }) => text);
    const records = texts.map((text) => /RECORDS .*:\n([\s\S]*?)\n\n/.exec(text)?.[1]);
    expect(records).toEqual([
      undefined,
      // An explanation that no test judged adds nothing.
      ...[1, 1, 2].map((count) => [
        expect.stringMatching(new RegExp(`^Worker 0: about \\d\\d % verified, from ${count} of ${count} answers? here \\(too few to judge by\\); a step takes [\\d.]+ s, \\$0\\.0001\\d?$`, 'm')),
      ]).flat(),
      // In another project, what was known here is known of elsewhere.
      expect.stringMatching(/^Worker 0: about \d\d % verified, from 2 of 2 answers elsewhere/),
    ]);
    expect(records[3]).toMatch(/^Worker 1: about \d\d % verified, from 2 of 2 answers here/m);
    expect(before(texts[3] ?? '', '\n\nRECORDS')).toBe(before(texts[0] ?? '', '\n\nFILES'));
    expect(judged.records).toBeUndefined();
    expect(last.records).toMatchObject([{ worker: 'coder', runs: 2, verified: 2, steps: 2 }, { worker: 'reader', runs: 2, verified: 2, steps: 3 }]);
    // Later runs change the records, and not what this run's Conductor was sent.
    expect(runs.questions.prompt(next.runId, 0, undefined).map(({ content }) => content).join('\n')).toBe(texts[2]);
    expect(runs.list({ workspace, limit: 10 })).toHaveLength(4);
  });
});
