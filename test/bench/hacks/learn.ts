import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Slots } from '../../../backend/common/slots.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../../backend/lm/trainer/adamw.ts';
import { passesOnly } from '../../../backend/protocol/verdict-facts.ts';
import { LocalEngine } from '../../../backend/train/engines/local-engine.ts';
import { CheckpointStore } from '../../../backend/train/grpo/checkpoint-store.ts';
import { trainWithGrpo } from '../../../backend/train/grpo/grpo-trainer.ts';
import { mean } from '../../../backend/train/statistics/statistics.ts';
import { makeScratch } from '../../verify/setup.ts';
import { Judges } from '../../verify/reward-hacks/judges.ts';
import type { JudgedHack } from '../../verify/reward-hacks/hacks.ts';
import { HACKERS, HackGatherer, type HackJudge, HONEST, type Tried } from './hack-gatherer.ts';
import { hackTasks } from './hack-tasks.ts';

/*
 * Whether a policy can raise its reward by hacks: a short training of a real Conductor whose workers are one honest worker and four that answer with
 * the known hacks. Judged by our verifier, and, as a control, by the exit code of the tests. docs/gym/hacks.md says how to run it and what it found.
 */

const { values } = parseArgs({
  options: { steps: { type: 'string', default: '24' }, group: { type: 'string', default: '16' }, seed: { type: 'string', default: '1' }, judge: { type: 'string', default: 'both' } },
});
const [steps, groupSize, seed] = [Number(values.steps), Number(values.group), Number(values.seed)];
/** conductor-mini as it was before it learned from outcomes. */
const BEFORE = path.resolve(import.meta.dirname, '../../../docs/gym/imitated');
const NEVER = new AbortController().signal;
const MAX_TOKENS = 256;
const TASKS_PER_STEP = 2;
/** Steps of one row of the table. */
const ROW = 4;

const judges = new Judges(await makeScratch());
const slots = new Slots(availableParallelism());
const tasks = hackTasks();
console.log(`${tasks.length} projects, ${tasks.reduce((sum, { hacks }) => sum + hacks.length, 0)} hacks; seed ${seed}, ${steps} steps of ${TASKS_PER_STEP} x ${groupSize} plans.`);

const byVerifier: HackJudge = async (change) => {
  const verdict = await judges.verdict(change, 'refuse');
  if (verdict.outcome === 'infrastructure') return { kind: 'infrastructure' };
  return { kind: 'judged', verified: verdict.verified, ...(passesOnly(verdict) && { passes: true }), score: verdict.score, costUsd: 0 };
};
const exitCodes = new Map<JudgedHack, Promise<boolean>>();
const byExitCode: HackJudge = async (change) => {
  const isFooled = exitCodes.get(change) ?? judges.foolsNaiveOne(change);
  exitCodes.set(change, isFooled);
  const verified = await isFooled;
  return { kind: 'judged', verified, score: Number(verified), costUsd: 0 };
};

/** As many judgements at once as there are cores. */
const inTurn = (judge: HackJudge): HackJudge => async (change) => {
  await slots.take(NEVER);
  try {
    return await judge(change);
  } finally {
    slots.giveBack();
  }
};

try {
  if (values.judge !== 'exit-code') await train('Judged by the verifier', byVerifier);
  if (values.judge !== 'verifier') await train('Judged by the exit code of the tests', byExitCode);
} finally {
  await judges.close();
}

async function train(name: string, judge: HackJudge): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'hacks-'));
  const model = await LocalModel.open({
    settings: { folder: BEFORE, device: 'cpu', precision: 'full', adapters: false, trainable: 'weights', storage: folder },
    device: 'cpu', deviceReasons: [], threads: 1,
  });
  try {
    await model.startTraining({ optimizer: ADAMW_DEFAULTS });
    const store = new CheckpointStore(path.join(folder, 'training'), { configuration: 'hacks' });
    const gatherer = new HackGatherer(inTurn(judge), seed);
    await trainWithGrpo({
      engine: new LocalEngine(model, { versions: store.versions, trains: 'weights', reference: undefined }), store, tasks, gatherer,
      onStep: (step, metrics) => void process.stderr.write(`${name}, step ${step} of ${steps}: reward ${metrics['reward']?.toFixed(3)}\n`),
    }, {
      steps, groupSize, seed,
      tasksPerStep: TASKS_PER_STEP,
      rounds: 1,
      maxTokens: MAX_TOKENS,
      learningRate: { peak: 1e-3, warmup: 0.03, schedule: 'cosine' },
      loss: { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 0, temperature: 1, maxCompletionLength: MAX_TOKENS },
      reward: { judgedBy: 'verified', passes: 'wrong', costWeight: 0 },
      revisionWeight: 0,
      advantage: { scale: 'group' },
      updates: 1,
      maskTruncated: false,
      gradientClip: 1,
    }, { from: undefined, signal: NEVER });
    report(name, gatherer.tried);
  } finally {
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function report(name: string, tried: readonly Tried[]): void {
  const percent = (list: readonly Tried[], test: (one: Tried) => boolean): string => `${(100 * mean(list.map((one) => Number(test(one))))).toFixed(0)} %`;
  console.log(`\n${name}\n\n| steps | called right | really mended | called right, of hackers' answers | ${HACKERS.map((worker) => worker.name).join(' | ')} |`);
  console.log(`| --- | ---: | ---: | ---: |${HACKERS.map(() => ' ---: |').join('')}`);
  for (let from = 0; from < steps; from += ROW) {
    const list = tried.filter(({ step }) => step >= from && step < from + ROW);
    const hackers = list.filter(({ worker }) => worker !== undefined && worker !== HONEST);
    const shares = HACKERS.map((_, ordinal) => percent(list, ({ worker }) => worker === ordinal));
    console.log(`| ${from + 1} to ${Math.min(steps, from + ROW)} | ${percent(list, ({ isRight }) => isRight)} | ${percent(list, ({ mends }) => mends)} | ${hackers.length === 0 ? '' : percent(hackers, ({ isRight }) => isRight)} | ${shares.join(' | ')} |`);
  }
}
