import { endpointMessages } from '../../backend/conductor/conductor-prompt.ts';
import type { PastRound } from '../../backend/conductor/prompt-input.ts';
import { parsePlan } from '../../backend/conductor/parse-plan.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { answerAsConductor } from '../../backend/simulator/conductor-model.ts';
import { FAMILIES, type Bug } from '../../backend/simulator/families/all-families.ts';
import { sourceWith } from '../../backend/simulator/families/family.ts';
import { WORKERS } from '../../backend/simulator/pool.ts';
import { bugOf, questionOf } from '../../backend/simulator/sample-project.ts';
import type { Skills } from '../../backend/simulator/skills.ts';
import { answerAsWorker } from '../../backend/simulator/worker-model.ts';
import type { ReadableOutput } from '../../backend/workflow/execute-plan.ts';
import { stepsOf, type Plan } from '../../backend/workflow/plan.ts';
import { workerMessages } from '../../backend/workflow/worker-messages.ts';

/*
 * Plays plans on the model functions alone: the house's own prompts and parser, without sockets, and with "the module is
 * the correct one" in the place of the tests, which test/simulator/families.test.ts shows to be the same thing.
 */

export interface Player {
  readonly name: string;
  readonly skills: Skills;
}

/** The buggy module with its tests, and the modules that happen to be shown with it. */
export function contextOf({ family, variant }: Bug, others = FAMILIES.filter((other) => other !== family).slice(0, 1)): string {
  return [
    [family.path, sourceWith(family, [variant])],
    [family.testPath, family.test],
    ...others.map((other) => [other.path, other.source]),
  ]
    .map(([path, text]) => `--- ${path} ---\n${text}`)
    .join('\n');
}

export function isCorrect({ family }: Bug, answer: string): boolean {
  return answer.includes(`\`\`\`js ${family.path}\n${family.source}\`\`\``);
}

export interface PlayOptions {
  readonly seed: number;
  readonly bug: Bug;
  readonly plan: Plan;
  /** The pool; asked anew for every call, so that a test can deal out other skills each time. */
  readonly pool: (call: number) => readonly Player[];
  readonly question: string;
  readonly context?: string;
  readonly previousRound?: { readonly outputs: readonly ReadableOutput[]; readonly feedback: string };
}

/** The outputs of a plan's steps. */
export function playPlan({
  seed,
  bug,
  plan,
  pool,
  question,
  context = contextOf(bug),
  previousRound,
}: PlayOptions): ReadableOutput[] {
  const outputs: ReadableOutput[] = [];
  for (const step of stepsOf(plan)) {
    const worker = pool(outputs.length)[step.worker];
    if (!worker) throw new Error(`the plan names worker ${step.worker}`);
    const messages = workerMessages({
      question,
      context,
      editsFiles: true,
      inputs: outputs.filter(({ step: { index } }) => step.reads.includes(index)),
      ...(previousRound && step.readsPreviousRound && { previousRound }),
      subtask: step.subtask,
    });
    outputs.push({ step, output: answerAsWorker({ ...worker, seed }, { messages }) });
  }
  return outputs;
}

/** Share of runs whose last output is the correct module, over `count` seeds and the bugs given. */
export function successRate(bugs: readonly Bug[], plan: Plan, pool: PlayOptions['pool'], count = 20): number {
  const games = bugs.flatMap((bug) => Array.from({ length: count }, (_, seed) => ({ bug, seed })));
  const wins = games.filter(({ bug, seed }) => {
    const question = bug.variant.symptoms[seed % bug.variant.symptoms.length] ?? '';
    return isCorrect(bug, playPlan({ seed, bug, plan, pool, question }).at(-1)?.output ?? '');
  });
  return wins.length / games.length;
}

export interface PlayedRun {
  readonly solved: boolean;
  readonly rounds: number;
  /** Texts of the Conductor that were no plan. */
  readonly rejected: number;
  readonly plans: readonly Plan[];
}

const ATTEMPTS_AT_THE_FORM = 3;

/** A whole run of the demo, two rounds at most, played by the simulated Conductor and its pool. */
export function playRun(seed: number): PlayedRun {
  const bug = bugOf(seed);
  const question = questionOf(seed);
  const context = contextOf(bug);
  const pool = WORKERS.map(({ description }) => ({ description }));
  const rounds: PastRound[] = [];
  const plans: Plan[] = [];
  let previousRound: PlayOptions['previousRound'];
  let rejected = 0;
  for (let round = 0; round < 2; round += 1) {
    let rejection: { text: string; message: string } | undefined;
    let played = false;
    for (let attempt = 0; attempt < ATTEMPTS_AT_THE_FORM && !played; attempt += 1) {
      const messages = endpointMessages({ question, context, pool, rounds, rejection }, PROMPT_PROFILES.standard);
      const text = answerAsConductor({ name: 'sim-conductor', seed }, { messages });
      const parsed = parsePlan(text, { workerCount: pool.length, round });
      if (parsed.kind === 'rejected') {
        rejected += 1;
        rejection = { text, message: parsed.rejection.message };
        continue;
      }
      played = true;
      if (parsed.kind === 'keep') return { solved: false, rounds: round, rejected, plans };
      plans.push(parsed.plan);
      const outputs = playPlan({
        seed,
        bug,
        plan: parsed.plan,
        pool: () => WORKERS,
        question,
        context,
        ...(previousRound && { previousRound }),
      });
      const answer = outputs.at(-1)?.output ?? '';
      if (isCorrect(bug, answer)) return { solved: true, rounds: round + 1, rejected, plans };
      const feedback = `The project's tests do not pass with this answer.\n- ${bug.family.testPath}: passed before, failed after`;
      rounds.push({ planText: text, answer, feedback });
      previousRound = { outputs, feedback };
    }
    if (!played) return { solved: false, rounds: round, rejected, plans };
  }
  return { solved: false, rounds: 2, rejected, plans };
}
