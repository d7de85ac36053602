/* Why a training is stopped from outside. */

export class Paused extends Error {}
export class Cancelled extends Error {}
/** The training keeps its state: it goes on later. */
export class Interrupted extends Error {}
