import type { Family, Variant } from './families/family.ts';
import { sourceWith } from './families/family.ts';
import {
  chanceOfBreaking,
  chanceOfFindingFault,
  chanceOfRepair,
  chanceOfRightCode,
  chanceOfRightPlan,
  type Situation,
} from './chances.ts';
import { KeyedRandom } from '../common/keyed-random.ts';
import { moduleFileIn, recogniseModule, type SeenFile, type SeenModule } from './recognise.ts';
import { readRole, type Role } from './roles.ts';
import { keyOf, type SimulatedRequest, type SimulatedTurn } from './simulated-model.ts';
import { diagnosesIn, plansIn, situationOf } from './situation.ts';
import type { Skills } from './skills.ts';
import { readView, type SeenStep, type View } from './view.ts';
import { checkText, planText, signature, unknownText, writeText, type Finding } from './worker-texts.ts';

export interface WorkerCharacter {
  readonly name: string;
  readonly skills: Skills;
  readonly seed: number;
  readonly hasHands?: boolean | undefined;
}

/** How simulated workers answer: with a text, or with a text that cost more than one call. */
export type WorkerRule = (character: WorkerCharacter, request: SimulatedRequest) => string | CostedText;

export type CostedText = Required<Pick<SimulatedTurn, 'text' | 'tokens'>>;

/** What simulated workers do when they are offered tools. */
export type HandsRule = (character: WorkerCharacter, request: SimulatedRequest) => SimulatedTurn;

/**
 * Simulates a worker. It knows only its messages: it recognises the module by its code and its role by the subtask. Its hidden skill and
 * what it sees determine the probability of a correct answer. Wrong answers are plausible.
 */
export function answerAsWorker({ name, skills, seed }: WorkerCharacter, request: SimulatedRequest): string {
  const view = readView(request.messages);
  const module = recogniseModule(view);
  if (!module) return `${signature(name)}\n\n${unknownText()}`;
  const { role, vague } = readRole(view.subtask);
  const job = new Job({
    name,
    view,
    module,
    situation: situationOf(view, module, vague),
    skill: skills[module.family.kind],
    random: new KeyedRandom('worker', seed, name, keyOf(request)),
  });
  return `${signature(name)}\n\n${job.answer(role)}`;
}

interface JobOptions {
  readonly name: string;
  readonly view: View;
  readonly module: SeenModule;
  readonly situation: Situation;
  readonly skill: Readonly<Record<Role, number>>;
  readonly random: KeyedRandom;
}

/** A version of the module in a visible output. */
interface Attempt extends SeenFile {
  /** Written by this worker, recognised by its signature. */
  readonly isOwn: boolean;
  /** It has failed tests. */
  readonly hasFailed: boolean;
  /** Number of visible steps that wrote exactly this. */
  readonly votes: number;
}

class Job {
  readonly #name: string;
  readonly #view: View;
  readonly #family: Family;
  readonly #planted: Variant | undefined;
  readonly #situation: Situation;
  readonly #skill: Readonly<Record<Role, number>>;
  readonly #random: KeyedRandom;

  constructor({ name, view, module, situation, skill, random }: JobOptions) {
    this.#name = name;
    this.#view = view;
    this.#family = module.family;
    this.#planted = module.faults?.[0];
    this.#situation = situation;
    this.#skill = skill;
    this.#random = random;
  }

  answer(role: Role): string {
    if (role === 'plan') return this.#plan();
    const attempts = role === 'check' ? this.#attempts() : [];
    if (attempts.length > 0) return this.#check(attempts);
    // A reviewer without visible code has to write, without instructions.
    return this.#write({ ...this.#situation, vague: this.#situation.vague || role === 'check' });
  }

  #plan(): string {
    const isRight = this.#planted && this.#random.chance('plan', chanceOfRightPlan(this.#skill.plan, this.#situation));
    const blamed = isRight ? this.#planted : this.#random.pick('blamed', this.#otherVariants());
    return planText(this.#random, this.#family, blamed);
  }

  #write(situation: Situation): string {
    const isRight = this.#random.chance('write', chanceOfRightCode(this.#skill.write, situation));
    const source = isRight ? this.#family.source : this.#wrongSource();
    return writeText(this.#random, this.#family, isRight ? this.#planted : (this.#blamedInPlan() ?? this.#planted), source);
  }

  /** Keeps the first attempt without a suspected bug. If there is none, repairs the last one. */
  #check(attempts: readonly Attempt[]): string {
    const order = this.#random.shuffled('order', attempts).sort((a, b) => b.votes - a.votes);
    const findings: Finding[] = [];
    for (const attempt of order) {
      const finding = this.#findFault(attempt);
      if (!finding) return checkText(this.#random, this.#family, findings, attempts.length, attempt.source);
      findings.push(finding);
    }
    const isRepaired = this.#random.chance(
      'repair',
      chanceOfRepair((this.#skill.check + this.#skill.write) / 2, this.#situation),
    );
    return checkText(
      this.#random,
      this.#family,
      findings,
      attempts.length,
      isRepaired ? this.#family.source : this.#wrongSource(),
    );
  }

  /** The bug that the worker suspects in an attempt; undefined if none. */
  #findFault({ source, faults, isOwn, hasFailed, votes }: Attempt): Finding | undefined {
    const draw = `review:${source}`;
    if (hasFailed) return { fault: faults?.[0] };
    if (faults?.length === 0) {
      const chance = chanceOfBreaking(this.#skill.check, this.#situation) / votes;
      return this.#random.chance(draw, chance)
        ? { fault: this.#random.pick(`${draw}:imagined`, this.#otherVariants()) }
        : undefined;
    }
    // Unknown code, such as a real model's, is suspected like a bug of medium subtlety.
    const subtlety = Math.min(...(faults ?? []).map((fault) => fault.subtlety), faults ? 1 : 0.5);
    const chance = chanceOfFindingFault(this.#skill.check, subtlety, isOwn, this.#situation);
    return this.#random.chance(draw, chance) ? { fault: faults?.[0] } : undefined;
  }

  /** Attempts of this round and the previous answer, with duplicates merged. */
  #attempts(): Attempt[] {
    const attempts = new Map<string, Attempt>();
    const collect = (steps: readonly SeenStep[], hasFailed: boolean): void => {
      for (const { output } of steps) {
        const file = moduleFileIn(this.#family, output);
        if (!file) continue;
        const known = attempts.get(file.source);
        const isOwn = output.includes(signature(this.#name)) || (known?.isOwn ?? false);
        attempts.set(file.source, {
          ...file,
          isOwn,
          hasFailed: hasFailed || (known?.hasFailed ?? false),
          votes: (known?.votes ?? 0) + 1,
        });
      }
    };
    collect(this.#view.previousSteps.slice(-1), this.#situation.hasFeedback);
    collect(this.#view.steps, false);
    return [...attempts.values()];
  }

  #otherVariants(): readonly Variant[] {
    return this.#family.variants.filter((variant) => variant !== this.#planted);
  }

  /** The variant that a visible wrong plan blames. */
  #blamedInPlan(): Variant | undefined {
    return this.#situation.plan === 'wrong'
      ? diagnosesIn(this.#family, plansIn(this.#view, this.#family).join('\n'))[0]
      : undefined;
  }

  /**
   * A plausible wrong file: it follows a wrong plan and keeps the bug, or fixes the bug and breaks something else, or both. It never repeats
   * a version that failed its tests, nor the unchanged file.
   */
  #wrongSource(): string {
    const planted = this.#planted ? [this.#planted] : [];
    const others = this.#random.shuffled('fault', this.#otherVariants());
    const blamed = this.#blamedInPlan();
    const single = others.map((other) => [other]);
    const both = others.map((other) => [...planted, other]);
    const preferred = this.#random.chance('bug stays', 0.5) ? [...both, ...single] : [...single, ...both];
    const candidates = [...(blamed ? [[...planted, blamed]] : []), ...preferred];
    const failed = new Set(this.#attempts().flatMap(({ source, hasFailed }) => (hasFailed ? [source] : [])));
    for (const faults of candidates) {
      const source = sourceWith(this.#family, faults);
      if (source !== undefined && !failed.has(source)) return source;
    }
    return this.#family.source;
  }
}
