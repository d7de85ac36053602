/*
 * How many of conductor-mini's first plans fit the questions that people ask.
 *
 *   node with-node.mjs node test/bench/plans/bench.ts [--set open|held-out] [--seed 1] [--model FOLDER] [--kind KIND] [--dump FILE] [--quiet]
 *
 * It plans every question as Solve does, for four workers as Add Worker makes them. It prints a table by kind and every plan that does not
 * fit. `--dump` writes all questions with their plans to a Markdown file, for people to read. Of the held-out questions only the table is
 * printed.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { judgePlan } from './judge.ts';
import { planFor } from './planner.ts';
import { QUESTION_SETS, readQuestions, type QuestionSet } from './questions.ts';
import { dump, misfitTable, planned, table, type JudgedPlan } from './report.ts';

const { values } = parseArgs({
  options: {
    set: { type: 'string', default: 'open' },
    seed: { type: 'string', default: '1' },
    model: { type: 'string', default: fileURLToPath(new URL('../../../media/conductor-mini', import.meta.url)) },
    kind: { type: 'string' },
    dump: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});
const set = QUESTION_SETS.find((name) => name === values.set);
if (!set) throw new RangeError(`There is no set "${values.set}"; there are ${QUESTION_SETS.join(' and ')}.`);

const storage = await mkdtemp(path.join(tmpdir(), 'plans-bench-'));
const settings = { folder: path.resolve(values.model), device: 'cpu', precision: 'full', adapters: false, storage } as const;
const model = await LocalModel.open({ settings, device: 'cpu', deviceReasons: [], threads: 1 });
try {
  const judged = await planAll(set);
  console.log(`${judged.length} questions (${set}), seed ${values.seed}, a pool of four\n\n${table(judged)}\n\n${misfitTable(judged)}`);
  if (set === 'open' && !values.quiet) {
    for (const one of judged.filter(({ misfits }) => misfits.length > 0)) console.log(`\n${planned(one)}`);
  }
  if (values.dump !== undefined) await writeFile(values.dump, dump(judged));
} finally {
  await model.close();
  await rm(storage, { recursive: true, force: true });
}

async function planAll(from: QuestionSet): Promise<JudgedPlan[]> {
  const judged: JudgedPlan[] = [];
  for (const question of readQuestions(from).filter(({ kind }) => values.kind === undefined || kind === values.kind)) {
    const plan = await planFor(model, question.text, Number(values.seed));
    judged.push({ question, plan, misfits: judgePlan(question, plan) });
  }
  return judged;
}
