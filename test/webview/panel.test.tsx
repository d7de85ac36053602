// @vitest-environment jsdom
import { options, type VNode } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatMoney } from '../../backend/protocol/figures.ts';
import type { PanelState } from '../../backend/protocol/panel-messages.ts';
import { applyText } from '../../backend/protocol/fold-run.ts';
import { answeredRun, baseRun, BEGIN, budgetRun, checkingRun, failedStepRun, handedOnRun, hostileRun, infrastructureRun, leftOutRun, manyTestsRun, noSandboxRun, notedRun, notVerifiedRun, planningRun, POOL_SUMMARY, RED_BASE, refusedRun, rejectedRun, SCENES, secondRoundRun, simulatedRun, stateWith, streamingRun, tokenLimitRun, unchangedRun, uncheckedRun, untestedRun, verifiedRun, waitingRun } from './fixtures.ts';
import { VERIFIED } from './verdict-fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => {
  stubLayout();
  vi.useFakeTimers({ now: BEGIN + 60_000, toFake: ['Date', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the tests on the code as it is', () => {
  it('are said to run while nothing else is known', () => {
    expect(renderPanel(stateWith({ run: baseRun() })).text()).toContain('Running the tests on the code as it is');
  });

  it('are counted, and named with their places when opened', () => {
    const panel = renderPanel(stateWith({ run: baseRun(RED_BASE) }));
    expect(panel.text()).toContain('On the code as it is, 3 of 120 tests fail');
    expect(renderPanel(stateWith({ run: baseRun({ ...RED_BASE, failed: 1 }) })).text()).toContain('On the code as it is, 1 of 120 tests fails');
    panel.openAll();
    expect(panel.text()).toContain('merge › keeps the last');
    expect(panel.text()).toContain('and 1 more');
  });

  it('say what there is to say if all pass, or give no result', () => {
    const green = { ...RED_BASE, failed: 0, failing: [] };
    expect(renderPanel(stateWith({ run: baseRun(green) })).text()).toContain('no test fails (120 ran)');
    expect(renderPanel(stateWith({ run: baseRun({ ...green, leftOut: 2 }) })).text()).toMatch(/no other test fails \(120 ran\).*2 tests that fail are left out/);
    expect(renderPanel(stateWith({ run: baseRun({ ...green, total: 0, problem: 'No test was executed.' }) })).text()).toContain('No test was executed.');
  });
});

describe('a model of this machine', () => {
  it('is offered beside a first worker', () => {
    const panel = renderPanel(stateWith({ pool: { workers: [] }, runs: [] }));
    panel.click('Download a model and use it here');
    expect(panel.posted.at(-1)).toEqual({ type: 'chooseModel' });
  });

  it('is preceded by a demonstration, for who wants one', () => {
    const panel = renderPanel(stateWith({ pool: { workers: [] }, runs: [] }));
    panel.click('See a demonstration first');
    expect(panel.posted.at(-1)).toEqual({ type: 'demonstrate' });
  });

  it('is shown with what it is for, its device and its memory, and why not on a better device', () => {
    const panel = renderPanel((SCENES['local-ready'] as () => PanelState)());
    expect(panel.text()).toContain('Qwen/Qwen3-1.7B plans · on the CPU of this machine, 2.3 GB in 8-bit weights');
    expect(panel.text()).toContain('No NVIDIA driver was found');
  });

  it('shows how far its loading is, and ends it on request', () => {
    const panel = renderPanel((SCENES['local-loading'] as () => PanelState)());
    expect(panel.root.querySelector('progress')?.value).toBe(42);
    expect(panel.text()).toContain('Making its weights smaller, once, 42 %');
    panel.click('Stop loading');
    expect(panel.posted.at(-1)).toEqual({ type: 'unloadModel', model: 'Qwen/Qwen3-1.7B' });
  });

  it('says why it could not be loaded', () => {
    const panel = renderPanel((SCENES['local-problem'] as () => PanelState)());
    expect(panel.text()).toContain('It could not be loaded');
    expect(panel.text()).toContain('choose a smaller model');
    panel.click('Choose another model');
    expect(panel.posted.at(-1)).toEqual({ type: 'chooseModel' });
  });

  it('is named as who planned, with the device it planned on', () => {
    const panel = renderPanel((SCENES['local-run'] as () => PanelState)());
    expect(panel.text()).toContain('Conductor qwen3-1.7b');
    expect(panel.text()).toContain('Planned by qwen3-1.7b, your choice · $0 · 6.2 s on the CPU · Change…');
  });
});

describe('a run', () => {
  it('shows its question, what was sent with it, and where each piece is', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    expect(panel.root.querySelector('h2 code')?.textContent).toBe('merge()');
    panel.click(/^merge\.ts/);
    expect(panel.posted.at(-1)).toEqual({ type: 'openFile', path: 'src/merge.ts', line: 3 });
    panel.click(/^Sent: 5 pieces, 2 left out/);
    expect(panel.text()).toContain('.envlooks like a file of secrets');
    panel.click('The exact text sent');
    expect(panel.text()).toContain('## src/merge.ts, lines 3 to 21');
  });

  it('says once what was sent, where no round was sent anything else', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    expect(panel.text().match(/Sent: 5 pieces/g)).toHaveLength(1);
  });

  it('counts the plan into what a round cost', () => {
    const run = verifiedRun();
    const cost = renderPanel(stateWith({ run })).root.querySelector('.round-title .figures')?.textContent;
    expect(run.rounds).toHaveLength(1);
    expect(cost).toContain(formatMoney(run.spent));
  });

  it('says in words what each step reads, costs and says', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    const cards = [...panel.root.querySelectorAll('.step')].map((card) => card.textContent);
    expect(cards[0]).toMatch(/^done: gemini-prostep 1Find the case.*When the current interval.*612 tok · \$0\.0031 · 3\.2 s$/);
    expect(cards[2]).toContain('step 3 · reads 1 and 2');
  });

  it('opens a step to its whole output, rendered', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    expect(panel.root.querySelector('.markdown')).toBeNull();
    panel.click('Show the details of step 3');
    expect(panel.root.querySelector('.step .markdown pre')?.textContent).toContain('Math.max(last[1], b)');
    expect(panel.button('Hide the details of step 3').getAttribute('aria-expanded')).toBe('true');
  });

  it('streams what a step says as plain text and counts the time', () => {
    const run = streamingRun();
    const panel = renderPanel(stateWith({ run }));
    const card = panel.root.querySelector('[data-step="0"]');
    expect(card?.querySelector('.live')?.textContent).toContain('one pointer that');
    expect(card?.querySelector('.markdown')).toBeNull();
    expect(card?.textContent).toMatch(/59 s$/);
    void act(() => { vi.advanceTimersByTime(3_000); });
    expect(card?.textContent).toMatch(/1 min 02 s$/);
  });

  it('says when and why a step is tried again', () => {
    vi.setSystemTime(BEGIN + 2_000);
    const panel = renderPanel(stateWith({ run: streamingRun() }));
    const note = panel.root.querySelector('[data-step="1"] .note');
    expect(note?.textContent).toBe('Attempt 2 in 3 s: claude is overloaded at the moment.');
    void act(() => { vi.advanceTimersByTime(10_000); });
    expect(note?.textContent).toBe('Attempt 2 now: claude is overloaded at the moment.');
  });

  it('draws nothing anew but the step that streams', () => {
    const run = streamingRun();
    const panel = renderPanel(stateWith({ run }));
    const drawn: string[] = [];
    const hooks = options as { __r?: (vnode: VNode) => void };
    const before = hooks.__r;
    hooks.__r = (vnode) => {
      before?.(vnode);
      const { step } = vnode.props as { step?: { index: number } };
      if (typeof vnode.type === 'function') drawn.push(`${vnode.type.name} ${step?.index ?? ''}`.trim());
    };
    try {
      const offset = run.rounds[0]?.steps[0]?.attempt?.text.length ?? 0;
      panel.show(stateWith({ run: applyText(run, {
        runId: run.runId, round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 'attempt-2', offset, text: ' moves on',
      }) }));
    } finally {
      if (before) hooks.__r = before;
      else delete hooks.__r;
    }
    expect(drawn.filter((name) => name.startsWith('StepCard'))).toEqual(['StepCard 0']);
    expect(drawn.filter((name) => /^(ContextView|VerdictView|Markdown|DiffView)/.test(name))).toEqual([]);
    expect(panel.text()).toContain('one pointer that moves on');
  });

  it('streams the plan while the Conductor writes it', () => {
    const panel = renderPanel(stateWith({ run: planningRun() }));
    expect(panel.root.querySelector('.planning')?.textContent).toMatch(/^Planning….*another writes the$/);
  });

  it('shows a rejected plan with the name of the rule and the text itself', () => {
    const panel = renderPanel(stateWith({ run: rejectedRun() }));
    expect(panel.text()).toContain('Plan rejectedunknown-workerThe plan names worker 99');
    panel.click('What the Conductor wrote');
    expect(panel.text()).toContain('model_id = [0, 99]');
  });

  it('closes a round that a later one revised, and says what came of it', () => {
    const panel = renderPanel(stateWith({ run: secondRoundRun() }));
    const [first, second] = [...panel.root.querySelectorAll('.round')];
    expect(first?.querySelector('.step')).toBeNull();
    expect(first?.textContent).toContain('Not verified, 12 of 14');
    expect(second?.querySelectorAll('.step')).toHaveLength(2);
    expect(second?.textContent).toContain('step 1 · reads round 1');
  });

});

describe('the verdict', () => {
  const headline = (panel: ReturnType<typeof renderPanel>): string => panel.root.querySelector('.verdict-head')?.textContent ?? '';

  it('is "Verified" with its count where the tests say so', () => {
    expect(headline(renderPanel(stateWith({ run: verifiedRun() })))).toMatch(/^Verified 14 of 14node --test · node-test · in the sandbox · Node 24\.11\.0, as \.nvmrc asks · 0\.8 s$/);
  });

  it('is never "Verified" where the verdict does not say so, whatever else claims it', () => {
    const run = verifiedRun();
    const claimed = { ...run, rounds: run.rounds.map((round) => ({ ...round, verdict: { ...VERIFIED, verified: false } })) };
    const text = renderPanel(stateWith({ run: claimed, runs: [] })).text();
    expect(text).toContain('Not verified');
    expect(text).not.toMatch(/Verified/);
    const contradicting = { ...run, rounds: run.rounds.map((round) => ({ ...round, verdict: { ...VERIFIED, outcome: 'failed' as const } })) };
    expect(renderPanel(stateWith({ run: contradicting, runs: [] })).text()).not.toMatch(/Verified/);
    const { verdict: _verdict, ...unchecked } = run.rounds[0] as (typeof run.rounds)[number];
    const panel = renderPanel(stateWith({ run: { ...run, rounds: [unchecked] }, runs: [] }));
    expect(panel.root.querySelector('.status')?.textContent).toMatch(/^Unchecked/);
  });

  it('lists broken tests first, then those that still fail and mended ones, and folds the others', () => {
    const panel = renderPanel(stateWith({ run: notVerifiedRun() }));
    const rows = [...panel.root.querySelectorAll('.verdict tbody tr')].map((row) => row.textContent);
    expect(rows).toEqual([
      'an empty list stays empty broken by this answerpassesfails',
      'touching intervals mergefailsfails',
      'nested interval keeps its endfailspasses',
    ]);
    expect(panel.root.querySelector('.verdict th')?.textContent).toBe('test/merge.test.ts › merge');
    panel.click('11 others passed before and after');
    expect([...panel.root.querySelectorAll('.test-names li')].map((name) => name.textContent)).toContain('case 11');
    panel.click('1 did not run');
    expect(panel.text()).toContain('on a large list');
    panel.click(/^an empty list stays empty/);
    expect(panel.text()).toContain('TypeError: Cannot read properties of undefined');
  });

  it('says plainly what a refusal is', () => {
    const panel = renderPanel(stateWith({ run: refusedRun() }));
    expect(headline(panel)).toContain('Not accepted for checking');
    expect(panel.text()).toContain('tests are not changed by an answer');
  });

  it('says that trouble with the tests is no judgement, and that nothing was sandboxed', () => {
    const panel = renderPanel(stateWith({ run: infrastructureRun() }));
    expect(headline(panel)).toMatch(/^Could not be checked.*without a sandbox/);
    expect(panel.text()).toContain('it is neither right nor wrong');
  });

  it('never calls tests that prove nothing verified, and says why', () => {
    const panel = renderPanel(stateWith({ run: notedRun() }));
    expect(headline(panel)).toMatch(/^Tests pass, not verified 14 of 14/);
    expect(panel.root.querySelector('.answer .note')?.textContent).toContain('no test that was fixed has an expected value that can be altered');
  });

  it('tells flaky tests apart, which count neither for nor against, and shows what else should be known', () => {
    const panel = renderPanel(stateWith({ run: notedRun() }));
    expect(panel.root.querySelector('tr[data-kind="flaky"]')?.textContent).toBe('ticks within a second flaky, left outpassesfails');
    expect([...panel.root.querySelectorAll('.verdict-notes li')].map((note) => note.textContent?.trim())).toEqual(
      expect.arrayContaining([expect.stringContaining('did not end the same way twice')]),
    );
  });

  it('tells what failed before and is left out apart', () => {
    const panel = renderPanel(stateWith({ run: leftOutRun() }));
    expect(panel.root.querySelector('tr[data-kind="left-out"]')?.textContent).toBe('knows the zones of this machine failed before, left outfailsfails');
    expect(headline(panel)).toMatch(/^Tests pass, not verified 13 of 13/);
  });

  it('groups hundreds of tests by file, shows what changed and folds the rest', () => {
    const panel = renderPanel(stateWith({ run: manyTestsRun() }));
    const rows = (): number => panel.root.querySelectorAll('.verdict tr[data-kind]').length;
    const places = (): (string | null)[] => [...panel.root.querySelectorAll('.verdict .test-place')].map((place) => place.textContent);
    expect(rows()).toBe(30);
    expect(places()).toEqual(['packages/cli/test/run.test.ts', 'packages/parser/test/tokens.test.ts › tokens']);
    expect(panel.root.querySelector('.verdict tr[data-kind]')?.textContent).toBe('prints its version broken by this answerpassesmissing');
    panel.click('Show all 43 tests');
    expect(rows()).toBe(43);
    expect(places()).toContain('packages/cli/test/watch.test.ts');
    expect(panel.text()).not.toContain('case 45');
    panel.click('540 others passed before and after');
    panel.click(/^packages\/core\/test\/part-7\.test\.ts › part 7/);
    expect(panel.root.querySelectorAll('.test-names li')).toHaveLength(45);
  });

  it('has the command that brings a sandbox to copy, and claims no time for tests that were not run', () => {
    const panel = renderPanel(stateWith({ run: noSandboxRun() }));
    expect(headline(panel)).toMatch(/npm test · vitest$/);
    expect(panel.root.querySelector('.answer .note')?.textContent).toMatch(/Install it with:$/);
    panel.click('Copy the install command');
    expect(panel.posted).toEqual([{ type: 'copy', text: 'sudo apt-get install bubblewrap' }]);
  });

  it('names the command while the tests run', () => {
    expect(renderPanel(stateWith({ run: checkingRun() })).text()).toContain('Checkingnpm test · vitest · in the sandbox');
  });

  it('offers to choose a test command where none was found', () => {
    const panel = renderPanel(stateWith({ run: untestedRun() }));
    panel.click('Choose a test command');
    expect(panel.posted).toEqual([{ type: 'chooseTests' }]);
    expect(() => renderPanel(stateWith({ run: uncheckedRun() })).button('Choose a test command')).toThrow();
  });

  it('is needed for no answer in words, which is neither green nor a warning', () => {
    const panel = renderPanel(stateWith({ run: answeredRun(), runs: [] }));
    expect(panel.root.querySelector('.status')?.textContent).toMatch(/^Answered/);
    expect(panel.root.querySelector('.status')?.getAttribute('data-tone')).toBe('quiet');
    expect(panel.text()).not.toContain('nothing to test');
    expect(panel.text()).not.toContain('nchecked');
  });

  it('is not needed to say that a change was asked for and none came', () => {
    const panel = renderPanel(stateWith({ run: unchangedRun() }));
    expect(panel.root.querySelector('.status')?.textContent).toMatch(/^Not verified/);
    expect(panel.text()).toContain('The question asks for a change, but the answer changes no file.');
  });

  it('says why nothing was checked', () => {
    const panel = renderPanel(stateWith({ run: uncheckedRun() }));
    expect(panel.root.querySelector('.status')?.textContent).toMatch(/^Unchecked~\$0\.0007 of \$1\.00 \+ ~1\.0k tokens unpriced/);
    expect(panel.text()).toContain('The answer changes no file, so there was nothing to test.');
  });
});

describe('the answer', () => {
  it('shows its changes line by line, and offers to apply, insert, copy and ask again', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    expect(panel.root.querySelector('.diff-removed')?.textContent).toBe('-    if (last && a < last[1]) last[1] = b;\n');
    panel.click('Review and apply');
    panel.click('Insert the code at the cursor');
    panel.click('Copy the whole answer');
    panel.click(/^Ask again…/);
    expect(panel.posted).toEqual([
      { type: 'apply', runId: 'run-1' },
      { type: 'insert', text: expect.stringContaining('export function merge') },
      { type: 'copy', text: expect.stringMatching(/^Both cases come from one line/) },
      { type: 'newQuestion', question: expect.stringContaining('merge()') },
    ]);
  });

  it('is not there while the run goes on', () => {
    const run = verifiedRun();
    expect(renderPanel(stateWith({ run: { ...run, state: 'running' } })).root.querySelector('.answer')).toBeNull();
  });

  it('says what became of applying it, and only for its own run', () => {
    const applied = { runId: 'run-1', state: 'partly', message: '1 of 2 files was changed.' } as const;
    expect(renderPanel(stateWith({ run: verifiedRun(), applied })).text()).toContain('1 of 2 files was changed.');
    const other = { ...applied, runId: 'other' };
    expect(renderPanel(stateWith({ run: verifiedRun(), applied: other })).text()).not.toContain('1 of 2 files');
  });
});

describe('hostile text', () => {
  it('never becomes an element that acts, wherever it stands', () => {
    const panel = renderPanel(stateWith({ run: hostileRun() }));
    panel.openAll();
    expect(panel.root.querySelectorAll('script, img, iframe, a, style, link, form, object, embed')).toHaveLength(0);
    const attributes = [...panel.root.querySelectorAll('*')].flatMap((element) => [...element.attributes]);
    expect(attributes.filter(({ name }) => /^on/.test(name))).toEqual([]);
    expect(panel.text()).toContain('<script>alert(2)</script>');
  });

  it('shows the characters that would disguise a path or a line of code', () => {
    expect(renderPanel(stateWith({ run: hostileRun() })).root.querySelector('.diff')?.textContent).toContain('src/⟨U+202E⟩gnp.ts');
  });

  it('lays out a long text in part until somebody asks for all', () => {
    const panel = renderPanel(stateWith({ run: hostileRun() }));
    panel.click('Show the details of step 1');
    const card = (): number => panel.root.querySelector('[data-step="0"]')?.textContent?.length ?? 0;
    expect(card()).toBeLessThan(25_000);
    void act(() => panel.root.querySelector<HTMLElement>('[data-step="0"] .show-all')?.click());
    expect(card()).toBeGreaterThan(90_000);
  });
});

describe('what to do next', () => {
  it('cancels a run that goes on', () => {
    const panel = renderPanel(stateWith({ run: streamingRun() }));
    panel.click('Cancel this run');
    expect(panel.posted).toEqual([{ type: 'cancel', runId: 'run-1' }]);
  });

  it('names the limit that a run stopped at, and how much of it is used', () => {
    const status = renderPanel(stateWith({ run: tokenLimitRun() })).root.querySelector('.status')?.textContent;
    expect(status).toMatch(/^Stopped by its token limit600 of 400,000 tokens · /);
  });

  it('resumes a run that its budget stopped', () => {
    const panel = renderPanel(stateWith({ run: budgetRun() }));
    expect(panel.text()).toContain('Raise the budget and resume.');
    panel.click('Resume…');
    expect(panel.posted).toEqual([{ type: 'resume', runId: 'run-1' }]);
  });

  it('retries a run that failed, or shows the logs', () => {
    const panel = renderPanel(stateWith({ run: failedStepRun() }));
    expect(panel.text()).toContain('Skipped: it reads step 2, which failed.');
    panel.click('Retry');
    panel.click('Show logs');
    expect(panel.posted).toEqual([{ type: 'resume', runId: 'run-1' }, { type: 'showLogs' }]);
  });

  it('says who failed at a step, why, and who does it', () => {
    const text = renderPanel(stateWith({ run: handedOnRun() })).text();
    expect(text).toMatch(/gpt-5.*step 1.*Worker "gemini-pro":.*no credit left.*Done by gpt-5 instead\./s);
    expect(text).toMatch(/Worker "claude":.*is overloaded.*Given to gpt-5 instead\./s);
  });

  it('says what a waiting run waits for', () => {
    expect(renderPanel(stateWith({ run: waitingRun() })).text()).toContain('The run needs the key OPENAI_API_KEY.');
  });

  it('tries again where there is no backend', () => {
    const panel = renderPanel(stateWith({ backend: { state: 'unavailable', message: 'It needs another Node.' } }));
    panel.click('Try again');
    expect(panel.posted).toEqual([{ type: 'retryBackend' }]);
  });

  it('asks for a first worker, and for a Conductor', () => {
    const first = renderPanel(stateWith({ pool: { workers: [] } }));
    first.click('Add a worker');
    expect(first.posted).toEqual([{ type: 'addWorker' }]);
    expect(renderPanel(stateWith({ pool: { workers: POOL_SUMMARY.workers } })).text()).toContain('There is no Conductor yet');
  });
});

describe('the header', () => {
  it('names the Conductor', () => {
    const { root } = renderPanel(stateWith({ run: verifiedRun() }));
    expect(root.querySelector('.conductor')?.textContent).toBe('Conductor conductor-7b');
  });

  it('says which workers are only simulated, with a run open or not', () => {
    const sentence = 'Simulated: sim-conductor, scout, smith and judge answer from a simulator, not from a real model.';
    expect(renderPanel(stateWith({ run: simulatedRun() })).text()).toContain(sentence);
    const workers = POOL_SUMMARY.workers.map((worker, index) => ({ ...worker, simulated: index === 0 }));
    const asking = renderPanel(stateWith({ pool: { ...POOL_SUMMARY, workers } }));
    expect(asking.text()).toContain('Simulated: gemini-pro answers from a simulator');
    expect(renderPanel(stateWith({ run: verifiedRun(), runs: [] })).text()).not.toMatch(/simulat/i);
  });
});

describe('asking', () => {
  const type = (panel: ReturnType<typeof renderPanel>, question: string): HTMLElement => {
    const area = panel.root.querySelector('vscode-text-area') as HTMLElement & { value: string };
    void act(() => {
      area.value = question;
      area.dispatchEvent(new Event('input', { bubbles: true }));
    });
    return area;
  };

  it('solves with the button and with Ctrl+Enter', () => {
    const panel = renderPanel(stateWith());
    const area = type(panel, 'Why?');
    panel.click('Solve');
    void act(() => { area.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })); });
    void act(() => { area.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true })); });
    expect(panel.posted).toEqual([{ type: 'solve', question: 'Why?' }, { type: 'solve', question: 'Why?' }]);
  });

  it.each([
    ['an empty question', {}, ' '],
    ['an untrusted workspace', { trusted: false }, 'Why?'],
    ['no backend', { backend: { state: 'starting' } as const }, 'Why?'],
    ['no Conductor', { pool: { workers: POOL_SUMMARY.workers } }, 'Why?'],
  ])('sends nothing with %s', (_what, change, question) => {
    const panel = renderPanel(stateWith(change));
    type(panel, question);
    panel.click('Solve');
    expect(panel.posted).toEqual([]);
  });

  it('shows what would be sent, on request', () => {
    const panel = renderPanel(stateWith());
    type(panel, 'Why?');
    panel.click('Show context');
    expect(panel.posted).toEqual([{ type: 'previewContext', question: 'Why?' }]);
    const preview = { pieces: [], leftOut: [], tokens: 0, text: '', testCommand: null, likelyTests: [{ command: 'make test', from: 'Makefile' }] };
    panel.show(stateWith({ draft: { question: 'Why?', preview } }));
    expect(panel.text()).toContain('No test command was found or named: the answer stays unchecked. It may be make test, of Makefile.');
  });

  it('keeps what was typed over a reload, and over states that repeat an older draft', () => {
    const draft = { question: 'From the palette' };
    const panel = renderPanel(stateWith({ draft }));
    const value = (): unknown => panel.root.querySelector('vscode-text-area')?.getAttribute('value');
    expect(value()).toBe('From the palette');
    type(panel, 'From the palette, and on');
    panel.show(stateWith({ draft, problem: 'The backend is busy.' }));
    const reloaded = renderPanel(stateWith({ draft }), panel.stored());
    expect(reloaded.root.querySelector('vscode-text-area')?.getAttribute('value')).toBe('From the palette, and on');
  });

  it('shows why the last command was refused', () => {
    const panel = renderPanel(stateWith({ problem: 'The question is empty.' }));
    expect(panel.root.querySelector('[role="alert"]')?.textContent).toContain('The question is empty.');
    panel.click('Dismiss');
    expect(panel.posted).toEqual([{ type: 'dismissProblem' }]);
    panel.show(stateWith());
    expect(panel.root.querySelector('[role="alert"]')?.textContent).toBe('');
  });

  it('keeps a question in sight while there is nobody who could answer it', () => {
    const panel = renderPanel(stateWith({ pool: { conductor: 'conductor-mini', workers: [] }, draft: { question: 'Why?' } }));
    expect(panel.root.querySelector('vscode-text-area')?.getAttribute('value')).toBe('Why?');
    expect(panel.text()).toContain('Your question waits here until there is a worker.');
    panel.click('Solve');
    expect(panel.posted).toEqual([]);
  });

  it('lists past runs and opens one', () => {
    const panel = renderPanel(stateWith());
    expect(panel.text()).toContain('not verified · $0.031 + 5.2k tokens unpriced · 3 h ago');
    panel.click(/^Why is the date off by one/);
    expect(panel.posted).toEqual([{ type: 'open', runId: 'run-7' }]);
  });
});

describe('memory', () => {
  it('keeps open what was opened, over a reload', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    panel.click('Show the details of step 2');
    const reloaded = renderPanel(stateWith({ run: verifiedRun() }), panel.stored());
    expect(reloaded.button('Hide the details of step 2')).toBeDefined();
  });

  it('starts afresh from stored nonsense', () => {
    expect(() => renderPanel(stateWith({ run: verifiedRun() }), { expanded: 7, draft: null, scrollTop: 'x' })).not.toThrow();
  });
});

describe('the live region', () => {
  it('speaks when the state changes and not while text streams', () => {
    const run = streamingRun();
    const panel = renderPanel(stateWith({ run }));
    const said = (): string | null | undefined => panel.root.querySelector('[role="status"]')?.textContent;
    panel.show(stateWith({ run: applyText(run, {
      runId: run.runId, round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 'attempt-2', offset: 0, text: 'anew',
    }) }));
    expect(said()).toBe('');
    panel.show(stateWith({ run: { ...run, seq: run.seq + 1, state: 'cancelled' } }));
    expect(said()).toBe('Cancelled.');
    panel.show(stateWith({ run: { ...verifiedRun(), runId: 'another' } }));
    expect(said()).toBe('');
  });
});
