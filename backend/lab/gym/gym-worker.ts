import { answerCode } from '../../verify/graders/answer-code.ts';
import { KINDS } from '../../simulator/families/family.ts';
import { KeyedRandom } from '../../common/keyed-random.ts';
import { readDemand, type Demand } from '../../simulator/demand.ts';
import { ROLES, type Role } from '../../simulator/roles.ts';
import { keyOf, type SimulatedRequest } from '../../simulator/simulated-model.ts';
import type { Skills } from '../../simulator/skills.ts';
import { readView, type SeenStep } from '../../simulator/view.ts';
import type { CostedText, WorkerCharacter, WorkerRule } from '../../simulator/worker-model.ts';
import { signature } from '../../simulator/worker-texts.ts';
import { GymChances, type Circumstances, type PlanInView } from './gym-chances.ts';
import { GYM_PARAMETERS, type GymParameters } from './gym-parameters.ts';
import type { GymBook, GymTask, WrongSolution } from './gym-tasks.ts';
import { answerOf, cannotSee, codeOf, noFault, onlyTalk, planOf, reviewOf, unknownQuestion } from './gym-texts.ts';
import { tokensOfLoop } from './hands-tokens.ts';

export interface GymRuleOptions {
  readonly parameters?: GymParameters;
  /**
   * False: workers do what they take the subtask for, as before the gym knew other wants than code. The first figures of the gym were
   * measured so.
   */
  readonly minds?: boolean;
}

/**
 * Workers that recognise tasks by their questions. A worker depends only on its messages: it reads its role from the subtask, and plans and
 * attempts from the visible outputs. These and its hidden skill determine the probability of a correct answer. Wrong answers are plausible.
 *
 * Workers mind what they are told: to work on something that they do not see, or to find a fault that nobody reported, they say so, and who
 * is asked for words or for code gives that, whatever the question wants.
 *
 * A worker with hands runs what it wrote before it answers, and mends it where it sees it fail. Its turns are one call here, with the tokens of all.
 */
export function gymRule(book: GymBook, options: GymRuleOptions = {}): WorkerRule {
  const { parameters = GYM_PARAMETERS } = options;
  const answer = answersOf(book, options);
  return (character, request) => {
    const { text, isTalk, drafts } = answer(character, request);
    if (!character.hasHands) return text;
    const looks = isTalk ? 0 : parameters.hands.looks;
    return { text, tokens: tokensOfLoop({ asked: request.messages, looks, drafts, text }, parameters.hands) } satisfies CostedText;
  };
}

interface GymAnswer {
  readonly text: string;
  /** There was nothing to look at. */
  readonly isTalk: boolean;
  /** What was written and run, in this order; nothing without hands. */
  readonly drafts: readonly string[];
}

function answersOf(book: GymBook, { parameters = GYM_PARAMETERS, minds = true }: GymRuleOptions): (character: WorkerCharacter, request: SimulatedRequest) => GymAnswer {
  const chances = new GymChances(parameters);
  return ({ name, skills, seed, hasHands = false }, request) => {
    const view = readView(request.messages);
    const task = book.find(view.question);
    if (!task) return { text: `${signature(name)}\n\n${unknownQuestion()}`, isTalk: true, drafts: [] };
    const random = new KeyedRandom('gym worker', seed, name, keyOf(request));
    const habit = new KeyedRandom('gym habit', seed, name, task.question);
    const skill = skillFor(skills[task.kind], task, name, parameters);
    const job = new GymJob({ name, task, steps: view.steps, skill, random, habit, chances, hasHands });
    const demand = readDemand(view.subtask);
    const text = `${signature(name)}\n\n${minds ? job.answer(demand) : job.answerAsRead(demand)}`;
    return { text, isTalk: task.want === 'talk', drafts: job.drafts };
  };
}

/** How good a worker is at a want is as hidden as its skill in a subject, and as constant. */
function skillFor(skill: Readonly<Record<Role, number>>, { want }: GymTask, name: string, { wantSpread }: GymParameters): Readonly<Record<Role, number>> {
  if (want === 'code') return skill;
  const more = wantSpread * (2 * new KeyedRandom('want skill', name).unit(want) - 1);
  return { plan: skill.plan + more, write: skill.write + more, check: skill.check + more };
}

/** Draws new skills for every call, so that nothing can be learned about the workers. */
export function withoutCharacter(rule: WorkerRule): WorkerRule {
  return (character, request) => {
    const random = new KeyedRandom('no character', character.seed, character.name, keyOf(request));
    const skills = Object.fromEntries(
      KINDS.map((kind) => [kind, Object.fromEntries(ROLES.map((role) => [role, 0.3 + 0.6 * random.unit(`${kind}:${role}`)]))]),
    ) as Skills;
    return rule({ ...character, skills }, request);
  };
}

interface GymJobOptions {
  readonly name: string;
  readonly task: GymTask;
  /** Outputs in view. */
  readonly steps: readonly SeenStep[];
  readonly skill: Readonly<Record<Role, number>>;
  readonly random: KeyedRandom;
  /** The same in all that the worker does with the question. */
  readonly habit: KeyedRandom;
  readonly chances: GymChances;
  readonly hasHands: boolean;
}

/** Visible code; equal code of several steps is one attempt. */
interface Attempt {
  readonly source: string;
  /** Undefined for the correct solution and for unknown code. */
  readonly wrong: WrongSolution | undefined;
  readonly isCorrect: boolean;
  /** Recognised by the worker's signature. */
  readonly isOwn: boolean;
  readonly votes: number;
}

class GymJob {
  readonly #task: GymTask;
  readonly #skill: Readonly<Record<Role, number>>;
  readonly #random: KeyedRandom;
  readonly #habit: KeyedRandom;
  readonly #chances: GymChances;
  readonly #hasHands: boolean;
  readonly #drafts: string[] = [];
  readonly #attempts: readonly Attempt[];
  readonly #plan: { readonly inView: PlanInView; readonly blamed: WrongSolution | undefined };
  /** Outputs in view. */
  readonly #seen: number;
  readonly #lengths: { readonly plans: number; readonly attempts: number; readonly all: number };

  constructor({ name, task, steps, skill, random, habit, chances, hasHands }: GymJobOptions) {
    this.#task = task;
    this.#skill = skill;
    this.#random = random;
    this.#habit = habit;
    this.#chances = chances;
    this.#hasHands = hasHands && task.form === 'code';
    const withCode = steps.map((step) => ({ ...step, source: answerIn(task, step.output) }));
    const coded = withCode.filter((step): step is typeof step & { source: string } => step.source !== undefined);
    const plans = withCode.filter(({ source, output }) => source === undefined
      && ideasIn(task, output).length > 0).map(({ output }) => output);
    this.#attempts = attemptsIn(task, coded, name);
    this.#plan = readPlans(task, plans);
    this.#seen = steps.length;
    this.#lengths = {
      plans: lengthOf(plans), attempts: lengthOf(coded.map(({ output }) => output)),
        all: lengthOf(steps.map(({ output }) => output)),
    };
  }

  get drafts(): readonly string[] {
    return this.#drafts;
  }

  answer(demand: Demand): string {
    const { want, form } = this.#task;
    const { needs, seeksFault, product, vague } = demand;
    if (needs > this.#seen) return cannotSee(needs);
    if (seeksFault && want !== 'fix' && demand.role !== 'write' && this.#attempts.length === 0) return noFault(this.#task);
    // "Explain it" asks for the answer where an explanation is wanted, and for thoughts elsewhere.
    const role = demand.role === 'plan' && product === 'words' && form === 'words' ? 'write' : demand.role;
    if (want === 'talk' && (role === 'plan' || product === 'code')) return onlyTalk();
    if (role !== 'plan' && product !== undefined && product !== form) {
      // Code instead of words is the function itself; words instead of code are thoughts about it.
      return product === 'code' ? codeOf(this.#random, this.#task, codeIn(this.#task.question) ?? '') : this.#makePlan(vague);
    }
    return this.answerAsRead({ role, vague });
  }

  answerAsRead({ role, vague }: Pick<Demand, 'role' | 'vague'>): string {
    switch (role) {
      case 'plan':
        return this.#makePlan(vague);
      case 'write':
        return this.#write(vague);
      case 'check':
        // A reviewer without visible code has to write, without instructions.
        return this.#attempts.length > 0 ? this.#check(vague) : this.#write(true);
    }
  }

  #given(vague: boolean, useful: number): Circumstances {
    const { difficulty, want } = this.#task;
    return { difficulty, want, vague, plan: this.#plan.inView, irrelevantCharacters: this.#lengths.all - useful };
  }

  #makePlan(vague: boolean): string {
    const isRight = this.#random.chance('plan', this.#chances.rightPlan(this.#skill.plan, this.#given(vague, 0)));
    return planOf(this.#random, this.#task, isRight ? this.#task.approach : this.#anyWrong('plan').idea);
  }

  /** Visible attempts do not help a writer: they are copied, or they distract. */
  #write(vague: boolean): string {
    const copied = this.#random.chance('copy', this.#chances.copying) ? this.#random.pick('copied', this.#attempts) : undefined;
    const given = this.#given(vague, this.#lengths.plans);
    if (copied) return answerOf(this.#random, this.#task, this.#afterRuns(copied.source, given));
    const luck = this.#random.chance('habit', this.#chances.habit) ? this.#habit : this.#random;
    if (luck.chance('write', this.#chances.rightCode(this.#skill.write, given))) return answerOf(this.#random, this.#task,
      this.#afterRuns(this.#task.source, given));
    const wrong = this.#plan.blamed ?? (luck.pick('wrong', this.#task.wrong) as WrongSolution);
    return answerOf(this.#random, this.#task, this.#afterRuns(wrong.source, given));
  }

  /** The source as it is after its runs. What is right passes them; a fault is seen or not, and mended or replaced by another one. */
  #afterRuns(source: string, given: Circumstances): string {
    if (!this.#hasHands) return source;
    let draft = source;
    this.#drafts.push(draft);
    for (let mend = 1; mend <= this.#chances.hands.mends; mend += 1) {
      if (draft === this.#task.source || !this.#showsInRuns(draft, given)) break;
      const isMended = this.#random.chance(`mend:${mend}`, this.#chances.mending(this.#skillInRepair, given));
      draft = isMended ? this.#task.source : this.#anyWrong(`mend:${mend}`).source;
      this.#drafts.push(draft);
    }
    return draft;
  }

  /** A worker makes the same trials of the same code whenever it runs it: what it has missed once, it misses again. */
  #showsInRuns(source: string, given: Circumstances): boolean {
    const subtlety = this.#task.wrong.find((one) => one.source === source)?.subtlety ?? 0.5;
    return this.#habit.chance(`run:${source}`, this.#chances.noticing(this.#skill.check, subtlety, given));
  }

  get #skillInRepair(): number {
    return (this.#skill.check + this.#skill.write) / 2;
  }

  /** Keeps the first attempt without a suspected bug. If there is none, repairs the code. */
  #check(vague: boolean): string {
    const given = this.#given(vague, this.#lengths.attempts);
    const order = this.#random.shuffled('order', this.#attempts).sort((a, b) => b.votes - a.votes);
    const findings: string[] = [];
    for (const attempt of order) {
      const finding = this.#findFault(attempt, given);
      if (finding === undefined) return reviewOf(this.#random, this.#task, order.length, findings, attempt.source);
      findings.push(finding);
    }
    // A reviewer that suspects correct code breaks it.
    const isBroken = order.some(({ isCorrect }) => isCorrect);
    const isRepaired = !isBroken && this.#random.chance('repair', this.#chances.repair(this.#skillInRepair, given));
    const source = this.#afterRuns(isRepaired ? this.#task.source : this.#anyWrong('repair').source, given);
    return reviewOf(this.#random, this.#task, order.length, findings, source);
  }

  /** The bug that the worker suspects in an attempt; undefined if none. */
  #findFault({ source, wrong, isCorrect, isOwn, votes }: Attempt, given: Circumstances): string | undefined {
    const draw = `review:${source}`;
    if (this.#hasHands) this.#drafts.push(source);
    if (isCorrect) {
      const doubting = this.#hasHands ? this.#chances.hands.doubting : 1;
      const isDoubted = this.#random.chance(draw, (doubting * this.#chances.breaking(this.#skill.check, isOwn)) / votes);
      return isDoubted ? this.#anyWrong(draw).idea : undefined;
    }
    // Unknown code is suspected like a bug of medium subtlety.
    const chance = this.#chances.findingFault(this.#skill.check, { subtlety: wrong?.subtlety ?? 0.5, isOwn }, given);
    const isSeen = this.#hasHands && this.#showsInRuns(source, given);
    return isSeen || this.#random.chance(draw, chance) ? (wrong?.idea ?? 'It does not do what the question asks for.') : undefined;
  }

  #anyWrong(draw: string): WrongSolution {
    return this.#random.pick(`wrong:${draw}`, this.#task.wrong) as WrongSolution;
  }
}

/** The answer in an output: its code or, where words are wanted, the words that are known. */
function answerIn({ form, source, wrong }: GymTask, output: string): string | undefined {
  return form === 'code' ? answerCode(output, 'javascript') : [source, ...wrong.map((one) => one.source)].find((known) => output.includes(known));
}

const codeIn = (question: string): string | undefined => answerCode(question, 'javascript');

function attemptsIn(task: GymTask, steps: readonly (SeenStep & { readonly source: string })[], name: string): Attempt[] {
  const attempts = new Map<string, Attempt>();
  for (const { source, output } of steps) {
    const known = attempts.get(source);
    attempts.set(source, {
      source,
      wrong: task.wrong.find((one) => one.source === source),
      isCorrect: source === task.source,
      isOwn: (known?.isOwn ?? false) || output.includes(signature(name)),
      votes: (known?.votes ?? 0) + 1,
    });
  }
  return [...attempts.values()];
}

/** The majority opinion of the visible plans, and their first wrong idea. */
function readPlans(task: GymTask, plans: readonly string[]): { inView: PlanInView; blamed: WrongSolution | undefined } {
  const said = plans.flatMap((plan) => ideasIn(task, plan).slice(0, 1));
  const right = said.filter((idea) => idea === task.approach).length;
  const wrong = said.length - right;
  if (right === wrong) return { inView: 'none', blamed: undefined };
  return right > wrong ? { inView: 'right', blamed: undefined } : { inView: 'wrong',
    blamed: task.wrong.find(({ idea }) => said.includes(idea)) };
}

/** The approaches in a text: the correct one or wrong ideas. */
function ideasIn({ approach, wrong }: GymTask, text: string): string[] {
  return [approach, ...wrong.map(({ idea }) => idea)].filter((idea) => text.includes(idea));
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
