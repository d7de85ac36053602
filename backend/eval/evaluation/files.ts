/** What an evaluation writes into its folder: names of files, and of folders with forms of other tools. */
export const FILES = {
  /** The request and how far it got. While it is there, the evaluation is listed. */
  kept: 'evaluation.json',
  /** The paid answers. */
  answers: 'evaluation.sqlite',
  results: 'results.json',
  page: 'results.html',
  plot: 'plot.svg',
  samples: 'samples.jsonl',
  questions: 'tasks.jsonl',
  inspect: 'inspect',
  evalPlus: 'evalplus',
  sweBench: 'swe-bench',
} as const;
