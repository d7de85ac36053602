import { expect, it } from 'vitest';
import { decideStop } from '../../backend/cli/gate/stop-decision.ts';
import { isReminder as isReminderAfter, personWords } from '../../backend/converse/person-words.ts';
import type { SpokenMessage } from '../../backend/protocol/conversation.ts';

const user = (content: string): SpokenMessage => ({ role: 'user', content });
/** Cline 3.0.65's, before the first answer and after each that calls no tool. */
const REMINDER = '[SYSTEM] This run is not complete until you call one of these terminal completion tools: submit_and_exit. Continue working if requirements are not met.';

it.each([
  ['a message alone', [user('Mend it')], 'Mend it'],
  ['what an agent adds to it', [user('<system-reminder>\nBe brief.\n</system-reminder>\nMend it')], 'Mend it'],
  ['the tag around it', [user('<user_input mode="yolo">Mend it</user_input>')], 'Mend it'],
  ['what an agent adds beside such a tag', [user('<environment_context>\nLinux\n</environment_context>\n<userRequest>\nMend it\n</userRequest>\nReply in English.')], 'Mend it'],
  ['the time that Copilot puts before it', [user('<current_datetime>2026-11-28T05:20:51.505+00:00</current_datetime>\n\nMend it')], 'Mend it'],
  ['what Kilo adds after it', [user('Mend it\n\n\n<environment_details>\nMessage time: 2026-11-28T13:14:45Z\n</environment_details>')], 'Mend it'],
  ['a reminder after it', [user('<user_input mode="yolo">Mend it</user_input>'), user(REMINDER)], 'Mend it'],
  ['a reminder after the answer', [user('Mend it'), { role: 'assistant', content: 'Mended.' }, user(REMINDER)], 'Mend it'],
  ['nothing but added words', [user('<system-reminder>Go on.</system-reminder>')], '<system-reminder>Go on.</system-reminder>'],
  ['nothing but a reminder', [user(REMINDER)], REMINDER],
  ['what begins as an observation of an agent does', [user('Why is the sum wrong?'), { role: 'assistant', content: 'See:\n```js\na + b\n```' }, user('Observation: it is wrong on Mondays alone. Why?')], 'Observation: it is wrong on Mondays alone. Why?'],
  ['what begins as code that printed does', [user('Run it'), { role: 'assistant', content: 'Done.' }, user('Code output: 3. Why not 4?')], 'Code output: 3. Why not 4?'],
  ['what begins as a repair does', [user('Write a form'), { role: 'assistant', content: 'Done.' }, user('Validation feedback:\nThe name is missing. Add it.')], 'Validation feedback:\nThe name is missing. Add it.'],
  ['what a build printed', [user('Mend it'), { role: 'assistant', content: 'Mended.' }, user('[ERROR] Failed to compile: a.ts, line 3')], '[ERROR] Failed to compile: a.ts, line 3'],
  ['files that it names', [user('Mend it'), { role: 'assistant', content: 'Mended.' }, user('I added these files to the chat: a.ts\nAre they right?')], 'I added these files to the chat: a.ts\nAre they right?'],
  ['an observation of an agent after its call', [user('Mend it'), { role: 'assistant', content: 'Thought: I look.\nAction: read\nAction Input: {"path": "a"}' }, user('Observation: 1')], 'Mend it'],
  ['what another agent did, as Google\'s ADK tells it', [user('Mend it'), user('For context: below is a transcript of what another agent did, quoted between marks.\n[root] said:\n<<<BEGIN_QUOTED_AGENT_CONTENT>>>\nI look.\n<<<END_QUOTED_AGENT_CONTENT>>>')], 'Mend it'],
  ['what Genkit puts after it', [user('Mend it'), user('\n\nUse the following information to complete your task:\n\n- [0]: 1\n\n'), user('Output should be in JSON format and conform to the following schema:\n\n```\n{}\n```\n')], 'Mend it'],
  ['each form that Genkit wants', [
    user('Mend it'), user('Output should be a JSON array conforming to the following schema:\n    \n```\n{}\n```\n    '),
    user('Output should be JSONL format, a sequence of JSON objects (one per line) separated by a newline `\\n` character. Each line should be a JSON object conforming to the following schema:\n\n```\n{}\n```\n    '),
    user('Output should be ONLY one of the following enum values. Do not output any additional information or add quotes.\n\nyes\nno'),
  ], 'Mend it'],
  ['what begins so in a message of its own', [user('Mend it'), { role: 'assistant', content: 'Mended.' }, user('Use the following information to complete your task:\nit fails on Mondays.')], 'Use the following information to complete your task:\nit fails on Mondays.'],
  ['nobody', [{ role: 'system', content: 'Be brief.' }], ''],
] satisfies [string, SpokenMessage[], string][])('finds the words of the person in %s', (_name, messages, words) => {
  expect(personWords(messages)).toBe(words);
});

it('takes for a reminder what the gate says, which OpenCode hands on as a message', () => {
  const tests = [{ id: 'sums', before: 'passed', after: 'failed' }] as const;
  const decision = decideStop({ verified: false, score: 0, outcome: 'failed', reason: '1 test failed.', tests, notes: [], command: 'node --test', commit: null, sandboxed: true, durationMs: 1 }, { isContinued: false });
  expect(decision.block && isReminderAfter(user(decision.reason), undefined)).toBe(true);
});

const isReminder = (message: SpokenMessage, before?: SpokenMessage): boolean => isReminderAfter(message, before);

it('takes for a reminder what an agent says in the place of the person, and nothing else', () => {
  expect(isReminder(user(REMINDER))).toBe(true);
  expect(isReminder(user('[ERROR] You did not use a tool in your previous response! Please retry with a tool use.'))).toBe(true);
  expect(isReminder(user('<hook_prompt hook_run_id="stop:0">The tests fail.</hook_prompt>'))).toBe(true);
  expect(isReminder(user('<system-reminder>\nA Stop hook has blocked: the tests fail.\n</system-reminder>\n'))).toBe(true);
  expect(isReminder(user('<system_notification>\nShell 1 has ended.\n</system_notification>'))).toBe(true);
  expect(isReminder(user('Correct your JSON ONLY RESPONSE, based on the following errors:\n1 validation error for Person'))).toBe(true);
  expect(isReminder(user('Your previous response failed the application\'s validation (this is automated feedback, not a message from the user):\n<pyai:validation_errors>'))).toBe(true);
  expect(isReminder(user('# 2 SEARCH/REPLACE blocks failed to match!\n'))).toBe(true);
  expect(isReminder(user('# Fix any errors below, if possible.\n\n## src/sum.js'))).toBe(true);
  expect(isReminder(user('I added these files to the chat: src/sum.js\nLet me know if there are others we should add.'))).toBe(true);
  // Pydantic AI 2.38, Instructor 1.17, smolagents 1.26, mini-swe-agent 2.4.6, gptme 0.35.1, Open Interpreter 0.4.3.
  expect(isReminder(user('2 validation errors:\n```json\n[]\n```\n\nFix the errors and try again.'))).toBe(true);
  expect(isReminder(user('Validation feedback:\nPlease return text or call a tool.\n\nFix the errors and try again.'))).toBe(true);
  expect(isReminder(user('Validation Error found:\nNo choices\nRecall the function correctly, fix the errors'))).toBe(true);
  expect(isReminder(user('Observation:\ncontent of a'), { role: 'assistant', content: 'Calling tools:\n[{"name": "read"}]' })).toBe(true);
  expect(isReminder(user('Validation Error due to no tool invocation:\nNo tool\nRecall the function correctly, fix the errors'))).toBe(true);
  expect(isReminder(user('Error:\nError in code parsing:\nno code\nNow let\'s retry: take care not to repeat previous errors!'))).toBe(true);
  expect(isReminder(user('Tool call error:\n\n<error>\nNo tool calls found in the response.\n</error>'))).toBe(true);
  expect(isReminder(user('<returncode>0</returncode>\n<output>\n1\n</output>'))).toBe(true);
  expect(isReminder(user('Code output: 1\n\nWhat does this output mean / what\'s next (if anything, or are we done)?'))).toBe(true);
  // Ax 24.0.
  expect(isReminder(user('Invalid Field: Field \'Score\' has an invalid value \'none\': Invalid number. Provide a number. Ensure formatting exactly matches the expected type.'))).toBe(true);
  expect(isReminder(user('Invalid Field: Required field not found: \'Score\' (number). Add a line starting with the exact label followed by a colon'))).toBe(true);
  expect(isReminder(user('Invalid Field: that is what the form says. Why?'))).toBe(false);
  // Crush 0.96.
  expect(isReminder(user('<system_reminder>This is a reminder that your todo list is currently empty.</system_reminder>'))).toBe(true);
  expect(isReminder(user('The previous session was interrupted because it got too long, the initial user request was: `Mend it`'))).toBe(true);
  expect(isReminder(user('<system>No tool call detected in last message. Did you mean to finish?</system>'))).toBe(true);
  expect(isReminder(user('Error:\nCannot find module "a"'))).toBe(false);
  expect(isReminder(user('Validation errors found:\nname is missing. Why?'))).toBe(false);
  expect(isReminder(user('Format error:\nthe date has no year. Why?'))).toBe(false);
  expect(isReminder(user('[SYSTEM] halted, says the log. Why?'))).toBe(false);
  expect(isReminder(user('<system>a</system> is what the file holds. Why?'))).toBe(false);
  expect(isReminder(user('<system-reminder>\nBe brief.\n</system-reminder>\nMend it'))).toBe(false);
  expect(isReminder(user('The log says [SYSTEM] halted. Why?'))).toBe(false);
  expect(isReminder({ role: 'tool', callId: 'c', content: '[ERROR] no such file' })).toBe(false);
});

it('reads what is pasted in time that grows with its length alone', () => {
  const blank = '\n'.repeat(100_000);
  const pasted = ['Code output: ', 'Validation feedback:\n', 'Validation errors found:\n', 'Error:\n', 'I added these files to the chat:', 'Observation: a'].map((begins) => `${begins}${blank}x`);
  const tags = ['<system-reminder>', '<user_input a', '<user_query>'].map((tag) => tag.repeat(50_000));
  // If one of them is read in quadratic time, this does not end in the time of a test.
  for (const text of [...pasted, ...tags]) {
    expect(isReminder(user(text), { role: 'assistant', content: blank })).toBe(false);
    expect(personWords([user(text)])).toBe(text);
  }
});
