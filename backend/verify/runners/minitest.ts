import type { ProjectFolder } from './project-folder.ts';
import { hasSpecsOfMinitest, prepareRuby, RUBY_CONFIGURATION, RUBY_MANIFESTS } from './ruby-run.ts';
import { programUses } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const TEST_FILE = /(^|\/)(?:[^/]+_test|(?:test|spec|tc)_(?!helper)[^/]+)\.rb$/;

/** A file of tests, one that starts them, or a line of Ruby that loads them. */
const NAMES_TESTS = /(?:^|[^a-z])(?:tests?|spec)(?:[^a-z].*|s?\/.*)?\.rb\b/;

/** Minitest and test-unit, by rake, by Rails or by themselves. */
export const minitest: TestRunner<'minitest'> = {
  name: 'minitest',
  manifests: RUBY_MANIFESTS,
  idRoot: 'file',
  async detect(folder) {
    const hasSpecs = await hasSpecsOfMinitest(folder);
    if (!hasSpecs && !(await folder.hasFile(TEST_FILE, { manifests: RUBY_MANIFESTS }))) return [];
    const bundled = (await folder.has('Gemfile', 'gems.rb')) ? 'bundle exec ' : '';
    if ((await folder.text('bin/rails')) !== undefined) return ['bin/rails test'];
    const task = taskIn((await folder.text('Rakefile')) ?? '');
    if (task !== undefined) return [`${bundled}rake ${task}`];
    const place = hasSpecs ? 'spec' : await folderOfTests(folder);
    return [`${bundled}ruby -Ilib -I${place} -e 'Dir["./${place}/**/{*_test,*_spec,test_*,spec_*,tc_*}.rb"].sort.each { |file| require file }'`];
  },
  understands: (command) =>
    programUses(command, ['rake', 'rails', 'm', 'minitest']).some(({ program, arguments: words }) => ['m', 'minitest'].includes(program.text) || words.length === 0 || words.some(({ text }) => /^test(?:$|:)/.test(text)))
    || programUses(command, ['ruby']).some((use) => use.arguments.some(({ text }) => NAMES_TESTS.test(text))),
  configuration: RUBY_CONFIGURATION,
  prepare: prepareRuby,
};

/** The task of a Rakefile that runs the tests: `test`, if there is one. */
function taskIn(rakefile: string): string | undefined {
  const [, named = 'test'] = /\bTestTask\.new\s*\(?\s*:?["']?([\w:]+)/.exec(rakefile) ?? [];
  return /\btask\s*\(?\s*:?["']?test\b/.test(rakefile) ? 'test' : /\bTestTask\b/.test(rakefile) ? named : undefined;
}

const folderOfTests = async (folder: ProjectFolder): Promise<string> => ((await folder.hasFile(/^test\//, {})) ? 'test' : 'tests');
