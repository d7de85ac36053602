/** What models are told of the conversation that a question continues. All of it is clipped. */
export interface EarlierTold {
  /** Oldest first. */
  readonly exchanges: readonly ExchangeTold[];
  /** How many older ones are not told. */
  readonly leftOut: number;
  /** Whether the files have the change of the last answer; absent if there is none. */
  readonly note?: string;
  /** The diff of a change that does not fit the project any more. */
  readonly lostChange?: string;
}

export interface ExchangeTold {
  readonly question: string;
  /** That pictures came with it, in a sentence; absent if none did. */
  readonly pictures?: string | undefined;
  readonly result: string;
  readonly answer: string;
}

/** A line for exchanges that are not told; none where all are. */
export function leftOutLines({ leftOut }: Pick<EarlierTold, 'leftOut'>): string[] {
  return leftOut > 0 ? [`[${leftOut} older ${leftOut === 1 ? 'exchange is' : 'exchanges are'} left out]`] : [];
}
