import type { ProjectFolder } from './project-folder.ts';
import { prepareRuby, RUBY_CONFIGURATION, RUBY_MANIFESTS } from './ruby-run.ts';
import { programUses } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const TEST_FILE = /(^|\/)(?:[^/]+_test|test_[^/]+)\.rb$/;

/** A file of tests, one that starts them, or a line of Ruby that loads them. */
const NAMES_TESTS = /(?:^|[^a-z])(?:tests?|spec)(?:[^a-z].*|s?\/.*)?\.rb\b/;

/** Minitest and test-unit, by rake, by Rails or by themselves. */
export const minitest: TestRunner<'minitest'> = {
  name: 'minitest',
  manifests: RUBY_MANIFESTS,
  idRoot: 'file',
  async detect(folder) {
    if (!(await folder.hasFile(TEST_FILE, { manifests: RUBY_MANIFESTS }))) return [];
    const bundled = (await folder.has('Gemfile', 'gems.rb')) ? 'bundle exec ' : '';
    if ((await folder.text('bin/rails')) !== undefined) return ['bin/rails test'];
    if (/\b(?:TestTask|task\s+:?["']?test)\b/.test((await folder.text('Rakefile')) ?? '')) return [`${bundled}rake test`];
    return [`${bundled}ruby -Ilib -Itest -e 'Dir["./${await folderOfTests(folder)}/**/{*_test,test_*}.rb"].sort.each { |file| require file }'`];
  },
  understands: (command) =>
    programUses(command, ['rake', 'rails', 'm', 'minitest']).some(({ program, arguments: words }) => ['m', 'minitest'].includes(program.text) || words.length === 0 || words.some(({ text }) => /^test(?:$|:)/.test(text)))
    || programUses(command, ['ruby']).some((use) => use.arguments.some(({ text }) => NAMES_TESTS.test(text))),
  configuration: RUBY_CONFIGURATION,
  prepare: prepareRuby,
};

const folderOfTests = async (folder: ProjectFolder): Promise<string> => ((await folder.hasFile(/^test\//, {})) ? 'test' : 'tests');
