import { hasSpecsOfMinitest, prepareRuby, RUBY_CONFIGURATION, RUBY_MANIFESTS } from './ruby-run.ts';
import { programUses } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

/** RSpec, by itself or by a task of rake. */
export const rspec: TestRunner<'rspec'> = {
  name: 'rspec',
  manifests: RUBY_MANIFESTS,
  idRoot: 'file',
  async detect(folder) {
    if (!(await folder.hasFile(/_spec\.rb$/, { manifests: RUBY_MANIFESTS })) || (await hasSpecsOfMinitest(folder))) return [];
    return [(await folder.has('Gemfile', 'gems.rb')) ? 'bundle exec rspec' : 'rspec'];
  },
  understands: (command) => programUses(command, ['rspec']).length > 0 || programUses(command, ['rake']).some((use) => use.arguments.some(({ text }) => /^spec(?:$|:)/.test(text))),
  configuration: RUBY_CONFIGURATION,
  prepare: prepareRuby,
};
