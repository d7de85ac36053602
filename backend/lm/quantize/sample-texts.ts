/*
 * What a model reads while its weights are quantised, to see which of its activations are large. Any texts do in which different parts of a
 * model have work: prose, code in a few languages, data, dialogue, another language.
 */
export const SAMPLE_TEXTS: readonly string[] = [
  `A lighthouse is easiest to understand from the sea. By day it is a shape that no tree or church could be mistaken for; by night it is a rhythm. Two flashes, a pause of eight
seconds, two flashes: a sailor who counts them knows which of forty towers on that coast is in front of the ship, and so where the rocks are. The lamp itself is small. What carries its light for
twenty miles is a lens of many rings of glass, which bends what would be lost to the sky and the ground into one flat beam. In 1823 this was new, and the keeper had to wind a clockwork every four
hours to turn it. Today a motor does that, and most towers have no keeper at all.

Q: Why does bread rise more slowly in a cold kitchen?
A: Yeast is alive, and the chemistry of living things slows down as it gets colder. Between 25 and 30 degrees dough may double within an hour; at 5 degrees, in a refrigerator, it takes a night. The
slow way is not worse. Enzymes have more time to turn starch into sugar, so the crust browns better and the taste is richer.

The committee met on Tuesday, 14 March, with nine of its eleven members. Costs for the new bridge rose from 2.4 to 3.1 million; the reasons given were steel (+18%), two wet months, and "an error in
the first estimate which nobody can explain". After a long discussion the motion passed by five votes to four. Mrs. Okafor asked that her objection be recorded: she had warned of it a year ago.

Wer früh aufsteht, sieht den Nebel noch über den Wiesen liegen. Gegen neun Uhr ist er meist verschwunden, und dann beginnt die Arbeit, die niemand gern macht. La plupart des gens arrivent en
train; les autres viennent à pied. El resto del día es tranquilo, y por la noche todo vuelve a empezar. 春天来了，河边的树又绿了。

1. Boil two litres of water with a spoonful of salt. 2. Cut the vegetables, the hard ones smaller than the soft ones. 3. Put in the hard ones first; wait for six minutes. 4. Taste before you add pepper.

Then the old man laughed. "You think it's about money?" he said. "It never was. I kept that field because my mother planted the pear tree, and because from there you can see who is coming." He did
not look at us while he spoke. If a = 3 and b = 4, the longest side of the triangle is 5, since 9 + 16 = 25.`,

  `import { readFile } from 'node:fs/promises';

/** Counts how often each word occurs in a file, ignoring case. */
export async function countWords(path: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const word of (await readFile(path, 'utf8')).toLowerCase().split(/[^a-z0-9]+/)) {
    if (word.length > 0) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

describe('countWords', () => {
  it('throws if there is no such file', async () => {
    await expect(countWords('missing.txt')).rejects.toThrow('ENOENT');
  });
});

def merge(left: list[int], right: list[int]) -> list[int]:
    """Merges two sorted lists."""
    result, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result + left[i:] + right[j:]

# The bug: the last test fails because \`total\` is never reset between two calls.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.URL.Query().Get("id"))
	if err != nil {
		http.Error(w, "id must be a number", http.StatusBadRequest)
		return
	}
	json.NewEncoder(w).Encode(s.items[id])
}

{"name": "parser", "version": "2.0.1", "private": true, "scripts": {"test": "node --test", "lint": "eslint ."}, "steps": [{"worker": 2, "reads": [0, 1], "task": "Check the edge cases: an empty list, one element, duplicates."}]}

SELECT c.name, COUNT(*) AS orders FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.placed_at >= '2024-01-01' GROUP BY c.name HAVING COUNT(*) > 3 ORDER BY orders DESC;

$ git diff --stat
 src/parse.c | 14 ++++++++------
 1 file changed, 8 insertions(+), 6 deletions(-)
error[E0382]: borrow of moved value: \`line\`
<ul class="menu"><li><a href="/about">About us</a></li></ul>
pub fn area(&self) -> f64 { std::f64::consts::PI * self.radius * self.radius }`,
];
