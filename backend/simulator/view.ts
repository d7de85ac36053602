import type { SimulatedMessage } from './simulated-model.ts';

export interface SeenStep {
  /** The worker's ordinal, from the tag. */
  readonly worker: string | undefined;
  readonly subtask: string;
  readonly output: string;
}

/** What a worker sees, parsed from its messages. Missing parts are empty. */
export interface View {
  readonly question: string;
  readonly context: string;
  readonly steps: readonly SeenStep[];
  readonly previousSteps: readonly SeenStep[];
  readonly feedback: string;
  readonly subtask: string;
}

const SUBTASK_LABEL = /^[ \t]*Your (?:assigned )?subtask:/gim;

/** Parses the executor's messages. A message without tags is a plain question. */
export function readView(messages: readonly SimulatedMessage[]): View {
  const text = messages
    .filter(({ role }) => role !== 'system')
    .map(({ content }) => content)
    .join('\n\n');
  const label = [...text.matchAll(SUBTASK_LABEL)].at(-1);
  const everything = label ? text.slice(0, label.index) : text;
  // The conversation before has questions of its own.
  const earlier = sectionsOf(everything, 'earlier')[0]?.body;
  const material = earlier ? everything.replace(earlier, '') : everything;
  const previousRound = sectionsOf(material, 'previous_round').at(-1)?.body ?? '';
  const thisRound = previousRound ? material.replace(previousRound, '') : material;
  const question = sectionsOf(thisRound, 'question')[0]?.body;
  return {
    question: question ?? (label ? '' : text),
    context: sectionsOf(thisRound, 'context')[0]?.body ?? '',
    steps: stepsIn(thisRound),
    previousSteps: stepsIn(previousRound),
    feedback: sectionsOf(thisRound, 'feedback').at(-1)?.body ?? '',
    subtask: label ? text.slice(label.index + label[0].length).trim() : '',
  };
}

interface Section {
  readonly attributes: string;
  readonly body: string;
}

/** Sections between tags of this name. A tag may have a number, so that its text can contain the plain closing tag. */
function sectionsOf(text: string, name: string): Section[] {
  const sections: Section[] = [];
  const opening = new RegExp(`<(${name}(?:-\\d+)?)((?:\\s[^<>]*)?)>`, 'g');
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const end = text.indexOf(`</${match[1]}>`, opening.lastIndex);
    if (end < 0) continue;
    sections.push({ attributes: match[2] ?? '', body: text.slice(opening.lastIndex, end).trim() });
    opening.lastIndex = end;
  }
  return sections;
}

function stepsIn(text: string): SeenStep[] {
  return sectionsOf(text, 'step').map(({ attributes, body }) => ({
    worker: /worker="?(\d+)/.exec(attributes)?.[1],
    subtask: sectionsOf(body, 'subtask')[0]?.body ?? '',
    output: sectionsOf(body, 'output')[0]?.body ?? body,
  }));
}
