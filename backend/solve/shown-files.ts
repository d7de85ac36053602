import type { AttemptView, ContextView, RunSnapshot } from '../protocol/run-snapshot.ts';

type Shown = Pick<RunSnapshot, 'contexts' | 'rounds'>;

/**
 * The context that a call of a round was or will be sent: the one that its last attempt names. A result that another run paid for has no
 * attempt here, and neither has a call that was not made yet; the round's last context stands for it.
 */
export function contextOf({ contexts }: Pick<Shown, 'contexts'>, round: number, attempt?: AttemptView): ContextView | undefined {
  return attempt ? contexts[attempt.context] : contexts.findLast((context) => context.round <= round);
}

/** The files of which a round's models were shown something. */
export function shownFiles({ contexts, rounds }: Shown, round: number): string[] {
  const turns = rounds[round]?.steps.flatMap(({ turns: taken = [] }) => taken) ?? [];
  const own = contexts.filter((context) => context.round === round);
  const sent = own.length > 0 ? own : contexts.filter((context) => context.round <= round).slice(-1);
  return [...new Set([...sent, ...turns].flatMap(({ pieces = [] }) => pieces.map(({ path }) => path)))];
}
