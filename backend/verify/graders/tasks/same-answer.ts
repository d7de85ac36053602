import { createHash } from 'node:crypto';
import { answerCode } from '../answer-code.ts';
import { JAVASCRIPT_DRIVER } from '../code/javascript-driver.ts';
import { DEFAULT_CASE_LIMITS } from '../code/cases-grader.ts';
import { checkedCompletion, runChecked } from '../code/check-grader.ts';
import { PYTHON_DRIVER } from '../code/python-driver.ts';
import { finalAnswer } from '../final-answer.ts';
import { MathAnswerGrader } from '../math/math-answer.ts';
import { chosenOption } from '../multiple-choice.ts';
import type { GraderTools } from './create-grader.ts';
import type { GraderSpec } from './grader-spec.ts';

/** Whether two answers to a task are the same. @throws GraderInfrastructureError, the signal's reason */
export type SameAnswer = (one: string, other: string) => Promise<boolean>;

/**
 * When two answers to a task count as the same, for a vote: equal choices, equivalent mathematics, equal results, and for programs the same
 * behaviour on the cases that the question shows. Programs for a question without such cases must be equal. An answer that states nothing
 * agrees with none.
 */
export function sameAnswerFor(spec: GraderSpec, tools: GraderTools, signal: AbortSignal): SameAnswer {
  switch (spec.kind) {
    case 'choice':
      return byKey((answer) => Promise.resolve(chosenOption(answer, spec.choices)?.toString()));
    case 'exact':
      return byKey((answer) => Promise.resolve(finalAnswer(answer)?.normalize('NFKC').replaceAll(/\s+/g, ' ').trim().toLowerCase()));
    case 'math':
      return async (one, other) => {
        const stated = finalAnswer(one);
        if (stated === undefined) return false;
        const { verified } = await new MathAnswerGrader({ expected: stated, tolerance: spec.tolerance }, tools.comparer).grade({ answer: other, signal });
        return verified;
      };
    case 'unittest':
      return byKey((answer) => Promise.resolve(answerCode(answer, 'python')));
    case 'check':
      return byKey(async (answer) => {
        const completion = checkedCompletion(answer);
        if (completion === undefined) return undefined;
        const { prelude, visible = [] } = spec;
        if (visible.length === 0) return completion;
        const ran = await runChecked(tools.programs, { program: prelude + completion, expressions: visible, signal });
        return JSON.stringify(ran);
      });
    case 'cases':
      return byKey(async (answer) => {
        const { language = 'python', function: functionName, cases, visible = 0 } = spec;
        const source = answerCode(answer, language);
        if (source === undefined || visible === 0) return source;
        const outputs: unknown[] = [];
        for (const { input } of cases.slice(0, visible)) {
          const { end, output } = await tools.programs.run({
            ...DEFAULT_CASE_LIMITS, language, source, signal,
            driver: language === 'python' ? PYTHON_DRIVER : JAVASCRIPT_DRIVER,
            driverArguments: functionName === undefined ? ['program'] : ['call', functionName],
            input: functionName === undefined ? input : JSON.stringify(input),
          });
          outputs.push([end, output?.trim()]);
        }
        return JSON.stringify(outputs);
      });
  }
}

/** Keys are computed once for each answer: some are the behaviour of a program. */
function byKey(keyOf: (answer: string) => Promise<string | undefined>): SameAnswer {
  const keys = new Map<string, Promise<string | undefined>>();
  const known = (answer: string): Promise<string | undefined> => {
    const name = createHash('sha256').update(answer).digest('hex');
    const key = keys.get(name) ?? keyOf(answer);
    keys.set(name, key);
    return key;
  };
  return async (one, other) => {
    const key = await known(one);
    return key !== undefined && key === (await known(other));
  };
}
