import { describe, expect, it } from 'vitest';
import { rgPath } from '@vscode/ripgrep';
import { ContextGatherer } from '../../backend/context/gather-context.ts';
import type { Need } from '../../backend/context/needed-pieces.ts';
import { workspaceWith } from './workspaces.ts';

const ROUTE = `package mux

// Match says whether the route matches.
func (r *Route) Match(req *Request) bool {
	if r.err != nil {
		return false
	}
	return r.matches(req)
}

func (r *Router) Match(req *Request) bool {
	return len(r.routes) > 0
}
`;
const SHAPES = `class Circle:
    def area(self):
        return 3 * self.r * self.r


class Square:
    def area(self):
        return self.a * self.a
`;
const LONG = Array.from({ length: 4_000 }, (_, index) => `line ${index + 1} of a long file`).join('\n');

async function give(needs: readonly Need[], tokenBudget = 2_000) {
  const workspace = await workspaceWith({
    'src/route.go': ROUTE, 'src/shapes.py': SHAPES, 'src/long.txt': LONG, '.env': 'KEY=1', 'ignored/a.js': 'export const a = 1;', '.gitignore': 'ignored/\n',
    'test/shapes_test.py': 'def area():\n    pass\n',
  });
  return await new ContextGatherer({ ripgrepPath: rgPath }).supply({ workspace, needs, tokenBudget, signal: new AbortController().signal });
}

describe('what somebody asks to see', () => {
  it('is a method of a type, with its comment', async () => {
    const { text, pieces, leftOut } = await give([{ words: ['src/route.go', 'Route.Match'] }]);
    expect(pieces).toMatchObject([{ path: 'src/route.go', startLine: 3, endLine: 9 }]);
    expect(text).toContain('func (r *Route) Match');
    expect(text).not.toContain('len(r.routes)');
    expect(leftOut).toEqual([]);
  });

  it('is a method of a class, found by its indentation', async () => {
    const { text } = await give([{ words: ['shapes.py', 'Square.area'] }]);
    expect(text).toContain('self.a * self.a');
    expect(text).not.toContain('self.r');
  });

  it('is a name of any file, in tests last', async () => {
    expect((await give([{ words: ['Router.Match'] }])).text).toContain('len(r.routes)');
    expect((await give([{ words: ['area'] }])).pieces.map(({ path }) => path)).toEqual(['src/shapes.py', 'test/shapes_test.py']);
  });

  it('is a method of a type that only one of many files defines', async () => {
    const others = Array.from({ length: 30 }, (_, index) => [`a/other${index}.py`, `class Other${index}:\n    def draw(self):\n        return ${index}\n`]);
    const workspace = await workspaceWith({ ...Object.fromEntries(others), 'z/board.py': 'class Board:\n    def draw(self):\n        return self.all\n' });
    const gatherer = new ContextGatherer({ ripgrepPath: rgPath });
    const { pieces } = await gatherer.supply({ workspace, needs: [{ words: ['Board.draw'] }], tokenBudget: 2_000, signal: new AbortController().signal });
    expect(pieces[0]).toMatchObject({ path: 'z/board.py', startLine: 2, endLine: 3 });
  });

  it('is a long function, whole', async () => {
    const body = Array.from({ length: 200 }, (_, index) => `  step(${index});\n`).join('');
    const workspace = await workspaceWith({ 'long.js': `// Does it all.\nfunction all() {\n${body}}\nfunction other() {\n}\n` });
    const gatherer = new ContextGatherer({ ripgrepPath: rgPath });
    const { pieces } = await gatherer.supply({ workspace, needs: [{ words: ['all'] }], tokenBudget: 2_000, signal: new AbortController().signal });
    expect(pieces).toMatchObject([{ path: 'long.js', startLine: 1, endLine: 203 }]);
  });

  it('is a range of lines, or a whole file', async () => {
    expect((await give([{ words: ['src/long.txt'], startLine: 20, endLine: 21 }])).pieces).toMatchObject([{ startLine: 20, endLine: 21 }]);
    expect((await give([{ words: ['src/shapes.py'] }])).pieces).toMatchObject([{ startLine: 1, endLine: 8 }]);
  });

  it('is shown in part where it is too long, and the rest is named', async () => {
    const { pieces, leftOut, tokens } = await give([{ words: ['src/long.txt'] }, { words: ['src/route.go', 'Route.Match'] }]);
    expect(tokens).toBeLessThanOrEqual(2_000);
    expect(pieces.map(({ path }) => path)).toEqual(['src/long.txt', 'src/route.go']);
    expect(leftOut).toEqual([{ path: 'src/long.txt', reason: expect.stringMatching(/^all but lines 1-\d+ is over the token budget; it has 4000 lines$/) }]);
  });

  it.each([
    [['.env'], 'its name says that it holds secrets'],
    [['ignored/a.js'], 'ignored'],
    [['/etc/passwd'], 'outside the workspace'],
    [['../../etc/passwd'], 'outside the workspace'],
    [['src/gone.js'], 'no such file'],
    [['src/shapes.py', 'perimeter'], 'nothing in it is called perimeter'],
    [['perimeter'], 'no file of the project defines it'],
    [['__proto__'], 'no file of the project defines it'],
  ])('is not given, with the reason: %j', async (words, reason) => {
    const { text, leftOut } = await give([{ words }]);
    expect(text).toBe('');
    expect(leftOut.map((one) => one.reason).join()).toContain(reason);
  });
});
