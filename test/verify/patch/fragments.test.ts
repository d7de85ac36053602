import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import type { Patch } from '../../../backend/verify/patch/patch.ts';
import { makeScratch } from '../setup.ts';

const SLUG = `import re
import unicodedata


def slugify(text, separator="-", max_length=0):
    """Make a slug."""
    text = unicodedata.normalize("NFKD", text)
    text = text.lower()

    # replace unwanted characters
    text = re.sub(r"'", "", text)
    text = re.sub(r"[^a-z0-9]+", separator, text)

    # remove redundant separators
    text = text.strip(separator)

    if max_length > 0:
        text = text[:max_length]

    return text


def shorten(text, max_length=0):
    if max_length > 0:
        text = text[:max_length]

    return text
`;

const TOKEN = `pub enum Token {
    Word,
    Number,
    End,
}

pub fn name(token: &Token) -> &'static str {
    match token {
        Token::Word => "word",
        Token::Number => "number",
        Token::End => {
            "end"
        }
    }
}

pub fn width(token: &Token) -> usize {
    name(token).len()
}
`;

const SHAPE = `package shapes

class Shape(val kind: String, val size: Int) {
    fun area(): Int {
        return when (kind) {
            "square" -> size * size
            "line" -> 0
            else -> {
                error("unknown " + kind)
            }
        }
    }

    fun label(): String {
        return kind + " of " + size
    }
}
`;

const STATE = `int next(int state, int sign) {
  switch (state) {
    case 0:
      if (sign == 'a') return 1;
      break;
    case 1:
      if (sign == 'b') return 2;
      break;
    default:
      return -1;
  }
  return state;
}
`;

const COLOURS = `COLOURS = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 250),
    "white": (255, 255, 255),
}


def colour(name):
    return COLOURS[name]


def is_known(name):
    return name in COLOURS
`;

const QUEUE = `class Queue {
  constructor(limit) {
    this.items = [];
    this.limit = limit;
  }

  push(item) {
    if (this.items.length > this.limit) throw new Error('full');
    this.items.push(item);
  }

  pop() {
    const [first] = this.items;
    this.items = this.items.slice(1);
    return first;
  }
}

module.exports = { Queue };
`;

const FILES = {
  'slugify/slugify.py': SLUG, 'src/token.rs': TOKEN, 'src/Shape.kt': SHAPE, 'src/state.c': STATE, 'colours.py': COLOURS, 'src/queue.js': QUEUE,
  'style.css': 'a {\n  color: red;\n}\n\nb {\n  color: red;\n}\n\np {\n  margin: 0;\n  padding: 4px;\n}\n\nul {\n  margin: 0;\n}\n',
} as const;

async function read(answer: string): Promise<Patch> {
  await using scratch = await makeScratch();
  return await parsePatch(answer, await scratch.project(FILES), { candidates: Object.keys(FILES) });
}
const fenced = (info: string, content: string): string => `\`\`\`${info}\n${content}\n\`\`\`\n`;

/** The answer is applied, and gives the file with one text exchanged for another. */
async function expectChange(answer: string, path: keyof typeof FILES, from: string, to: string): Promise<void> {
  expect(FILES[path].split(from)).toHaveLength(2);
  expect(await read(answer)).toEqual({ edits: [expect.objectContaining({ path, after: FILES[path].replace(from, () => to) })], refused: [] });
}
const expectRefusal = async (answer: string, path: string, reason: RegExp): Promise<void> =>
  expect(await read(answer)).toEqual({ edits: [], refused: [{ path, reason: expect.stringMatching(reason) }] });

const MIDDLE = `    # replace unwanted characters
    text = re.sub(r"['’]", "", text)
    text = re.sub(r"[^a-z0-9]+", separator, text)`;
const APOSTROPHE: readonly [from: string, to: string] = [`r"'"`, `r"['’]"`];
const IN = 'In `slugify/slugify.py`:\n\n';

describe('the middle of a function', () => {
  it.each([
    ['under the name of its file, with a question at the end', `${IN}${fenced('python', MIDDLE)}\nShall I add a test for it?\n`],
    ['without a word more', `${IN}${fenced('python', MIDDLE)}`],
    ['under a sentence', `The curly apostrophe is not removed. Change this in \`slugify/slugify.py\`:\n\n${fenced('python', MIDDLE)}`],
    ['with the path behind the language', fenced('python slugify/slugify.py', MIDDLE)],
    ['without its indentation', `${IN}${fenced('python', MIDDLE.replaceAll(/^ {4}/gm, ''))}`],
    ['whose first line alone lost its indentation', `${IN}${fenced('python', MIDDLE.trimStart())}`],
    ['in tabs', `${IN}${fenced('python', MIDDLE.replaceAll('    ', '\t'))}`],
  ])('is placed by the lines around its change: %s', async (_, answer) => {
    await expectChange(answer, 'slugify/slugify.py', ...APOSTROPHE);
  });

  it('may add lines between two that the file has', async () => {
    const block = '    text = text.strip(separator)\n    text = text.replace(separator * 2, separator)\n\n    if max_length > 0:';
    await expectChange(`${IN}${fenced('python', block)}`, 'slugify/slugify.py', '.strip(separator)\n', '.strip(separator)\n    text = text.replace(separator * 2, separator)\n');
  });

  it('from its first line on is not taken for all of it', async () => {
    const block = `${SLUG.split('\n').slice(4, 6).join('\n')}\n    text = unicodedata.normalize("NFC", text)\n    text = text.lower()`;
    await expectRefusal(`Change \`slugify/slugify.py\`:\n\n${fenced('python', block)}`, 'slugify/slugify.py', /does not say whether what follows in the file is to be deleted/);
  });

  it('is never added at the end of the file, whatever the sentence says', async () => {
    await expectRefusal(`Add this to \`slugify/slugify.py\`:\n\n${fenced('python', '    limit = max_length or None\n    text = text.lower()[:limit]')}`, 'slugify/slugify.py', /its first line "limit = max_length or None" is not in the file/);
  });

  it('is refused where two places are alike', async () => {
    await expectRefusal(`${IN}Change:\n${fenced('python', '    if max_length > 0:\n        text = text[: max_length - 1]\n\n    return text')}`, 'slugify/slugify.py', /more than one place/);
  });

  it('is refused where its end is not in the file', async () => {
    await expectRefusal(`I fixed it.\n\n${IN}${fenced('python', '    text = text.lower()\n    text = text.casefold()')}`, 'slugify/slugify.py', /its last line "text = text.casefold\(\)" is not in the file/);
  });

  it('is refused where it lacks lines without a word, and deletes them where it says so', async () => {
    const block = '    text = text.lower()\n\n    # replace unwanted characters\n    text = re.sub(r"[^a-z0-9]+", separator, text)';
    await expectRefusal(`I changed it.\n\n${IN}${fenced('python', block)}`, 'slugify/slugify.py', /lacks "text = re\.sub\(r\\"'\\", .*does not say whether that is to be deleted/);
    await expectChange(`Remove the first substitution in \`slugify/slugify.py\`:\n\n${fenced('python', block)}`, 'slugify/slugify.py', `    text = re.sub(r"'", "", text)\n`, '');
  });

  it.each([
    ['a quotation', `Apostrophes are replaced first. ${IN}${fenced('python', MIDDLE.replace('[\'’]', "'"))}\nThat is all.`],
    ['a shortened quotation', `${IN}${fenced('python', '    text = text.lower()\n    text = re.sub(r"[^a-z0-9]+", separator, text)\n    return text')}`],
    ['an example beside nothing else', `It works like this:\n\n${fenced('python', 'text = slugify("Hello")\nprint(text)')}`],
  ])('%s is no edit', async (_, answer) => {
    expect(await read(answer)).toEqual({ edits: [], refused: [] });
  });

  it('that has nothing of the file is refused where the answer speaks of a change, and is an example beside one', async () => {
    const nothing = `${IN}${fenced('python', '    cleaned = scrub(value)\n    emit(cleaned)')}`;
    await expectRefusal(`I fixed the apostrophe.\n\n${nothing}`, 'slugify/slugify.py', /"cleaned = scrub\(value\)" is not in the file/);
    await expectChange(`I fixed the apostrophe.\n\n${fenced('python slugify/slugify.py', MIDDLE)}\n${nothing}`, 'slugify/slugify.py', ...APOSTROPHE);
  });
});

describe('a part that is no program alone', () => {
  it('whose first line stands deeper than the next ones keeps their depth', async () => {
    const block = '        text = text[:max_length]\n\n    # the end\n    return text\n\n\ndef shorten(text, max_length=0):';
    await expectChange(fenced('python slugify/slugify.py', block), 'slugify/slugify.py', '    return text\n\n\ndef shorten', '    # the end\n    return text\n\n\ndef shorten');
    const cases = "      if (sign == 'a') return 1;\n      break;\n    case 3:\n      break;\n    case 1:";
    await expectChange(fenced('c src/state.c', cases), 'src/state.c', '    case 1:', '    case 3:\n      break;\n    case 1:');
  });

  it('arms of a match are placed by their patterns, and another block for the file counts, too', async () => {
    const arms = fenced('rust src/token.rs', '        Token::Number => "digits",\n        Token::End => {\n            "end"\n        }');
    await expectChange(arms, 'src/token.rs', '"number"', '"digits"');
    const { edits, refused } = await read(`${arms}\nand\n\n${fenced('rust src/token.rs', 'pub fn width(token: &Token) -> usize {\n    name(token).chars().count()\n}')}`);
    expect(refused).toEqual([]);
    expect(edits).toMatchObject([{ path: 'src/token.rs', after: TOKEN.replace('"number"', '"digits"').replace('len()', 'chars().count()') }]);
  });

  it('arms that the file lacks are refused for that, and not as cut off', async () => {
    await expectRefusal(fenced('rust src/token.rs', '        Token::Space => "space",\n        Token::Tab => "tab",'), 'src/token.rs', /its first line "Token::Space => .*is not in the file/);
  });

  it('branches of a `when`', async () => {
    await expectChange(`Fix \`src/Shape.kt\`:\n\n${fenced('kotlin', '            "square" -> size * size\n            "line" -> size\n            else -> {')}`, 'src/Shape.kt', '"line" -> 0', '"line" -> size');
  });

  it('cases of a switch', async () => {
    await expectChange(fenced('c src/state.c', "    case 1:\n      if (sign == 'b' || sign == 'c') return 2;\n      break;\n    default:"), 'src/state.c', "sign == 'b'", "sign == 'b' || sign == 'c'");
  });

  it('cases of a switch are refused where more than one could be meant', async () => {
    await expectRefusal(fenced('c src/state.c', '      if (sign == 0) return 9;\n      break;'), 'src/state.c', /its first line .* is not in the file/);
  });

  it('entries of a dictionary', async () => {
    await expectChange(`In colours.py, the blue is off. Replace it:\n\n${fenced('python', '    "green": (0, 128, 0),\n    "blue": (0, 0, 255),')}`, 'colours.py', '250', '255');
  });

  it('entries of an object are no members of a type that has the same names', async () => {
    const file = "interface Limit {\n  readonly place: string;\n  readonly share: number;\n}\n\nexport function limits(): Limit[] {\n  return [\n    {\n      place: 'machine',\n      share: 0.5,\n    },\n  ];\n}\n";
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'src/limits.ts': file });
    const { edits } = await parsePatch(fenced('ts src/limits.ts', "      place: 'machine',\n      // Others need some, too.\n      share: 0.5,"), base);
    expect(edits).toEqual([]);
  });

  it('the middle of a class, from one method into the next', async () => {
    const block = "    if (this.items.length >= this.limit) throw new Error('full');\n    this.items.push(item);\n  }\n\n  pop() {\n    const [first] = this.items;";
    await expectRefusal(fenced('js src/queue.js', block), 'src/queue.js', /its first line/);
    await expectChange(fenced('js src/queue.js', `  push(item) {\n${block}`), 'src/queue.js', 'length > this', 'length >= this');
  });

  it('of a file whose syntax is not read is never taken for the whole file', async () => {
    await expectChange(fenced('css style.css', 'p {\n  margin: 0;\n  padding: 8px;\n}\n\nul {'), 'style.css', '4px', '8px');
    await expectRefusal(fenced('css style.css', 'h1 {\n  margin: 0;\n}'), 'style.css', /its first line "h1 \{" is not in the file/);
  });

  it('whose brackets do not match is refused in such a file, too', async () => {
    await expectRefusal(fenced('kotlin src/Shape.kt', '    fun label(): String {\n        if (size > 0) {\n        return kind + " of " + size\n    }'), 'src/Shape.kt', /brackets/);
  });
});
