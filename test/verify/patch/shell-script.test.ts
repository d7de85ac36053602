import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import type { Patch } from '../../../backend/verify/patch/patch.ts';
import { makeScratch } from '../setup.ts';

const SLUG = `import re


def slugify(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower())


def shorten(text):
    return text[:20]
`;
const NEW = `import re


def slugify(text):
    return re.sub(r"[^a-z0-9]+", "-", text.casefold())
`;
const CONFIG = 'name: demo\nlevel: 1\n';

async function read(answer: string): Promise<Patch> {
  await using scratch = await makeScratch();
  return await parsePatch(answer, await scratch.project({ 'src/slug.py': SLUG, 'config.yaml': CONFIG, 'README.md': '# Demo\n' }), { candidates: ['src/slug.py'] });
}
const script = (content: string, language = 'bash'): string => `Run this:\n\n\`\`\`${language}\n${content}\n\`\`\`\n`;
const whole = { edits: [{ path: 'src/slug.py', kind: 'modify', before: SLUG, after: NEW }], refused: [] };
const refusal = (path: string, reason: RegExp): Patch => ({ edits: [], refused: [{ path, reason: expect.stringMatching(reason) as string }] });

describe('a here-document is the file that it is written to', () => {
  it.each([
    ['cat > file', `cat > src/slug.py <<'EOF'\n${NEW}EOF`],
    ['cat << … > file', `cat <<"PY" > src/slug.py\n${NEW}PY`],
    ['without quotes, where nothing is expanded', `cat <<EOF >src/slug.py\n${NEW}EOF`],
    ['tee', `tee src/slug.py <<'EOF' > /dev/null\n${NEW}EOF`],
    ['cat | tee', `cat <<'EOF' | sudo tee src/slug.py\n${NEW}EOF`],
    ['behind a prompt', `$ cat > 'src/slug.py' << 'EOF'\n${NEW}EOF`],
    ['between other commands', `set -e\nmkdir -p src && cat > src/slug.py <<'EOF'\n${NEW}EOF\npython -m pytest -q 2>&1 | tail\ngit diff > /dev/null`],
    ['in a folder', `cd src\ncat > slug.py <<'EOF'\n${NEW}EOF`],
    ['in what the model takes for the project', `cd /path/to/project\ncat > src/slug.py <<'EOF'\n${NEW}EOF`],
    ['indented by tabs', `cat > src/slug.py <<-'EOF'\n${NEW.replaceAll(/^(?=.)/gm, '\t')}\tEOF`],
  ])('%s', async (_, content) => {
    expect(await read(script(content))).toEqual(whole);
    expect(await read(script(content, ''))).toEqual(whole);
  });

  it('and takes the place of all that is there, as the command would', async () => {
    expect((await read(script(`cat > src/slug.py <<'EOF'\n${NEW}EOF`))).edits[0]?.after).not.toContain('shorten');
  });

  it('of which several may be in a script, for new files, too', async () => {
    const { edits, refused } = await read(script(`cat > src/new.py <<'EOF'\nONE = 1\nEOF\ncat > config.yaml <<'EOF'\nname: demo\nlevel: 2\nEOF`));
    expect(refused).toEqual([]);
    expect(edits).toMatchObject([{ path: 'src/new.py', kind: 'create', after: 'ONE = 1\n' }, { path: 'config.yaml', after: 'name: demo\nlevel: 2\n' }]);
  });

  it('is added at the end by >>', async () => {
    expect(await read(script(`cat >> config.yaml <<'EOF'\nsize: 3\nEOF`))).toMatchObject({ edits: [{ path: 'config.yaml', after: `${CONFIG}size: 3\n` }], refused: [] });
    expect(await read(script(`tee -a config.yaml <<EOF\nsize: 3\nEOF`))).toMatchObject({ edits: [{ path: 'config.yaml', after: `${CONFIG}size: 3\n` }], refused: [] });
  });

  it('loses the backslashes that the shell takes', async () => {
    expect(await read(script('cat > config.yaml <<EOF\nname: demo\nprice: \\$5\nEOF'))).toMatchObject({ edits: [{ after: 'name: demo\nprice: $5\n' }], refused: [] });
  });
});

describe('what a shell would make of it is not guessed', () => {
  it.each(['level: $LEVEL', 'level: $(nproc)', 'level: `nproc`', 'level: ${LEVEL}'])('%s is refused without quotes around the end word', async (line) => {
    expect(await read(script(`cat > config.yaml <<EOF\nname: demo\n${line}\nEOF`))).toEqual(refusal('config.yaml', /by a command, which is not run.*its text holds what a shell would expand/));
  });

  it('a here-document without an end is cut off', async () => {
    expect(await read(script(`cat > config.yaml <<'EOF'\nname: demo`))).toEqual(refusal('config.yaml', /cut off/));
  });

  it('what else the script changes is refused with it', async () => {
    const { edits, refused } = await read(script(`cat > src/new.py <<'EOF'\nONE = 1\nEOF\nsed -i 's/level: 1/level: 2/' config.yaml`));
    expect(edits).toMatchObject([{ path: 'src/new.py' }]);
    expect(refused).toEqual([{ path: 'config.yaml', reason: expect.stringContaining('by a command, which is not run') }]);
  });
});

describe('an answer that changes files by commands alone is told so', () => {
  it.each([
    ['sed -i', "sed -i 's/lower/casefold/' src/slug.py"],
    ['sed of another system', "sed -i '' -e 's/lower/casefold/' src/slug.py"],
    ['sed -E -i', 'sed -E -i.bak "s/lower\\(\\)/casefold()/" ./src/slug.py'],
    ['in a folder', "cd src && sed -i 's/lower/casefold/' slug.py"],
    ['perl', "perl -pi -e 's/lower/casefold/' src/slug.py"],
    ['echo', 'echo "LEVEL = 1" >> src/slug.py'],
    ['git mv', 'git mv src/slug.py src/slugs.py'],
    ['a script of Python', 'python3 - <<\'EOF\'\nfrom pathlib import Path\np = Path("src/slug.py")\np.write_text(p.read_text().replace("lower", "casefold"))\nEOF'],
    ['a line of Python', `python -c "s = open('src/slug.py').read(); open('src/slug.py', 'w').write(s.replace('lower', 'casefold'))"`],
  ])('%s', async (_, content) => {
    expect(await read(script(content))).toEqual(refusal('src/slug.py', /^The answer changes the file by a command, which is not run: "/));
  });

  it('in PowerShell', async () => {
    expect(await read(script("(Get-Content src/slug.py) -replace 'lower', 'casefold' | Set-Content src/slug.py", 'powershell'))).toEqual(refusal('src/slug.py', /which is not run/));
  });

  it.each([
    ['that changes no file', 'npm ci\nnpm test -- src/slug.py > out.txt'],
    ['about a file that the project does not have', "sed -i 's/a/b/' notes.txt"],
    ['of Python that reads', 'python3 - <<\'EOF\'\nprint(open("src/slug.py").read())\nEOF'],
    ['with a here-document that is read', "psql demo <<'EOF'\nselect 1;\nEOF"],
  ])('a command %s is none', async (_, content) => {
    expect(await read(script(content))).toEqual({ edits: [], refused: [] });
  });

  it('beside a change that can be read, a command is a hint', async () => {
    const answer = `\`\`\`python src/slug.py\n${NEW}\ndef shorten(text):\n    return text[:20]\n\`\`\`\n\n${script("sed -i 's/level: 1/level: 2/' config.yaml")}`;
    expect(await read(answer)).toMatchObject({ edits: [{ path: 'src/slug.py' }], refused: [] });
  });

  it('a script that is itself a file is that file', async () => {
    const content = "#!/bin/sh\ncat > config.yaml <<'EOF'\nname: x\nEOF\n";
    expect(await read(`\`\`\`bash scripts/setup.sh\n${content}\`\`\`\n`)).toMatchObject({ edits: [{ path: 'scripts/setup.sh', kind: 'create', after: content }], refused: [] });
  });
});
