import { skillsOf, type Skills } from './skills.ts';

/** Which wire format a model is served in. */
export type Wire = 'openai-chat' | 'openai-responses' | 'anthropic';

export interface Latency {
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
}

/** The public properties of a simulated model. */
export interface SimulatedEndpoint {
  /** Starts with `sim-`, so that it cannot be mistaken for a real model. */
  readonly name: string;
  readonly wire: Wire;
  /** True but incomplete. */
  readonly description: string;
  readonly latency: Latency;
  /** Whether it is a fill-in-the-middle model. */
  readonly fillsGaps?: boolean;
  /** Whether it takes pictures. */
  readonly seesPictures?: boolean;
  /** Dollars for a million tokens, in the range of real models. */
  readonly price: { readonly inputPerMillion: number; readonly outputPerMillion: number };
}

export interface SimulatedWorker extends SimulatedEndpoint {
  readonly skills: Skills;
  /** Whether it has hands; whoever makes the rule decides what that means. */
  readonly hasHands?: boolean | undefined;
}

/** The demo's pool: an expensive reasoning model, specialists, and a cheap model. None is best at everything. */
export const WORKERS: readonly SimulatedWorker[] = [
  {
    name: 'sim-atlas',
    wire: 'openai-responses',
    description: 'Thinks things through: finds causes, makes good plans, and is a strong reviewer of code. Slow and expensive.',
    skills: skillsOf([0.84, 0.5, 0.76], { machines: [0.9, 0.6, 0.82], data: [0.7, 0.45, 0.65] }),
    latency: { firstTokenMs: 500, tokensPerSecond: 150 },
    seesPictures: true,
    price: { inputPerMillion: 5, outputPerMillion: 20 },
  },
  {
    name: 'sim-birch',
    wire: 'anthropic',
    description: 'Writes parsers, evaluators, and machines that run programs or take coins. Plans are less its thing.',
    skills: skillsOf([0.45, 0.62, 0.5], { parsing: [0.6, 0.92, 0.7], machines: [0.6, 0.9, 0.65] }),
    latency: { firstTokenMs: 350, tokensPerSecond: 180 },
    seesPictures: true,
    price: { inputPerMillion: 3, outputPerMillion: 15 },
  },
  {
    name: 'sim-cedar',
    wire: 'openai-chat',
    description: 'Writes precise code for numbers: primes, fractions, divisors, ranges and rectangles. Less sure with text.',
    skills: skillsOf([0.45, 0.48, 0.45], { numbers: [0.75, 0.98, 0.7], intervals: [0.7, 0.9, 0.65], strings: [0.35, 0.4, 0.4] }),
    latency: { firstTokenMs: 250, tokensPerSecond: 220 },
    price: { inputPerMillion: 0.6, outputPerMillion: 2.4 },
  },
  {
    name: 'sim-dune',
    wire: 'anthropic',
    description: 'Writes tidy code for text, words, lines, players, scores and orders. Checks decently.',
    skills: skillsOf([0.5, 0.5, 0.6], { strings: [0.7, 0.9, 0.7], data: [0.7, 0.97, 0.7] }),
    latency: { firstTokenMs: 250, tokensPerSecond: 220 },
    price: { inputPerMillion: 1, outputPerMillion: 5 },
  },
  {
    name: 'sim-ember',
    wire: 'openai-chat',
    description: 'Small, fast and cheap. Writes short functions, hasty when it checks.',
    skills: skillsOf([0.35, 0.56, 0.35]),
    latency: { firstTokenMs: 120, tokensPerSecond: 320 },
    fillsGaps: true,
    price: { inputPerMillion: 0.1, outputPerMillion: 0.4 },
  },
];

/** The simulated Conductor. It is in no pool. */
export const CONDUCTOR: SimulatedEndpoint = {
  name: 'sim-conductor',
  wire: 'openai-chat',
  description: 'Plans by rules which simulated worker does what.',
  latency: { firstTokenMs: 200, tokensPerSecond: 260 },
  price: { inputPerMillion: 0.2, outputPerMillion: 0.8 },
};
