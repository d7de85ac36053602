/**
 * Defaults for a whole training, by name. A person's own settings take precedence. `paper` holds the settings of arXiv 2512.04388, §4.1 and
 * A.1. The paper trains all weights, so its learning rate is small for an adapter, which is trained where memory does not allow all weights. It takes
 * tasks from files only, and its workers answer in up to 4,096 tokens.
 */
export const TRAINING_PRESETS = {
  paper: {
    tasks: { project: false },
    train: 'auto',
    steps: 200,
    tasksPerStep: 4,
    groupSize: 64,
    carriedOut: 256,
    maxTokens: 1_024,
    temperature: 1,
    learningRate: { peak: 1e-6, warmup: 0.03, schedule: 'cosine' },
    loss: { type: 'grpo', clip: { low: 0.2, high: 0.2 }, divergence: 0, importanceLimit: 0 },
    advantage: 'group',
    updates: 1,
    maskTruncated: false,
    reward: { judgedBy: 'verified', costWeight: 0 },
    workers: { '*': { maxOutputTokens: 4_096 } },
    sharedSteps: false,
    rounds: 1,
  },
} as const;

export const TRAINING_PRESET_NAMES = Object.keys(TRAINING_PRESETS) as [keyof typeof TRAINING_PRESETS];

/** Adds the values of the preset that the settings name, where they have none of their own. Anything that names no preset is returned unchanged. */
export function withPreset<T>(given: T): T {
  if (!isRecord(given)) return given;
  const name = given['preset'];
  if (typeof name !== 'string' || !Object.hasOwn(TRAINING_PRESETS, name)) return given;
  return merged(TRAINING_PRESETS[name as keyof typeof TRAINING_PRESETS], given) as T;
}

function merged(below: Readonly<Record<string, unknown>>, above: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const both = Object.entries(above).map(([key, value]) => {
    const under = below[key];
    return [key, value === undefined ? under : isRecord(under) && isRecord(value) ? merged(under, value) : value] as const;
  });
  return { ...below, ...Object.fromEntries(both) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);
