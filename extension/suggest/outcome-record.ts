import type { SuggestOutcome } from '../../backend/protocol/suggestions.ts';

/** One answer of a worker. Whoever types on sees the rest of it again and again: it is still one suggestion. */
interface Answer extends Omit<SuggestOutcome, 'accepted'> {
  readonly document: string;
  readonly text: string;
  shownAt: number | undefined;
}

/** What is gone sooner was hardly read. */
const READ_MS = 400;
const REMEMBERED = 50;

export interface OutcomeRecordOptions {
  readonly report: (outcome: SuggestOutcome) => void;
  readonly now: () => number;
}

/**
 * Tells of each answer that was shown whether it was accepted. One that is shown when another takes its place, or when the person goes
 * elsewhere, was not. The editor does not say when it hides a suggestion, so the time counts from the first time that it was offered.
 */
export class OutcomeRecord {
  readonly #options: OutcomeRecordOptions;
  #answers: Answer[] = [];
  #shown: Answer | undefined;

  constructor(options: OutcomeRecordOptions) {
    this.#options = options;
  }

  /** Called with what a worker wrote. */
  answered(answer: Omit<Answer, 'shownAt'>): void {
    if (answer.text.trim() === '') return;
    this.#answers = [...this.#answers, { ...answer, shownAt: undefined }].slice(-REMEMBERED);
  }

  /** Called when a suggestion is offered to the editor. @param text as the worker wrote it, from the cursor on */
  offered(document: string, text: string): void {
    const answer = text.trim() === '' ? undefined : this.#answers.findLast((one) => one.document === document && one.text.endsWith(text));
    if (answer === this.#shown || !answer) return;
    this.left();
    this.#shown = answer;
    answer.shownAt = this.#options.now();
  }

  /** Called when the editor has inserted the suggestion that is shown. */
  accepted(): void {
    this.#end(true);
  }

  /** Called when the suggestion that is shown no longer is. */
  left(): void {
    this.#end(false);
  }

  #end(accepted: boolean): void {
    const answer = this.#shown;
    this.#shown = undefined;
    if (!answer) return;
    this.#answers = this.#answers.filter((one) => one !== answer);
    const isRead = this.#options.now() - (answer.shownAt ?? 0) >= READ_MS;
    const { workspace, language, worker } = answer;
    if (accepted || isRead) this.#options.report({ workspace, language, worker, accepted });
  }
}
