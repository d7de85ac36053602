import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Outbox } from '../../../backend/train/team/outbox.ts';
import type { GivenGroup } from '../../../backend/train/team/team-messages.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const groupsOf = (step: number): GivenGroup[] => [0, 1].map((place) => ({
  instance: 'one', step, version: step, place, of: 2, seconds: 1, prompts: [[1]], completions: [{ prompt: 0, tokens: [2], logprobs: [-1], finishReason: 'stop', outcome: { kind: 'unparseable' } }],
}));

it('has the groups of a step when all are there, and goes on behind the last such step', async () => {
  const folder = await temporaryFolder();
  const outbox = new Outbox(folder);
  expect(await outbox.last()).toBe(-1);
  for (const step of [8, 9, 10]) await outbox.keep(groupsOf(step));
  await writeFile(path.join(folder, 'note.txt'), '');
  expect(await outbox.last()).toBe(10);
  expect(await outbox.of(10)).toEqual(groupsOf(10));
  // The machine was switched off while it wrote.
  await rm(path.join(folder, '10.1.json'));
  expect(await outbox.of(10)).toBeUndefined();
  expect(await outbox.last()).toBe(9);
  await outbox.forgetBefore(10);
  expect(await outbox.last()).toBe(-1);
});

it('has the groups that an earlier version of Conductor kept, which says nothing of versions', async () => {
  const folder = await temporaryFolder();
  for (const { version: _version, ...group } of groupsOf(3)) await writeFile(path.join(folder, `3.${group.place}.json`), JSON.stringify(group));
  expect(await new Outbox(folder).of(3)).toEqual(groupsOf(3));
  expect(await new Outbox(folder).last()).toBe(3);
});
