import type { Tokenizer } from '../../../lm/tokenizer/tokenizer.ts';

/** What this machine knows of the models that servers have. Weights are never read. */
export interface ServedModels {
  /** The tokenizer of a model of this machine, with its chat template. @throws with a sentence for people */
  tokenizerOf(model: string): Promise<Pick<Tokenizer, 'chat' | 'decode' | 'stopTokenIds'>>;
  /** The version of an adapter (folder) of that model, in hexadecimal digits. @throws with a sentence for people */
  versionOf(model: string, adapter: string): Promise<string>;
}
