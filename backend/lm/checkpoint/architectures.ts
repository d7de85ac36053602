/** What differs between the decoders that Conductor runs. */
export interface Architecture {
  /** Display names. */
  readonly families: readonly string[];
  /** The name in config.json's `architectures`. `model_type` alone does not distinguish a causal model from, say, a classifier. */
  readonly causalModel: string;
  /** q, k and v have a bias; o never has one. */
  readonly attentionBias: boolean;
  /** Each head of q and k goes through an RMS norm before the rotation. */
  readonly queryKeyNorm: boolean;
  /** q, k and v are one matrix in the checkpoint, and so are gate and up. */
  readonly fusedProjections?: boolean | undefined;
  /** `sliding_window` counts: texts may be as long as the window, within which every token sees all before it. */
  readonly hasWindow?: boolean | undefined;
  /** `partial_rotary_factor` counts: of each head, only so many dimensions are rotated. */
  readonly rotatesPart?: boolean | undefined;
  /** What gates go through, by its name in config.json; `silu` by default. */
  readonly activation?: 'gelu_pytorch_tanh' | undefined;
  /** Norms multiply by 1 + weight. */
  readonly normsAddOne?: boolean | undefined;
  /** What attention and the MLP give goes through a norm of its own before it is added. */
  readonly normsOfOutputs?: boolean | undefined;
  /** Embeddings are multiplied by √hidden_size. */
  readonly scalesEmbeddings?: boolean | undefined;
  /** In some layers tokens see the last `sliding_window` tokens alone. Texts may be longer, because other layers see all. */
  readonly hasSlidingLayers?: boolean | undefined;
  /** Without `tie_word_embeddings` in config.json, the output layer is the embedding table. */
  readonly tiedByDefault?: boolean | undefined;
  /** The head size if config.json has no `head_dim`. By default `hidden_size` divided by the number of heads. */
  readonly defaultHeadSize?: number | undefined;
  /** Fields of config.json that change what the model computes and are refused if they are set. */
  readonly refusedFields: readonly string[];
}

const ROWS = {
  qwen2: { families: ['Qwen2', 'Qwen2.5'], causalModel: 'Qwen2ForCausalLM', attentionBias: true, queryKeyNorm: false, refusedFields: [] },
  qwen3: {
    families: ['Qwen3'], causalModel: 'Qwen3ForCausalLM', attentionBias: false, queryKeyNorm: true, defaultHeadSize: 128,
    refusedFields: ['attention_bias'],
  },
  llama: {
    families: ['Llama', 'SmolLM2'], causalModel: 'LlamaForCausalLM', attentionBias: false, queryKeyNorm: false,
    refusedFields: ['attention_bias', 'rope_interleaved'],
  },
  mistral: {
    families: ['Mistral'], causalModel: 'MistralForCausalLM', attentionBias: false, queryKeyNorm: false, hasWindow: true, refusedFields: [],
  },
  phi3: {
    families: ['Phi-3', 'Phi-4'], causalModel: 'Phi3ForCausalLM', attentionBias: false, queryKeyNorm: false, fusedProjections: true, hasWindow: true, rotatesPart: true,
    refusedFields: ['attention_bias'],
  },
  gemma3_text: {
    families: ['Gemma 3'], causalModel: 'Gemma3ForCausalLM', attentionBias: false, queryKeyNorm: true, activation: 'gelu_pytorch_tanh',
    normsAddOne: true, normsOfOutputs: true, scalesEmbeddings: true, hasSlidingLayers: true, tiedByDefault: true,
    refusedFields: ['attention_bias', 'attn_logit_softcapping', 'final_logit_softcapping', 'use_bidirectional_attention'],
  },
} as const satisfies Readonly<Record<string, Architecture>>;

/** config.json's `model_type`. */
export type ArchitectureName = keyof typeof ROWS;

export const ARCHITECTURES: Readonly<Record<ArchitectureName, Architecture>> = ROWS;

export const isArchitecture = (type: unknown): type is ArchitectureName => typeof type === 'string' && Object.hasOwn(ROWS, type);
