// @vitest-environment jsdom
import { beforeEach, expect, it } from 'vitest';
import { pageMessageSchema } from '../../backend/protocol/panel-messages.ts';
import { announcementOf } from '../../webview/announcement.ts';
import { stateWith, undecidedRun } from './fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';
import { redIds, STILL_RED } from './verdict-fixtures.ts';

beforeEach(() => stubLayout());

it.each([['They must pass', 'must-pass'], ['Leave them out', 'leave-out']] as const)('asks what becomes of tests that failed before: %s', (button, failedBefore) => {
  const panel = renderPanel(stateWith({ run: undecidedRun() }));
  expect(panel.text()).toContain('The verdict waits for you');
  expect(panel.text()).toContain('The answer breaks no test. 2 tests that failed before still fail.');
  panel.click(button);
  expect(panel.posted).toEqual([{ type: 'decideFailedBefore', ask: 1, runId: 'run-1', round: 0, failedBefore }]);
  expect(pageMessageSchema.safeParse(panel.posted[0]).success).toBe(true);
  // A second click sends nothing while the first is on its way.
  panel.click(button);
  expect(panel.posted).toHaveLength(1);
});

it('speaks of one test as of one', () => {
  const panel = renderPanel(stateWith({ run: undecidedRun(redIds(STILL_RED).slice(0, 1)) }));
  expect(panel.text()).toContain('1 test that failed before still fails.');
  expect(panel.button('It must pass')).toBeDefined();
});

it('tells of another try only where one may follow', () => {
  const run = undecidedRun();
  const saidOf = (rounds: number): string => renderPanel(stateWith({ run: { ...run, request: { ...run.request, rounds } } })).text();
  expect(saidOf(run.rounds.length + 1)).toContain('another try may be paid for');
  const last = saidOf(run.rounds.length);
  expect(last).toContain('the run ends here, and its answer is not verified');
  expect(last).not.toContain('another try');
});

it('names the tests, and says what each fails with', () => {
  const named = (ids?: string[]): string[] => [...renderPanel(stateWith({ run: undecidedRun(ids) })).root.querySelectorAll('.notice .test-names li')].map((item) => item.textContent ?? '');
  expect(named()).toHaveLength(2);
  expect(named()[1]).toBe('test/clock.test.ts › clock › asks a server for the timeError: getaddrinfo EAI_AGAIN time.example');
  expect(named(Array.from({ length: 9 }, (_, index) => `test/a.test.ts > ${index}`)).at(-1)).toBe('and 4 more');
});

it('says in place why a decision was refused, and takes another one', async () => {
  const panel = renderPanel(stateWith({ run: undecidedRun() }));
  panel.click('They must pass');
  await panel.reply(new Error('It was decided about.'));
  expect(panel.root.querySelector('[role="alert"].note')?.textContent).toBe('It was decided about.');
  panel.click('Leave them out');
  expect(panel.posted).toHaveLength(2);
});

it('does not ask any more once it is decided', () => {
  const { rounds: [round, ...others], ...run } = undecidedRun();
  const decided = { ...run, state: 'running' as const, rounds: [{ ...round!, failedBefore: { tests: redIds(STILL_RED), state: 'must-pass' as const } }, ...others] };
  expect(renderPanel(stateWith({ run: decided })).text()).not.toContain('They must pass');
});

it('is announced', () => {
  const run = undecidedRun();
  expect(announcementOf({ ...run, state: 'running', seq: run.seq - 1 }, run)).toContain('The verdict waits for you.');
});

it('tells of tests that were left out before, and takes that back', async () => {
  const panel = renderPanel(stateWith({ run: { ...undecidedRun(), leftOut: ['a', 'b'] } }));
  expect(panel.text()).toContain('2 tests are left out while they fail, as you said before.');
  panel.click('Take back');
  expect(panel.posted).toEqual([{ type: 'takeBackLeftOut', ask: 1, runId: 'run-1' }]);
  expect(pageMessageSchema.safeParse(panel.posted[0]).success).toBe(true);
  await panel.reply(true);
  expect(panel.text()).toContain('They count in your next questions.');
  expect(renderPanel(stateWith({ run: undecidedRun() })).text()).not.toContain('as you said before');
});
