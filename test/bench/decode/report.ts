import { CACHE_VALUES_PER_TOKEN, CONFIG, WEIGHTS } from './geometry.ts';

export type Precision = 'float32' | '4-bit';

export interface Case {
  readonly batch: number;
  /** Tokens of each prompt. */
  readonly prompt: number;
}

export const caseName = ({ batch, prompt }: Case): string => `${batch} × ${prompt}`;

/** One request to one peer. */
export interface Measured {
  readonly precision: Precision;
  readonly which: Case;
  readonly peer: string;
  readonly prefillSeconds: number;
  /** A step gives every row a token. */
  readonly stepSeconds: number;
  /** Cores that something else used meanwhile. */
  readonly othersCores: number;
}

/** Bytes that a step cannot but read: every weight once, and each row's cache in float32, halfway through the new tokens. */
export function memoryLimit(precision: Precision, { batch, prompt }: Case, newTokens: number): number {
  return weightBytes(precision) + 4 * batch * (prompt + newTokens / 2) * CACHE_VALUES_PER_TOKEN;
}

/** Of blocks of 32: 4-bit codes and a float32 scale; the output layer has 8-bit codes. */
function weightBytes(precision: Precision): number {
  if (precision === 'float32') return 4 * WEIGHTS;
  const head = CONFIG.vocab_size * CONFIG.hidden_size;
  return (WEIGHTS - head) * (4 / 8 + 4 / 32) + head * (1 + 4 / 32);
}

/** Cores; below, a measurement counts as undisturbed. */
const DISTURBANCE = 0.2;

export const isDisturbed = ({ othersCores }: Measured): boolean => othersCores > DISTURBANCE;

const HEADS = [
  'batch × prompt', 'peer', 'prefill tokens/s', 'decode tokens/s',
  'ours / peer, prefill', 'ours / peer, decode', 'of the memory limit',
];

/** What a step would take if reading memory were all of it, where the bandwidth is known. */
export type LimitSeconds = (which: Case) => number | undefined;

/**
 * A table in Markdown, of the best undisturbed round of each peer. A star: there was none, this is the best of the others, and it
 * is compared with nothing.
 */
export function table(measured: readonly Measured[], limitSeconds: LimitSeconds): string {
  const names = [...new Set(measured.map(({ which }) => caseName(which)))];
  const rows = names.flatMap((name) => {
    const ofCase = measured.filter(({ which }) => caseName(which) === name);
    const bests = [...new Set(ofCase.map(({ peer }) => peer))].map((peer) => bestOf(ofCase.filter((one) => one.peer === peer)));
    const ours = bests.find(({ peer }) => peer === 'ours');
    return bests.map((best) => cells(best, ours, limitSeconds(best.which)));
  });
  return [HEADS, HEADS.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

interface Best extends Pick<Measured, 'which' | 'peer' | 'prefillSeconds' | 'stepSeconds'> {
  readonly disturbed: boolean;
}

function bestOf(measured: readonly Measured[]): Best {
  const undisturbed = measured.filter((one) => !isDisturbed(one));
  const rounds = undisturbed.length > 0 ? undisturbed : measured;
  const { which, peer } = rounds[0] as Measured;
  return {
    which, peer,
    prefillSeconds: Math.min(...rounds.map(({ prefillSeconds }) => prefillSeconds)),
    stepSeconds: Math.min(...rounds.map(({ stepSeconds }) => stepSeconds)),
    disturbed: undisturbed.length === 0,
  };
}

function cells(best: Best, ours: Best | undefined, limit: number | undefined): string[] {
  const { which, peer, prefillSeconds, stepSeconds, disturbed } = best;
  const comparable = ours && peer !== ours.peer && !ours.disturbed && !disturbed;
  return [
    caseName(which), disturbed ? `${peer} *` : peer,
    ((which.batch * which.prompt) / prefillSeconds).toFixed(0), (which.batch / stepSeconds).toFixed(1),
    comparable ? `${(prefillSeconds / ours.prefillSeconds).toFixed(2)} ×` : '',
    comparable ? `${(stepSeconds / ours.stepSeconds).toFixed(2)} ×` : '',
    limit === undefined ? '' : (limit / stepSeconds).toFixed(2),
  ];
}
