import { planGrammar, type PlanGrammarOptions } from '../../backend/conductor/plan-grammar.ts';
import type { ByteAutomaton } from '../../backend/lm/automaton/byte-automaton.ts';
import { compilePattern } from '../../backend/lm/automaton/compile-pattern.ts';

const compiled = new Map<string, ByteAutomaton>();
/** The grammar of plans for three workers in the first round, unless `options` say otherwise; each is compiled once. */
export function grammar(options: Partial<PlanGrammarOptions> = {}): ByteAutomaton {
  const whole = { workers: 3, revision: false, ...options };
  const key = JSON.stringify(whole);
  const automaton = compiled.get(key) ?? compilePattern(planGrammar(whole));
  compiled.set(key, automaton);
  return automaton;
}
