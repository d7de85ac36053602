import type { LanguageModel, TextRequest, WrittenText } from '../../backend/lm/language-model.ts';

/** A model that writes what a test says, and remembers what it was asked. */
export class ScriptedModel implements LanguageModel {
  readonly asked: TextRequest[] = [];
  readonly #script: (request: TextRequest) => Promise<WrittenText[]>;

  constructor(script: (request: TextRequest) => Promise<WrittenText[]>) {
    this.#script = script;
  }

  /** It may have been unloaded by then: to ask would load it again. */
  describe(): Promise<never> {
    return Promise.reject(new Error('Nobody asks what it is.'));
  }

  write(request: TextRequest): Promise<WrittenText[]> {
    this.asked.push(request);
    return this.#script(request);
  }

  generate(): Promise<never> {
    return Promise.reject(new Error('Nobody continues tokens here.'));
  }

  score(): Promise<never> {
    return Promise.reject(new Error('Nobody scores tokens here.'));
  }
}

export function written(text: string, change: Partial<WrittenText> = {}): WrittenText {
  return { text, finishReason: 'stop', promptTokenIds: [1, 2, 3], tokenIds: [4, 5], logprobs: [-0.5, -0.25], device: 'cpu', ...change };
}
