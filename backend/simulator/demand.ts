import { readRole, type ReadRole } from './roles.ts';

/*
 * What a subtask demands beyond its role. Workers that mind read it: they give words where words are asked for, they say so where they are
 * sent to a fault that nobody reported, and where they are to work on something that they do not see.
 */

export interface Demand extends ReadRole {
  /** Undefined where the subtask leaves it to the question. */
  readonly product: 'words' | 'code' | undefined;
  /** It sends its worker to find a fault. */
  readonly seeksFault: boolean;
  /** The least number of others' outputs that it needs. */
  readonly needs: 0 | 1 | 2;
}

const REFUSED = /\b(?:without|do not|don't|not|no need to|never) (?:yet )?(?:any )?(?:writ\w+|chang\w+|edit\w+|return\w*|giv\w+|cod(?:e|ing)\b)(?: [\w-]+){0,3}|\b(?:change|edit|write|give|return|touch) (?:no [\w-]+|nothing)|\b(?:no|without) (?:code|files?|changes?)\b/gi;

const WORDS = /\b(?:explain|describe|summari[sz]e|tell|reply|greet|thank|respond|report|answer (?:the|this|it|in)\b)|\b(?:write|give|return|compose|hand (?:on|back|over)) (?:[\w-]+ ){0,5}?(?:explanation|answer|reply|report|summary|review|reasons?|words|sentences?)\b|\bin (?:plain |short |clear |a few )*(?:words|sentences)\b|\bexplanation\b|\bis said of the code\b|\bwhich answer\b/i;

const CODE = /\b(?:write|rewrite|return|give|produce|implement|hand (?:on|back|over)|code|provide|complete|create|make|add|apply|deliver)\b[^.;:]*?\b(?:functions?|code|files?|scripts?|tests?|(?:fenced )?block|implementation|correction|fix|patch|change|module|version|expression|pattern|class|query)\b|\b(?:rename|refactor|extract|simplify|migrate|convert|implement|optimi[sz]e|speed up)\b/i;

const FAULT = /\b(?:find|locate|name|identify|diagnose|pin down|work out|trace|analy[sz]e|search for|look for|investigate|think about|describe)\b[^.;]*\b(?:faults?|bugs?|defects?|wrong lines?|wrong|mistakes?|misbehav\w+|broken)\b|\bdiagnose\b/i;

const SEVERAL = /\b(?:the|these|those|all|both|independent|two|three|four)(?: (?:the|two|three|four|independent|different))* (?:attempts|versions|drafts|proposals|answers)\b|\b(?:each|every) (?:attempt|version|draft|proposal)\b|\bwhich (?:of the )?(?:attempts?|versions?|answer is)\b/i;

const OTHERS = /\byou (?:are|were) (?:shown|given)\b|\bcolleagues?\b|\b(?:follow|following|apply|carry out|implement|as|from|along|by|per) (?:the|that|this|what was) ?(?:[\w-]+ )?(?:plan|outline|notes?|diagnosis|design|analysis|list|planned|draft)\b|\bas (?:planned|outlined|the plan says)\b|\bthe attempt\b|\bwhat was planned\b|\bis said of\b|\b(?:check|review|verify|examine|test|go through|look over|inspect) (?:it\b|the (?:[\w-]+ )?(?:code|file|function|answer|explanation|reply|tests?|draft|solution|change|correction|fix|result|version|patch)\b)/i;

/** Every worker is shown the question's own code. */
const SHOWN_TO_ALL = /\bthe (?:question|code|function|project|context|pieces)(?: that)? you (?:are|were) (?:shown|given)\b/gi;

/** "If it asks for code, return the code; if it asks a question, answer in words": the question decides. */
const CONDITIONAL = /\bif (?:it|something|that|the question|code|a change|words)\b[^.;]*\b(?:asks?|asked|has to|wants?|wanted|needs?)\b/i;

/** The whole of whatever it is. */
const WHOLE_ANSWER = /\bthe whole answer\b/gi;

export function readDemand(subtask: string): Demand {
  const asked = subtask.replace(REFUSED, ' ').replace(WHOLE_ANSWER, 'it');
  const own = asked.replace(SHOWN_TO_ALL, ' ');
  const wantsCode = CODE.test(asked.replace(/\b(?:with|from|by|against|about|in|fits?) (?:the|its) (?:code|lines?|function|file)\b/gi, ' '));
  const wantsWords = WORDS.test(asked);
  return {
    ...readRole(subtask),
    product: CONDITIONAL.test(asked) ? undefined : wantsWords && (!wantsCode || asked.length < subtask.length) ? 'words' : wantsCode ? 'code' : undefined,
    seeksFault: FAULT.test(asked),
    needs: SEVERAL.test(own) ? 2 : OTHERS.test(own) ? 1 : 0,
  };
}
