/** The allowed difference of numbers: relative to the expected number if that is larger than 1, else absolute. */
export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
}
