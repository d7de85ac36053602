import type { Exchange } from '../../protocol/earlier.ts';
import { bytesOfPictures, MAX_PICTURES, MAX_PICTURES_BYTES, withoutData, type Picture } from '../../protocol/pictures.ts';

/**
 * The exchanges with the data of as many pictures as a question may have, from the newest on; of older ones models are only told. An exchange
 * keeps all of its pictures or none.
 * @param own those of the question itself, which come before all others
 */
export function withNewestPictures(exchanges: readonly Exchange[], own: readonly Picture[] = []): Exchange[] {
  let left = MAX_PICTURES - own.length;
  let bytes = MAX_PICTURES_BYTES - bytesOfPictures(own);
  return exchanges.toReversed().map((exchange) => {
    const { pictures = [], isTold } = exchange;
    if (pictures.length === 0) return exchange;
    left -= isTold ? pictures.length : MAX_PICTURES;
    bytes -= bytesOfPictures(pictures);
    return left >= 0 && bytes >= 0 ? exchange : { ...exchange, pictures: withoutData(pictures) };
  }).toReversed();
}
