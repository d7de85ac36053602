import { code, type Family } from './family.ts';

export const editDistanceFamily: Family = {
  kind: 'strings',
  name: 'edit-distance',
  path: 'src/edit-distance.js',
  testPath: 'test/edit-distance.test.js',
  summary: 'how far two words are apart, and the closest of several',
  exports: ['editDistance', 'closestWord'],
  difficulty: 0.55,
  source: code`
/** The least number of inserted, deleted and replaced characters that turns one word into the other (Levenshtein distance). */
export function editDistance(from, to) {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const deleted = previous[column] + 1;
      const inserted = current[column - 1] + 1;
      const replaced = previous[column - 1] + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(deleted, inserted, replaced));
    }
    previous = current;
  }
  return previous[to.length];
}

/** The candidate closest to the word, upper and lower case alike; the first of equals; null where none is within maxDistance. */
export function closestWord(word, candidates, maxDistance = 2) {
  let closest = null;
  let closestDistance = maxDistance + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < closestDistance) {
      closest = candidate;
      closestDistance = distance;
    }
  }
  return closest;
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closestWord, editDistance } from '../src/edit-distance.js';

test('equal words have distance 0', () => {
  assert.equal(editDistance('same', 'same'), 0);
});

test('insertions, deletions and replacements count one each', () => {
  assert.equal(editDistance('car', 'cart'), 1);
  assert.equal(editDistance('cart', 'car'), 1);
  assert.equal(editDistance('cat', 'cut'), 1);
  assert.equal(editDistance('kitten', 'sitting'), 3);
});

test('the distance to an empty word is the length', () => {
  assert.equal(editDistance('', 'four'), 4);
  assert.equal(editDistance('four', ''), 4);
});

test('the distance is the same in both directions', () => {
  assert.equal(editDistance('flaw', 'lawn'), 2);
  assert.equal(editDistance('lawn', 'flaw'), 2);
});

test('the closest word is found in any case', () => {
  assert.equal(closestWord('Comit', ['commit', 'COMMA', 'push']), 'commit');
  assert.equal(closestWord('PUHS', ['publish', 'push']), 'push');
});

test('the first of equally close words is taken', () => {
  assert.equal(closestWord('bat', ['cat', 'hat', 'rat']), 'cat');
});

test('a word at exactly the greatest distance is still close enough', () => {
  assert.equal(closestWord('stats', ['status', 'stash'], 1), 'status');
  assert.equal(closestWord('abcd', ['wxyz'], 2), null);
});
`,
  variants: [
    {
      id: 'first-column-zero',
      edits: [{ find: 'const current = [row];', replace: 'const current = [0];' }],
      diagnosis:
        'every row of the table starts with 0 instead of the row number, so characters deleted at the start cost nothing',
      symptoms: [
        'editDistance("four", "") returns 0, it should be 4.',
        'editDistance gives different results when I swap its two arguments.',
      ],
      subtlety: 0.6,
    },
    {
      id: 'no-deletion',
      edits: [{ find: 'Math.min(deleted, inserted, replaced)', replace: 'Math.min(inserted, replaced)' }],
      diagnosis: 'the cost of a deletion is computed but left out of the minimum',
      symptoms: [
        'editDistance("cart", "car") should be 1 and is much larger.',
        'editDistance is far too high whenever the second word is shorter than the first.',
      ],
      subtlety: 0.4,
    },
    {
      id: 'last-of-equals',
      edits: [{ find: 'distance < closestDistance', replace: 'distance <= closestDistance' }],
      diagnosis: 'a candidate that is only equally close replaces the one found before it',
      symptoms: [
        'closestWord("bat", ["cat", "hat", "rat"]) returns "rat", I expected the first one.',
        'When two suggestions are equally good, closestWord does not keep the first.',
      ],
      subtlety: 0.6,
    },
    {
      id: 'limit-excluded',
      edits: [{ find: 'let closestDistance = maxDistance + 1;', replace: 'let closestDistance = maxDistance;' }],
      diagnosis: 'the search starts at maxDistance itself, so a candidate at exactly that distance is rejected',
      symptoms: [
        'closestWord("stats", ["status"], 1) returns null although only one letter is missing.',
        'closestWord ignores words that are exactly as far away as I allow.',
      ],
      subtlety: 0.65,
    },
    {
      id: 'case-sensitive',
      edits: [
        {
          find: 'editDistance(word.toLowerCase(), candidate.toLowerCase())',
          replace: 'editDistance(word, candidate)',
        },
      ],
      diagnosis: 'the words are compared without making upper and lower case alike',
      symptoms: [
        'closestWord("PUHS", ["publish", "push"]) finds nothing; with lower case it works.',
        'closestWord treats capital letters as different letters.',
      ],
      subtlety: 0.3,
    },
  ],
};
