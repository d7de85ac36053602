import { expect, it } from 'vitest';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { MINI_PLANNER } from '../../../backend/conductor/mini-planner.ts';
import { PROMPT_PROFILES } from '../../../backend/conductor/prompt-profile.ts';
import { planInput } from '../../../backend/solve/plan-prompt.ts';
import { toldEarlier } from '../../../backend/solve/follow-up/told-earlier.ts';
import { followUpRun } from '../../webview/fixtures.ts';

it('every Conductor is told of the newest exchange, the smallest one of its question alone', () => {
  const run = followUpRun();
  const { question = '' } = run.earlier?.exchanges.at(-1) ?? {};
  for (const promptProfile of ['standard', 'compact', 'mini'] as const) {
    const of = { ...run, policy: { ...run.policy, worker: { ...MINI_PLANNER, promptProfile } } };
    const input = planInput(of, 0, undefined);
    expect(input.earlier?.exchanges.at(-1)?.question).toBe(question);
    const prompt = conductorPrompt(input, PROMPT_PROFILES[promptProfile]).messages.map(({ content }) => content).join('\n');
    expect(prompt.includes(question)).toBe(promptProfile !== 'mini');
  }
});

it('a change that does not fit is shown within its own bound, without lines that look like secrets', () => {
  const run = followUpRun('lost');
  const key = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
  const diff = `+const token = "${key}";\n${'+a line of the change\n'.repeat(5_000)}`;
  const told = toldEarlier({ earlier: { ...run.earlier, change: { ...run.earlier?.change, edits: [{ path: 'a.js', kind: 'modify', diff }] } } as typeof run.earlier });
  expect(told?.note).toContain('does not fit any more');
  expect(told?.lostChange?.length).toBeLessThan(8_000);
  expect(told?.lostChange).not.toContain(key);
});
