/* The ways to answer that an evaluation compares. Apart from schemas, because pages use it. */

/** What people call the contestants, with a sentence on each. `conductor:ID` is one more. */
export const CONTESTANTS = {
  'alone': 'each worker by itself',
  'random': 'random valid plans',
  'reflection': 'the best worker, five turns of self-reflection',
  'majority': 'the best worker, a vote of five answers',
  'mixture': 'a mixture of agents: all workers answer, the best one aggregates',
  'context': 'the best worker with five times the output limit',
  'router': 'a nearest-neighbour router; it learns from the tasks of --practice',
  'trained-router': 'a router trained by contrasting who was right and who was not; it learns from the tasks of --practice',
  'fusion-single': 'GitHub Copilot Fusion\'s pattern of one model',
  'fusion-cascade': 'Fusion\'s cascade: the cheapest worker drafts, the best one judges and, if need be, answers',
  'fusion-critique': 'Fusion\'s critique: the best worker drafts, up to three others review, it revises',
} as const;

export type ContestantName = keyof typeof CONTESTANTS;

/** What is compared unless somebody says otherwise. */
export const USUAL_CONTESTANTS: readonly ContestantName[] = ['alone', 'random', 'reflection', 'majority', 'mixture'];

/** Tasks that are made: of a workspace, or of the gym. All others are files. */
export const PROJECT_TASKS = 'project';
export const GYM_TASKS = 'gym';
