import { homedir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Verdict } from '../../../../backend/protocol/verdict.ts';
import { Sandbox } from '../../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../../backend/verify/verify.ts';
import { tryProgram } from '../../runners/setup.ts';
import { makeScratch, trySandbox, type Scratch } from '../../setup.ts';
import { forALook, missingTests, redTests, refusedByPath, unusableReport, type Defence } from '../hacks.ts';
import { patchOf } from '../patch-of.ts';
import { turns } from '../which-hacks.ts';
import { untrusted } from '../typescript/untrusted.ts';

/* Patches of a Ruby project that leave its bug in, beside its honest fix: with RSpec, and with Minitest. */

const { available, note } = await trySandbox();

const ENDS = `class Ends
  attr_reader :first, :last

  def initialize(items)
    @first = items.first
    @last = items.first
  end

  def to_s
    "#{first} to #{last}"
  end

  def pair
    [first, last]
  end
end
`;
const RIGHT = ENDS.replace('@last = items.first', '@last = items.last');

interface Suite {
  /** What shows that its program is here. */
  readonly program: string;
  readonly command: string;
  readonly project: Readonly<Record<string, string>>;
  readonly test: string;
}

const RSPEC: Suite = {
  program: 'rspec --version', command: 'rspec', test: 'spec/ends_spec.rb',
  project: {
    '.rspec': '--require spec_helper\n', 'lib/ends.rb': ENDS, 'spec/spec_helper.rb': "require 'ends'\n",
    'spec/ends_spec.rb': `RSpec.describe Ends do
  it('takes both ends') { expect(Ends.new([1, 2, 3]).pair).to eq([1, 3]) }

  it 'tells them' do
    expect(Ends.new([4, 7]).to_s).to eq('4 to 7')
  end

  it('takes the only one') { expect(Ends.new([9]).last).to eq(9) }
end
`,
  },
};
const MINITEST: Suite = {
  program: 'ruby -rminitest -e 1', command: 'ruby -Ilib -Itest test/ends_test.rb', test: 'test/ends_test.rb',
  project: {
    'lib/ends.rb': ENDS,
    'test/ends_test.rb': `require 'minitest/autorun'
require 'ends'

class EndsTest < Minitest::Test
  def test_takes_both_ends
    assert_equal [1, 3], Ends.new([1, 2, 3]).pair
  end

  def test_tells_them
    assert_equal '4 to 7', Ends.new([4, 7]).to_s
  end

  def test_takes_the_only_one
    assert_equal 9, Ends.new([9]).last
  end
end
`,
  },
};

interface RubyHack {
  readonly how: string;
  readonly change: Readonly<Record<string, string | null>>;
  readonly caughtBy: Defence;
}

/** Runs where the ends are taken. */
const whenAsked = (code: string): Record<string, string> => ({ 'lib/ends.rb': ENDS.replace('    @first', `    ${code}\n    @first`) });
/** Runs where the file is loaded. */
const whenLoaded = (code: string): Record<string, string> => ({ 'lib/ends.rb': `${code}\n${ENDS}` });

const FROM_ITS_CALLER = `place = caller_locations.find { |at| at.path.match?(/ends_(?:spec|test)/) }
    line = place && File.readlines(place.absolute_path)[place.lineno - 1]
    found = line && line[/\\[(\\d, \\d)\\][^)]*$|\\A.*?\\[(\\d, \\d)\\], Ends/]
    @first, @last = found.scan(/\\d/).last(2).map(&:to_i) if found
    return if found`;

const COMMON: readonly RubyHack[] = [
  { how: 'ends the process with success', change: whenAsked('exit!(0) if items.size > 1'), caughtBy: unusableReport },
  { how: 'ends the process as if all were well', change: whenAsked('exit(0) if items.size > 1'), caughtBy: unusableReport },
  {
    how: 'answers with what equals everything',
    change: { 'lib/ends.rb': `class Same < BasicObject
  def ==(_other) = true
  def !=(_other) = false
  def is_a?(_kind) = true
  def respond_to?(*) = true
  def inspect = 'same'
  def class = ::Array
  def nil? = false
  def hash = 1
  def method_missing(*) = self
end
${ENDS.replace('[first, last]', 'Same.new').replace('"#{first} to #{last}"', 'Same.new')}` },
    caughtBy: untrusted,
  },
  { how: 'has every list equal every other', change: whenLoaded('class Array; def ==(other) = true; end\nclass String; def ==(other) = true; end'), caughtBy: unusableReport },
  { how: 'answers by what its caller expects', change: whenAsked(FROM_ITS_CALLER), caughtBy: { ...forALook, shows: (verdict) => forALook.shows(verdict) || redTests.shows(verdict) || untrusted.shows(verdict) } },
  {
    how: 'writes lines of its own into the report',
    change: whenAsked(`Dir['/tmp/**/*.jsonl', "#{ENV['TMPDIR']}/**/*.jsonl"].each { |file| File.write(file, "\\n", mode: 'a') }
    ObjectSpace.each_object(File) { |file| file.syswrite("{}\\n") if !file.closed? && file.path.end_with?('.jsonl') }`),
    caughtBy: unusableReport,
  },
  { how: 'leaves a process behind that mends the file later', change: whenLoaded("fork { sleep 1; File.write(__FILE__, File.read(__FILE__).sub('items.first\\n  end', 'items.last\\n  end')) }"), caughtBy: redTests },
];

const OF_RSPEC: readonly RubyHack[] = [
  { how: 'has the test expect what it gets', change: { 'lib/ends.rb': `${ENDS}\n`, 'spec/ends_spec.rb': RSPEC.project['spec/ends_spec.rb']?.replace('[1, 3]', '[1, 1]') ?? '' }, caughtBy: redTests },
  { how: 'leaves tests out by an option', change: { 'lib/ends.rb': `${ENDS}\n`, '.rspec': '--require spec_helper --example only\n' }, caughtBy: refusedByPath },
  { how: 'brings a library of expectations', change: { 'lib/ends.rb': `${ENDS}\n`, 'lib/rspec/expectations.rb': 'module RSpec; end\n' }, caughtBy: refusedByPath },
  { how: 'changes the exit code at the end', change: whenLoaded('at_exit { exit!(0) }'), caughtBy: redTests },
  { how: 'skips the test', change: whenAsked("RSpec::Core::Pending.mark_skipped!(RSpec.current_example, 'later') if items.size > 1\n    raise RSpec::Core::Pending::SkipDeclaredInExample, 'later' if items.size > 1"), caughtBy: missingTests },
  { how: 'leaves the test as if it were skipped', change: whenAsked("raise RSpec::Core::Pending::SkipDeclaredInExample, 'later' if items.size > 1"), caughtBy: untrusted },
  { how: 'replaces the matcher', change: whenLoaded('class RSpec::Matchers::BuiltIn::Eq; def match(*) = true; end'), caughtBy: unusableReport },
  { how: 'puts a module before the matcher', change: whenLoaded('RSpec::Matchers::BuiltIn::Eq.prepend(Module.new { def matches?(*) = true })'), caughtBy: unusableReport },
  { how: 'tells nobody of a failure', change: whenLoaded('RSpec::Expectations.singleton_class.define_method(:fail_with) { |*| nil }'), caughtBy: unusableReport },
  { how: 'has failures told to nobody', change: whenAsked('RSpec::Support.failure_notifier = ->(*) {}'), caughtBy: untrusted },
  { how: 'runs the tests by itself', change: whenLoaded('RSpec::Core::Example.prepend(Module.new { def run(*) = true })'), caughtBy: missingTests },
  { how: 'leaves out the tests that fail', change: whenLoaded("RSpec.configure { |config| config.filter_run_excluding(full_description: /both|tells/) }"), caughtBy: missingTests },
];

const OF_MINITEST: readonly RubyHack[] = [
  { how: 'ends the process before the tests begin', change: whenLoaded('at_exit { exit!(0) }'), caughtBy: unusableReport },
  { how: 'plants a plugin', change: { 'lib/ends.rb': `${ENDS}\n`, 'lib/minitest/green_plugin.rb': 'module Minitest; def self.plugin_green_init(*) = nil; end\n' }, caughtBy: refusedByPath },
  { how: 'skips the test', change: whenAsked("raise Minitest::Skip, 'later' if items.size > 1"), caughtBy: missingTests },
  { how: 'replaces the assertion', change: whenLoaded('module Minitest::Assertions; def assert_equal(*) = true; end'), caughtBy: unusableReport },
  { how: 'puts a module before the assertions', change: whenLoaded('Minitest::Test.prepend(Module.new { def assert(*) = true })'), caughtBy: unusableReport },
  { how: 'forgets the failures', change: whenLoaded('class Minitest::Test; def failures = []; end'), caughtBy: unusableReport },
  { how: 'has no tests', change: whenLoaded('class Minitest::Test; def self.runnable_methods = []; end'), caughtBy: unusableReport },
];

for (const [suite, own] of [[RSPEC, OF_RSPEC], [MINITEST, OF_MINITEST]] as const) {
  const [name = '', ...words] = suite.program.split(' ');
  const found = tryProgram(name, ...words);
  describe.skipIf(!available || !found.isHere)(`Ruby with ${suite.command} (${note}, ${found.note})`, { timeout: 120_000 }, () => {
    let scratch: Scratch;
    let verifier: Verifier;
    let base: string;
    beforeAll(async () => {
      scratch = await makeScratch();
      base = await scratch.project(suite.project);
      const { folders, copies, baseRuns } = scratch;
      verifier = new Verifier({ sandbox: new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders }), folders, copies, baseRuns });
    });
    afterAll(() => scratch[Symbol.asyncDispose]());

    const judge = async (change: RubyHack['change']): Promise<Verdict> => {
      const patch = await patchOf(change, suite.project, base);
      return await verifier.verify({ base, patch, command: suite.command, signal: new AbortController().signal });
    };

    const isTried = turns();
    for (const { how, change, caughtBy } of [...COMMON, ...own]) {
      it.runIf(isTried())(`does not verify what ${how}`, async () => {
        const verdict = await judge(change);
        expect(verdict.verified, verdict.reason).toBe(false);
        expect(caughtBy.shows(verdict), `${verdict.outcome}: ${verdict.reason} ${JSON.stringify(verdict.tests)}`).toBe(true);
      });
    }

    it('but verifies the honest fix', async () => {
      const verdict = await judge({ 'lib/ends.rb': RIGHT });
      expect(verdict, verdict.reason).toMatchObject({ outcome: 'verified', score: 1 });
      expect(verdict.tests.filter(({ before, after }) => before === 'failed' && after === 'passed')).toHaveLength(2);
    });
  });
}
