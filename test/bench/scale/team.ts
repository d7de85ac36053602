/*
 * What limits a team that trains one Conductor: docs/scale.md. A simulation (team-simulation.ts) of a 7B on one GPU.
 *
 *   node with-node.mjs node test/bench/scale/team.ts [--steps 40] [--seed 1]
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type GpuSeconds, simulateTeam, type Team } from './team-simulation.ts';

const { values } = parseArgs({ options: { steps: { type: 'string', default: '40' }, seed: { type: 'string', default: '1' } } });
const [steps, seed] = [Number(values.steps), Number(values.seed)];

/** As the paper trains: 256 plans a step. */
const PLANS = 256;
const PROMPT_TOKENS = 1_500;
const PLAN_TOKENS = 200;
/** docs/gpu.md, 7B on an H200: writing a token of each of 64 prompts, and reading 64 prompts of 512 tokens (2.0 s). */
const AT_ONCE = 64;
const WRITE_SECONDS = 0.017_06;
const READ_SECONDS = 2 / (64 * 512);
/** Worked out, not measured: 6 operations a parameter and token at 40 % of the 989 TFLOP/s of the data sheet. */
const TRAINED_TOKENS_A_SECOND = (0.4 * 989e12) / (6 * 7.6e9);

const GPU: GpuSeconds = {
  sample: (plans, prompts) => prompts * PROMPT_TOKENS * READ_SECONDS + Math.ceil(plans / AT_ONCE) * PLAN_TOKENS * WRITE_SECONDS,
  update: (plans) => (plans * (PROMPT_TOKENS + PLAN_TOKENS)) / TRAINED_TOKENS_A_SECOND,
};

/** Of an update of a group: the base's two runs were made when the task was, so three of a verdict's five are left. */
const VERDICT_SHARE = 3 / 5;

function verdictSeconds(): number[] {
  const text = readFileSync(new URL('../../../docs/real-projects.md', import.meta.url), 'utf8');
  const seconds = [...text.matchAll(/^\| \S+ \| \[[0-9a-f]{8}\].*\| ([\d.]+) s \| [\d.]+ s \|/gm)].map(([, number]) => Number(number) * VERDICT_SHARE).sort((a, b) => a - b);
  if (seconds.length < 50) throw new Error(`docs/real-projects.md has ${seconds.length} verdicts only.`);
  return Array.from({ length: 21 }, (_, index) => seconds[Math.round((index / 20) * (seconds.length - 1))] as number);
}

const verdicts = verdictSeconds();
const percent = (share: number): string => `${Math.max(0, 100 * share).toFixed(0)} %`;

function table(title: string, shape: Pick<Team, 'parallel' | 'judges' | 'callsAtOnce' | 'verdictSeconds' | 'late'>): void {
  console.log(`\n${title}; late groups are ${shape.late}\n\n| machines | groups a step | versions old | seconds a step | GPU waits | places empty | age | dropped |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |`);
  for (const machines of [1, 8, 64]) {
    // A group is carried out on one machine, so there have to be as many.
    const groupsPerStep = Math.max(4, machines);
    for (const versionsOld of [0, 1, 2, 4]) {
      const { secondsPerStep, gpuWaits, placesEmpty, age, dropped } = simulateTeam({ ...shape, machines, groupsPerStep, plansPerStep: PLANS, versionsOld, sampledAtOnce: AT_ONCE, gpu: GPU, steps, seed });
      console.log(`| ${machines} | ${groupsPerStep} of ${PLANS / groupsPerStep} | ${versionsOld} | ${secondsPerStep.toFixed(0)} | ${percent(gpuWaits)} | ${percent(placesEmpty)} | ${age.toFixed(1)} | ${percent(dropped)} |`);
    }
  }
}

console.log(`The GPU works ${GPU.sample(PLANS, 4).toFixed(0)} s a step to sample 4 groups, ${GPU.sample(PLANS, 64).toFixed(0)} s to sample 64, and ${GPU.update(PLANS).toFixed(0)} s to learn.`);
console.log(`A verdict takes ${verdicts.at(10)!.toFixed(0)} s in the middle.`);
for (const late of ['dropped', 'waited for'] as const) {
  table('Projects with tests; 8 rollouts, 2 verdicts, and 4 calls to one host at once on a machine', { parallel: 8, judges: 2, callsAtOnce: 4, verdictSeconds: verdicts, late });
  table('Projects with tests; 32 rollouts, 8 verdicts, and 16 calls to one host at once on a machine', { parallel: 32, judges: 8, callsAtOnce: 16, verdictSeconds: verdicts, late });
  table('Questions with an answer, without tests; 200 rollouts, and 64 calls to one host at once on a machine', { parallel: 200, judges: 1, callsAtOnce: 64, late });
}
