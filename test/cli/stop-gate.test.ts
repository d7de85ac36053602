import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BlockedChanges } from '../../backend/cli/gate/blocked-changes.ts';
import { messageId } from '../../backend/cli/gate/gemini-transcript.ts';
import { decideStop, stopAnswer } from '../../backend/cli/gate/stop-decision.ts';
import { readStopInput } from '../../backend/cli/gate/stop-input.ts';
import type { VerifyResult } from '../../backend/cli/judge-change.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('what an agent writes at its stop', () => {
  it.each([
    ['Claude Code and Codex', { session_id: 's', cwd: '/p', hook_event_name: 'Stop', stop_hook_active: true }, { form: 'decision', session: 's', folder: '/p', isContinued: true }],
    ['Copilot CLI', { sessionId: 's', timestamp: 1, cwd: '/p', stopReason: 'end_turn' }, { form: 'decision', session: 's', folder: '/p', isContinued: false }],
    ['VS Code', { hookEventName: 'Stop', sessionId: 's', cwd: '/p', stop_hook_active: false }, { form: 'vscode', session: 's', folder: '/p', isContinued: false }],
    ['Cursor', { conversation_id: 'c', hook_event_name: 'stop', workspace_roots: ['/p'], loop_count: 1 }, { form: 'cursor', session: 'c', folder: '/p', isContinued: true }],
    ['Gemini CLI, which does not say after a tool that it was kept', { session_id: 's', cwd: '/p', hook_event_name: 'AfterAgent', prompt: 'Mend it', transcript_path: '/t.jsonl', stop_hook_active: false }, { form: 'decision', session: 's', message: { words: 'Mend it', transcript: '/t.jsonl' }, folder: '/p', isContinued: undefined }],
    ['one with a folder that is no path', { cwd: 'p' }, { form: 'decision', session: '', folder: undefined, isContinued: false }],
  ])('is read: %s', (_name, json, read) => expect(readStopInput(JSON.stringify(json))).toEqual(read));

  it.each(['', 'hello', '[]', '{"cwd": 3}'])('is no input of a hook: %j', (text) => expect(readStopInput(text)).toBeUndefined());
});

describe('the record of Gemini CLI', () => {
  /** As version 0.61 writes it: the second answer was kept, which its person saw as their own words. */
  const RECORD = [
    { sessionId: 's', kind: 'main' },
    { $set: { messages: [{ id: 'a', type: 'user', content: [{ text: 'Mend it' }] }] } },
    { id: 'b', type: 'user', content: [{ text: 'Mend it' }] },
    { id: 'c', type: 'gemini', content: 'Mended.' },
    { id: 'd', type: 'user', content: [{ text: 'The tests fail.' }], displayContent: [{ text: 'Mend it' }] },
    { id: 'e', type: 'user', content: [{ text: 'Mend ' }, { text: 'it' }] },
  ].map((line) => JSON.stringify(line));

  it('tells the newest message with the person\'s words from an earlier one with the same words', async () => {
    const file = path.join(await temporaryFolder(), 'session.jsonl');
    const ids: (string | undefined)[] = [];
    for (const lines of [3, 5, 6]) {
      await writeFile(file, `${RECORD.slice(0, lines).join('\n')}\n{"id":"f","type":"user","con`);
      ids.push(await messageId(file, 'Mend it'));
    }
    expect(ids).toEqual(['b', 'b', 'e']);
    expect([await messageId(file, 'Mend that'), await messageId(`${file}.gone`, 'Mend it')]).toEqual([undefined, undefined]);
  });
});

const result = (more: Partial<VerifyResult>): VerifyResult => ({
  verified: false, score: 0, outcome: 'failed', reason: 'It failed.', tests: [], notes: [], command: 'npm test', commit: 'c', sandboxed: true, durationMs: 1, ...more,
});
const BROKEN = { id: 'a', before: 'passed', after: 'failed', message: 'expected 1' } as const;
const STILL = { id: 'b', before: 'failed', after: 'failed' } as const;

describe('a stop', () => {
  it('is allowed where the tests accept the change, or where they judge nothing', () => {
    for (const outcome of ['verified', 'passes', 'refused', 'infrastructure'] as const) expect(decideStop(result({ outcome }), { isContinued: false })).toMatchObject({ block: false, tell: expect.stringContaining('It failed.') });
  });

  it('is blocked by red tests, which the agent is told with their messages', () => {
    const decision = decideStop(result({ tests: [BROKEN] }), { isContinued: true });
    expect(decision).toMatchObject({ block: true, reason: expect.stringMatching(/- a: passed before, failed now\n {2}expected 1[\s\S]*npm test/) });
    expect(decision).not.toMatchObject({ reason: expect.stringContaining('committed tests') });
    expect(decideStop(result({ tests: [BROKEN], notes: ['test/a.js was left as it is: It is a test.'] }), { isContinued: false })).toMatchObject({ reason: expect.stringContaining('The committed tests judge') });
  });

  it('is blocked once by tests that were red before', () => {
    expect(decideStop(result({ tests: [STILL] }), { isContinued: false }).block).toBe(true);
    expect(decideStop(result({ tests: [STILL] }), { isContinued: true }).block).toBe(false);
  });

  it('is answered in the form that the agent reads', () => {
    const block = { block: true, reason: 'why' } as const;
    expect([stopAnswer(block, 'decision'), stopAnswer(block, 'cursor')]).toEqual([{ decision: 'block', reason: 'why' }, { followup_message: 'why' }]);
    expect(stopAnswer(block, 'vscode')).toEqual({ hookSpecificOutput: { hookEventName: 'Stop', decision: 'block', reason: 'why' } });
    expect([stopAnswer({ block: false }, 'decision'), stopAnswer({ block: false, tell: 't' }, 'decision'), stopAnswer({ block: false, tell: 't' }, 'cursor')]).toEqual([{}, { systemMessage: 't' }, {}]);
  });

  it('is remembered by conversation and project', async () => {
    const home = await temporaryFolder();
    const one = new BlockedChanges(home, { session: 's', workspace: '/p' });
    await one.add('d');
    await one.add('e');
    expect([await one.hasAny(), await new BlockedChanges(home, { session: 't', workspace: '/p' }).hasAny()]).toEqual([true, false]);
    expect([await one.has('d'), await one.has('e'), await one.has('f')]).toEqual([true, true, false]);
    expect(await new BlockedChanges(home, { session: 't', workspace: '/p' }).has('d')).toBe(false);
    expect(await readdir(path.join(home, 'gate'))).toHaveLength(1);
  });
});
