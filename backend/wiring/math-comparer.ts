import { fileURLToPath } from 'node:url';
import { MathComparer } from '../verify/graders/math/math-comparer.ts';

/** The bundle is in the same folder as those of the composition roots; the source is in its own folder. */
const SCRIPT = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../verify/graders/math/math-process.ts' : './math-process.mjs', import.meta.url),
);

/** The comparison of mathematical answers, in a process of its own. The caller closes it. */
export const mathComparer = (environment: Readonly<Record<string, string>> = {}): MathComparer =>
  new MathComparer({ script: SCRIPT, nodePath: process.execPath, environment });
