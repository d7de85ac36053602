import { fault, js, WORDS, type GymGenerator } from './generator.ts';

const groupTotals: GymGenerator = {
  name: 'group-totals',
  kind: 'data',
  split: 'train',
  harder: 0,
  make(draw) {
    const least = draw.whole('least', 5, 40);
    const functionName = draw.pick('name', ['totalsByName', 'groupTotals', 'sumByName', 'balances']);
    const [a = 'a', b = 'b', c = 'c'] = draw.some('names', 3, WORDS).sort();
    return {
      functionName,
      parameters: 'records',
      phrasings: [
        'adds up the amount of records {name, amount} by name and returns [name, total] rows with a total of at least ' +
          `${least}, the largest total first and equal totals in order of name.`,
        `groups a list of records by their name field and gives rows [name, sum of amounts]: sums below ${least} are left out, ` +
          'the rows are sorted by descending sum, then by name.',
      ],
      approach: `Sum the amounts in a map, drop totals below ${least}, and sort by total descending, then by name ascending.`,
      source: js`
function ${functionName}(records) {
  const totals = new Map();
  for (const { name, amount } of records) totals.set(name, (totals.get(name) ?? 0) + amount);
  return [...totals]
    .filter(([, total]) => total >= ${least})
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}`,
      faults: [
        fault(`total >= ${least}`, `total > ${least}`, 'A total has to be larger than the least one.', 0.6),
        fault('b[1] - a[1]', 'a[1] - b[1]', 'The rows go from the smallest total to the largest.', 0.4),
        fault('a[0] < b[0] ? -1 : 1', '0', 'Equal totals stay in the order in which they were found.', 0.65),
        fault('(totals.get(name) ?? 0) + amount', 'amount', 'Set the amount of each name in a map.', 0.5),
        fault('(totals.get(name) ?? 0) + amount', 'Math.max(totals.get(name) ?? 0, amount)',
          'Keep the largest amount of each name.', 0.55),
      ],
      inputs: [
        [[{ name: c, amount: least }, { name: a, amount: least }, { name: b, amount: least - 1 }]],
        [[{ name: b, amount: least }, { name: b, amount: 3 }, { name: a, amount: least + 1 }]],
        [[]], [[{ name: a, amount: least + 5 }, { name: b, amount: least + 9 }, { name: a, amount: -7 }, { name: c, amount: 4 }]],
      ],
    };
  },
};

const joinRecords: GymGenerator = {
  name: 'join-records',
  kind: 'data',
  split: 'train',
  harder: 0.01,
  make(draw) {
    const usual = draw.whole('usual', 1, 20);
    const functionName = draw.pick('name', ['joinRecords', 'attachPrices', 'matchRows', 'withPrices']);
    const [a = 'a', b = 'b', c = 'c'] = draw.some('names', 3, WORDS);
    return {
      functionName,
      parameters: 'orders, prices',
      phrasings: [
        'joins rows {item, count} with price records {item, price} and returns {item, cost} rows in the order of the orders, ' +
          `cost being count times price; of several prices the last holds, and an item without one costs ${usual} apiece.`,
        `looks up each order's item field in a price list and gives a list of {item, cost}; where the list has no record for ` +
          `it the price is ${usual}, where it has several the last one counts.`,
      ],
      approach: `Put the prices into a map so that later ones win, then map the orders with ${usual} where the map has ` +
        'nothing, and 0 is a price.',
      source: js`
function ${functionName}(orders, prices) {
  const priceOf = new Map(prices.map(({ item, price }) => [item, price]));
  return orders.map(({ item, count }) => ({ item, cost: count * (priceOf.get(item) ?? ${usual}) }));
}`,
      faults: [
        fault(`?? ${usual}`, `|| ${usual}`, 'An item that has no price or a price of nothing takes the usual one.', 0.7),
        fault(`?? ${usual}`, `?? 0`, 'What is not in the list costs nothing.', 0.45),
        fault('prices.map(', '[...prices].reverse().map(', 'Of several prices the first one holds.', 0.6),
        fault('count * (', 'count + (', 'Add the price to the count.', 0.3),
        fault('orders.map(', 'orders.filter(({ item }) => priceOf.has(item)).map(',
          'Leave out orders whose item is not in the list.', 0.5),
      ],
      inputs: [
        [[{ item: a, count: 2 }, { item: b, count: 3 }], [{ item: a, price: 7 }, { item: a, price: 9 }]],
        [[{ item: c, count: 4 }], [{ item: c, price: 0 }]], [[], []],
        [[{ item: b, count: 5 }, { item: a, count: 1 }, { item: b, count: 2 }],
        [{ item: b, price: usual + 2 }, { item: a, price: 3 }]],
      ],
    };
  },
};

const rankScores: GymGenerator = {
  name: 'rank-scores',
  kind: 'data',
  split: 'train',
  harder: 0.02,
  make(draw) {
    const places = draw.whole('places', 2, 8);
    const functionName = draw.pick('name', ['rankPlayers', 'rankRows', 'standings', 'ranking']);
    const names = draw.some('names', places + 3, WORDS).sort();
    const rows = (scores: readonly number[]): unknown[] => scores.map((score,
      index) => ({ name: names[names.length - 1 - index], score }));
    const falling = names.map((_, index) => 100 - index * 5);
    return {
      functionName,
      parameters: 'rows',
      phrasings: [
        `ranks rows {name, score}, best score first, and returns {rank, name} records up to rank ${places}; equal scores share ` +
          'a rank, the next rank is left out accordingly, and names order those who share one.',
        'turns a table of name and score into standings, records {rank, name}, with ranks 1, 2, 2, 4, … for ties, tied rows ' +
          `sorted by name and nobody beyond rank ${places}.`,
      ],
      approach: `A rank is one more than how many scored better; keep ranks up to ${places} and sort by rank, then by name.`,
      source: js`
function ${functionName}(rows) {
  return rows
    .map(({ name, score }) => ({ rank: 1 + rows.filter((other) => other.score > score).length, name }))
    .filter(({ rank }) => rank <= ${places})
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
}`,
      faults: [
        fault('other.score > score', 'other.score >= score', 'Those with the same score count, too, when a rank is made.', 0.55),
        fault(`rank <= ${places}`, `rank < ${places}`, 'Ranks below the last one are kept.', 0.5),
        fault('|| (a.name < b.name ? -1 : 1)', '', 'Rows that share a rank stay in their order.', 0.65),
        fault('rows.filter((other) => other.score > score).length',
          'new Set(rows.map((other) => other.score).filter((s) => s > score)).size',
          'The next rank after a tie is the next integer.', 0.65),
        fault('other.score > score', 'other.score < score', 'The lowest score comes first.', 0.4),
      ],
      inputs: [[rows([50, 50, 40])], [rows(falling)], [rows([10, 30, 30, 20, 20])], [[]], [rows([7, 7])],
        [rows([90, 80, 80, 70].slice(0, places + 3))]],
    };
  },
};

const pivotRows: GymGenerator = {
  name: 'pivot-rows',
  kind: 'data',
  split: 'held-out',
  harder: 0.02,
  make(draw) {
    const empty = draw.whole('empty', 3, 30);
    const functionName = draw.pick('name', ['pivotRows', 'toTable', 'crossTable', 'spreadRows']);
    const [a = 'a', b = 'b', c = 'c', d = 'd'] = draw.some('names', 4, WORDS).sort();
    return {
      functionName,
      parameters: 'records',
      phrasings: [
        'turns records {row, column, value} into a table: an array of rows in order of row name, each an array of cells in ' +
          `order of column name; values of one cell are added up, and a cell without a record is ${empty}.`,
        'spreads a list of records {row, column, value} over a grid of rows and columns, both sorted by name, summing the ' +
          `values of the same fields; cells that no record fills hold ${empty}.`,
      ],
      approach: `Collect and sort the row and column names, sum the values by cell, and fill in ${empty} only where no record ` +
        'was.',
      source: js`
function ${functionName}(records) {
  const names = (field) => [...new Set(records.map((record) => record[field]))].sort();
  return names('row').map((row) => names('column').map((column) => {
    const found = records.filter((record) => record.row === row && record.column === column);
    return found.length > 0 ? found.reduce((sum, { value }) => sum + value, 0) : ${empty};
  }));
}`,
      faults: [
        fault('.sort()', '', 'Rows and columns come in the order in which they are found.', 0.55),
        fault('sum + value, 0', 'value, 0', 'The last value of a cell holds.', 0.55),
        fault(`found.length > 0 ? found.reduce((sum, { value }) => sum + value, 0) : ${empty}`,
          `found.reduce((sum, { value }) => sum + value, 0) || ${empty}`, 'A cell that comes to nothing is empty.', 0.7),
        fault('sum + value, 0', `sum + value, ${empty}`, 'Every cell starts from the value of an empty one.', 0.6),
        fault(`names('row').map((row) => names('column').map((column)`, `names('column').map((column) => names('row').map((row)`,
          'The outer list holds the columns.', 0.45),
      ],
      inputs: [
        [[{ row: b, column: d, value: 2 }, { row: a, column: c, value: 5 }, { row: b, column: d, value: 4 }]],
        [[{ row: a, column: c, value: 4 }, { row: a, column: c, value: -4 }]], [[]],
        [[{ row: c, column: b, value: 1 }, { row: c, column: a, value: 2 }, { row: d, column: b, value: 3 }]],
      ],
    };
  },
};

const bestPerGroup: GymGenerator = {
  name: 'best-per-group',
  kind: 'data',
  split: 'held-out',
  harder: 0,
  make(draw) {
    const each = draw.whole('each', 3, 12);
    const functionName = draw.pick('name', ['bestPerGroup', 'topOfEach', 'leadersByTeam', 'topPerTeam']);
    const [a = 'a', b = 'b'] = draw.some('teams', 2, WORDS).sort();
    const players = draw.some('players', each + 2, WORDS).sort().reverse();
    const team = (name: string, score: (index: number) => number): unknown[] =>
      players.map((player, index) => ({ team: name, player, score: score(index) }));
    return {
      functionName,
      parameters: 'records',
      phrasings: [
        `returns for each team, teams in order of name, a row [team, players] with its ${each} best players by score from ` +
          'records {team, player, score}; equal scores are ordered by player name.',
        `groups records {team, player, score} by team and keeps the names of the ${each} highest scores of each group, ties by ` +
          'name, as sorted rows [team, names].',
      ],
      approach: `Group by team, sort each group by score descending and player name, cut to ${each}, and sort the rows by team.`,
      source: js`
function ${functionName}(records) {
  const teams = [...new Set(records.map(({ team }) => team))].sort();
  return teams.map((team) => [
    team,
    records
      .filter((record) => record.team === team)
      .sort((x, y) => y.score - x.score || (x.player < y.player ? -1 : 1))
      .slice(0, ${each})
      .map(({ player }) => player),
  ]);
}`,
      faults: [
        fault('team))].sort()', 'team))]', 'Teams come in the order in which they are found.', 0.55),
        fault('y.score - x.score', 'x.score - y.score', 'Sort each group by its scores from the lowest on.', 0.45),
        fault('|| (x.player < y.player ? -1 : 1)', '', 'Equal scores stay as they came.', 0.65),
        fault(`.slice(0, ${each})`, `.slice(0, ${each + 1})`, 'Cut each group behind the place with that number.', 0.5),
        fault(`.slice(0, ${each})`, '.slice(0, 1)', 'Each team has one best player.', 0.4),
      ],
      inputs: [
        [[...team(b, (index) => index * 10), ...team(a, (index) => 50 - index)]], [team(a, () => 5)], [[]],
        [[...team(a, (index) => (index % 2) * 7)]],
        [[{ team: b, player: 'x', score: 1 }, { team: a, player: 'y', score: 2 }]],
      ],
    };
  },
};

export const DATA_GENERATORS: readonly GymGenerator[] = [groupTotals, joinRecords, rankScores, pivotRows, bestPerGroup];
