import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { editSummaries } from '../../../backend/solve/checker.ts';
import { placeChange, takeBackChange } from '../../../backend/solve/follow-up/earlier-change.ts';
import { unifiedDiff } from '../../../backend/verify/patch/unified-diff.ts';
import type { FileEdit } from '../../../backend/verify/patch/patch.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const edit = (before: string | null, after: string | null, file = 'src/a.js'): FileEdit =>
  ({ path: file, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after });

/** Places the change from `before` to `after` on a file that holds `now`. */
async function placed(before: string | null, after: string | null, now: string | null, file = 'src/a.js') {
  const folder = await temporaryFolder();
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  if (now === null) await rm(path.join(folder, file), { force: true });
  else await writeFile(path.join(folder, file), now);
  const made = edit(before, after, file);
  return placeChange([{ path: file, kind: made.kind, diff: unifiedDiff(made) }], folder);
}

const lines = (...texts: (string | number)[]): string => texts.map((text) => `${text}\n`).join('');
const ten = lines(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);

describe('the diff of an earlier answer', () => {
  it.each<[string, string | null, string | null]>([
    ['in the middle', ten, ten.replace('5', 'five')],
    ['at the beginning', ten, `first\n${ten}`],
    ['at the end', ten, `${ten}last\n`],
    ['at the end, a line less', `${ten}last\n`, ten],
    ['in several places', ten, ten.replace('1\n', 'one\n').replace('9\n', '')],
    ['of a line without an end', `${ten}last`, `${ten}last, changed`],
    ['that ends the last line', `${ten}last`, `${ten}last\n`],
    ['that opens the last line', `${ten}last\n`, `${ten}last`],
    ['of a file with other line ends', ten.replaceAll('\n', '\r\n'), ten.replace('5', 'five').replaceAll('\n', '\r\n')],
    ['of a file of one line', 'a\n', 'b\n'],
    ['of a new file', null, 'export const a = 1;\n'],
    ['of a new file without a line end', null, 'export const a = 1;'],
    ['of a file that is removed', 'export const a = 1;\n', null],
    ['of an emptied file', 'export const a = 1;\n', ''],
    ['of one line of many that are equal', lines('x', 'x', 'x', 'x', 'x', 'x', 'y'), lines('x', 'x', 'x', 'x', 'x', 'x', 'z')],
  ])('%s: is made where it is not there, and is there where it was made', async (_where, before, after) => {
    expect(await placed(before, after, before)).toEqual({ edits: [edit(before, after)], there: [], lost: [] });
    expect(await placed(before, after, after)).toEqual({ edits: [], there: ['src/a.js'], lost: [] });
  });

  it('is made where its lines have moved', async () => {
    const now = `new\nlines\n${ten}`;
    const { edits } = await placed(ten, ten.replace('5', 'five'), now);
    expect(edits).toEqual([edit(now, now.replace('5', 'five'))]);
    expect((await placed(ten, ten.replace('5', 'five'), now.replace('5', 'five'))).there).toEqual(['src/a.js']);
  });

  it('is found in a short file to which lines were added', async () => {
    const [before, after] = ['{\n  a + b;\n}\n', '{\n  a * b;\n}\n'];
    expect((await placed(before, after, `// new\n${before}`)).edits).toEqual([edit(`// new\n${before}`, `// new\n${after}`)]);
    expect((await placed(before, after, `// new\n${after}// new\n`)).there).toEqual(['src/a.js']);
  });

  it('is lost where it fits in both directions: what was added at the end may be there or not', async () => {
    expect((await placed(ten, `${ten}last\n`, `${ten}last\nmore\n`)).lost).toHaveLength(1);
  });

  it.each<[string, string | null, string | null, string | null, RegExp]>([
    ['a line that it changes is another', ten, ten.replace('5', 'five'), ten.replace('5', 'FIVE'), /was changed since/],
    ['a line beside it is another', ten, ten.replace('5', 'five'), ten.replace('6', 'six'), /was changed since/],
    ['the file is gone', ten, ten.replace('5', 'five'), null, /is gone/],
    ['there is another new file', null, 'a\n', 'b\n', /another file/],
    ['the file that it removes was changed', 'a\n', null, 'b\n', /was changed since/],
  ])('is lost where %s', async (_why, before, after, now, reason) => {
    const { edits, there, lost } = await placed(before, after, now);
    expect({ edits, there }).toEqual({ edits: [], there: [] });
    expect(lost).toEqual([{ path: 'src/a.js', reason: expect.stringMatching(reason) as string }]);
  });

  it('is lost where no answer may write, and where the diff was cut', async () => {
    expect((await placed('a\n', 'b\n', 'a\n', 'test/a.test.js')).lost).toEqual([{ path: 'test/a.test.js', reason: expect.stringMatching(/^Tests that are there stay as they are/) as string }]);
    expect((await placed('{}', '[]', '{}', 'package.json')).lost).toEqual([{ path: 'package.json', reason: 'It decides how the tests are run.' }]);
    expect((await placed('a;\n', 'a;\nit("b", () => {});\n', 'a;\n', 'test/a.test.js')).edits).toHaveLength(1);
    const folder = await temporaryFolder();
    const create = (file: string, diff: string) => placeChange([{ path: file, kind: 'create', diff }], folder);
    expect((await create('../out.js', unifiedDiff(edit(null, 'a\n')))).lost).toHaveLength(1);
    expect((await create('a.js', editSummaries({ edits: [edit(null, 'a line\n'.repeat(20_000), 'a.js')] })[0]?.diff ?? '')).lost).toEqual([{ path: 'a.js', reason: 'Its diff is too long to be kept whole.' }]);
    expect((await create('test/new.test.js', unifiedDiff(edit(null, 'a\n')))).edits).toHaveLength(1);
  });
});

describe('an answer that was applied', () => {
  it.each<[string, string | null, string | null]>([
    ['in the middle', ten, ten.replace('5', 'five')],
    ['at the end', ten, `${ten}last\n`],
    ['at the end, without a line end', '1\n2', '1\n2\n3'],
    ['by a new file', null, 'new\n'],
    ['by deleting a file', ten, null],
  ])('is taken back %s, once', async (_, before, after) => {
    const made = edit(before, after);
    const summaries = editSummaries({ edits: [made] });
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'src'));
    const write = async (text: string | null): Promise<void> => (text === null ? await rm(path.join(folder, made.path), { force: true }) : await writeFile(path.join(folder, made.path), text));
    await write(after);
    expect(await takeBackChange(summaries, folder)).toEqual({ edits: [edit(after, before)], there: [], lost: [] });
    await write(before);
    expect(await takeBackChange(summaries, folder)).toEqual({ edits: [], there: [made.path], lost: [] });
  });

  it('keeps what else was changed since, and is left where its lines were changed', async () => {
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'src'));
    const summaries = editSummaries({ edits: [edit(ten, ten.replace('5', 'five'))] });
    await writeFile(path.join(folder, 'src/a.js'), `first\n${ten.replace('5', 'five')}`);
    expect((await takeBackChange(summaries, folder)).edits).toMatchObject([{ after: `first\n${ten}` }]);
    await writeFile(path.join(folder, 'src/a.js'), ten.replace('5', '555'));
    expect(await takeBackChange(summaries, folder)).toMatchObject({ edits: [], lost: [{ path: 'src/a.js', reason: 'The file was changed since.' }] });
  });

  it.each<[string, string, string, string, string | undefined]>([
    ['where the lines around it were changed', ten, ten.replace('5', 'five'), ten.replace('4\n5\n6', 'four\nfive\nsix'), ten.replace('4\n5\n6', 'four\n5\nsix')],
    ['in several places', ten, ten.replace('2\n', '2\ntwo and a half\n').replace('8\n', 'eight\n'), lines(1, '2!', 'two and a half', 3, '4!', 5, 6, '7!', 'eight', 9, 10), lines(1, '2!', 3, '4!', 5, 6, '7!', 8, 9, 10)],
    ['at the end', ten, `${ten}last\n`, `${ten.replace('10', '10!')}last\n`, ten.replace('10', '10!')],
    ['not where its lines stand twice', ten, ten.replace('5', 'five'), `${ten.replace('4\n5\n6', 'four\nfive\nsix')}five\n`, undefined],
    ['not where they stand twice, once before it', ten, ten.replace('2', 'x').replace('8', 'x'), lines(1, 'x', 'three', 4, 5, 6, 'seven', 'x', 9, 10), undefined],
    ['not where it took lines out', ten, ten.replace('5\n', ''), ten.replace('4\n5\n6', 'four\nsix'), undefined],
    ['not where its lines are in another order', ten, ten.replace('2', 'two').replace('8', 'eight'), lines(1, 'eight', 3, 4, 5, 6, 7, 'two', 9, 10), undefined],
  ])('is taken back %s', async (_, before, after, now, back) => {
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'src'));
    await writeFile(path.join(folder, 'src/a.js'), now);
    const { edits, lost } = await takeBackChange(editSummaries({ edits: [edit(before, after)] }), folder);
    expect(edits.map((made) => made.after)).toEqual(back === undefined ? [] : [back]);
    expect(lost).toHaveLength(back === undefined ? 1 : 0);
  });
});
