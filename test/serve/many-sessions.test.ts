import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { FORMATS, post } from './formats.ts';
import { served } from './served.ts';

const place = served();

describe('fifty sessions at once', () => {
  const SESSIONS = 50;
  /** Of each session, so that one that is kept is seen. */
  const SAID = 100_000;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;

  /** All have begun before any of them is answered in full. */
  async function round(number: number): Promise<void> {
    const { path, ask } = FORMATS[number % FORMATS.length]!;
    const before = place.workers.requests.length;
    const all = Promise.withResolvers<void>();
    place.file = { ...place.file, workers: place.file.workers.map((worker) => ({ ...worker, concurrency: SESSIONS })) };
    place.script = ({ text }) => {
      if (place.workers.requests.length - before === SESSIONS) all.resolve();
      return { begin: 'Hello, ', rest: all.promise.then(() => `${text.slice(0, 20).trim()}.`) };
    };
    const told = Array.from({ length: SESSIONS }, (_, index) => `session ${number}-${index}`);
    const answers = await Promise.all(told.map(async (session) => await (await post(place, path, ask(session.padEnd(SAID), { stream: true }))).text()));
    answers.forEach((answer, index) => {
      expect(answer).toContain(`${told[index]}.`);
      expect(answer.match(/session \d+-\d+\./g)!.every((one) => one === `${told[index]}.`)).toBe(true);
    });
    place.workers.requests.length = 0;
  }

  it('are each given their own answer, and leave nothing behind in memory', { timeout: 300_000 }, async () => {
    const held = async (from: number): Promise<number> => {
      for (const [index] of FORMATS.entries()) await round(from + index);
      // Responses are kept on the disk, for which no answer waits.
      await place.settled();
      collect();
      return process.memoryUsage().heapUsed;
    };
    // The first rounds of all formats load and compile what the next ones use, too.
    const before = await held(0);
    const after = await held(FORMATS.length);
    // What the next rounds would hold if they kept what their clients said, is six times that.
    expect(after - before).toBeLessThan(SESSIONS * SAID / 2);
  });
});
