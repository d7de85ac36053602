// What llama-cpp.ts uses of node-llama-cpp, so that the house's type check needs no packages of this folder.
declare module 'node-llama-cpp' {
  interface LlamaOptions {
    readonly gpu: false | 'vulkan';
    readonly build: 'never';
    readonly maxThreads: number;
    readonly logLevel: 'error';
  }
  interface ContextOptions {
    readonly sequences: number;
    /** Tokens of each sequence. */
    readonly contextSize: number;
    readonly threads: { readonly ideal: number; readonly min: number };
  }
  interface NextOptions {
    readonly generateNext: {
      readonly token?: boolean;
      readonly probabilities?: boolean;
      readonly options: { readonly temperature: number; readonly topK?: number; readonly topP?: number; readonly minP?: number };
    };
  }
  interface NextOutput {
    readonly next: { readonly token?: number | null; readonly probabilities?: ReadonlyMap<number, number> };
  }
  export interface LlamaContextSequence {
    /** An output stands at the index of the token that it follows. */
    controlledEvaluate(input: (number | [token: number, options: NextOptions])[]): Promise<(NextOutput | undefined)[]>;
    clearHistory(): Promise<void>;
  }
  interface LlamaContext {
    getSequence(): LlamaContextSequence;
  }
  interface LlamaModel {
    createContext(options: ContextOptions): Promise<LlamaContext>;
  }
  interface Llama {
    readonly llamaCppRelease: { readonly release: string };
    getGpuDeviceNames(): Promise<string[]>;
    loadModel(options: { readonly modelPath: string; readonly gpuLayers?: 'max' }): Promise<LlamaModel>;
    dispose(): Promise<void>;
  }
  export function getLlama(options: LlamaOptions): Promise<Llama>;
  export function getModuleVersion(): Promise<string>;
}
