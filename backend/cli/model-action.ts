import type { readArguments } from './arguments.ts';
import type { CommandContext } from './command.ts';

/** All options of `conductor model`. */
export const MODEL_ACTION_OPTIONS = {
  json: { type: 'boolean' },
  storage: { type: 'string' },
  adapter: { type: 'string', multiple: true },
  revision: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  'no-worker': { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments<typeof MODEL_ACTION_OPTIONS>>['values'];

/** One action of `conductor model`. */
export interface ModelAction {
  /** The options that this action accepts. */
  readonly options: readonly (keyof typeof MODEL_ACTION_OPTIONS)[];
  /** @returns the exit code */
  readonly run: (name: string | undefined, values: Values, context: CommandContext) => Promise<number>;
}
