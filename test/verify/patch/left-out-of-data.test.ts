import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import type { Patch } from '../../../backend/verify/patch/patch.ts';
import { makeScratch } from '../setup.ts';

const JSON_FILE = `{
  "name": "demo",
  "scripts": {
    "build": "tsc",
    "lint": "eslint ."
  },
  "options": {
    "strict": true,
    "level": 1,
    "paths": ["src", "lib"]
  }
}
`;
const YAML = `version: 1
jobs:
  build:
    steps:
      - run: make
      - run: make install
  deploy:
    needs: build
    steps:
      - run: deploy
`;
const TOML = `[tool.format]
width = 80
quotes = "double"

[tool.check]
strict = false
level = 1

[tool.cover]
level = 80
`;
const FILES = { 'conf/demo.json': JSON_FILE, 'ci/jobs.yaml': YAML, 'conf/tools.toml': TOML } as const;

async function read(answer: string): Promise<Patch> {
  await using scratch = await makeScratch();
  return await parsePatch(answer, await scratch.project(FILES), { candidates: Object.keys(FILES) });
}
async function expectChange(answer: string, path: keyof typeof FILES, from: string, to: string): Promise<void> {
  expect(FILES[path].split(from)).toHaveLength(2);
  expect(await read(answer)).toEqual({ edits: [expect.objectContaining({ path, after: FILES[path].replace(from, () => to) })], refused: [] });
}
const expectRefusal = async (answer: string, path: string, reason: RegExp): Promise<void> =>
  expect(await read(answer)).toEqual({ edits: [], refused: [{ path, reason: expect.stringMatching(reason) }] });
const json = (content: string, info = 'json conf/demo.json'): string => `\`\`\`${info}\n${content}\n\`\`\`\n`;

describe('JSON with parts left out', () => {
  it.each([
    ['before a member', '{\n  // ... existing code ...\n  "options": {\n    "strict": true,\n    "level": 2,\n    "paths": ["src", "lib"]\n  }\n}'],
    ['around a member of a member', '{\n  ...\n  "options": {\n    // ... existing options ...\n    "level": 2\n    // ...\n  }\n}'],
    ['with another comment sign', '{\n  # ... rest unchanged ...\n  "options": {\n    "level": 2,\n    # ...\n  }\n}'],
    ['without the object around it', '  // ...\n  "options": {\n    // ...\n    "level": 2\n  }'],
  ])('is filled in from the file: %s', async (_, content) => {
    await expectChange(json(content), 'conf/demo.json', '"level": 1', '"level": 2');
    await expectChange(`In \`conf/demo.json\`:\n\n${json(content, 'json')}`, 'conf/demo.json', '"level": 1', '"level": 2');
    await expectChange(`Raise the level in \`conf/demo.json\`:\n\n${json(content, 'jsonc')}`, 'conf/demo.json', '"level": 1', '"level": 2');
  });

  it('new members are added, and the file stays JSON', async () => {
    const { edits, refused } = await read(json('{\n  // ... existing code ...\n  "scripts": {\n    // ... existing scripts ...\n    "test": "vitest"\n  },\n  "private": true\n}'));
    expect(refused).toEqual([]);
    expect(JSON.parse(edits[0]?.after ?? '')).toEqual({ ...JSON.parse(JSON_FILE), scripts: { build: 'tsc', lint: 'eslint .', test: 'vitest' }, private: true });
    expect(edits[0]?.after).toContain('\n    "lint": "eslint .",\n    "test": "vitest"\n  },');
  });

  it('what lacks members without a word is refused with their names', async () => {
    await expectRefusal(json('{\n  // ...\n  "scripts": {\n    "build": "tsc -b"\n  }\n}'), 'conf/demo.json', /lacks lint of "scripts", and does not say whether that is to be deleted/);
    await expectRefusal(json('{\n  "name": "other"\n}'), 'conf/demo.json', /lacks scripts, options of the file, and does not say/);
  });

  it('a list that is left out in part is refused', async () => {
    await expectRefusal(json('{\n  // ...\n  "options": {\n    // ...\n    "paths": [\n      // ...\n      "test"\n    ]\n  }\n}'), 'conf/demo.json', /leaves out parts of a list, "options\.paths"/);
  });

  it('members without anything of the file are refused', async () => {
    await expectRefusal(json('  "level": 2'), 'conf/demo.json', /has no single place/);
  });

  it('a whole file is taken as it is', async () => {
    const content = JSON.stringify({ ...JSON.parse(JSON_FILE), name: 'other' }, null, 4);
    expect(await read(json(content))).toMatchObject({ edits: [{ after: `${content}\n` }], refused: [] });
    expect(await read(`The complete new content of \`conf/demo.json\`:\n${json('{\n  "name": "x"\n}')}`)).toMatchObject({ edits: [{ after: '{\n  "name": "x"\n}\n' }], refused: [] });
  });
});

describe('YAML and TOML with parts left out', () => {
  it('are filled in by their lines', async () => {
    await expectChange('Update `ci/jobs.yaml`:\n\n```yaml\n# ... existing jobs ...\n  deploy:\n    needs: build\n    steps:\n      - run: deploy --all\n```\n', 'ci/jobs.yaml', 'run: deploy', 'run: deploy --all');
    await expectChange('In `conf/tools.toml`:\n\n```toml\n# ... existing code ...\n[tool.check]\nstrict = true\nlevel = 1\n# ...\n```\n', 'conf/tools.toml', 'strict = false', 'strict = true');
  });

  it('are refused where the place is not clear', async () => {
    await expectRefusal('```toml conf/tools.toml\n# ...\nlevel = 2\n# ...\n```\n', 'conf/tools.toml', /leaves parts of the file out/);
  });
});
