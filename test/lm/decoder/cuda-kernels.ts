import type { ElementType } from '../../../backend/lm/graph/tensor-type.ts';

/*
 * What onnxruntime 1.30.0 has kernels for on CUDA, of the operators that backend/lm/graph writes. Taken from the registrations in
 * libonnxruntime_providers_cuda.so of the wheel that docs/gpu.md names (test/bench/gpu/read_kernels.py prints them); versions and types
 * agree with docs/OperatorKernels.md of onnxruntime at 001d12d, which is somewhat older. A node without a kernel runs on the CPU, and what
 * it reads and writes is copied.
 */

/** An input or output of a kernel: the types it may have, and whether the kernel wants or puts it in the memory of the CPU. */
export interface Slot {
  readonly elements: readonly ElementType[];
  readonly onCpu: boolean;
}

export interface Kernel {
  /** Versions of the operator's definition in ONNX from opset 13 on. */
  readonly definitions: readonly number[];
  /** Versions that kernels are registered for; without an end, only the first counts (see `kernelFor`). */
  readonly versions: readonly (readonly [since: number, until?: number])[];
  readonly inputs: readonly Slot[];
  readonly outputs: readonly Slot[];
  /** Whether the last input may come any number of times. */
  readonly variadic: boolean;
}

const WITHOUT_BFLOAT16: readonly ElementType[] = ['float32', 'float64', 'float16'];
const FLOATS: readonly ElementType[] = [...WITHOUT_BFLOAT16, 'bfloat16'];
const INTEGERS: readonly ElementType[] = ['int32', 'int64'];
const INDICES = INTEGERS;
const ALL: readonly ElementType[] = [...FLOATS, ...INTEGERS, 'uint8', 'bool'];
const DECODER_FLOATS: readonly ElementType[] = ['float32', 'float16', 'bfloat16'];

type Types = Readonly<Record<string, readonly ElementType[]>>;

/**
 * `signature`: inputs -> outputs, each a name in `types` or a type; `@cpu` where the kernel has it on the CPU, `*` for any number.
 * `versions`: `14+`, `19-20`.
 */
function kernel(definitions: readonly number[], versions: string, signature: string, types: Types = {}): Kernel {
  const [inputs = '', outputs = ''] = signature.split(' -> ');
  const slots = (side: string): Slot[] => side.split(' ').filter(Boolean).map((text) => {
    const [name = ''] = text.replace('*', '').split('@');
    return { elements: types[name] ?? [name as ElementType], onCpu: text.includes('@cpu') };
  });
  return {
    definitions,
    versions: versions.split(' ').map((range) => {
      const [since, until] = range.split('-').map((version) => Number.parseInt(version, 10)) as [number, number?];
      return until === undefined ? [since] : [since, until];
    }),
    inputs: slots(inputs),
    outputs: slots(outputs),
    variadic: inputs.endsWith('*'),
  };
}

export const CUDA_KERNELS: Readonly<Record<string, Kernel>> = {
  Add: kernel([14], '14+', 'T T -> T', { T: [...FLOATS, ...INTEGERS, 'uint8'] }),
  Sub: kernel([14], '14+', 'T T -> T', { T: [...FLOATS, ...INTEGERS, 'uint8'] }),
  Mul: kernel([14], '14+', 'T T -> T', { T: [...FLOATS, ...INTEGERS, 'uint8'] }),
  Div: kernel([14], '14+', 'T T -> T', { T: [...FLOATS, ...INTEGERS, 'uint8'] }),
  Min: kernel([13], '13+', 'T T -> T', { T: [...FLOATS, ...INTEGERS] }),
  Max: kernel([13], '13+', 'T T -> T', { T: [...FLOATS, ...INTEGERS] }),
  Neg: kernel([13], '13+', 'T -> T', { T: [...FLOATS, ...INTEGERS] }),
  Exp: kernel([13], '13+', 'T -> T', { T: FLOATS }),
  Log: kernel([13], '13+', 'T -> T', { T: WITHOUT_BFLOAT16 }),
  Sqrt: kernel([13], '13+', 'T -> T', { T: FLOATS }),
  Sigmoid: kernel([13], '13+', 'T -> T', { T: FLOATS }),
  Where: kernel([16], '16+', 'bool T T -> T', { T: [...FLOATS, ...INTEGERS, 'uint8'] }),
  Cast: kernel([13, 19, 21], '13-18 19-20 21-22', 'T1 -> T2', { T1: ALL, T2: ALL }),
  Equal: kernel([13, 19], '13-18 19+', 'T T -> bool', { T: [...WITHOUT_BFLOAT16, ...INTEGERS, 'bool'] }),
  Less: kernel([13], '13+', 'T T -> bool', { T: [...WITHOUT_BFLOAT16, ...INTEGERS] }),
  LessOrEqual: kernel([16], '16+', 'T T -> bool', { T: [...WITHOUT_BFLOAT16, ...INTEGERS] }),
  And: kernel([7], '7+', 'bool bool -> bool'),
  Or: kernel([7], '7+', 'bool bool -> bool'),
  Not: kernel([1], '1+', 'bool -> bool'),

  Concat: kernel([13], '13+', 'T* -> T', { T: ALL }),
  Slice: kernel([13], '13+', 'T Tind@cpu Tind@cpu Tind@cpu Tind@cpu -> T', { T: ALL, Tind: INDICES }),
  Transpose: kernel([13, 21], '13-20 21-22', 'T -> T', { T: ALL }),
  Reshape: kernel([14, 19, 21], '14-18 19-20 21-22', 'T int64@cpu -> T', { T: ALL }),
  Expand: kernel([13], '13+', 'T int64@cpu -> T', { T: ALL }),
  Shape: kernel([15, 19, 21], '15-18 19-20 21-22', 'T -> int64@cpu', { T: ALL }),
  Identity: kernel([16, 19, 21], '14-18 19-20 21-22', 'T -> T', { T: ALL }),
  Gather: kernel([13], '13+', 'T Tind -> T', { T: ALL, Tind: INDICES }),
  GatherElements: kernel([13], '13+', 'T Tind -> T', { T: ALL, Tind: INDICES }),
  // Registered for bfloat16, too, but seen on a GPU not to add in it, and addition is all that the decoder asks for.
  ScatterND: kernel([16, 18], '16-17 18+', 'T int64 T -> T', { T: WITHOUT_BFLOAT16 }),
  ScatterElements: kernel([16, 18], '16-17 18+', 'T Tind T -> T', { T: WITHOUT_BFLOAT16, Tind: INDICES }),
  Range: kernel([11], '11-26', 'T@cpu T@cpu T@cpu -> T', { T: ['float32', 'float64', ...INTEGERS] }),

  ReduceSum: kernel([13], '13+', 'T int64@cpu -> T', { T: [...FLOATS, ...INTEGERS] }),
  ReduceMax: kernel([13, 18, 20], '1-17 18-19 20+', 'T int64@cpu -> T', { T: [...WITHOUT_BFLOAT16, ...INTEGERS, 'uint8'] }),
  ArgMax: kernel([13], '13+', 'T -> int64', { T: WITHOUT_BFLOAT16 }),
  CumSum: kernel([14], '14+', 'T T2@cpu -> T', { T: [...WITHOUT_BFLOAT16, ...INTEGERS], T2: INDICES }),
  TopK: kernel([11], '11-23', 'T int64@cpu -> T int64', { T: [...WITHOUT_BFLOAT16, ...INTEGERS] }),

  Gemm: kernel([13], '13+', 'T T T -> T', { T: FLOATS }),
  MatMul: kernel([13], '13+', 'T T -> T', { T: FLOATS }),
  Softmax: kernel([13], '13+', 'T -> T', { T: FLOATS }),
  LogSoftmax: kernel([13], '13+', 'T -> T', { T: WITHOUT_BFLOAT16 }),
  SimplifiedLayerNormalization: kernel([1], '1+', 'T T -> T', { T: FLOATS }),
  'com.microsoft.FusedMatMul': kernel([1], '1+', 'T T -> T', { T: FLOATS }),
  'com.microsoft.MatMulNBits': kernel([1], '1+', 'T uint8 T uint8 -> T', { T: DECODER_FLOATS }),
  'com.microsoft.RotaryEmbedding': kernel([1], '1+', 'T int64 T T -> T', { T: DECODER_FLOATS }),
  'com.microsoft.GroupQueryAttention': kernel([1], '1+', 'T T T T T int32 int32@cpu T T -> T T T', { T: ['float16', 'bfloat16'] }),

  Loop: kernel([16, 19, 21], '13-18 19-20 21-22', 'int64@cpu bool@cpu V* -> V', { V: ALL }),
  If: kernel([16, 19, 21], '13-18 19-20 21-22', 'bool@cpu -> V', { V: ALL }),
};

/**
 * Whether a kernel takes the operator as an opset defines it. A registration without an end is taken for the version it names alone, since
 * nobody can know what later versions ask (`VerifyVersion` in onnxruntime's core/framework/kernel_registry.cc; pull request 27728).
 */
export function isRegistered({ definitions, versions }: Kernel, opset: number): boolean {
  const definition = Math.max(...definitions.filter((version) => version <= opset));
  return versions.some(([since, until]) => since === definition || (until !== undefined && since <= definition && definition <= until));
}
