import { NODE_TEST_ALIASES } from './node-test-alias.ts';
import { SCRIPTS_TOGETHER } from './run-together.ts';
import type { SimpleCommand, Word } from './shell-words.ts';

/** Programs that run another one and measure its coverage. That takes time, and fails below a threshold. */
export const COVERAGE_PROGRAMS: ReadonlySet<string> = new Set(['c8', 'nyc']);
/** Programs that set up another one, which follows their own options. */
const LAUNCHERS: ReadonlySet<string> = new Set([...COVERAGE_PROGRAMS, 'dotenv', 'dotenvx', 'env-cmd', 'xvfb-run', 'time', 'nice', 'timeout']);

export const PACKAGE_MANAGERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun']);

/** Programs that run what a `package.json` says, or another program by its own name. */
const EXPANDED: ReadonlySet<string> = new Set([...PACKAGE_MANAGERS, ...SCRIPTS_TOGETHER, ...NODE_TEST_ALIASES]);

export interface LaunchedScript {
  /** The call of such a program, without what launches it. */
  readonly call: SimpleCommand;
  /** The launcher's first word, if there is one. */
  readonly launcher?: Word;
  /** Whether the call does the same without it. */
  readonly measuresOnly: boolean;
}

/** A call by itself, or behind a launcher, as in `nyc -r text npm run unit`. */
export function launchedScript(simple: SimpleCommand): LaunchedScript {
  const { words } = simple;
  const first = words[0]?.text === 'npx' ? 1 : 0;
  const [npx, launcher] = [words[0], words[first]];
  const at = words.findIndex(({ text }) => EXPANDED.has(text));
  if (!npx || !launcher || at <= first || !LAUNCHERS.has(launcher.text)) return { call: simple, measuresOnly: false };
  return { call: { ...simple, words: words.slice(at) }, launcher: npx, measuresOnly: COVERAGE_PROGRAMS.has(launcher.text) };
}
