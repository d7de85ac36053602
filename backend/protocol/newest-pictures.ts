import { bytesOfPictures, MAX_PICTURES, MAX_PICTURES_BYTES, withoutData, type Picture } from './pictures.ts';

interface Holder {
  readonly pictures?: readonly Picture[] | undefined;
  /** Models are told of it when absent. */
  readonly isTold?: boolean | undefined;
}

/**
 * What holds pictures (exchanges, messages; oldest first), with the data of as many as a question may have, from the newest on; of older ones
 * models are only told. Each keeps all of its pictures or none.
 * @param own those of the question itself, which come before all others
 */
export function withNewestPictures<T extends object>(holders: readonly T[], own: readonly Picture[] = []): T[] {
  let left = MAX_PICTURES - own.length;
  let bytes = MAX_PICTURES_BYTES - bytesOfPictures(own);
  return holders.toReversed().map((holder) => {
    const { pictures = [], isTold = true } = holder as Holder;
    if (pictures.length === 0) return holder;
    left -= isTold ? pictures.length : MAX_PICTURES;
    bytes -= bytesOfPictures(pictures);
    return left >= 0 && bytes >= 0 ? holder : { ...holder, pictures: withoutData(pictures) };
  }).toReversed();
}
