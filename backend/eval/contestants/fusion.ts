/*
 * The three patterns of GitHub Copilot Fusion, as GitHub documents them (https://docs.github.com/en/copilot/concepts/models/copilot-fusion).
 * Which pattern and which models Fusion takes for a task is not documented, so each pattern is a contestant.
 */

/** Where the documentation of the patterns is. */
export const FUSION_SOURCE = 'https://docs.github.com/en/copilot/concepts/models/copilot-fusion';

export const FUSION = {
  single: 'Fusion\'s single',
  cascade: 'Fusion\'s cascade',
  critique: 'Fusion\'s critique',
} as const;
