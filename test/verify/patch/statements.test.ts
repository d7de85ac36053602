import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import type { Patch } from '../../../backend/verify/patch/patch.ts';
import { makeScratch } from '../setup.ts';

const SUITES = `import { describe, expect, it } from 'vitest';
import { add } from '../src/add';

describe('add', () => {
  it('adds', () => {
    expect(add(1, 2)).toBe(3);
  });

  it('adds zero', () => {
    expect(add(1, 0)).toBe(1);
  });
});

describe('no numbers', () => {
  it('fails', () => {
    expect(() => add('a', 1)).toThrow();
  });
});
`;

const APP = `const express = require('express');
const app = express();

app.get('/users', async (request, response) => {
  response.json(await users());
});

app.post('/users', async (request, response) => {
  await addUser(request.body);
  response.sendStatus(201);
});

module.exports = app;
`;

const BASE = `export function withoutBase(input, base) {
  if (isEmpty(base)) {
    return input;
  }
  const bare = withoutSlash(base);
  if (!input.startsWith(bare)) {
    return input;
  }
  const rest = input.slice(bare.length);
  return rest[0] === '/' ? rest : '/' + rest;
}
`;

async function read(answer: string): Promise<Patch> {
  await using scratch = await makeScratch();
  const base = await scratch.project({ 'test/add.test.ts': SUITES, 'src/app.js': APP, 'src/base.js': BASE });
  return await parsePatch(`I see.\n\n${answer}\n`, base, { candidates: ['test/add.test.ts', 'src/app.js', 'src/base.js'], newTests: true });
}

const fenced = (info: string, content: string): string => `\`\`\`${info}\n${content}\`\`\`\n`;
const NEW_TEST = "  it('adds more', () => {\n    expect(add(2, 2)).toBe(4);\n  });\n";
const NEW_SUITE = `describe('more', () => {\n${NEW_TEST}});\n`;
const INSIDE = SUITES.replace("toBe(1);\n  });\n", `toBe(1);\n  });\n\n${NEW_TEST}`);

describe('new tests go where they belong', () => {
  const rows: Record<string, [answer: string, after: string]> = {
    'a suite behind a gap': [fenced('ts test/add.test.ts', `// ... existing code ...\n\n${NEW_SUITE}`), `${SUITES}\n${NEW_SUITE}`],
    'a suite alone that is to be added': [`Add this to \`test/add.test.ts\`:\n\n${fenced('ts', NEW_SUITE)}`, `${SUITES}\n${NEW_SUITE}`],
    'a test behind a gap in its suite': [
      fenced('ts test/add.test.ts', `// ... existing imports ...\n\ndescribe('add', () => {\n  // ... existing tests ...\n\n${NEW_TEST}});\n\n// ... existing code ...\n`), INSIDE],
    'a test in its suite alone': [fenced('ts test/add.test.ts', `describe('add', () => {\n  // ... existing tests ...\n\n${NEW_TEST}});\n`), INSIDE],
    'a test alone whose suite is named': [`Add to \`test/add.test.ts\`, inside \`describe('add')\`:\n\n${fenced('ts', NEW_TEST)}`, INSIDE],
  };
  it.each(Object.entries(rows))('%s', async (_, [answer, after]) => {
    expect(await read(answer)).toMatchObject({ refused: [], edits: [{ path: 'test/add.test.ts', after }] });
  });

  it('a test alone is refused if more than one suite could be meant', async () => {
    const { edits, refused } = await read(`Append one more case to \`test/add.test.ts\`:\n\n${fenced('ts', NEW_TEST)}`);
    expect(edits).toEqual([]);
    expect(refused).toMatchObject([{ path: 'test/add.test.ts', reason: expect.stringContaining('it is not clear which suite') as string }]);
  });
});

describe('a call with a callback', () => {
  const get = "app.get('/users', async (request, response) => {\n  response.json(await users(request.query.limit));\n});\n";
  const changed = APP.replace('await users()', 'await users(request.query.limit)');

  it.each([
    ['between gaps', fenced('js src/app.js', `// ... existing code ...\n\n${get}\n// ... existing code ...\n`)],
    ['alone, and the rest of the file stays', `In \`src/app.js\`, change the handler:\n\n${fenced('js', get)}`],
    ['alone, with its path', fenced('js src/app.js', get)],
  ])('takes the place of the one that begins with the same line: %s', async (_, answer) => {
    expect(await read(answer)).toMatchObject({ refused: [], edits: [{ path: 'src/app.js', after: changed }] });
  });

  it('is refused where the file has none like it', async () => {
    const { edits, refused } = await read(fenced('js src/app.js', get.replace('/users', '/other')));
    expect(edits).toEqual([]);
    expect(refused).toMatchObject([{ path: 'src/app.js', reason: expect.stringContaining('it is not clear where') as string }]);
  });
});

it('what stands behind a gap begins at the line of the file that it repeats', async () => {
  const check = "  if (rest[0] !== undefined && rest[0] !== '/') {\n    return input;\n  }\n";
  const content = `export function withoutBase(input, base) {\n  // ... existing code ...\n  if (!input.startsWith(bare)) {\n    return input;\n  }\n  const rest = input.slice(bare.length);\n${check}  return rest[0] === '/' ? rest : '/' + rest;\n}\n`;
  const { edits, refused } = await read(fenced('js src/base.js', content));
  expect(refused).toEqual([]);
  expect(edits).toMatchObject([{ after: BASE.replace("  return rest[0]", `${check}  return rest[0]`) }]);
});
