import type { SideRun, Update } from './run-side.ts';

/** How weights are held, as it is called at the side that is compared with. */
export type Base = 'float32' | 'bfloat16' | '4-bit';

/** One side under one setting, in all rounds. */
export interface Measured {
  readonly prompts: 'separate' | 'shared';
  readonly side: string;
  readonly base: Base;
  /** Of all sequences of an update, prompts included. */
  readonly tokens: number;
  readonly runs: readonly SideRun[];
  /** Why there are none. */
  readonly failure?: string | undefined;
}

/**
 * How far the loss and the norm of the gradients may be apart: of the loss absolutely, since its terms are about 1 and cancel; of the norm
 * relatively. float32 on both sides differs in the order of sums. bfloat16 has 8 bits of each product. In 4 bits the two sides have rounded
 * the weights to different grids, so that only gross mistakes would show.
 */
const TOLERANCE = { 'float32': 1e-3, 'bfloat16': 3e-2, '4-bit': 0.15 } as const satisfies Record<Base, number>;

/** Cores; an update during which something else used more counts as disturbed. */
const DISTURBANCE = 0.2;

/**
 * Where a side has not computed the same as ours, or as the first side: one line for each update of each side. The second and later updates
 * depend on what the steps before have changed.
 */
export function disagreements(measured: readonly Measured[]): string[] {
  return measured.flatMap(({ prompts, side, base, runs }) => {
    const first = measured.find((other) => other.prompts === prompts && other.runs.length > 0);
    if (!first) return [];
    // Of bfloat16 against float32, the coarser counts.
    const tolerance = Math.max(TOLERANCE[base], TOLERANCE[first.base]);
    return runs.flatMap(({ updates }) => updates.flatMap((update, index) => {
      const expected = first.runs[0]?.updates[index];
      if (!expected || isNear(update, expected, tolerance)) return [];
      return [`${prompts} prompts, update ${index + 1}: ${side} has ${told(update)}; ${first.side} ${told(expected)}; allowed ${tolerance}`];
    }));
  });
}

type Outcome = Pick<Update, 'loss' | 'gradientNorm'>;

const isNear = (one: Outcome, other: Outcome, tolerance: number): boolean =>
  Math.abs(one.loss - other.loss) <= tolerance && Math.abs(one.gradientNorm - other.gradientNorm) <= tolerance * other.gradientNorm;
const told = ({ loss, gradientNorm }: Outcome): string => `loss ${loss.toFixed(6)}, gradient norm ${gradientNorm.toPrecision(6)}`;

export interface Summary {
  readonly prompts: Measured['prompts'];
  readonly side: string;
  readonly base: Base;
  readonly tokensPerSecond: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** No update had the machine for itself: this is the best of the others. */
  readonly disturbed: boolean;
  readonly loadingBytes: number;
  readonly updatingBytes: number;
  readonly loss: number;
  readonly gradientNorm: number;
}

/** The best update that had the machine for itself, the first one of a process left out; the largest peaks; the first loss and norm. */
export function summarise({ prompts, side, base, tokens, runs }: Measured): Summary {
  const timed = runs.flatMap(({ updates }) => updates.slice(1));
  const undisturbed = timed.filter(({ othersCores }) => othersCores <= DISTURBANCE);
  const { seconds, cpuSeconds } = (undisturbed.length > 0 ? undisturbed : timed).reduce((a, b) => (b.seconds < a.seconds ? b : a));
  const [{ loss, gradientNorm }] = (runs[0] as SideRun).updates as [Update];
  return {
    prompts, side, base, tokensPerSecond: tokens / seconds, seconds, cpuSeconds, disturbed: undisturbed.length === 0,
    loadingBytes: Math.max(...runs.map(({ loadingBytes }) => loadingBytes)),
    updatingBytes: Math.max(...runs.map(({ updatingBytes }) => updatingBytes)),
    loss, gradientNorm,
  };
}

const HEADS = ['prompts', 'side', 'tokens/s', 'seconds an update', 'CPU seconds', 'ours is', 'peak while updating', 'peak while loading', 'loss', 'gradient norm'];

/** Markdown. A star: something else used the machine in every update. */
export function table(measured: readonly Measured[]): string {
  const summaries = measured.filter(({ runs }) => runs.length > 0).map(summarise);
  const rows = measured.map((one) => {
    const { prompts, side, failure = '' } = one;
    const found = summaries.find((summary) => summary.prompts === prompts && summary.side === side);
    if (!found) return [prompts, side, failure];
    const ours = summaries.find((other) => other.prompts === prompts && other.side === 'ours');
    return [
      prompts, found.disturbed ? `${side} *` : side, found.tokensPerSecond.toFixed(1), found.seconds.toFixed(2), found.cpuSeconds.toFixed(1),
      !ours || found === ours ? '' : `${(ours.tokensPerSecond / found.tokensPerSecond).toFixed(2)} ×`,
      gibibytes(found.updatingBytes), gibibytes(found.loadingBytes), found.loss.toFixed(5), found.gradientNorm.toPrecision(5),
    ];
  });
  return [HEADS, HEADS.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

export interface Aim {
  /** Of the tokens per second of the fastest other. */
  readonly speed: number;
  /** What ours may take; where absent, what the leanest other takes. */
  readonly bytes?: number | undefined;
}

/** One line for each setting of the prompts, way of ours, and type in which others hold the weights. */
export function verdicts(measured: readonly Measured[], aim: Aim): string[] {
  const summaries = measured.filter(({ runs }) => runs.length > 0).map(summarise);
  const peers = summaries.filter((summary) => !isOurs(summary));
  return summaries.filter(isOurs).flatMap((ours) => [...new Set(peers.map(({ base }) => base))].flatMap((base) => {
    const others = peers.filter((other) => other.prompts === ours.prompts && other.base === base);
    if (others.length === 0) return [];
    const fastest = others.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    const leanest = others.reduce((a, b) => (peak(b) < peak(a) ? b : a));
    const speed = fastest.seconds / ours.seconds;
    const allowed = aim.bytes ?? peak(leanest);
    return [
      `${ours.prompts} prompts, ${ours.side}: ${speed.toFixed(2)} × as fast as ${fastest.side}, the fastest in ${base} ` +
        `(aim ${aim.speed}: ${metOr(speed >= aim.speed)}); ${gibibytes(peak(ours))} where the leanest, ${leanest.side}, takes ` +
        `${gibibytes(peak(leanest))} (aim ${gibibytes(allowed)}: ${metOr(peak(ours) <= allowed)})`,
    ];
  }));
}

const metOr = (met: boolean): string => (met ? 'met' : 'missed');
const isOurs = ({ side }: Pick<Summary, 'side'>): boolean => side.startsWith('ours');
const peak = ({ loadingBytes, updatingBytes }: Summary): number => Math.max(loadingBytes, updatingBytes);
const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`;
