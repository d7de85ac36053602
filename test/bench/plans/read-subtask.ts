import type { Wants } from './questions.ts';

/*
 * Reads what an instruction asks for, by its words: what it returns, whether it speaks of faults, and what it refers to. It knows neither
 * the question nor the wording of any planner.
 */

/** `plan` is advice for another worker, not an answer. Undefined where an instruction leaves it to the question. */
export type Product = Wants | undefined;

export interface ReadSubtask {
  readonly product: Product;
  /** Whether it speaks of a fault: of one that it takes for granted, or of any that there may be. */
  readonly fault: 'none' | 'any' | 'granted';
  /** It judges or mends what others wrote. */
  readonly judges: boolean;
  /** The least number of others' outputs that it refers to. */
  readonly refersTo: 0 | 1 | 2;
}

/** Things between quotes or backticks are quoted from the question. */
const QUOTED = /`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![\p{L}\p{N}])/gu;

const NEGATED = new RegExp(
  // "Change no file", "give no code".
  '\\b(?:change|edit|write|return|give|touch|modify|send|produce|show)s? (?:no|nothing|neither)\\b(?: (?!and |but )[\\w/-]+){0,3}|' +
  '\\b(?:do not|don\'t|never|not|no|without|nothing|nobody|rather than|instead of|before)\\b(?: (?:yet|any|to|need|needs?|a|an|the|more|further|other|writing|returning|giving|speak|look|search|ask|touch))*' +
    '(?:[ -][\\w/]+){0,4}',
  'gi',
);

/** Faults that are taken for granted. */
const THE_FAULT = /\b(?:the|this|that|its|their|reported|actual|real) (?:\w+ ){0,2}?(?:faults?|bugs?|defects?|wrong lines?|fix(?:es)?|corrections?|repairs?)\b|\bwrong lines?\b|\bcorrected\b|\bthe corrections?\b/i;
/** Faults that are looked for or mended. */
const ANY_FAULT = /\b(?:faults?|bugs?|defects?|wrong|broken|mistakes?|repair\w*|mend\w*|corrections?|corrected|correct (?:it|the|any|what|whatever)|fix(?:es|ed|ing)?|debug\w*|misbehav\w*|buggy|faulty)\b/i;
/** "Tests that catch mistakes", "see whether it is right": no fault is taken for granted. */
const HARMLESS = /\b(?:catch|detect|reveal|guard against|against|prevent|avoid|would show)\w* (?:[\w-]+ ){0,3}?(?:faults?|bugs?|mistakes?|regressions?)\b|\bfix(?:ed)? (?:size|width|length|number|point|version|set|value|seed|order)s?\b|\bwhat (?:could|can|might|would) (?:go|be) wrong\b|\bgo(?:es)? wrong\b|\bprefix\w*/gi;

const JUDGES = /\b(?:check|review|verify|compare|choose|judge|examine|select|decide|inspect|audit|weigh|go through|look over|critici[sz]e|proofread|merge|combine|test (?:it|the))\b/i;

const MANY = /\b(?:the (?:two|three|four|different|independent)?\s?(?:attempts|versions|drafts|proposals|solutions|candidates|answers|explanations|implementations|analyses)|each (?:attempt|version|draft|answer)|every (?:attempt|version|draft|answer)|(?:both|all) (?:the )?(?:attempts|versions|drafts|answers|proposals|solutions)|which (?:of the (?:attempts|versions|drafts|answers)|attempts?|drafts?))\b/i;

const OTHERS = new RegExp(
  [
    '\\byou (?:are|were|have been) (?:shown|given|handed)\\b', '\\b(?:what|which|as|that) you (?:can )?(?:see|read)\\b', '\\bcolleague', '\\bothers? (?:has|have|wrote|did|found)\\b',
    '\\bothers\' ', '\\b(?:previous|preceding|earlier) (?:step|worker|output|answer|work|attempt|draft)',
    '\\b(?:follow|following|apply|carry out|implement|use|using|according to|by|along|from|on|with|per|execute) (?:the|that|this|its) (?:[\\w-]+ )?(?:plan|outline|diagnosis|design|analysis|findings|notes|review|draft|sketch|attempt|proposal|list of cases)\\b',
    '\\bas (?:was |it was )?(?:planned|outlined|designed|sketched|proposed|diagnosed)\\b', '\\bas (?:the|that) (?:[\\w-]+ )?(?:plan|outline|design|diagnosis|analysis|review|findings)\\b', '\\bwhat was (?:planned|found|written|outlined)\\b',
    '\\bthe (?:attempt|draft|plan|outline|diagnosis|proposed|finished|written|new) (?:[\\w-]+ )?(?:says|that is|which is|above|is right|is correct|against|for)\\b',
    '\\bthe (?:attempt|draft|outline|diagnosis)\\b', '\\b(?:check|review|verify|examine) (?:the|that|this) (?:answer|solution|explanation|change|plan|attempt|draft|patch|result)\\b',
  ].join('|'),
  'i',
);

/** The project's pieces are shown to every worker. */
const PROJECT_SHOWN = /\b(?:code|files?|pieces?|parts?|project|context|sources?|functions?|modules?|logs?|trace|question|error|output) (?:that )?(?:you (?:are|were) (?:shown|given)|you (?:can )?see)\b|\bas you (?:can )?see\b/gi;

const MAKE = '(?:write|rewrite|return|give|produce|implement|hand (?:over|on|back|in)|provide|deliver|output|create|make|add|develop|put|show|reply with|answer with|build|set up|compose|code|draft|finish|complete)';
const EDIT = '(?:edit|modify|rename|refactor|extract|migrate|update|replace|convert|port|move|remove|delete|split|inline|restructure|simplify|speed up|optimi[sz]e|apply|configure|upgrade|document|change|carry out|adapt|extend)';
const CHANGE_OBJECT = '(?:(?:changed|whole|complete|full|corrected|new|affected|test|each|every|all|source|config(?:uration)?) (?:[\\w-]+ )?files?\\b|files?\\b|patch|diff|changes?\\b|edits?\\b|tests?\\b|test cases|docstrings?|documentation|corrections?|doc comments?|comments|readme|changelog|workflow|pipeline|migration|benchmarks?)';
const CODE_OBJECT = '(?:code|functions?|scripts?|commands?|one-liner|quer(?:y|ies)|regular expressions?|regex(?:es)?|patterns?|expressions?|snippets?|configurations?|config|blocks?|modules?|class(?:es)?|components?|programs?|implementations?|macros?|attempts?|solutions?|filter|kernel)';
const WORDS_OBJECT = '(?:explanations?|answers?|words|summary|report|findings|list|reasons?|reply|review|overview|description|steps to|advice|opinion|assessment|verdict|sentences?|paragraphs?|example|recommendations?|message)';
const PLAN_OBJECT = '(?:plan|outline|approach|design|strategy|sketch|diagnosis|cases to)';
/** What was read is handed on, in whatever form it has. */
const HANDS_ON = /\b(?:return|give|hand (?:on|over|back)|deliver|output)\b (?:back )?(?:it|them|both|that one|the (?:(?:best|right|final|better|chosen|correct|finished|good|improved|whole|complete|other|one|\w+ed) )*(?:one|version|result|attempt|it))\b/i;
const WORDS_VERB = /\b(?:explain|describe|answer|say|tell|summari[sz]e|reply|respond|list|state|name|report|recommend|advise|reason|work out|find|trace|study|think|analy[sz]e|identify|locate|investigate|measure|compare|note|greet|thank|judge|weigh|review|check|assess|point out|show how|greeting|look)\b/i;

const between = (verb: string, object: string): RegExp => new RegExp(`\\b${verb}\\b(?:(?!\\b(?:plan|outline)\\b)[^.;:]){0,60}?\\b${object}\\b`, 'i');
const MAKES_CHANGE = between(MAKE, CHANGE_OBJECT);
const MAKES_CODE = between(MAKE, CODE_OBJECT);
const MAKES_WORDS = new RegExp(`\\b${MAKE}\\b (?:(?:it|them|back|only|just|in|a|an|the|your|one|short|brief|final|whole|complete|clear|plain|direct|friendly|finished|better|improved|[\\w-]+ly) )*${WORDS_OBJECT}`, 'i');
const MAKES_PLAN = new RegExp(`\\b(?:${MAKE}|draw up|prepare|sketch|work out|devise|propose) (?:(?:a|an|the|up|short|brief|rough|careful|clear|small|step-by-step|[\\w-]+) ){0,4}?${PLAN_OBJECT}\\b|^(?:plan|outline|design|sketch)\\b|\\b(?:and|then) (?:plan|outline|design|sketch)\\b|\\bfor (?:whoever|the worker|the colleague|those) `, 'i');
const EDITS = new RegExp(`(?:^|[.;:,] |\\b(?:and|then|to) )${EDIT}\\b(?! (?:the|that|this|its) (?:[\\w-]+ )?(?:plan|outline|diagnosis|design|analysis|review))`, 'i');

/** "If it asks for code, return it; if not, say it in words" leaves the form to the question. */
const CONDITIONAL = /\bif (?:it|something|anything|that|this|the question|code|a change|words)\b[^.;]*\b(?:asks?|asked|has to|have to|wants?|wanted|needs?|is to)\b/i;

/** What an instruction returns. Where it asks for several things, the largest of them. */
function productOf(text: string): Product {
  if (CONDITIONAL.test(text)) return undefined;
  const asked = text.replace(NEGATED, ' ');
  const plans = MAKES_PLAN.test(asked);
  if (MAKES_CHANGE.test(asked) || EDITS.test(asked)) return 'change';
  // "Explain it with a short example in code" returns words.
  if (MAKES_CODE.test(asked.replace(/\b(?:with|by|plus) (?:a|an|one) (?:[\w-]+ )*(?:example|snippet)\b[^.;]*/gi, ' ')) && !/\bexample\b/i.test(asked)) return plans && !/\breturn|hand (?:on|over|back)|give\b/i.test(asked) ? 'plan' : 'code';
  if (plans) return 'plan';
  if (HANDS_ON.test(asked) && !MAKES_WORDS.test(asked)) return undefined;
  return MAKES_WORDS.test(asked) || WORDS_VERB.test(asked) ? (isNeutral(asked) ? undefined : 'words') : undefined;
}

/** "Answer the question" and "reply to the user" say nothing about the form of the answer. */
function isNeutral(text: string): boolean {
  return /^(?:please )?(?:answer|reply to|respond to|do|solve) (?:[\w-]+ )*?(?:question|user|request|asked|what is asked|task)\b/i.test(text.trim())
    && !/\b(?:in words|explain|describe|short answer)\b/i.test(text);
}

export function readSubtask(subtask: string): ReadSubtask {
  const spoken = subtask.replace(QUOTED, 'X').replace(/\s+/g, ' ').trim();
  const free = spoken.replace(HARMLESS, ' ');
  const positive = free.replace(NEGATED, ' ');
  const judges = JUDGES.test(positive);
  const references = spoken.replace(PROJECT_SHOWN, ' ');
  const refersTo = MANY.test(references) ? 2 : OTHERS.test(references) ? 1 : 0;
  const fault = THE_FAULT.test(positive) ? 'granted' : ANY_FAULT.test(positive) ? 'any' : 'none';
  return { product: productOf(spoken), fault, judges, refersTo };
}
