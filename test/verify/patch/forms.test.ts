import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import { FORMS } from '../../bench/forms/forms.ts';
import { caseOf, damage, isAsWanted, outcomeOf } from '../../bench/forms/judge.ts';
import { MISHAPS } from '../../bench/forms/mishaps.ts';
import { SAMPLES, shownWith } from '../../bench/forms/samples.ts';
import { makeScratch } from '../setup.ts';

const filesWith = (change: (text: string) => string = (text) => text): Record<string, string> =>
  Object.fromEntries(SAMPLES.map((sample) => [sample.path, change(sample.file)]));

describe('a right change of a line', () => {
  it.each(FORMS.map((form) => [`${form.group}: ${form.name}`, form] as const))('is applied in eight languages as %s', async (_, form) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(filesWith());
    const [nothing] = MISHAPS;
    for (const sample of SAMPLES) {
      for (const target of [sample.fn, sample.method]) {
        const row = nothing && caseOf(form, nothing, sample, target);
        if (!row) continue;
        const outcome = await outcomeOf(row, sample, base, shownWith(sample));
        expect({ outcome, answer: row.answer, isWanted: isAsWanted(outcome, form, nothing) }).toMatchObject({ isWanted: true });
      }
    }
  });
});

// Every form meets every mishap in one language here, and in all of them in test/bench/forms/measure.ts.
describe('what goes wrong in practice', () => {
  it.each(MISHAPS.slice(1).map((mishap, index) => [mishap.name, mishap, index] as const))('%s: what has one reading is applied, and no wrong file is written', async (_, mishap, shift) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(filesWith(mishap.file));
    for (const [index, form] of FORMS.entries()) {
      const sample = SAMPLES[(index + shift) % SAMPLES.length] ?? SAMPLES[0];
      const row = sample && caseOf(form, mishap, sample, index % 2 === 0 ? sample.fn : sample.method);
      if (!sample || !row) continue;
      const outcome = await outcomeOf(row, sample, base, shownWith(sample));
      expect({ form: form.name, language: sample.language, outcome, answer: row.answer, isWanted: isAsWanted(outcome, form, mishap) }).toMatchObject({ isWanted: true });
    }
  });
});

describe('an answer that was damaged at random', () => {
  it('never cuts a file off, duplicates or loses a definition, or writes what stands for something left out', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(filesWith());
    const mutation = fc.record({ kind: fc.constantFrom('drop', 'double', 'swap', 'cut', 'gap'), at: fc.double({ min: 0, max: 1, noNaN: true }) });
    await fc.assert(
      fc.asyncProperty(
        // A whole file is what it says: of those only the rows above judge.
        fc.constantFrom(...FORMS.filter(({ group, name }) => group === 'function alone' || group === 'left out' || name.startsWith('path in a comment'))),
        fc.constantFrom(...SAMPLES), fc.boolean(), fc.array(mutation, { minLength: 1, maxLength: 3 }),
        async (form, sample, isMethod, mutations) => {
          const target = isMethod ? sample.method : sample.fn;
          const answer = mutations.reduce((text, { kind, at }) => mutated(text, kind, at, sample.comment), form.write(sample, target));
          const { edits } = await parsePatch(answer, base, { candidates: shownWith(sample) });
          for (const edit of edits) {
            expect(path.isAbsolute(edit.path)).toBe(false);
            if (edit.before === null || edit.after === null) continue;
            // What the answer does not mention at all is not meant to change.
            expect({ answer, after: edit.after, damage: await damage(edit.before, edit.after, edit.path, mentionedIn(answer)) }).toMatchObject({ damage: undefined });
          }
        },
      ),
      { numRuns: 250, seed: 7 },
    );
  });
});

function mutated(text: string, kind: string, at: number, comment: string): string {
  const lines = text.split('\n');
  const index = Math.floor(at * lines.length);
  const line = lines[index] ?? '';
  if (kind === 'cut') return lines.slice(0, index + 1).join('\n');
  const replaced = kind === 'drop' ? [] : kind === 'double' ? [line, line] : kind === 'gap' ? [`${/^\s*/.exec(line)?.[0] ?? ''}${comment} ... existing code ...`] : [lines[index + 1] ?? '', line];
  return lines.toSpliced(index, kind === 'swap' ? 2 : 1, ...replaced).join('\n');
}

/** Names that the answer writes in full or in part: a damaged answer may well say that they go. */
const mentionedIn = (answer: string): string[] => [...answer.matchAll(/[\p{L}_$][\p{L}\d_$]*/gu)].flatMap(([name]) => [name, `Cart.${name}`, `Prices.${name}`, `impl Cart.${name}`]);

describe('an explanation', () => {
  const [python] = SAMPLES;
  const explanations: Record<string, string> = {
    'that quotes a function as it is': `\`total\` in \`shop/cart.py\` sums the items:\n\n\`\`\`python\n${python?.fn.before ?? ''}\n\`\`\`\n\nIt skips what is None.`,
    'with a shorter version': 'In simplified form it is:\n\n```python\ndef total(items):\n    return sum(item.price for item in items)\n```\n',
    'with a shorter version that is not called one': '`total` in `shop/cart.py` walks over the items:\n\n```python\ndef total(items):\n    return sum(item.price for item in items)\n```\n\nNothing else happens.',
    'with an excerpt': 'The loop in `total` ignores None:\n\n```python\ndef total(items):\n    ...\n    if item is None:\n        continue\n    ...\n```\n',
    'with an example of use': 'Call it like this:\n\n```python\nfrom shop.cart import total\nprint(total([]))\n```\n',
    'with an example of data': 'The server answers:\n\n```json\n{ "path": "/items", "content": "three" }\n```\n',
    'with a command': 'Run this for `shop/cart.py`:\n\n```bash\npython -m pytest\n```\n',
  };
  it.each(Object.entries(explanations))('%s is no edit and is not refused', async (_, answer) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(filesWith());
    expect(await parsePatch(answer, base, { candidates: SAMPLES.map((sample) => sample.path) })).toEqual({ edits: [], refused: [] });
  });
});
