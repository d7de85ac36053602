/** Answers end with their result, so only this many characters at the end are searched. */
const SEARCHED_CHARACTERS = 100_000;

const MAX_FINAL_CHARACTERS = 2_000;

/**
 * Returns the result that an answer states. The first of these forms counts: the last `<answer>…</answer>`, the last `\boxed{…}`, the last
 * line with "Answer: …" or "the answer is …", the only line. Undefined if there is none, or if it has more than 2,000 characters.
 */
export function finalAnswer(answer: string): string | undefined {
  const text = withoutThinking(answer).slice(-SEARCHED_CHARACTERS);
  const found = lastTagged(text) ?? lastBoxed(text) ?? lastStated(text) ?? onlyLine(text);
  if (found === undefined) return undefined;
  // A boxed result may be inside a tag or after "Answer:".
  const inner = (lastBoxed(found) ?? found).trim();
  return inner === '' || inner.length > MAX_FINAL_CHARACTERS ? undefined : inner;
}

/** The answer without the model's thinking, which ends with `</think>`. */
export function withoutThinking(answer: string): string {
  const end = answer.lastIndexOf('</think>');
  return end < 0 ? answer : answer.slice(end + '</think>'.length);
}

function lastTagged(text: string): string | undefined {
  const end = text.lastIndexOf('</answer>');
  if (end < 0) return undefined;
  const start = text.lastIndexOf('<answer>', end);
  return start < 0 ? undefined : text.slice(start + '<answer>'.length, end);
}

/** The content of the last `\boxed{…}` or `\fbox{…}` whose braces are balanced, or of `\boxed 5`. */
export function lastBoxed(text: string): string | undefined {
  for (let at = text.length; at >= 0;) {
    at = Math.max(text.lastIndexOf('\\boxed', at), text.lastIndexOf('\\fbox', at));
    if (at < 0) return undefined;
    const rest = text.slice(at).replace(/^\\(?:boxed|fbox)\s*/, '');
    if (!rest.startsWith('{')) {
      const bare = /^[^\s{}$\\.,]+/.exec(rest)?.[0];
      if (bare !== undefined) return bare;
    } else {
      const content = balanced(rest);
      if (content !== undefined) return content;
    }
    at -= 1;
  }
  return undefined;
}

/** The text between the opening brace at the start of `text` and its closing brace. */
function balanced(text: string): string | undefined {
  let depth = 0;
  // Longer text is no result. The limit also avoids quadratic time on a text of braces only.
  const end = Math.min(text.length, MAX_FINAL_CHARACTERS * 2);
  for (let index = 0; index < end; index += 1) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return text.slice(1, index);
    }
  }
  return undefined;
}

const STATED = /(?:\banswer\b\W{0,6}?(?:\bis\b\W{0,3}?:?|:)|####)[ \t]*([^\n]+)/i;

function lastStated(text: string): string | undefined {
  for (const line of text.split('\n').toReversed()) {
    if (line.length > MAX_FINAL_CHARACTERS) continue;
    const stated = STATED.exec(line)?.[1];
    if (stated !== undefined && stated.trim() !== '') return withoutMarkup(stated);
  }
  return undefined;
}

function onlyLine(text: string): string | undefined {
  const line = text.trim();
  return line === '' || line.includes('\n') || line.length > MAX_FINAL_CHARACTERS ? undefined : withoutMarkup(line);
}

/** Removes surrounding Markdown emphasis and a final full stop. */
function withoutMarkup(text: string): string {
  return text
    .trim()
    .replace(/^(?:\*\*|__|[`"])+\s*/, '')
    .replace(/\s*(?:\*\*|__|[`"])*\.?\s*(?:\*\*|__|[`"])*$/, '');
}
