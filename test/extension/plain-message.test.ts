import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { plainLabel, plainMessage } from '../../extension/common/plain-message.ts';

let workspace: string;
beforeAll(async () => { workspace = await mkdtemp(path.join(tmpdir(), 'conductor-message-')); });
afterAll(() => rm(workspace, { recursive: true }));

/** What VS Code takes for a link in a notification: a label in brackets with an address in parentheses right behind it. */
const LINK = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)[^)\s]+/i;

test('a path that a model made up to be a link that runs a command is shown as text', async () => {
  const answer = '```js title="[Apply anyway](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22id%22%7D)"\nx\n```\n';
  const { refused: [refused] } = await parsePatch(answer, workspace);
  const sentence = `Not applied: ${refused?.path}. ${refused?.reason}`;
  expect(sentence).toMatch(LINK);
  expect(plainMessage(sentence)).not.toMatch(LINK);
  expect(plainMessage(sentence)).toContain('[Apply anyway] (command:');
});

test.each(['[a](command:x)](command:y)', '[[a](https://x)](command:y)', '](](](command:x)'])('no link is left in %s', (sentence) => {
  expect(plainMessage(sentence)).not.toContain('](');
});

test('other sentences stay as they are', () => {
  expect(plainMessage('src/a[0].ts (new): see f(x)[1].')).toBe('src/a[0].ts (new): see f(x)[1].');
});

test('a label shows a shell\'s words as they are, and no pictures', () => {
  expect(plainLabel('make -j $(nproc) check')).toBe('make -j \\$(nproc) check');
  expect(plainLabel('pytest $(cat tests.txt) "$HOME"')).toBe('pytest $(cat tests.txt) "$HOME"');
});
