import { fault, js, type GymGenerator } from './generator.ts';

const joinSpans: GymGenerator = {
  name: 'join-spans',
  kind: 'intervals',
  split: 'train',
  harder: 0,
  make(draw) {
    const gap = draw.whole('gap', 1, 8);
    const functionName = draw.pick('name', ['joinSpans', 'mergeRanges', 'uniteSpans', 'joinRanges']);
    const at = draw.wholes('at', 1, 3, 20)[0] ?? 3;
    return {
      functionName,
      parameters: 'ranges',
      phrasings: [
        `joins ranges [start, end] that overlap or lie at most ${gap} apart and returns the joined ranges in ascending order ` +
          'of their start.',
        `merges spans [from, to], in any order, wherever the space between two of them is ${gap} or less, and gives back the ` +
          'spans that remain, sorted.',
      ],
      approach: `Sort by start as integers, join where the start is at most ${gap} behind the last end, and keep the larger end.`,
      source: js`
function ${functionName}(ranges) {
  const joined = [];
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined[joined.length - 1];
    if (last && start - last[1] <= ${gap}) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}`,
      faults: [
        fault(`<= ${gap}`, `< ${gap}`, 'Ranges join where the space between them is smaller than the given one.', 0.6),
        fault('Math.max(last[1], end)', 'end', 'A joined range ends where the later one ends.', 0.55),
        fault('.sort((a, b) => a[0] - b[0])', '.sort()', 'Sort the ranges and go through them.', 0.65),
        fault('.sort((a, b) => a[0] - b[0])', '', 'Go through the ranges as they come.', 0.45),
        fault(`start - last[1] <= ${gap}`, `start <= last[1]`, 'Ranges join where they overlap or touch.', 0.4),
      ],
      inputs: [
        [[[at, at + 2], [at + 2 + gap, at + 9 + gap]]], [[[at, at + 30], [at + 1, at + 4], [at + 29, at + 33]]],
        [[[100, 110], [20, 25], [3, 5]]], [[]],
        [[[9, 10], [100 + gap, 120], [40, 41], [11 + gap, 12 + gap]]], [[[at + 50, at + 60], [at, at + 49]]],
      ],
    };
  },
};

const rectangleOverlap: GymGenerator = {
  name: 'rectangle-overlap',
  kind: 'intervals',
  split: 'train',
  harder: -0.02,
  make(draw) {
    const margin = draw.whole('margin', 1, 8);
    const functionName = draw.pick('name', ['sharedArea', 'overlapArea', 'commonArea', 'areaInBoth']);
    const [w = 2, h = 3] = draw.wholes('size', 2, margin + 4, margin + 12);
    return {
      functionName,
      parameters: 'first, second',
      phrasings: [
        'returns the area that two rectangles [left, top, right, bottom] have in common after the first was widened by ' +
          `${margin} on each of its sides.`,
        `computes how much area of the second rectangle [x1, y1, x2, y2] lies within ${margin} (left, right, above and below) ` +
          'of the first one; rectangles that do not overlap give 0.',
      ],
      approach: `Widen the first on all four sides by ${margin}, take width and height of the overlap, each not below 0, and ` +
        'multiply.',
      source: js`
function ${functionName}(first, second) {
  const wide = [first[0] - ${margin}, first[1] - ${margin}, first[2] + ${margin}, first[3] + ${margin}];
  const width = Math.min(wide[2], second[2]) - Math.max(wide[0], second[0]);
  const height = Math.min(wide[3], second[3]) - Math.max(wide[1], second[1]);
  return Math.max(0, width) * Math.max(0, height);
}`,
      faults: [
        fault('Math.max(0, width) * Math.max(0, height)', 'Math.max(0, width * height)',
          'Multiply width and height of the overlap, and take 0 for a negative area.', 0.7),
        fault(`first[2] + ${margin}`, 'first[2]', 'Widen to the left, to the top and to the bottom.', 0.55),
        fault('Math.min(wide[3], second[3])', 'Math.max(wide[3], second[3])',
          'The overlap reaches to the lower one of both bottoms.', 0.5),
        fault(`first[1] - ${margin}`, `first[1] + ${margin}`, 'The top edge moves by the margin in the direction of growth.',
          0.6),
      ],
      inputs: [
        [[0, 0, w, h], [w + 40, h + 40, w + 50, h + 60]], [[0, 0, w, h], [2, -20, w + 30, h + 30]],
        [[5, 5, 5 + w, 5 + h], [0, 0, 40, 40]], [[0, 0, w, h], [w, 0, w + 20, 2]],
        [[0, 0, 4, 4], [30, 0, 40, 4]],
      ],
    };
  },
};

const busiestMoment: GymGenerator = {
  name: 'busiest-moment',
  kind: 'intervals',
  split: 'train',
  harder: 0.02,
  make(draw) {
    const pause = draw.whole('pause', 1, 8);
    const functionName = draw.pick('name', ['busiestMoment', 'roomsNeeded', 'mostAtOnce', 'peakOverlap']);
    const at = draw.wholes('at', 1, 1, 20)[0] ?? 1;
    return {
      functionName,
      parameters: 'bookings',
      phrasings: [
        `returns how many rooms are needed for bookings [start, end] if a room has to rest for ${pause} after each booking; a ` +
          'booking may start just when the rest ends.',
        `gives the largest count of ranges [start, end + ${pause}] that overlap at once; one that starts where another ends ` +
          'does not overlap it.',
      ],
      approach: `Make events +1 at start and -1 at end + ${pause}, sort by time with the ends first, and take the largest ` +
        'running sum.',
      source: js`
function ${functionName}(bookings) {
  const events = bookings.flatMap(([start, end]) => [[start, 1], [end + ${pause}, -1]]);
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let now = 0;
  let most = 0;
  for (const [, change] of events) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}`,
      faults: [
        fault(`end + ${pause}`, 'end', 'A room is free when its booking ends.', 0.4),
        fault('|| a[1] - b[1]', '|| b[1] - a[1]', 'At the same time a start counts before an end.', 0.65),
        fault('most = Math.max(most, now);', 'most = now;', 'The count after the last event is the answer.', 0.4),
        fault('a[0] - b[0] ||', 'b[0] - a[0] ||', 'Go through the events from the last to the first.', 0.55),
        fault('now += change', 'now += Math.max(0, change)', 'Count the starts.', 0.5),
      ],
      inputs: [
        [[[at, at + 5], [at + 5 + pause, at + 9 + pause]]], [[[at, at + 5], [at + 5, at + 9]]],
        [[[at, at + 30], [at + 1, at + 4], [at + 2, at + 6], [at + 40, at + 60]]], [[]],
        [[[1, 2], [30, 31], [60, 61]]],
      ],
    };
  },
};

const freeGaps: GymGenerator = {
  name: 'free-gaps',
  kind: 'intervals',
  split: 'held-out',
  harder: 0,
  make(draw) {
    const least = draw.whole('least', 3, 9);
    const end = draw.whole('end', 60, 99);
    const functionName = draw.pick('name', ['freeGaps', 'openSlots', 'gapsBetween', 'unusedSpans']);
    return {
      functionName,
      parameters: 'ranges',
      phrasings: [
        `lists the gaps [start, end] of at least ${least} that the given ranges leave free between 0 and ${end}; ranges may ` +
          'overlap, come in any order and reach beyond the ends.',
        `returns, in ascending order, the free spans between 0 and ${end} that no range [from, to] covers and that are ` +
          `${least} or longer.`,
      ],
      approach: `Sort by start, remember how far all is covered, note a gap of at least ${least} before each start cut at ` +
        `${end}, and one at the end.`,
      source: js`
function ${functionName}(ranges) {
  const gaps = [];
  let covered = 0;
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0]).concat([[${end}, ${end}]])) {
    const until = Math.min(start, ${end});
    if (until - covered >= ${least}) gaps.push([covered, until]);
    covered = Math.max(covered, end);
  }
  return gaps;
}`,
      faults: [
        fault(`>= ${least}`, `> ${least}`, 'A gap counts where it is longer than the given length.', 0.6),
        fault('Math.max(covered, end)', 'end', 'After a range everything is free from its end on.', 0.6),
        fault(`.concat([[${end}, ${end}]])`, '', 'Gaps lie before the ranges.', 0.5),
        fault(`Math.min(start, ${end})`, 'start', 'A gap reaches to the next start.', 0.65),
        fault('.sort((a, b) => a[0] - b[0])', '.sort()', 'Sort the ranges and go from one to the next.', 0.65),
      ],
      inputs: [
        [[[least, 30], [5, 8], [30 + least, 50]]], [[[9, 12], [20, 21], [100, 120]]], [[]], [[[0, 40], [5, 10], [44, 80]]],
        [[[-10, 5], [50, 200]]], [[[3, 4], [110, 120]]],
      ],
    };
  },
};

const coveredLength: GymGenerator = {
  name: 'covered-length',
  kind: 'intervals',
  split: 'held-out',
  harder: 0.01,
  make(draw) {
    const end = draw.whole('end', 30, 90);
    const functionName = draw.pick('name', ['coveredLength', 'lengthCovered', 'totalCover', 'measureSpans']);
    return {
      functionName,
      parameters: 'ranges',
      phrasings: [
        `measures how much of the stretch from 0 to ${end} the given ranges [start, end] cover together, overlaps counted ` +
          'once; start and end may be given the wrong way round.',
        `returns the total length between 0 and ${end} that lies in at least one of the spans [a, b], where a may be larger ` +
          'than b.',
      ],
      approach: `Order the two ends of each range, cut them to 0 and ${end}, sort by start, and add only what goes beyond what ` +
        'is covered so far.',
      source: js`
function ${functionName}(ranges) {
  const cut = (value) => Math.min(Math.max(value, 0), ${end});
  const spans = ranges.map(([a, b]) => [cut(Math.min(a, b)), cut(Math.max(a, b))]).sort((one, two) => one[0] - two[0]);
  let covered = 0;
  let length = 0;
  for (const [start, end] of spans) {
    length += Math.max(0, end - Math.max(start, covered));
    covered = Math.max(covered, end);
  }
  return length;
}`,
      faults: [
        fault('cut(Math.min(a, b)), cut(Math.max(a, b))', 'cut(a), cut(b)',
          'Cut both ends to the stretch and add up the lengths.', 0.55),
        fault('end - Math.max(start, covered)', 'end - start', 'Add the lengths of all ranges.', 0.4),
        fault(`Math.min(Math.max(value, 0), ${end})`, 'Math.max(value, 0)', 'Cut the ranges where they begin before 0.', 0.55),
        fault('covered = Math.max(covered, end)', 'covered = end', 'What is covered ends where the last range ends.', 0.65),
        fault('one[0] - two[0]', 'two[0] - one[0]', 'Go through the ranges from the last start to the first.', 0.55),
      ],
      inputs: [
        [[[10, 2], [15, 20]]], [[[0, 20], [5, 10], [8, 25]]], [[[-10, 5], [25, 300]]], [[]], [[[1, 28], [3, 6], [20, 26]]],
        [[[-9, -2], [4, 4]]],
      ],
    };
  },
};

export const INTERVAL_GENERATORS: readonly GymGenerator[] = [joinSpans, rectangleOverlap, busiestMoment, freeGaps, coveredLength];
