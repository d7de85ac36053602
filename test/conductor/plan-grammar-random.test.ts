import { describe, expect, it } from 'vitest';
import { parsePlan } from '../../backend/conductor/parse-plan.ts';
import type { PlanGrammarOptions } from '../../backend/conductor/plan-grammar.ts';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import { walk, type ByteAutomaton } from '../../backend/lm/automaton/byte-automaton.ts';
import { compileTokenAutomaton, type TokenAutomaton } from '../../backend/lm/automaton/token-automaton.ts';
import type { TokenVocabulary } from '../../backend/lm/automaton/token-effects.ts';
import { grammar } from './compiled-grammar.ts';

const encoder = new TextEncoder();

/** Numbers from 0 up to 1, the same every time (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <Item>(items: readonly Item[], next: () => number): Item => items[Math.floor(next() * items.length)] as Item;

/** What could lead a reader of plans astray, and what carries a text through the lists. */
const FRAGMENTS = [
  'model_id = [', 'Model IDs: ', 'model-id', 'submodel_id = [', 'model_id', ' = ', '=', ':', '[', ']', '(', 'subtasks = [',
  'sub task', 'access', 'access_list', 'Access List**: ', '```python\n', 'json', '`', '*', '\n', ' ', '\t', '\u0085', '\u00a0',
  '\u2028', '\ufeff', '<think>', '</think>', '<', '<thin', 'K>', '/think>', '<THINK', '"', '""', '"""', '\\', '\\"', '\\u',
  '\\u0020', '\\U', '\\U00110000', '\\x', '\\n', "'", '“', '”', ', ', ',', '0', '1', '2', '9', '10', '-1', 'all', '"all"', '#',
  'é', '漢', '😀', 'word', ' the plan', ']\nsubtasks = ["', '", "', '"]\naccess_list = [', '[]', '[], [', '["all"]', '[0', ', 1',
  ', 0, 0', ']]', '0]\n',
].map((text) => encoder.encode(text));

/** For each state the least number of bytes to an end. */
function bytesToEnd({ states, accepting, next }: ByteAutomaton): number[] {
  const distance = Array.from({ length: states }, (_, state) => (accepting[state] === 1 ? 0 : Infinity));
  for (let changed = true; changed;) {
    changed = false;
    for (let state = states - 1; state >= 0; state -= 1) {
      for (const target of next.subarray(state * 256, state * 256 + 256)) {
        if (target < 0 || (distance[target] as number) + 1 >= (distance[state] as number)) continue;
        distance[state] = (distance[target] as number) + 1;
        changed = true;
      }
    }
  }
  return distance;
}

/** A text of the automaton: fragments and bytes as they happen to fit, then the shortest way to an end. */
function wander(automaton: ByteAutomaton, toEnd: readonly number[], length: number, next: () => number): Uint8Array {
  const text: number[] = [];
  let state = automaton.start;
  const take = (bytes: Uint8Array): void => {
    const reached = walk(automaton, state, bytes);
    if (reached < 0) return;
    text.push(...bytes);
    state = reached;
  };
  for (let turn = 0; turn < length; turn += 1) {
    take(next() < 0.8 ? pick(FRAGMENTS, next) : Uint8Array.of(Math.floor(next() * 256)));
    if (next() < 0.02) take(encoder.encode('\nmodel_id = ['));
  }
  while ((toEnd[state] as number) > 0) {
    const closer = [...Array(256).keys()].filter((byte) => {
      const target = automaton.next[state * 256 + byte] as number;
      return target >= 0 && (toEnd[target] as number) < (toEnd[state] as number);
    });
    take(Uint8Array.of(pick(closer, next)));
  }
  return Uint8Array.from(text);
}

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

describe('every text of the grammar is a valid plan', () => {
  const cases: [string, PlanGrammarOptions][] = [
    ['of one worker', { workers: 1, revision: false }],
    ['of three workers', { workers: 3, revision: false }],
    ['of twelve workers', { workers: 12, revision: false }],
    ['of at most two steps', { workers: 3, revision: false, maximumSteps: 2 }],
    ['in a revision', { workers: 3, revision: true }],
    ['after the opening words', { workers: 3, revision: false, prefill: 'Let me think step by step about access' }],
  ];
  it.each(cases)('%s', (_, options) => {
    const automaton = grammar(options);
    const toEnd = bytesToEnd(automaton);
    const next = random(options.workers);
    const seen = new Map<string, number>();
    for (let turn = 0; turn < 2_500; turn += 1) {
      const text = (options.prefill ?? '') + decode(wander(automaton, toEnd, turn % 120, next));
      const round = options.revision ? 1 : 0;
      const parsed = parsePlan(text, { workerCount: options.workers, round });
      if (parsed.kind === 'rejected') expect.fail(`${parsed.rejection.message} ${JSON.stringify(text)}`);
      const what = parsed.kind === 'plan' ? String(parsed.plan.modelIds.length) : parsed.kind;
      seen.set(what, (seen.get(what) ?? 0) + 1);
      if (parsed.kind === 'plan') {
        // The lists that were read are those at the end, none that the reasoning only spoke of.
        const [modelIds, , accessList] = renderPlan({ ...parsed.plan, subtasks: [] }).split('\n') as [string, string, string];
        expect([text, text.includes(`${modelIds}\nsubtasks = ["`), text.endsWith(`"]\n${accessList}`)]).toEqual([text, true, true]);
      }
    }
    const counts = Array.from({ length: options.maximumSteps ?? 5 }, (_, index) => String(index + 1));
    expect([...seen.keys()].sort()).toEqual([...counts, ...(options.revision ? ['keep'] : [])]);
  });
});

/** Every byte, words and pieces of words as they stand in plans, and random pieces, with special and missing ids between them. */
function vocabulary(size: number, next: () => number): TokenVocabulary {
  const letters = 'etaoinshrdlucmfwypvbgkjqxz';
  const tokens: (Uint8Array | undefined)[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  const pieces = ['model', '_id', ' =', ' [', '[]', '["', '",', ' "', '"]\n', '],', 'sub', 'tasks', '_list', 'access'];
  tokens.push(...FRAGMENTS, undefined, ...pieces.map((text) => encoder.encode(text)));
  while (tokens.length < size) {
    const letter = (): string => letters[Math.floor(next() * next() * letters.length)] as string;
    const word = Array.from({ length: 1 + Math.floor(next() * 8) }, letter).join('');
    const character = String.fromCodePoint(0x4e00 + Math.floor(next() * 20_000));
    const kind = next();
    if (kind < 0.5) tokens.push(encoder.encode(` ${word}`));
    else if (kind < 0.8) tokens.push(encoder.encode(word));
    else if (kind < 0.9) tokens.push(encoder.encode(character.repeat(1 + Math.floor(next() * 2))));
    // Pieces of characters, as byte-level merges have them.
    else tokens.push(encoder.encode(`${word}${character}`).slice(0, -1 - Math.floor(next() * 2)));
  }
  return { tokenBytes: tokens, stopTokenIds: [size + 1], vocabularySize: size + 100 };
}

it('the tables for a vocabulary of 151,936 tokens have a thousand rows and columns at most', () => {
  const tokens = compileTokenAutomaton(grammar({ workers: 8, revision: true }), vocabulary(151_836, random(3)));
  expect(tokens.classOf.length).toBe(151_936);
  expect(tokens.states).toBeLessThan(1_000);
  expect(tokens.classes).toBeLessThan(1_000);
});

describe('decoding with random logits', () => {
  const next = random(11);
  const words = vocabulary(8_000, next);
  const stop = words.stopTokenIds[0] as number;

  /** One text, the mask taken as a graph takes it: by class, and by the distance of the class's next state. */
  function generate(tokens: TokenAutomaton, budget: number, favour: (token: number) => number): { text: string; stopped: boolean } {
    const { classes, allow, next: after, classOf, distance } = tokens;
    const bytes: number[] = [];
    let state = tokens.start;
    for (let left = budget - 1; left >= 0; left -= 1) {
      const isOpen = Array.from({ length: classes }, (_, tokenClass) => {
        const index = state * classes + tokenClass;
        return allow[index] === 1 && (distance[after[index] as number] as number) <= left;
      });
      let best = -1;
      let highest = -Infinity;
      for (let token = 0; token < classOf.length; token += 1) {
        if (!isOpen[classOf[token] as number]) continue;
        const logit = next() + favour(token);
        if (logit > highest) [best, highest] = [token, logit];
      }
      expect(best).toBeGreaterThanOrEqual(0);
      state = after[state * classes + (classOf[best] as number)] as number;
      if (best === stop) return { text: decode(Uint8Array.from(bytes)), stopped: true };
      bytes.push(...(words.tokenBytes[best] as Uint8Array));
    }
    return { text: decode(Uint8Array.from(bytes)), stopped: false };
  }

  const budgets: [boolean, number][] = [[false, 0], [false, 40], [true, 0], [true, 200]];
  it.each(budgets)('always ends in a valid plan: revision %s, %i tokens to spare', (revision, spare) => {
    const tokens = compileTokenAutomaton(grammar({ revision, prefill: 'Let me think.' }), words);
    const budget = (tokens.distance[tokens.start] as number) + spare;
    for (let turn = 0; turn < 12; turn += 1) {
      // Some runs are drawn to the lists, the others ramble until they have to close.
      const drawn = turn % 2 === 0 ? 0 : 2;
      const { text, stopped } = generate(tokens, budget, (token) => (token >= 256 && token < 340 ? drawn : 0));
      expect(stopped).toBe(true);
      const parsed = parsePlan(`Let me think.${text}`, { workerCount: 3, round: revision ? 1 : 0 });
      expect(parsed.kind === 'rejected' ? `${parsed.rejection.message} ${text}` : parsed.kind).toMatch(/^(plan|keep)$/);
    }
  });

  it('leaves room for the subtasks of a plan when reasoning has used up the rest', () => {
    const rambling = (tokensPerSubtask: number): number => {
      const tokens = compileTokenAutomaton(grammar({ prefill: 'Let me think.', tokensPerSubtask }), words);
      // A model that never closes anything by itself: quotes, brackets and labels are its last choice.
      const closes = words.tokenBytes.map((bytes) => /["[\]_]/.test(new TextDecoder().decode(bytes)));
      const { text } = generate(tokens, 400, (token) => (closes[token] ? -2 : 0));
      const parsed = parsePlan(text, { workerCount: 3, round: 0 });
      return parsed.kind === 'plan' ? parsed.plan.subtasks.join('').length : -1;
    };
    expect(rambling(0)).toBeLessThan(20);
    expect(rambling(40)).toBeGreaterThan(200);
  });
});
