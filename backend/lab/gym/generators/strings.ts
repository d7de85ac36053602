import { fault, js, WORDS, type GymGenerator } from './generator.ts';

const rotateWords: GymGenerator = {
  name: 'rotate-words',
  kind: 'strings',
  split: 'train',
  harder: 0,
  make(draw) {
    const places = draw.whole('places', 2, 10);
    const functionName = draw.pick('name', ['rotateWords', 'turnWords', 'shiftWords', 'cycleWords']);
    const words = (count: number): string => draw.some(`words:${count}`, count, WORDS).join(' ');
    return {
      functionName,
      parameters: 'text',
      phrasings: [
        `returns the text with its words rotated to the left by ${places} places; words are separated by single spaces.`,
        `moves the first word of a text to its end, ${places} times over, and returns the new text (single spaces between ` +
          'words).',
        `takes the first ${places} words of a sentence off its front and puts them at its back, going round if the text is ` +
          'shorter.',
      ],
      approach: `Split the text at spaces, take ${places} modulo the count of words, and join the two parts the other way ` +
        'round with spaces.',
      source: js`
function ${functionName}(text) {
  const words = text.split(' ');
  const places = ${places} % words.length;
  return [...words.slice(places), ...words.slice(0, places)].join(' ');
}`,
      faults: [
        fault(` % words.length`, '', 'Cut the words at the given place; a text is always longer than that.', 0.6),
        fault(`${places} % words`, `${places + 1} % words`, 'Count places from one, so that the cut comes one word later.', 0.45),
        fault(`const places = ${places} % words.length`, `const places = words.length - (${places} % words.length)`,
          'Take the words from the end of the text and put them in front.', 0.4),
        fault(`.join(' ')`, `.join('')`, 'Join the words again without anything between them.', 0.2),
        fault(`.join(' ')`, '', 'Hand back the list of words in the new order.', 0.3),
      ],
      inputs: [[words(places + 1)], [words(places - 1)], [words(places + 4)], [words(1)], [words(2 * places - 1)]],
    };
  },
};

const mirrorText: GymGenerator = {
  name: 'mirror-text',
  kind: 'strings',
  split: 'train',
  harder: 0.02,
  make(draw) {
    const least = draw.whole('least', 2, 8);
    const functionName = draw.pick('name', ['isMirror', 'readsBothWays', 'isPalindrome', 'sameBackwards']);
    const half = draw.some('half', least, [...'abcdefghijklm']).join('');
    const mirror = `${half}n${[...half].reverse().join('')}`;
    return {
      functionName,
      parameters: 'text',
      phrasings: [
        'tells whether a text reads the same backwards, looking only at letters and digits and not at upper or lower case; a ' +
          `text with fewer than ${least} such characters does not count.`,
        `returns true if the letters and digits of a sentence form a palindrome (case ignored) of at least ${least} ` +
          'characters, else false.',
      ],
      approach: 'Lower-case the text, drop all but letters and digits, require the least length, and compare with the reverse.',
      source: js`
function ${functionName}(text) {
  const plain = text.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (plain.length < ${least}) return false;
  return plain === [...plain].reverse().join('');
}`,
      faults: [
        fault('.toLowerCase()', '', 'Compare the characters as they are written, upper case apart from lower case.', 0.5),
        fault('/[^a-z0-9]/g', '/[^a-z]/g', 'Keep nothing but letters before comparing.', 0.6),
        fault('/[^a-z0-9]/g', '/ /g', 'Drop the spaces and compare the rest, commas included.', 0.45),
        fault(`< ${least}`, `<= ${least}`, 'Refuse a text that has just the least length, too.', 0.6),
        fault('/[^a-z0-9]/g', '/[^a-z0-9]/', 'Drop the first character that is no letter or digit.', 0.65),
      ],
      inputs: [
        [`${mirror.slice(0, 1).toUpperCase()}${mirror.slice(1)}`], [`${half}1 ${[...half].reverse().join('')}`],
        [`${mirror.slice(0, 2)}, ${mirror.slice(2)}!`],
        [half.slice(0, 1).repeat(least)], [half.slice(0, 1).repeat(least - 1)], [mirror],
        [`${half}1n2${[...half].reverse().join('')}`],
      ],
    };
  },
};

const longestRun: GymGenerator = {
  name: 'longest-run',
  kind: 'strings',
  split: 'train',
  harder: 0.04,
  make(draw) {
    const most = draw.whole('most', 4, 9);
    const functionName = draw.pick('name', ['longestRun', 'bestStreak', 'repeatedMost', 'longestRepeat']);
    const [a = 'a', b = 'b', c = 'c'] = draw.some('letters', 3, [...'abcdefghijklm']);
    return {
      functionName,
      parameters: 'text',
      phrasings: [
        'finds the longest stretch of one repeated character in a text and returns [character, length], the first of equally ' +
          `long ones; a length above ${most} is given as ${most}, and an empty text gives ["", 0].`,
        'returns the character that is repeated most often in a row and how often, as [character, count] with counts capped at ' +
          `${most}; of equal stretches the earliest wins, and for no text it is ["", 0].`,
      ],
      approach: 'Walk once, lengthen the stretch while the character stays, keep a strictly longer one, and cap the length at ' +
        'the end.',
      source: js`
function ${functionName}(text) {
  let best = ['', 0];
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    length = index > 0 && text[index] === text[index - 1] ? length + 1 : 1;
    if (length > best[1]) best = [text[index], length];
  }
  return [best[0], Math.min(best[1], ${most})];
}`,
      faults: [
        fault('length > best[1]', 'length >= best[1]', 'Keep the later of two equally long stretches.', 0.5),
        fault(`Math.min(best[1], ${most})`, 'best[1]', 'Return the full length whatever it is.', 0.4),
        fault('length + 1 : 1', 'length + 1 : 0', 'Begin to count at the second character of a stretch.', 0.45),
        fault('index < text.length;', 'index < text.length - 1;',
          'Stop one before the last character, since each is compared with the next.', 0.6),
        fault('index > 0 && text[index] === text[index - 1]', 'text.indexOf(text[index]) < index',
          'Count how often each character has been seen so far.', 0.5),
      ],
      inputs: [
        [`${a}${b}${b}${a}${c}${c}`], [a.repeat(most + 3)], [`${a}${b}${c}${c}${c}`], [''], [`${a}${b}${a}${c}${a}${b}${b}`],
        [`${a}${a}${b}${b}${b}${a}${a}`],
      ],
    };
  },
};

const shiftLetters: GymGenerator = {
  name: 'shift-letters',
  kind: 'strings',
  split: 'held-out',
  harder: 0,
  make(draw) {
    const shift = draw.whole('shift', 3, 24);
    const functionName = draw.pick('name', ['shiftLetters', 'encipher', 'moveLetters', 'caesar']);
    return {
      functionName,
      parameters: 'text',
      phrasings: [
        `replaces every letter of a text by the one ${shift} places later in the alphabet, going round after z, keeping upper ` +
          'and lower case and leaving all other characters alone.',
        `enciphers a text: each letter a to z, upper or lower case, moves on by ${shift} places with wrapping; other ` +
          'characters stay as they are.',
      ],
      approach: `Map each letter from its own a or A, add ${shift}, take it modulo 26, and copy everything else.`,
      source: js`
function ${functionName}(text) {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter >= 'a' ? 97 : 65;
    return String.fromCharCode(((letter.charCodeAt(0) - base + ${shift}) % 26) + base);
  });
}`,
      faults: [
        fault(`(letter.charCodeAt(0) - base + ${shift}) % 26`, `letter.charCodeAt(0) - base + ${shift}`,
          'Add the places to the code of the letter; the alphabet is long enough.', 0.4),
        fault('/[a-z]/gi', '/[a-z]/g', 'Only letters in lower case move.', 0.5),
        fault(`letter >= 'a' ? 97 : 65`, '97', 'Count every letter from a small a, whatever its case.', 0.55),
        fault(`+ ${shift})`, `+ ${26 - shift})`, 'Letters move towards the beginning of the alphabet.', 0.4),
        fault('% 26', '% 25', 'Wrap after the last place, which is 25.', 0.6),
      ],
      inputs: [
        [draw.some('words', 3, WORDS).join(' ')], [`Zebra, ${draw.pick('upper', ['Yak', 'Xylophone', 'Walrus'])}!`], ['xyz XYZ'],
        ['ABC abc 123'], [''],
      ],
    };
  },
};

const commonLetter: GymGenerator = {
  name: 'common-letter',
  kind: 'strings',
  split: 'held-out',
  harder: 0.03,
  make(draw) {
    const least = draw.whole('least', 3, 9);
    const functionName = draw.pick('name', ['commonLetter', 'topLetter', 'mostUsedLetter', 'frequentLetter']);
    const [a = 'a', b = 'b', c = 'c'] = draw.some('letters', 3, [...'abcdefghijklm']).sort();
    return {
      functionName,
      parameters: 'text',
      phrasings: [
        'returns the letter that a text uses most, in lower case and counted without regard to case; of several the ' +
          `alphabetically first, and an empty text if no letter comes at least ${least} times.`,
        'finds which letter occurs most often in a text (upper and lower case count together, ties go to the earlier one in ' +
          `the alphabet); where none occurs ${least} times or more, it gives back "".`,
      ],
      approach: 'Lower-case, count letters only, go through them in alphabetical order, and take a strictly larger count of ' +
        'the least size.',
      source: js`
function ${functionName}(text) {
  const counts = {};
  for (const letter of text.toLowerCase().match(/[a-z]/g) ?? []) counts[letter] = (counts[letter] ?? 0) + 1;
  let best = '';
  for (const letter of Object.keys(counts).sort()) {
    if (counts[letter] >= ${least} && counts[letter] > (counts[best] ?? 0)) best = letter;
  }
  return best;
}`,
      faults: [
        fault('.toLowerCase()', '', 'Count the small letters a to z of the text.', 0.45),
        fault('.sort()', '', 'Of equally frequent letters the one that comes first in the text wins.', 0.6),
        fault(`>= ${least}`, `> ${least}`, 'A letter has to come more often than the least number.', 0.55),
        fault('/[a-z]/g', '/./g', 'Count every character of the text.', 0.4),
        fault('> (counts[best] ?? 0)', '>= (counts[best] ?? 0)', 'Of equally frequent letters take the last of the alphabet.',
          0.5),
      ],
      inputs: [
        [`${b.repeat(least)} ${a.repeat(least)}`], [`${a.toUpperCase().repeat(least)}${a}${b.repeat(least)}`],
        [`${c.repeat(least)}${'-'.repeat(least + 2)}`],
        [c.repeat(least - 1)], [`${draw.some('words', 4, WORDS).join(' ')}`], [''],
      ],
    };
  },
};

export const STRING_GENERATORS: readonly GymGenerator[] = [rotateWords, mirrorText, longestRun, shiftLetters, commonLetter];
