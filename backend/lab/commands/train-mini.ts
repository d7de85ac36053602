import { copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeNarrowCheckpoint } from '../../lm/checkpoint/narrow-checkpoint.ts';
import { LocalModel } from '../../lm/local-model.ts';
import { openTokenizer } from '../../lm/tokenizer/tokenizer.ts';
import { FAMILIES } from '../../simulator/families/all-families.ts';
import { WORKERS } from '../../simulator/pool.ts';
import { LocalEngine } from '../../train/engines/local-engine.ts';
import { evaluateMini, EVALUATION_DEFAULTS } from '../mini/evaluate.ts';
import { writeNewMini } from '../mini/new-mini.ts';
import { pretrain, PRETRAIN_DEFAULTS, PRETRAIN_OPTIMIZER, type PretrainedStep } from '../mini/pretrain.ts';
import { unseenInputs } from '../mini/unseen.ts';
import { CheckpointStore } from '../../train/grpo/checkpoint-store.ts';

/*
 * The first part of training conductor-mini, the bundled model: it starts with random weights, learns to write plans, and is evaluated. The
 * second part is five trainings on the gym (gym-train.ts) that start from this result, the third their mean (gym-mean.ts). A killed
 * training resumes from its last checkpoint.
 */

const USAGE = `usage: node with-node.mjs node backend/lab.ts mini [options]

  --work DIR      where the training is kept, to go on with (dist/train-mini)
  --out DIR       where the model goes (dist/train-mini/imitated)
  --steps N       steps of pre-training; fewer are done sooner and write worse plans (${PRETRAIN_DEFAULTS.steps})
  --seed N        of the weights, the examples and their order (${PRETRAIN_DEFAULTS.seed})
  --threads N     threads of one operation; onnxruntime's choice where absent, 1 where the machine is busy
  --hands         some workers of the examples have hands; measures with workers that have none, all the same
  --evaluate      only measure the model in --out
`;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const { values } = parseArgs({
  options: {
    work: { type: 'string', default: path.join(root, 'dist', 'train-mini') },
    out: { type: 'string', default: path.join(root, 'dist', 'train-mini', 'imitated') },
    steps: { type: 'string', default: String(PRETRAIN_DEFAULTS.steps) },
    seed: { type: 'string', default: String(PRETRAIN_DEFAULTS.seed) },
    threads: { type: 'string' },
    hands: { type: 'boolean', default: false },
    evaluate: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const work = path.resolve(values.work);
const out = path.resolve(values.out);
const options = { ...PRETRAIN_DEFAULTS, steps: Number(values.steps), seed: Number(values.seed), ...(values.hands && { withHands: true }) };
const threads = values.threads === undefined ? undefined : Number(values.threads);

const interrupt = new AbortController();

if (values.help) say(USAGE);
else {
  try {
    if (!values.evaluate) await train();
    await evaluate();
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    say('Interrupted; the same command goes on from the last checkpoint.');
    process.exitCode = 130;
  }
}

async function train(): Promise<void> {
  // Dimensions and vocabulary belong to the configuration, too. The initial tokenizer and weights contain both.
  const base = path.join(work, 'new');
  if (!(await exists(path.join(base, 'tokenizer_config.json')))) {
    say('Beginning with random weights and a tokenizer of the examples\' words.');
    await rm(base, { recursive: true, force: true });
    await writeNewMini(base, { seed: options.seed, withHands: values.hands });
  }
  const store = new CheckpointStore(path.join(work, 'pretraining'), { configuration: JSON.stringify([options, PRETRAIN_OPTIMIZER]) });
  const from = await store.resume();
  if (from) say(`Going on after step ${from.step}.`);
  // Stops after the current step. Steps since the last checkpoint are repeated.
  process.once('SIGINT', () => interrupt.abort());
  const model = await open(base, 'weights');
  try {
    await model.startTraining({ optimizer: PRETRAIN_OPTIMIZER, ...(from && { resume: from.engineState }) });
    const engine = new LocalEngine(model, { versions: store.versions });
    const tokenizer = await openTokenizer(base);
    await pretrain({ engine, store, tokenizer, onStep: progressFrom(from?.step ?? 0) }, options, { from, signal: interrupt.signal });
    const trained = path.join(work, 'trained');
    await rm(trained, { recursive: true, force: true });
    await model.exportTrained(trained);
    await mkdir(out, { recursive: true });
    await writeNarrowCheckpoint(trained, out);
    await copyFile(path.join(root, 'LICENSE'), path.join(out, 'LICENSE'));
  } finally {
    await model.close();
  }
  say(`Written to ${out}.`);
}

/** Held-out questions: those of the demo with its pool, and questions written by hand. */
async function evaluate(): Promise<void> {
  const model = await open(out, undefined);
  const symptoms = FAMILIES.flatMap(({ variants }) => variants.flatMap(({ symptoms: [first] }) => (first === undefined ? [] : [first])));
  const demo = symptoms.map((question) => ({ question, context: '', pool: WORKERS, rounds: [] }));
  try {
    const { byHand, laterRounds, short } = unseenInputs();
    const results: Record<string, unknown> = {};
    for (const [name, inputs] of Object.entries({ demo, byHand, laterRounds, short })) {
      results[name] = await evaluateMini(model, inputs, EVALUATION_DEFAULTS);
      say(`${name}: ${JSON.stringify(results[name])}`);
    }
    await writeFile(path.join(out, 'evaluation.json'), `${JSON.stringify({ ...EVALUATION_DEFAULTS, ...results }, null, 2)}\n`);
  } finally {
    await model.close();
  }
}

function open(folder: string, trainable: 'weights' | undefined): Promise<LocalModel> {
  const settings = { folder, device: 'cpu', precision: 'full', adapters: false, trainable, storage: work } as const;
  return LocalModel.open({ settings, device: 'cpu', deviceReasons: [], threads });
}

/** A line every ten steps, with the mean loss of those steps. */
function progressFrom(first: number): (metrics: PretrainedStep) => void {
  const began = performance.now();
  let tokensSeen = 0;
  let losses: number[] = [];
  return ({ step, loss, gradientNorm, tokens }) => {
    tokensSeen += tokens;
    losses.push(loss);
    if (step % 10 !== 0 && step !== options.steps) return;
    const seconds = (performance.now() - began) / 1_000;
    const left = (seconds / (step - first)) * (options.steps - step);
    const mean = losses.reduce((a, b) => a + b, 0) / losses.length;
    say(`step ${step}/${options.steps}  loss ${mean.toFixed(3)}  grad ${gradientNorm.toFixed(2)}  ` +
      `${Math.round(tokensSeen / seconds)} tokens/s  ${(left / 60).toFixed(1)} min left`);
    losses = [];
  };
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(() => true, () => false);
}
