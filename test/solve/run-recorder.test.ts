import { expect, test } from 'vitest';
import type { RunEvent, StoredEvent } from '../../backend/protocol/run-events.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import { RunRecorder, type RecorderJournal } from '../../backend/solve/run-recorder.ts';
import { accepted } from '../journal/sample-events.ts';

const first: StoredEvent = { runId: 'r', seq: 1, at: 0, event: accepted() };
const gathered: RunEvent = { type: 'context.gathered', pieces: [], leftOut: [], tokens: 0, text: '' };

/** A recorder whose journal says when what it took is on disk. */
function recorder() {
  let seq = 1;
  const waiting: ((error?: unknown) => void)[] = [];
  const heard: string[] = [];
  const journal: RecorderJournal = {
    append: (events) => events.map((event) => ({ runId: 'r', seq: ++seq, at: 0, event })),
    whenOnDisk: (told) => waiting.push(told),
  };
  const listener = {
    onEvent: ({ event }: StoredEvent) => heard.push(event.type),
    onText: ({ text }: { text: string }) => heard.push(text),
    onLost: (error: unknown) => heard.push(`lost: ${String(error)}`),
  };
  return { recorder: new RunRecorder(snapshotOf([first]), journal, listener), heard, onDisk: (error?: unknown) => waiting.splice(0).forEach((told) => told(error)) };
}

test('the run goes on by an event at once, and who listens hears of it when it is on disk', () => {
  const { recorder: run, heard, onDisk } = recorder();
  run.record([gathered]);
  expect(run.snapshot.context).toBeDefined();
  expect(heard).toEqual([]);
  onDisk();
  expect(heard).toEqual(['context.gathered']);
});

test('an event that did not get to the disk is told to nobody, and nothing is recorded after it', () => {
  const { recorder: run, heard, onDisk } = recorder();
  run.record([gathered]);
  run.record([gathered]);
  onDisk(new Error('full'));
  expect(heard).toEqual(['lost: Error: full']);
  expect(() => run.record([gathered])).toThrow('full');
});

test('the first text is passed on at once, and what follows it together', () => {
  const { recorder: run, heard } = recorder();
  const say = (text: string): void => run.text(0, { kind: 'step', step: 0 }, 'a', text);
  say('one');
  say(' two');
  say(' three');
  expect(heard).toEqual(['one']);
  run.flush();
  expect(heard).toEqual(['one', ' two three']);
});
