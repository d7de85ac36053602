import type { ComputeType } from '../device/devices.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, and, cast, less, lessOrEqual, not, or, subtract, where } from '../graph/ops/arithmetic.ts';
import { branch, loop } from '../graph/ops/control.ts';
import { gather, gatherElements } from '../graph/ops/indexing.ts';
import { expand, reshape, sum } from '../graph/ops/shape.ts';
import { promptAttention, type KeyValue, lengthMask, sharedPrefixAttention } from './attention.ts';
import type { Decoder } from './decoder.ts';
import { sampleToken } from './sampling.ts';

/*
 * A chunk of a generation is one run. It prefills the prompts, or takes their cache from an earlier chunk. Then a Loop feeds one token for
 * each row and draws the next, until every row is done. A prompt's prefix is all its tokens except the last. The loop feeds the last token
 * first, so that the prefill needs no output layer.
 */

/** Sizes: prompts · samples = rows; the longest prefix; tokens fed before this chunk, before this step, and including this step. */
const SIZES = { prompts: 'prompts', samples: 'samples', rows: 'rows', length: 'length', before: 'before', fed: 'fed', seen: 'fed+1' } as const;

export interface GenerationInputs {
  /** int64[prompts, length], padded on the right. Always has this shape, although it is read only if `fresh`. */
  readonly ids: Tensor;
  /** int64[prompts]: lengths of the prefixes, from 0. */
  readonly lengths: Tensor;
  /** int32[]: the longest prefix, see `PromptRows.total`. */
  readonly length: Tensor;
  /** bool[]: true to prefill the prompts, false if `prefix` holds their cache. */
  readonly fresh: Tensor;
  readonly prefix: readonly KeyValue[];
  /** [rows, keyValueHeads, before, headSize]: keys and values of the tokens fed in earlier chunks. */
  readonly tail: readonly KeyValue[];
  /** int64[rows]: the token to feed next. */
  readonly pending: Tensor;
  /** bool[rows]. */
  readonly done: Tensor;
  /** float32[steps, prompts, samples]: a uniform number for each token. */
  readonly draws: Tensor;
  /** int64[]: the number of steps, which the loop reads on the host like `PromptRows.total`. */
  readonly steps: Tensor;
  readonly temperature: Tensor;
  readonly topP: Tensor;
  readonly topK: Tensor;
  readonly restricted: Tensor;
  /** int64[rows]: the maximum number of tokens of a row. */
  readonly limits: Tensor;
  /** bool[vocabulary]: tokens that end a row. */
  readonly stops: Tensor;
  /** int64[rows]: the state of each row in the automaton, which follows; see TokenAutomaton. */
  readonly state: Tensor;
  readonly allow: Tensor;
  readonly next: Tensor;
  readonly classOf: Tensor;
  readonly distance: Tensor;
}

export function generationInputs(root: Graph, { config }: Decoder): GenerationInputs {
  const { prompts, samples, rows, length, before } = SIZES;
  const cache = (name: string, rowsOf: string, lengthOf: string): KeyValue[] =>
    Array.from({ length: config.layers }, (_, layer) => {
      const shape = [rowsOf, config.keyValueHeads, lengthOf, config.headSize];
      return { key: root.input(`${name}.${layer}.key`, CARRIED, shape), value: root.input(`${name}.${layer}.value`, CARRIED, shape) };
    });
  return {
    ids: root.input('ids', 'int64', [prompts, length]),
    lengths: root.input('lengths', 'int64', [prompts]),
    length: root.input('length', 'int32', []),
    fresh: root.input('fresh', 'bool', []),
    prefix: cache('prefix', 'carried prompts', 'carried length'),
    tail: cache('tail', rows, before),
    pending: root.input('pending', 'int64', [rows]),
    done: root.input('done', 'bool', [rows]),
    draws: root.input('draws', 'float32', ['steps', prompts, samples]),
    steps: root.input('steps', 'int64', []),
    temperature: root.input('temperature', 'float32', [rows, 1]),
    topP: root.input('topP', 'float32', [rows, 1]),
    topK: root.input('topK', 'int64', [rows, 1]),
    restricted: root.input('restricted', 'bool', []),
    limits: root.input('limits', 'int64', [rows]),
    stops: root.input('stops', 'bool', [config.vocabularySize]),
    state: root.input('state', 'int64', [rows]),
    allow: root.input('allow', 'bool', ['states', 'classes']),
    next: root.input('next', 'int64', ['states', 'classes']),
    classOf: root.input('classOf', 'int64', [config.vocabularySize]),
    distance: root.input('distance', 'int64', ['states']),
  };
}

/** The type of a cache between chunks: onnxruntime-node has no bfloat16 inputs and outputs, and the feeds are the same for every type. */
const CARRIED: ComputeType = 'float32';

export interface GenerationOutputs {
  /** int64[steps, rows]; 0 after a row's end. */
  readonly tokens: Tensor;
  /** float32[steps, rows]; 0 after a row's end. */
  readonly logprobs: Tensor;
  readonly pending: Tensor;
  readonly done: Tensor;
  readonly state: Tensor;
  readonly prefix: readonly KeyValue[];
  readonly tail: readonly KeyValue[];
}

export function generateChunk(g: Graph, decoder: Decoder, inputs: GenerationInputs): GenerationOutputs {
  const { prompts, samples, rows, length, before, fed, seen } = SIZES;
  const { config, weights: { compute } } = decoder;
  const { keyValueHeads, headSize } = config;
  const prefix = pairs(branch(
    g,
    inputs.fresh,
    (b) => flat(readPrompts(b, decoder, inputs)),
    (b) => flat(inputs.prefix).map((tensor) => reshape(b, cast(b, tensor, compute), [prompts, keyValueHeads, length, headSize])),
  ));
  const tail = flat(inputs.tail).map((tensor) => cast(g, tensor, compute));
  const rowLengths = g.onHost(() => reshape(g, expand(g, reshape(g, inputs.lengths, [prompts, 1]), [prompts, samples]), [rows]));
  const prefixMask = g.onHost(() => lengthMask(g, rowLengths, { batch: rows, length }, compute));
  const start = reshape(g, g.size(before), []);

  const tailShapes = Object.fromEntries(tail.map((_, index) => [index + OWN_STATES, [rows, keyValueHeads, fed, headSize]]));
  const { state, kept } = loop(
    g,
    { limit: inputs.steps, state: [inputs.pending, inputs.done, inputs.state, ...tail], steps: 'taken', shapes: tailShapes },
    (body, iteration, [pending, done, automaton, ...tails]) => {
      const place = body.onHost(() => add(body, start, iteration));
      const newTail: KeyValue[] = [];
      const positions = body.onHost(() => reshape(body, add(body, rowLengths, place), [rows, 1]));
      const hidden = decoder.layers(body, pending!, {
        tokens: rows,
        form: 'repacked',
        attend: (b, projected, layer) => {
          const fed = { key: tails[2 * layer]!, value: tails[2 * layer + 1]! };
          const step = { prompts, samples, rows, length, seen, prefixMask, positions };
          const { output, cache } = sharedPrefixAttention(b, decoder, projected, prefix[layer]!, fed, step);
          newTail.push(cache);
          return output;
        },
      });
      const logits = decoder.logits(body, hidden, 'repacked');
      // One copy of the logits, instead of a wait for each of the small tensors of the draw.
      return body.onHost(() => {
        const count = add(body, place, body.scalar('int64', 1));
        const moves = movesFrom(body, inputs, automaton!, count);
        const draw = reshape(body, gather(body, inputs.draws, iteration), [rows, 1]);
        const drawn = sampleToken(body, logits, rows, config.vocabularySize, { ...inputs, draw, allowed: moves.allowed });

        const token = where(body, done!, body.scalar('int64', 0), reshape(body, drawn.token, [rows]));
        const logprob = where(body, done!, body.scalar('float32', 0), reshape(body, drawn.logprob, [rows]));
        const ended = or(body, gather(body, inputs.stops, token), lessOrEqual(body, inputs.limits, count));
        const doneNow = or(body, done!, ended);
        const open = sum(body, cast(body, not(body, doneNow), 'int64'), [0]);
        return {
          goOn: less(body, body.scalar('int64', 0), open),
          state: [token, doneNow, moves.after(token), ...flat(newTail)],
          kept: [token, logprob],
        };
      });
    },
  );
  const [tokens, logprobs] = kept;
  const [pending, done, automaton, ...tails] = state;
  const toCarry = (cache: readonly KeyValue[]): KeyValue[] =>
    cache.map(({ key, value }) => ({ key: cast(g, key, CARRIED), value: cast(g, value, CARRIED) }));
  return {
    tokens: tokens!, logprobs: logprobs!, pending: pending!, done: done!, state: automaton!,
    prefix: toCarry(prefix), tail: toCarry(pairs(tails)),
  };
}

/** States of the loop before the caches: the token to feed, whether a row is done, its state in the automaton. */
const OWN_STATES = 3;

/** The prefill: keys and values of all tokens of the prefixes. */
function readPrompts(g: Graph, decoder: Decoder, { ids, length: total }: GenerationInputs): KeyValue[] {
  const { prompts, length } = SIZES;
  const caches: KeyValue[] = [];
  decoder.layers(g, reshape(g, ids, ['prompt tokens']), {
    tokens: 'prompt tokens',
    form: 'stored',
    attend: (b, projected) => {
      const { output, cache } = promptAttention(b, decoder, projected, { batch: prompts, length, total });
      caches.push(cache);
      return output;
    },
  });
  return caches;
}

/**
 * The tokens that a row may draw in its state of the automaton: those that the state allows and from which the remaining tokens suffice to
 * reach an accepting state.
 */
function movesFrom(g: Graph, { allow, next, classOf, distance, limits }: GenerationInputs, state: Tensor, count: Tensor) {
  const { rows } = SIZES;
  const left = reshape(g, subtract(g, limits, count), [rows, 1]);
  const nextStates = gather(g, next, state);
  const inTime = lessOrEqual(g, gather(g, distance, nextStates), left);
  const allowed = gather(g, and(g, gather(g, allow, state), inTime), classOf, 1);
  return {
    allowed,
    after: (token: Tensor): Tensor => reshape(g, gatherElements(g, nextStates, reshape(g, gather(g, classOf, token), [rows, 1]), 1), [rows]),
  };
}

const flat = (cache: readonly KeyValue[]): Tensor[] => cache.flatMap(({ key, value }) => [key, value]);

function pairs(tensors: readonly Tensor[]): KeyValue[] {
  return Array.from({ length: tensors.length / 2 }, (_, layer) => ({ key: tensors[2 * layer]!, value: tensors[2 * layer + 1]! }));
}
