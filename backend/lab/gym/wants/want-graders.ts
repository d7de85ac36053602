import { answerCode } from '../../../verify/graders/answer-code.ts';
import { CasesGrader } from '../../../verify/graders/code/cases-grader.ts';
import type { ProgramSandbox } from '../../../verify/graders/code/program-sandbox.ts';
import { type Grade, type Grader, testsGrade, wholeGrade } from '../../../verify/graders/grader.ts';
import type { Fact, Judge } from './want.ts';

/** Runs the tests of an answer with a source in front of them. An assertion that fails is an exception. */
const harness = (tests: string): string => `const TESTS = ${JSON.stringify(tests)};
function verdictOf(source) {
  try {
    new Function('require', source + '\\n' + TESTS)(require);
    return 'passed';
  } catch {
    return 'failed';
  }
}
`;

/** Tests have to pass with the right source and to fail with every mutant. The score is the share of sources judged right. */
export function mutantsGrader({ right, mutants }: Extract<Judge, { by: 'mutants' }>, programs: Pick<ProgramSandbox, 'run'>): Grader {
  const cases = [right, ...mutants].map((source, index) => ({ input: JSON.stringify(source), output: JSON.stringify(index === 0 ? 'passed' : 'failed') }));
  const grader = new CasesGrader({ cases: () => cases, functionName: 'verdictOf', language: 'javascript', inOneProcess: true, runAllCases: true }, programs);
  return {
    grade: async ({ answer, signal }) => {
      const tests = answerCode(answer, 'javascript');
      if (tests === undefined) return wholeGrade(false, 'The answer has no complete javascript code block.');
      return await grader.grade({ answer: `\`\`\`js\n${harness(tests)}\`\`\``, signal });
    },
  };
}

/** Code that is too long is not tidied up. Spaces do not count. */
export function shorterGrader(longest: number, behaviour: Grader): Grader {
  return {
    grade: async ({ answer, signal }) => {
      const length = answerCode(answer, 'javascript')?.replace(/\s+/g, '').length ?? 0;
      if (length > longest) return wholeGrade(false, `The code has ${length} characters; at most ${longest} were to be left.`);
      return await behaviour.grade({ answer, signal });
    },
  };
}

/** Every fact has to be stated, in words: the call, and behind it in its line the result, both between backticks. The last statement counts. */
export function factsGrader(facts: readonly Fact[]): Grader {
  return {
    grade: ({ answer, signal }) => {
      signal.throwIfAborted();
      if (answerCode(answer, 'javascript') !== undefined) return Promise.resolve(wholeGrade(false, 'Words were asked for, and the answer is code.'));
      const lines = answer.split('\n').map((line) => [...line.matchAll(/`([^`]*)`/g)].map(([, quoted]) => quoted));
      const isStated = ({ call, result }: Fact): boolean => {
        const said = lines.findLast((quoted) => quoted.includes(call) && quoted.length > 1);
        return said?.[said.indexOf(call) + 1] === result;
      };
      return Promise.resolve(factsGrade(facts, isStated));
    },
  };
}

function factsGrade(facts: readonly Fact[], isStated: (fact: Fact) => boolean): Grade {
  return testsGrade(facts.map((fact) => ({ id: fact.call, before: 'missing', after: isStated(fact) ? 'passed' : 'failed' })), undefined);
}

const LONGEST_REPLY = 200;

/** A reply to small talk is one short paragraph, below the line in which a simulated worker names itself. */
export function replyGrader(): Grader {
  return {
    grade: ({ answer, signal }) => {
      signal.throwIfAborted();
      const reply = answer.replace(/^> .*\n+/, '').trim();
      const isShort = reply !== '' && reply.length <= LONGEST_REPLY && !reply.includes('\n\n') && !reply.includes('```');
      return Promise.resolve(wholeGrade(isShort, isShort ? 'It is a short reply.' : 'A short reply was wanted.'));
    },
  };
}
