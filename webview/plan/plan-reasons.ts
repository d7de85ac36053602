/** Matches the start of a plan's lists as the backend parses them: a name, an equals sign or a colon, a bracket. */
const FIRST_LIST = /(?:model[_ -]?ids?|sub[_ -]?tasks?|access(?:[_ -]?lists?)?)["'`*\s]{0,8}[:=][`*\s]{0,16}(?:python|json)?\s{0,8}\[/i;
/** A fence or a brace directly before them. */
const OPENING = /(?:```\w*|[{["'`*])\s*$/;
/** The plan's short form at the end of conductor-mini's reasons, such as `Steps: write1, check3.` */
const SHORT_FORM = /\s*\bSteps: (?:[a-z]+\d+(?:, )?)+\.?\s*$/;

/** The Conductor's reasons before the plan; empty if it gave none. */
export function reasonsOf(text: string): string {
  const lists = text.search(FIRST_LIST);
  const reasons = lists < 0 ? text : text.slice(0, lists).replace(OPENING, '').trimEnd().replace(OPENING, '');
  return reasons.replace(/<\/?think>/gi, '').replace(SHORT_FORM, '').trim();
}
