import { describe, expect, it } from 'vitest';
import { importedElsewhere, testsNoneOf, testsNoSource } from '../../backend/verify/judge/imported-elsewhere.ts';
import type { Imports } from '../../backend/verify/runners/test-report.ts';

const SITE = '/env/lib/python3.11/site-packages';
const filesOf = (texts: Readonly<Record<string, string>>) => ({ paths: new Set(Object.keys(texts)), text: (path: string) => texts[path] });
const importsOf = (own: readonly string[], elsewhere: readonly string[]): Imports => ({
  own: new Set(own), elsewhere: new Map(elsewhere.map((name) => [name, `${SITE}/${name}`])),
});

const PLUGGY = {
  'pyproject.toml': '',
  'src/pluggy/__init__.py': '',
  'src/pluggy/_hooks.py': '',
  'testing/test_hooks.py': 'import os, pluggy\n',
  'testing/benchmark.py': 'from pluggy import HookspecMarker\n',
};
const LOADED = ['testing/test_hooks.py', 'testing/benchmark.py'];
const FOUND = { name: 'pluggy', sources: 'src/pluggy', from: SITE };

describe('a project whose tests import an installed copy of it', () => {
  it('is told with the place that is tested, the place that is not, and what to do', () => {
    const imports = importsOf(LOADED, ['pytest', 'pluggy']);
    const found = importedElsewhere(imports, filesOf(PLUGGY));
    expect(found).toEqual([FOUND]);
    expect(testsNoSource(found, imports)).toBe(
      `The tests import pluggy from ${SITE}, not from src/pluggy, so that they test no change of it. `
      + 'Install the project so that its sources are imported, for example with "pip install -e .".',
    );
  });

  it.each([
    ['a package in the project\'s folder', { 'acme/__init__.py': '' }, 'acme'],
    ['a module', { 'src/acme.py': '' }, 'src/acme.py'],
    ['a package of a monorepo', { 'packages/a/src/acme/__init__.py': '' }, 'packages/a/src/acme'],
    ['a package beside its own manifest', { 'packages/a/setup.py': '', 'packages/a/acme/__init__.py': '' }, 'packages/a/acme'],
  ])('may have %s', (_, files, sources) => {
    const tests = { 'tests/test_acme.py': '    from acme.core import total\n' };
    expect(importedElsewhere(importsOf(['tests/test_acme.py'], ['acme']), filesOf({ ...files, ...tests }))).toEqual([{ name: 'acme', sources, from: SITE }]);
  });

  it.each([
    ['a file of it comes from the project, too', importsOf([...LOADED, 'src/pluggy/_hooks.py'], ['pluggy']), PLUGGY],
    ['no test names the module, which pytest itself needs', importsOf(LOADED, ['pluggy']), { ...PLUGGY, 'testing/test_hooks.py': 'import plug, pluggy_of\n' }],
    ['the project has a copy of it that nobody imports by this name', importsOf(LOADED, ['pluggy']), { 'testing/test_hooks.py': 'import pluggy\n', 'acme/_vendor/pluggy/__init__.py': '' }],
    ['a module that code put there has a name that is a pattern', importsOf(LOADED, ['(plug', '.*']), { ...PLUGGY, '(plug.py': '', '.*.py': '' }],
    ['the project has only tests of that name', importsOf(['tests/test_a.py'], ['tests']), { 'tests/__init__.py': '', 'tests/test_a.py': 'import tests\n' }],
  ])('is not one where %s', (_, imports, files) => {
    expect(importedElsewhere(imports, filesOf(files))).toEqual([]);
  });

  it('can be judged in part where its tests import other sources', () => {
    expect(testsNoSource([FOUND], importsOf([...LOADED, 'src/other/core.py'], ['pluggy']))).toBeUndefined();
    expect(testsNoneOf([FOUND], ['src/pluggy/_hooks.py', 'src/other/core.py'])).toBeUndefined();
    expect(testsNoneOf([FOUND], ['src/pluggy_more.py'])).toBeUndefined();
    expect(testsNoneOf([FOUND], ['README.md'])).toBeUndefined();
    expect(testsNoneOf([FOUND], ['src/pluggy/_new.py', 'CHANGELOG.rst'])).toContain('import pluggy from');
  });
});
