import type { LanguageModel, ModelDescription, TextRequest, WrittenText } from '../../backend/lm/language-model.ts';

/** A model that writes what a test says, and remembers what it was asked. */
export class ScriptedModel implements LanguageModel {
  readonly asked: TextRequest[] = [];
  readonly #script: (request: TextRequest) => Promise<WrittenText[]>;

  constructor(script: (request: TextRequest) => Promise<WrittenText[]>) {
    this.#script = script;
  }

  async describe(): Promise<ModelDescription> {
    return { name: 'scripted', device: 'cpu', deviceReasons: [], precision: 'full', weightBytes: 1, contextLength: 2_048 };
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
  return { text, finishReason: 'stop', promptTokenIds: [1, 2, 3], tokenIds: [4, 5], logprobs: [-0.5, -0.25], ...change };
}
