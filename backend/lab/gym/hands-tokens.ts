import { countTokens, type SimulatedMessage, type SimulatedTokens } from '../../simulator/simulated-model.ts';
import type { HandsNumbers } from './gym-parameters.ts';

export interface Loop {
  readonly asked: readonly SimulatedMessage[];
  readonly looks: number;
  /** Each is written, or carried into the copy, and run in one turn. */
  readonly drafts: readonly string[];
  /** What it answers. Its code is not written once more where it was a draft: in a project it is handed on as a diff. */
  readonly text: string;
}

/** The tokens of all turns of a loop: each reads the question, how hands are used, and all that came before it. No provider's cache is counted. */
export function tokensOfLoop({ asked, looks, drafts, text }: Loop, { tokens: { told, call, result } }: Pick<HandsNumbers, 'tokens'>): SimulatedTokens {
  const turns = [
    ...Array.from({ length: looks }, () => ({ written: call, returned: result })),
    ...drafts.map((draft) => ({ written: call + countTokens(draft), returned: result })),
    { written: drafts.length > 0 ? call : countTokens(text), returned: 0 },
  ];
  let seen = told + asked.reduce((sum, { content }) => sum + countTokens(content), 0);
  let [input, output] = [0, 0];
  for (const { written, returned } of turns) {
    input += seen;
    output += written;
    seen += written + returned;
  }
  return { input, output };
}
