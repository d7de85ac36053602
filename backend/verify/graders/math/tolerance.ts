/** How far numbers may be apart: relative to the expected one where that is larger than 1, else absolute. */
export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
}
