import { expect, it } from 'vitest';
import { closingWords, isClosingCall, mayEnd } from '../../backend/converse/closing-call.ts';

it.each(['attempt_completion', 'submit_and_exit', 'Exit', 'task_done', 'completeTask', 'finish', 'final-answer', 'transfer_to_agent'])('takes %s for the end of a task', (name) => {
  expect(isClosingCall({ name })).toBe(true);
});

it.each(['exit_plan_mode', 'ExitPlanMode', 'submit_form', 'finish_branch', 'transfer_to_human_agents', 'task', 'Read', 'session', '完'])('takes %s for a tool whose result is told', (name) => {
  expect(isClosingCall({ name })).toBe(false);
});

it('tells the texts of the call where the speaker wrote none', () => {
  const call = { name: 'submit_and_exit', arguments: '{"summary":"Mended.","verified":true}' };
  expect(closingWords('', [{ name: 'read', arguments: '{"path":"a"}' }, call], undefined)).toBe('Mended.');
  expect(closingWords('I am done.', [call], undefined)).toBe('I am done.');
  expect(closingWords(' ', [{ ...call, arguments: '{"summ' }], undefined)).toBe('');
});

it('tells what a tool was given that the program asked for by name, and waits for no result of it', () => {
  const call = { name: 'Person', arguments: '{"name":"Ada"}' };
  expect(mayEnd([call], { name: 'Person' })).toBe(true);
  expect(closingWords('', [call], { name: 'Person' })).toBe('{"name":"Ada"}');
  for (const choice of ['required', 'auto', { name: 'Other' }, undefined] as const) expect(mayEnd([call], choice)).toBe(false);
});
