import type { Plan } from '../protocol/plan.ts';
import { isRefusal } from '../protocol/request-error.ts';
import { costWords } from '../protocol/work-estimate-words.ts';
import type { DecideAboutPlan } from './follow-run.ts';
import { planByPrompts } from './plan-prompts.ts';
import { planOfText, planText, stepsText } from './plan-text.ts';
import { printable, type Terminal } from './terminal.ts';

type AskedTerminal = Pick<Terminal, 'say' | 'edit'> & { readonly readLine: NonNullable<Terminal['readLine']> };

/** Asks at the terminal about each plan that waits. @returns undefined where there is no terminal */
export function atTerminal(terminal: Pick<Terminal, 'say' | 'readLine' | 'edit'>): DecideAboutPlan | undefined {
  const { say, readLine, edit } = terminal;
  return readLine && ((asked) => new PlanQuestion(asked, { say, readLine, edit }).decide());
}

/** A question about a plan that waits, until there is an answer, or the signal aborts because somebody else decided. */
class PlanQuestion {
  readonly #asked: Parameters<DecideAboutPlan>[0];
  readonly #terminal: AskedTerminal;
  readonly #workers: readonly string[];
  readonly #planned: Plan | undefined;
  /** The plan as the person changed it. */
  #edited: Plan | undefined;
  /** What the person wrote last, also where it is no plan. */
  #text: string | undefined;

  constructor(asked: Parameters<DecideAboutPlan>[0], terminal: AskedTerminal) {
    this.#asked = asked;
    this.#terminal = terminal;
    this.#workers = asked.run.pool.map(({ id }) => id);
    this.#planned = asked.run.rounds[asked.plan.round]?.plan;
  }

  async decide(): Promise<void> {
    for (;;) {
      const what = this.#edited ? 'the changed plan' : 'this plan';
      const answer = (await this.#ask(`Run ${what}? y: yes, e: edit it, n: no, cancel the run, r: ask for another plan [y/e/n/r] `)).trim().toLowerCase();
      const request = await this.#requestFor(answer);
      if (!request) continue;
      try {
        await request();
      } catch (error) {
        // Somebody else decided meanwhile, or the run is being taken up again: what follows tells what became of it.
        this.#sayRefusal(error);
      }
      return;
    }
  }

  async #requestFor(answer: string): Promise<(() => Promise<unknown>) | undefined> {
    const { plan, run: { runId }, client } = this.#asked;
    switch (answer) {
      case 'y':
      case 'yes': {
        const changed = this.#edited;
        if (!changed) return () => client.request('run/approvePlan', { runId, ...plan });
        const forTraining = /^y(es)?$/i.test((await this.#ask('May Conductor learn from the changed plan? [y/N] ')).trim());
        return () => client.request('run/approvePlan', { runId, ...plan, plan: changed, forTraining });
      }
      case 'e':
      case 'edit':
        await this.#edit();
        return undefined;
      case 'n':
      case 'no':
        return () => client.request('run/cancel', { runId });
      case 'r':
      case 'replan': {
        const wish = (await this.#ask('What should be different? (Enter: just another plan) ')).trim();
        return () => client.request('run/replan', { runId, ...plan, ...(wish !== '' && { wish }) });
      }
      default:
        return undefined;
    }
  }

  /** Has the person change the plan. What is no plan is said, and can be changed further. */
  async #edit(): Promise<void> {
    const plan = this.#edited ?? this.#planned;
    if (!plan) return;
    let next: Plan | undefined;
    try {
      next = await this.#changed(plan);
    } catch (error) {
      if (this.#asked.signal.aborted || !(error instanceof Error)) throw error;
      this.#terminal.say(printable(error.message));
      return;
    }
    this.#text = undefined;
    this.#edited = next && !isSame(next, this.#planned) ? next : undefined;
    if (this.#edited) await this.#show(this.#edited);
    else this.#terminal.say('The plan is as it was.');
  }

  /** @throws PlanTextError, or the editor's error */
  async #changed(plan: Plan): Promise<Plan | undefined> {
    const { edit } = this.#terminal;
    const { signal } = this.#asked;
    if (!edit) return await planByPrompts(plan, { workers: this.#workers, terminal: this.#terminal, ask: (question) => this.#ask(question) });
    const text = await edit(this.#text ?? planText(plan, this.#workers), { name: 'plan.txt', signal });
    this.#text = text;
    return planOfText(text, this.#workers);
  }

  /** The changed plan with what it is expected to cost; it is dropped if it cannot run. */
  async #show(plan: Plan): Promise<void> {
    const { plan: { round }, run: { runId }, client } = this.#asked;
    try {
      const { estimate } = await client.request('run/estimatePlan', { runId, round, plan });
      this.#terminal.say(`${stepsText(plan, this.#workers).trimEnd()}\n\nExpected: ${costWords(estimate)}`);
    } catch (error) {
      this.#sayRefusal(error);
      this.#edited = undefined;
      this.#text = planText(plan, this.#workers);
    }
  }

  #sayRefusal(error: unknown): void {
    if (!isRefusal(error)) throw error;
    this.#terminal.say(printable(error.message));
  }

  #ask(question: string): Promise<string> {
    return this.#terminal.readLine(question, this.#asked.signal);
  }
}

/** Space around an instruction changes nothing. */
function isSame(one: Plan, other: Plan | undefined): boolean {
  const plain = (plan: Plan): string => JSON.stringify([plan.modelIds, plan.subtasks.map((text) => printable(text).trim()), plan.accessList]);
  return other !== undefined && plain(one) === plain(other);
}
