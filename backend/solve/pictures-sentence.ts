import { counted } from '../common/counted.ts';
import { pictureWords, type Picture } from '../protocol/pictures.ts';

/** What a model is told of the pictures that came with a question; undefined if none did. @param isShown whether the model takes pictures */
export function picturesSentence(pictures: readonly Picture[], isShown: boolean): string | undefined {
  const [first] = pictures;
  if (!first) return undefined;
  const came = `The question came with ${pictures.length === 1 ? 'one picture' : counted(pictures.length, 'picture')} (${pictures.map(pictureWords).join('; ')})`;
  if (!isShown) return `${came}, which you cannot see.`;
  return first.data === '' ? `${came}, which you are not shown any more.` : `${came}.`;
}
