/** Which functions of a project its tests call, as one run has shown. */
export interface Coverage {
  /** What names each test to its runner, by id: see `RunToPrepare.only`. */
  readonly keys: ReadonlyMap<string, string>;
  /** Ids of tests that started other programs. What these call is not known. */
  readonly beyond: ReadonlySet<string>;
  /** By file, relative to the copy. A file that is not there was not loaded, unless another program loaded it. */
  readonly functions: ReadonlyMap<string, readonly CoveredFunction[]>;
}

export interface CoveredFunction {
  /** The lines of its body, from 1. */
  readonly body: number;
  readonly last: number;
  /** Ids of the tests that called it, or a function in it. */
  readonly tests: ReadonlySet<string>;
  /** It was also called while no test ran: when a module was loaded, or to set up several tests. */
  readonly isCalledOutside: boolean;
}
