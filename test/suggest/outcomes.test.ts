import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptedMost, ENOUGH_SHOWN } from '../../backend/suggest/accepted-most.ts';
import { OutcomesFile, type OutcomeCount } from '../../backend/suggest/outcomes-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PLACE = { workspace: '/project', language: 'go' };
const countOf = (worker: string, shown: number, accepted: number): OutcomeCount => ({ ...PLACE, worker, shown, accepted });
const best = (counts: readonly OutcomeCount[], planned = 'ada'): string | undefined =>
  acceptedMost(counts, { planned, candidates: ['ada', 'ben', 'cleo'] });

describe('what was accepted', () => {
  it('overrules the plan where another worker was accepted more often', () => {
    expect(best([countOf('ada', 200, 20), countOf('ben', 200, 80)])).toBe('ben');
    expect(best([countOf('ada', 200, 80), countOf('ben', 200, 20)])).toBeUndefined();
    expect(best([countOf('ada', 200, 80), countOf('ben', 200, 20)], 'ben')).toBe('ada');
  });

  it('leaves the plan where too little was shown, however lucky it was', () => {
    expect(best([countOf('ada', 200, 20), countOf('ben', ENOUGH_SHOWN - 1, ENOUGH_SHOWN - 1)])).toBeUndefined();
    expect(best([])).toBeUndefined();
  });

  it('does not try out a worker of which nothing is known, even if the planned one is never accepted', () => {
    expect(best([countOf('ada', 300, 0)])).toBeUndefined();
  });

  it('prefers a worker that is accepted to one that was planned and never shown', () => {
    expect(best([countOf('ada', 100, 50), countOf('ben', 300, 30)], 'cleo')).toBe('ada');
    expect(best([countOf('ben', 300, 3), countOf('ada', 300, 150)], 'cleo')).toBe('ada');
  });

  it('of a worker that is no longer there decides nothing', () => {
    expect(best([countOf('gone', 300, 300), countOf('ada', 300, 30)])).toBeUndefined();
  });

  it('counts for less where a small lead may be luck: the share is drawn towards that of all', () => {
    // 40 of 60 against 260 of 400: alike by count, and the longer record is believed more.
    expect(best([countOf('ada', 400, 260), countOf('ben', 60, 40), countOf('cleo', 400, 40)])).toBeUndefined();
  });
});

describe('the file of what was accepted', () => {
  const outcome = { ...PLACE, worker: 'ada', accepted: true };

  async function newFile() {
    const file = path.join(await temporaryFolder(), 'outcomes.json');
    const problems: string[] = [];
    const open = () => new OutcomesFile({ path: file, log: (line) => problems.push(line), later: () => () => {} });
    return { file, open, problems };
  }

  it('holds counts and nothing else, over a restart', async () => {
    const { file, open } = await newFile();
    const first = open();
    await first.add(outcome);
    await first.add({ ...outcome, accepted: false });
    await first.add({ ...outcome, language: 'rust' });
    await first.flush();
    expect(await open().in(PLACE)).toEqual([countOf('ada', 2, 1)]);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      version: 1, counts: [countOf('ada', 2, 1), { ...countOf('ada', 1, 1), language: 'rust' }],
    });
  });

  it('forgets all when it is told to, also on disk', async () => {
    const { file, open } = await newFile();
    const outcomes = open();
    await outcomes.add(outcome);
    await outcomes.flush();
    await outcomes.forget();
    expect(await outcomes.in(PLACE)).toEqual([]);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ version: 1, counts: [] });
  });

  it('lets what is long ago count less', async () => {
    const { open } = await newFile();
    const outcomes = open();
    for (let shown = 0; shown < 400; shown += 1) await outcomes.add({ ...outcome, accepted: false });
    for (let shown = 0; shown < 100; shown += 1) await outcomes.add(outcome);
    const [count] = await outcomes.in(PLACE);
    // 100 of 500 were accepted, the last ones.
    expect((count?.accepted ?? 0) / (count?.shown ?? 1)).toBeGreaterThan(0.3);
  });

  it('that cannot be read is begun anew, and that is said', async () => {
    const { file, open, problems } = await newFile();
    await writeFile(file, 'not json');
    const outcomes = open();
    await outcomes.add(outcome);
    await outcomes.flush();
    expect(await open().in(PLACE)).toEqual([countOf('ada', 1, 1)]);
    expect(problems).toEqual([expect.stringContaining('is counted anew')]);
  });
});
