import { type NewCheckpoint, writeNewCheckpoint } from '../../lm/checkpoint/new-checkpoint.ts';
import { trainTokenizer, writeTokenizer } from '../../lm/tokenizer/train-bpe.ts';
import { exampleAt } from './examples.ts';

export type MiniGeometry = Omit<NewCheckpoint, 'maximumPositions' | 'stopTokenId' | 'seed'>;

/**
 * Two million weights. Wide rather than deep, since each operation has a fixed cost in onnxruntime on a CPU: a plan takes a fraction of a
 * second, and a step of GRPO with 4 times 64 of them some seconds. Its attention wants heads of a multiple of 16.
 */
export const MINI_GEOMETRY: MiniGeometry = {
  vocabularySize: 2_048, hiddenSize: 192, intermediateSize: 512, layers: 4, attentionHeads: 6, keyValueHeads: 2,
};

/** Far more than a prompt of the mini profile needs in Latin letters. Other scripts take several tokens per character. */
const MAXIMUM_POSITIONS = 8_192;

/** Examples for training the tokenizer. */
const TOKENIZER_EXAMPLES = 10_000;

/** Writes an untrained model and its tokenizer into a folder (absolute). */
export async function writeNewMini(folder: string, { seed, geometry = MINI_GEOMETRY, examples = TOKENIZER_EXAMPLES, withHands }: {
  readonly seed: number; readonly geometry?: MiniGeometry | undefined; readonly examples?: number | undefined; readonly withHands?: boolean | undefined;
}): Promise<void> {
  const tokenizer = trainTokenizer(textsOf(seed, examples, withHands), geometry.vocabularySize);
  const { vocabularySize, stopTokenId } = tokenizer;
  await writeNewCheckpoint(folder, { ...geometry, vocabularySize, stopTokenId, maximumPositions: MAXIMUM_POSITIONS, seed });
  await writeTokenizer(folder, tokenizer);
}

function* textsOf(seed: number, examples: number, withHands: boolean | undefined): Generator<string> {
  for (let index = 0; index < examples; index += 1) {
    const { messages, text } = exampleAt(seed, index, { withHands });
    // One text per turn, as the chat template separates them: no token may span two turns.
    for (const { role, content } of messages) yield `${role}\n${content}`;
    yield `assistant\n${text}`;
  }
}
