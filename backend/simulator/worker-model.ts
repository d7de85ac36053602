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
import { keyOf, type SimulatedRequest } from './simulated-model.ts';
import { diagnosesIn, plansIn, situationOf } from './situation.ts';
import type { Skills } from './skills.ts';
import { readView, type SeenStep, type View } from './view.ts';
import { checkText, planText, signature, unknownText, writeText, type Finding } from './worker-texts.ts';

export interface WorkerCharacter {
  readonly name: string;
  readonly skills: Skills;
  readonly seed: number;
}

/** How simulated workers answer. */
export type WorkerRule = (character: WorkerCharacter, request: SimulatedRequest) => string;

/**
 * What a simulated worker answers. It knows nothing but its messages: it recognises the module by its code, reads its role
 * from the subtask, and is right or plausibly wrong with a chance that follows from its hidden skill and from what it can
 * see.
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

/** An attempt at the module that is in view, in a step's output. */
interface Attempt extends SeenFile {
  /** Of the worker itself, which knows its own signature. */
  readonly isOwn: boolean;
  /** Tests have said that it is wrong. */
  readonly hasFailed: boolean;
  /** How many of the steps in view wrote just this. */
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
    // Asked to check what it cannot see, it has to write, without having been told what.
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

  /** The first attempt that stands up to a look is kept; where none does, the last one is repaired. */
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

  /** What the worker believes to be wrong with an attempt; undefined where it is content. */
  #findFault({ source, faults, isOwn, hasFailed, votes }: Attempt): Finding | undefined {
    const draw = `review:${source}`;
    if (hasFailed) return { fault: faults?.[0] };
    if (faults?.length === 0) {
      const chance = chanceOfBreaking(this.#skill.check, this.#situation) / votes;
      return this.#random.chance(draw, chance)
        ? { fault: this.#random.pick(`${draw}:imagined`, this.#otherVariants()) }
        : undefined;
    }
    // Code that is none of the known forms, such as a real model's, is suspected as much as a fault of middling subtlety.
    const subtlety = Math.min(...(faults ?? []).map((fault) => fault.subtlety), faults ? 1 : 0.5);
    const chance = chanceOfFindingFault(this.#skill.check, subtlety, isOwn, this.#situation);
    return this.#random.chance(draw, chance) ? { fault: faults?.[0] } : undefined;
  }

  /** Attempts of this round and the answer of the previous one, equal ones together. */
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

  /** The variant that a wrong plan in view blames. */
  #blamedInPlan(): Variant | undefined {
    return this.#situation.plan === 'wrong'
      ? diagnosesIn(this.#family, plansIn(this.#view, this.#family).join('\n'))[0]
      : undefined;
  }

  /**
   * A plausible wrong file: what a wrong plan blames is changed and the bug stays, or the bug is mended and something else
   * broken, or both. What has failed the tests before is not tried again, and the file as it stands is no answer.
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
