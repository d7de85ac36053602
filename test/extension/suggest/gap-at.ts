import type { Gap } from '../../../extension/suggest/gap.ts';

/** The gap at the bar in a text. */
export function gapAt(text: string, multiline = false): Gap {
  const [before = '', after = ''] = text.split('|');
  return { document: 'file:///a.ts', before, after, multiline };
}
