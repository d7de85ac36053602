import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FORMS } from './forms.ts';
import { caseOf, isAsWanted, outcomeOf, type Outcome } from './judge.ts';
import { MISHAPS } from './mishaps.ts';
import { SAMPLES, shownWith } from './samples.ts';

/*
 * The tables of docs/answer-forms.md: which forms of an answer are read, in eight languages, and what comes of mishaps.
 *
 *     node with-node.mjs node test/bench/forms/measure.ts [--wrong]
 */

const base = await mkdtemp(path.join(tmpdir(), 'forms-'));
const counts = new Map<string, Map<Outcome, number>>();
const add = (key: string, outcome: Outcome): void => {
  const row = counts.get(key) ?? new Map<Outcome, number>();
  counts.set(key, row.set(outcome, (row.get(outcome) ?? 0) + 1));
};
const unexpected: string[] = [];
try {
  for (const mishap of MISHAPS) {
    for (const sample of SAMPLES) {
      await mkdir(path.dirname(path.join(base, sample.path)), { recursive: true });
      await writeFile(path.join(base, sample.path), mishap.file?.(sample.file) ?? sample.file);
    }
    for (const form of FORMS) {
      for (const sample of SAMPLES) {
        for (const [what, target] of [['function', sample.fn], ['method', sample.method]] as const) {
          const row = caseOf(form, mishap, sample, target);
          if (!row) continue;
          const outcome = await outcomeOf(row, sample, base, shownWith(sample));
          add(`mishap\t${mishap.name}`, outcome);
          add('all\tall', outcome);
          if (mishap.name === 'nothing') {
            add(`form\t${form.group}: ${form.name}`, outcome);
            add(`language\t${sample.language}`, outcome);
          }
          if (!isAsWanted(outcome, form, mishap)) unexpected.push(`${mishap.name} | ${form.group}: ${form.name} | ${sample.language} ${what}: ${outcome}`);
        }
      }
    }
  }
} finally {
  await rm(base, { recursive: true, force: true });
}
for (const kind of ['form', 'language', 'mishap', 'all']) {
  console.log(`\n| ${kind} | applied | given back | taken for no change | wrong file |\n| --- | ---: | ---: | ---: | ---: |`);
  for (const [key, row] of counts) {
    const [group, name] = key.split('\t');
    if (group === kind) console.log(`| ${name} | ${(['applied', 'refused', 'nothing', 'wrong'] as const).map((outcome) => row.get(outcome) ?? 0).join(' | ')} |`);
  }
}
if (process.argv.includes('--wrong')) console.log(`\n${unexpected.join('\n')}`);
console.log(`\n${unexpected.length} of ${[...(counts.get('all\tall') ?? new Map<Outcome, number>()).values()].reduce((sum, count) => sum + count, 0)} are not as they must be.`);
