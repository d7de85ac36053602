import { code, type Family } from './family.ts';

export const leaderboardFamily: Family = {
  kind: 'data',
  name: 'leaderboard',
  path: 'src/leaderboard.js',
  testPath: 'test/leaderboard.test.js',
  summary: 'ranks players by their scores',
  exports: ['rankPlayers', 'topPlayers', 'bestScores'],
  difficulty: 0.2,
  source: code`
/**
 * The players with their ranks, best score first. Equal scores share a rank and are listed by name; the ranks they take up
 * are left out after them: 1, 2, 2, 4.
 */
export function rankPlayers(players) {
  const sorted = [...players].sort((a, b) => b.score - a.score || a.name.localeCompare(b.name));
  let rank = 0;
  return sorted.map((player, index) => {
    if (player.score !== sorted[index - 1]?.score) rank = index + 1;
    return { ...player, rank };
  });
}

/** The players on the first ranks; more than count of them where the last rank is shared. */
export function topPlayers(players, count) {
  return rankPlayers(players).filter((player) => player.rank <= count);
}

/** The best score of each player, in results that name a player once or more. */
export function bestScores(results) {
  const best = new Map();
  for (const { name, score } of results) {
    best.set(name, Math.max(best.get(name) ?? -Infinity, score));
  }
  return [...best].map(([name, score]) => ({ name, score }));
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bestScores, rankPlayers, topPlayers } from '../src/leaderboard.js';

const players = [
  { name: 'Cleo', score: 70 },
  { name: 'Ada', score: 90 },
  { name: 'Dan', score: 80 },
  { name: 'Bob', score: 80 },
];

test('the best score comes first', () => {
  assert.equal(rankPlayers(players)[0].name, 'Ada');
});

test('equal scores share a rank and the next rank is left out', () => {
  assert.deepEqual(rankPlayers(players).map((player) => player.rank), [1, 2, 2, 4]);
});

test('equal scores are listed by name', () => {
  assert.deepEqual(rankPlayers(players).map((player) => player.name), ['Ada', 'Bob', 'Dan', 'Cleo']);
});

test('the list given is not changed', () => {
  const list = [{ name: 'Low', score: 1 }, { name: 'High', score: 2 }];
  rankPlayers(list);
  assert.deepEqual(list.map((player) => player.name), ['Low', 'High']);
});

test('a shared last rank lets more players in', () => {
  assert.deepEqual(topPlayers(players, 2).map((player) => player.name), ['Ada', 'Bob', 'Dan']);
});

test('the best of several scores counts', () => {
  const results = [{ name: 'Ada', score: 3 }, { name: 'Ada', score: 9 }, { name: 'Ada', score: 5 }];
  assert.deepEqual(bestScores(results), [{ name: 'Ada', score: 9 }]);
});

test('scores below zero count, too', () => {
  assert.deepEqual(bestScores([{ name: 'Bob', score: -4 }, { name: 'Bob', score: -7 }]), [{ name: 'Bob', score: -4 }]);
});
`,
  variants: [
    {
      id: 'dense-ranks',
      edits: [{ find: 'rank = index + 1;', replace: 'rank += 1;' }],
      diagnosis: 'the rank after a tie goes up by one instead of leaving out the ranks that the tie takes up',
      symptoms: [
        'rankPlayers numbers the ranks 1, 2, 2, 3; after a tie it should go on with 4.',
        'After two players share rank 2, rankPlayers gives rank 3 to the next one.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'list-sorted-in-place',
      edits: [{ find: '[...players].sort', replace: 'players.sort' }],
      diagnosis: 'the list of the caller is sorted in place instead of a copy',
      symptoms: ['My list of players is in another order after I called rankPlayers.', 'rankPlayers changes its argument.'],
      subtlety: 0.6,
    },
    {
      id: 'names-not-ordered',
      edits: [{ find: ' || a.name.localeCompare(b.name)', replace: '' }],
      diagnosis: 'players with equal scores are not put in order by their names',
      symptoms: [
        'rankPlayers lists Dan before Bob although both have 80 points; ties should be alphabetical.',
        'The order of tied players from rankPlayers depends on the order of the input.',
      ],
      subtlety: 0.35,
    },
    {
      id: 'worst-first',
      edits: [{ find: 'b.score - a.score ||', replace: 'a.score - b.score ||' }],
      diagnosis: 'the scores are sorted ascending, so the worst one comes first',
      symptoms: ['The player with the lowest score is on rank 1 in rankPlayers.', 'rankPlayers sorts the wrong way round.'],
      subtlety: 0.15,
    },
    {
      id: 'tie-cut-off',
      edits: [{ find: '.filter((player) => player.rank <= count)', replace: '.slice(0, count)' }],
      diagnosis: 'the list is cut after a number of players, although the last rank may be shared',
      symptoms: [
        'topPlayers(players, 2) leaves out Dan, who shares the second rank with Bob.',
        'When the last place is shared, topPlayers returns too few players.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'zero-as-worst',
      edits: [{ find: '?? -Infinity', replace: '?? 0' }],
      diagnosis: 'the best score starts from 0, so scores below zero are lost',
      symptoms: ['bestScores gives 0 for a player who only has negative scores.', 'Negative results turn into 0 in bestScores.'],
      subtlety: 0.5,
    },
  ],
};
