import { readQuestion, type ReadQuestion } from '../question/read-question.ts';

/*
 * What an instruction of any Conductor sends a worker to do. An instruction is read like a question (read-question.ts), in its own language:
 * it, too, asks for words, code or a change. Where that does not tell, nothing is said against a plan.
 */

export interface Errand extends Pick<ReadQuestion, 'kind' | 'wants'> {
  /** How many outputs of others it speaks of, at least. */
  readonly speaksOf: 0 | 1 | 2;
  /** It asks to look or to judge, and for no deliverable of its own. */
  readonly onlyLooks: boolean;
}

const NAMED = /`[^`\n]{1,400}`|"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]/g;

/** The project's pieces are shown to everybody. */
const SHOWN_TO_ALL = /\b(?:code|files?|pieces?|parts?|project|context|sources?|functions?|modules?|logs?|trace|question|error|output)(?: that)? you (?:are|were|have been) (?:shown|given)\b/gi;
const WORK = '(?:plan|outline|diagnosis|analysis|design|notes?|findings|draft|attempts?|proposals?|review|critique|solutions?|versions?|answers?|explanations?|drafts|implementations?|cases you)';
/** Without the answer itself: "begin with the answer". */
const NOTES = '(?:plan|outline|diagnosis|notes?|findings|draft|attempts?|proposals?|critique)';
const OTHERS_WORK = new RegExp([
  '\\byou (?:are|were|have been|will be) (?:shown|given|handed)\\b', '\\bcolleague', '\\bother (?:workers?|models?|agents?)(?:\'s?)?\\b',
  `\\b(?:previous|preceding|earlier|prior|first|second|other) (?:steps?|workers?|outputs?|${WORK})\\b`, '\\bsteps? \\d+(?:\'s)?\\b', '\\bworker \\d+(?:\'s)?\\b',
  `\\b(?:follow|following|apply|carry out|implement|use|using|according to|based on|by|from|with|per|as|against) (?:the|that|this|these|those) (?:[\\w-]+ )?${NOTES}\\b`,
  `\\b(?:check|review|verify|compare|judge|merge|combine|improve|refine) (?:the|that|this|these|those|both|all) (?:[\\w-]+ )?${WORK}\\b`,
].join('|'), 'i');
const SEVERAL = new RegExp(`\\b(?:the|both|all|these|those|each of the) (?:(?:two|three|four|several|independent|different|proposed|candidate) )*(?:attempts|drafts|proposals|solutions|versions|candidates|implementations)\\b`, 'i');
const LOOKS = /^(?:please )?(?:check|review|verify|compare|judge|study|trace|analy[sz]e|investigate|work out|find out|identify|locate|list|outline|plan|think|read)\b/i;

export function readErrand(subtask: string): Errand {
  const said = subtask.replace(NAMED, '`it`');
  const { kind, wants, isSaid, language } = readQuestion(said);
  const own = said.replace(SHOWN_TO_ALL, ' ');
  const speaksOf = language !== 'en' ? 0 : SEVERAL.test(own) && OTHERS_WORK.test(own) ? 2 : OTHERS_WORK.test(own) ? 1 : 0;
  // What an instruction only mentions is not what it asks for.
  return { kind: isSaid ? kind : 'unclear', wants: isSaid ? wants : 'any', speaksOf, onlyLooks: LOOKS.test(said.trim()) };
}
