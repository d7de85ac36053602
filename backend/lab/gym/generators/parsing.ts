import { fault, js, WORDS, type GymGenerator } from './generator.ts';

const evaluateTerms: GymGenerator = {
  name: 'evaluate-terms',
  kind: 'parsing',
  split: 'train',
  harder: 0.02,
  make(draw) {
    const functionName = draw.pick('name', ['evaluate', 'calculate', 'valueOf', 'workOut']);
    const sign = draw.pick('sign', ['*', 'x', '@', '^']);
    const times = draw.whole('times', 2, 11);
    const [a = 1, b = 2, c = 3, d = 4] = draw.wholes('operands', 4, 2, 30);
    return {
      functionName,
      parameters: 'expression',
      phrasings: [
        `evaluates an arithmetic expression of integers, +, -, ${sign} (multiplication, binds tighter) and brackets; spaces ` +
          `mean nothing, and a factor of # stands for ${times}.`,
        `reads an expression such as "2 + 3 ${sign} (4 - #)" and returns its value: ${sign} multiplies before + and - are done ` +
          `from left to right, brackets come first, # is ${times}.`,
      ],
      approach: 'Take the spaces out; a sum is a loop of products from left to right, a product a loop of factors, a factor an ' +
        `integer, # as ${times}, or a bracket.`,
      source: js`
function ${functionName}(expression) {
  const tokens = expression.match(/\d+|[^\s\d]/g) ?? [];
  let at = 0;
  const factor = () => {
    const token = tokens[at++];
    if (token === '#') return ${times};
    if (token !== '(') return Number(token);
    const inner = sum();
    at += 1;
    return inner;
  };
  const product = () => {
    let value = factor();
    while (tokens[at] === '${sign}') {
      at += 1;
      value *= factor();
    }
    return value;
  };
  const sum = () => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') value += tokens[at++] === '+' ? product() : -product();
    return value;
  };
  return sum();
}`,
      faults: [
        fault('value *= factor();', 'value *= sum();', 'What follows the multiplication sign is multiplied as a whole.', 0.6),
        fault('-product();', '-sum();', 'What follows a minus sign is worked out first and then taken away.', 0.65),
        fault(`while (tokens[at] === '${sign}') {`, `if (tokens[at] === '${sign}') {`, 'A product has two factors.', 0.55),
        fault(`/\\d+|[^\\s\\d]/g`, `/\\d|[^\\s\\d]/g`, 'Read the expression character by character.', 0.4),
        fault(`const inner = sum();`, `const inner = product();`, 'Inside brackets stands a product.', 0.5),
      ],
      inputs: [
        [`${a} - ${b} - ${c}`], [`${a} ${sign} ${b} + ${c}`], [`2 ${sign} 3 ${sign} ${d}`], [`(${a} + ${b}) ${sign} #`],
        [`${c}-(${d} - (${a}+#)) ${sign} 2 + 1`], [`# - ${a}`],
      ],
    };
  },
};

const readSettings: GymGenerator = {
  name: 'read-settings',
  kind: 'parsing',
  split: 'train',
  harder: 0,
  make(draw) {
    const functionName = draw.pick('name', ['readSettings', 'readPairs', 'splitPairs', 'settingsOf']);
    const between = draw.pick('between', [';', '|', '&', '~']);
    const limit = draw.whole('limit', 2, 8);
    const [a = 'a', b = 'b', c = 'c'] = draw.some('keys', 3, WORDS);
    const many = draw.some('many', limit + 2, WORDS).map((key, index) => `${key}=${index}`).join(between);
    return {
      functionName,
      parameters: 'line',
      phrasings: [
        `reads a line of settings key=value, separated by "${between}", into an object: values may stand in double quotes and ` +
          `then contain "${between}", a later key replaces an earlier one, and tokens after the first ${limit} are ignored.`,
        `turns a line like a=1${between}b="x${between}y" into {a, b}, all values as text without their quotes; a separator ` +
          `inside quotes is no separator, only the first ${limit} pairs are read, and repeated keys take the last value.`,
      ],
      approach: `Go character by character, toggle at quotes, cut at "${between}" outside of them, keep ${limit} pieces, and ` +
        'split each at its first =.',
      source: js`
function ${functionName}(line) {
  const pieces = [''];
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === '${between}' && !quoted) pieces.push('');
    else pieces[pieces.length - 1] += character;
  }
  const settings = {};
  for (const piece of pieces.slice(0, ${limit})) {
    const cut = piece.indexOf('=');
    if (cut > 0) settings[piece.slice(0, cut)] = piece.slice(cut + 1);
  }
  return settings;
}`,
      faults: [
        fault(` && !quoted`, '', 'Cut the line at every separator.', 0.4),
        fault(`piece.indexOf('=')`, `piece.lastIndexOf('=')`, 'The key ends at the last equals sign.', 0.65),
        fault(`slice(0, ${limit})`, `slice(0, ${limit - 1})`, 'Stop before the piece with that number.', 0.5),
        fault(`if (character === '"') quoted = !quoted;`,
          `if (character === '"') { quoted = !quoted; pieces[pieces.length - 1] += character; }`,
          'Quotes belong to the value.', 0.45),
        fault('if (cut > 0) settings', 'if (cut > 0 && !(piece.slice(0, cut) in settings)) settings',
          'The first value of a key stays.', 0.6),
      ],
      inputs: [
        [`${a}="x${between}y"${between}${b}=2`], [`${a}=1=2${between}${b}=3`], [many], [`${a}=1${between}${a}=2`],
        [`${c}="quoted"`], [''], [`${a}`],
      ],
    };
  },
};

const readNesting: GymGenerator = {
  name: 'read-nesting',
  kind: 'parsing',
  split: 'train',
  harder: 0,
  make(draw) {
    const functionName = draw.pick('name', ['readNesting', 'readTree', 'toLists', 'readBrackets']);
    const [open, close] = draw.pick<readonly [string, string]>('brackets', [['(', ')'], ['[', ']'], ['{', '}'], ['<', '>']]);
    const depth = draw.whole('depth', 2, 8);
    const [a = 'a', b = 'b', c = 'c'] = draw.some('words', 3, WORDS);
    return {
      functionName,
      parameters: 'text',
      phrasings: [
        `reads brackets ${open} ${close} and words, such as "${open}a ${open}b c${close}${close}", into nested arrays of ` +
          `words; it returns null where brackets do not match, or where they nest more than ${depth} deep.`,
        `turns a bracketed expression with tokens between ${open} and ${close} into lists inside lists; unmatched brackets, or ` +
          `a depth above ${depth}, give null.`,
      ],
      approach: `Keep a stack of open lists, push a new one at ${open} unless ${depth} are open, close at ${close}, and at the ` +
        'end nothing may be open.',
      source: js`
function ${functionName}(text) {
  const stack = [[]];
  for (const token of text.match(/[${open === '[' ? '\\[\\]' : open + close}]|[a-z]+/g) ?? []) {
    if (token === '${open}') {
      if (stack.length > ${depth}) return null;
      const list = [];
      stack[stack.length - 1].push(list);
      stack.push(list);
    } else if (token === '${close}') {
      stack.pop();
      if (stack.length === 0) return null;
    } else {
      stack[stack.length - 1].push(token);
    }
  }
  return stack.length === 1 ? stack[0] : null;
}`,
      faults: [
        fault(`stack.length > ${depth}`, `stack.length >= ${depth}`, 'The outermost list counts as a level, too.', 0.6),
        fault('stack.length === 1 ? stack[0] : null', 'stack[0]', 'What is still open at the end is taken as closed.', 0.5),
        fault('if (stack.length === 0) return null;', 'if (stack.length === 0) stack.push([]);',
          'A bracket too many is passed over.', 0.55),
        fault('stack[stack.length - 1].push(list);', 'stack[0].push(list);', 'New lists go into the outermost list.', 0.5),
        fault('[a-z]+', '[a-z]', 'Each letter is a word.', 0.4),
      ],
      inputs: [
        [`${open.repeat(depth)}${a}${close.repeat(depth)}`], [`${open}${a}`], [`${open}${a}${close}${close}`],
        [`${open}${a} ${open}${b} ${c}${close}${close}`],
        [`${open.repeat(depth + 1)}${close.repeat(depth + 1)}`], [`${open}${open}${a}${open}${b}${close}${close}${close}`], [''],
      ].filter(([text]) => depth > 2 || !text?.startsWith(open.repeat(2) + a)),
    };
  },
};

const unpackText: GymGenerator = {
  name: 'unpack-text',
  kind: 'parsing',
  split: 'held-out',
  harder: 0.02,
  make(draw) {
    const functionName = draw.pick('name', ['unpack', 'expand', 'decode', 'unfold']);
    const usual = draw.whole('usual', 3, 6);
    const [open, close] = draw.pick<readonly [string, string]>('brackets', [['(', ')'], ['[', ']'], ['<', '>']]);
    const [a = 'a', b = 'b', c = 'c'] = draw.some('letters', 3, [...'abcdefghijklm']);
    return {
      functionName,
      parameters: 'packed',
      phrasings: [
        `expands a packed expression in which 3${open}ab${close} stands for "ababab": counts may have several digits, brackets ` +
          `may nest, a bracket without a count is repeated ${usual} times, and other letters are copied.`,
        `decodes a text of letters and groups: a token like 12${open}x${close} repeats what its brackets hold, groups may ` +
          `stand in groups, and a missing count means ${usual}.`,
      ],
      approach: `Read recursively: collect digits into a count, at ${open} read up to its own ${close} and repeat it, ${usual} ` +
        'times without a count.',
      source: js`
function ${functionName}(packed) {
  let at = 0;
  const group = () => {
    let text = '';
    let count = '';
    while (at < packed.length && packed[at] !== '${close}') {
      const character = packed[at++];
      if (character >= '0' && character <= '9') {
        count += character;
      } else if (character === '${open}') {
        const inner = group();
        at += 1;
        text += inner.repeat(count === '' ? ${usual} : Number(count));
        count = '';
      } else {
        text += character;
      }
    }
    return text;
  };
  return group();
}`,
      faults: [
        fault('count += character;', 'count = character;', 'A count is one digit.', 0.55),
        fault(`count === '' ? ${usual} : Number(count)`, `Number(count)`, 'Every group has its count in front.', 0.5),
        fault(`count === '' ? ${usual} : Number(count)`, `Number(count) || ${usual}`,
          'A count of nothing or of zero means the usual one.', 0.7),
        fault(`        at += 1;\n`, '', 'The end of a group ends the reading, too.', 0.5),
        fault(`        count = '';\n`, '', 'The count holds until the next one comes.', 0.6),
      ],
      inputs: [
        [`${a}2${open}${b}3${open}${c}${close}${close}${a}`], [`11${open}${a}${close}${b}`],
        [`${open}${a}${b}${close}2${open}${c}${close}`], [`0${open}${a}${close}${b}`],
        [`2${open}${a}${close}${open}${b}${close}`], [`${a}${b}`], [''],
      ],
    };
  },
};

const readDuration: GymGenerator = {
  name: 'read-duration',
  kind: 'parsing',
  split: 'held-out',
  harder: -0.02,
  make(draw) {
    const functionName = draw.pick('name', ['readDuration', 'toSeconds', 'secondsIn', 'durationOf']);
    const day = draw.whole('day', 6, 24);
    const [h = 1, m = 2, s = 3] = draw.wholes('parts', 3, 1, 9);
    return {
      functionName,
      parameters: 'text',
      phrasings: [
        'reads a duration written with the tokens d, h, m and s in this order, such as "2d 3h15m", into seconds: a d has ' +
          `${day} hours, any part may be missing, spaces are allowed, a leading - makes it negative, and anything else gives ` +
          'null.',
        `turns an expression like "-1h 20s" into seconds (a d counts ${day} hours); parts come in the order d, h, m, s, each ` +
          'at most once; where the text does not follow that form, or is empty, the result is null.',
      ],
      approach: 'Match sign and optional d, h, m, s in order over the whole text, refuse a text without any part, and weigh ' +
        `with ${day} hours a d.`,
      source: js`
function ${functionName}(text) {
  const match = /^(-?)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text.replace(/\s+/g, ''));
  if (!match || /\d/.test(text) === false) return null;
  const [days, hours, minutes, seconds] = match.slice(2).map((part) => Number(part ?? 0));
  const total = ((days * ${day} + hours) * 60 + minutes) * 60 + seconds;
  return match[1] === '-' && total > 0 ? -total : total;
}`,
      faults: [
        fault(`match[1] === '-' && total > 0 ? -total : total`, 'total', 'A sign in front changes nothing.', 0.45),
        fault(`days * ${day}`, `days * ${day + 1}`, 'Count the hours of a d with both ends.', 0.4),
        fault(` || /\\d/.test(text) === false`, '', 'A text without any part lasts no time.', 0.65),
        fault(`(\\d+)s)?$/`, `(\\d+)s)?/`, 'Read as far as the form goes and leave the rest.', 0.6),
        fault(`.replace(/\\s+/g, '')`, `.trim()`, 'Spaces stand at the ends only.', 0.5),
      ],
      inputs: [[`-${h}h${m}m`], [`${h}d ${m}h`], [''], [`${m}m${h}h`], [`${s}s`], [`${h}d${h}h${m}m${s}s`]],
    };
  },
};

export const PARSING_GENERATORS: readonly GymGenerator[] = [evaluateTerms, readSettings, readNesting, unpackText, readDuration];
