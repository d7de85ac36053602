import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleOf, parseRubyLines } from '../../../backend/verify/runners/ruby-run.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { changes, judge, summary, tryProgram } from './setup.ts';

const { available, note } = await trySandbox();
const rspec = tryProgram('rspec', '--version');
const minitest = tryProgram('ruby', '-rminitest', '-e', '1');
const testUnit = tryProgram('ruby', '-rtest/unit', '-e', 'exit!(0)');
const TIMEOUT_MS = 60_000;

const CODE = { 'lib/half.rb': 'def half(number) = number / 3\n' };
const FIX = { 'lib/half.rb': 'def half(number) = number / 2\n' };

describe('what Ruby tells', () => {
  it('has tests, files that cannot be loaded, and hooks that fail', () => {
    const line = (fields: object): string => JSON.stringify({ type: 'result', status: 'passed', file: '/copy/spec/a_spec.rb', names: ['A', 'is'], message: null, durationMs: 1, ...fields });
    const text = [
      line({ kind: 'test' }),
      line({ kind: 'test', names: ['A', 'reads /copy/data/b'] }),
      line({ kind: 'container', status: 'failed', names: ['An error occurred in an after hook'], message: 'x' }),
      line({ kind: 'all', status: 'failed', names: ['An error occurred while loading'], message: 'LoadError: x' }),
      '{"type":"end"}',
    ].join('\n');
    const report = parseRubyLines(text, '/copy');
    expect(summary(report)).toEqual([
      'passed spec/a_spec.rb > A > is', 'passed spec/a_spec.rb > A > reads data/b',
      'failed container spec/a_spec.rb > An error occurred in an after hook', 'failed container spec/a_spec.rb',
    ]);
    expect(report.results.map(({ hidesAll }) => hidesAll ?? false)).toEqual([false, false, false, true]);
  });
});

it('takes the gems that were installed into the project', async () => {
  const folder = await temporaryFolder();
  expect(await bundleOf(folder)).toBeUndefined();
  await mkdir(path.join(folder, 'vendor/bundle/ruby/3.1.0'), { recursive: true });
  expect(await bundleOf(folder), 'what a failed installation leaves').toBeUndefined();
  await mkdir(path.join(folder, 'vendor/bundle/ruby/3.1.0/gems'));
  expect(await bundleOf(folder)).toBe(path.join(folder, 'vendor/bundle'));
  await mkdir(path.join(folder, '.bundle'));
  await mkdir(path.join(folder, 'gems'));
  await writeFile(path.join(folder, '.bundle/config'), 'BUNDLE_PATH: "gems"\n');
  expect(await bundleOf(folder)).toBe(path.join(folder, 'gems'));
});

describe.skipIf(!available || !rspec.isHere)(`RSpec (${note}, ${rspec.note})`, { timeout: TIMEOUT_MS }, () => {
  const SPEC = `require_relative '../lib/half'
RSpec.describe 'half' do
  it('of four') { expect(half(4)).to eq(2) }
  it { expect(half(6)).to eq(3) }
  it('of none') { expect(half(0)).to eq(0) }
  xit('of a text') { expect(half('a')).to eq('') }
  pending('of one') { expect(half(1)).to eq(0.5) }
end
`;

  it('has a fix verified by what failed, with tests that are skipped or pending beside', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, { ...CODE, '.rspec': '--fail-fast\n', 'spec/half_spec.rb': SPEC }, FIX, 'rspec');
    expect(verdict.outcome, verdict.reason).toBe('verified');
    expect(changes(verdict)).toEqual({
      'spec/half_spec.rb > half > of four': 'failed → passed', 'spec/half_spec.rb > half > example 1': 'failed → passed', 'spec/half_spec.rb > half > of none': 'passed → passed',
      'spec/half_spec.rb > half > of a text': 'skipped → skipped', 'spec/half_spec.rb > half > of one': 'skipped → skipped',
    });
  });

  it('has a fix of a file that could not be loaded verified by the tests that it lets begin', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, { 'lib/half.rb': 'def half(number) = (\n', 'spec/half_spec.rb': SPEC }, FIX, 'rspec');
    expect(verdict.outcome, verdict.reason).toBe('verified');
    expect(changes(verdict)).toMatchObject({ 'spec/half_spec.rb > half > of four': 'missing → passed' });
  });

  it('does not have a wrong fix verified', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, { ...CODE, 'spec/half_spec.rb': SPEC }, { 'lib/half.rb': 'def half(number) = number / 4 + 1\n' }, 'rspec');
    expect(verdict).toMatchObject({ outcome: 'failed', verified: false });
  });

  it('says which gem is not installed', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, { ...CODE, 'spec/half_spec.rb': "require 'gem_of_nobody'\n" }, FIX, 'rspec');
    expect(verdict.reason).toBe('The tests could not be run before the change: No test could be loaded: gem_of_nobody is not installed. Run "bundle install", or install it with "gem install".');
  });
});

describe.skipIf(!available || !minitest.isHere)(`Minitest (${note}, ${minitest.note})`, { timeout: TIMEOUT_MS }, () => {
  it('has a fix verified, by rake and by itself', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...CODE,
      'Rakefile': "require 'rake/testtask'\nRake::TestTask.new { |task| task.pattern = 'test/*_test.rb' }\n",
      'test/half_test.rb': "require 'minitest/autorun'\nrequire 'half'\nclass HalfTest < Minitest::Test\n  def test_four = assert_equal(2, half(4))\n\n  def test_none = assert_equal(0, half(0))\n\n  def test_later = skip\nend\n",
    };
    for (const command of ['rake test', 'ruby -Ilib test/half_test.rb']) {
      const verdict = await judge(scratch, files, FIX, command);
      expect(verdict.outcome, verdict.reason).toBe('verified');
      expect(changes(verdict)).toEqual({ 'test/half_test.rb > HalfTest > test_four': 'failed → passed', 'test/half_test.rb > HalfTest > test_none': 'passed → passed', 'test/half_test.rb > HalfTest > test_later': 'skipped → skipped' });
    }
  });
});

describe.skipIf(!available || !testUnit.isHere)(`test-unit (${note}, ${testUnit.note})`, { timeout: TIMEOUT_MS }, () => {
  it('has a fix verified', async () => {
    await using scratch = await makeScratch();
    const test = "require 'test/unit'\nrequire 'half'\nclass HalfTest < Test::Unit::TestCase\n  test 'four' do\n    assert_equal(2, half(4))\n  end\n\n  def test_none\n    assert_equal(0, half(0))\n  end\n\n  def test_later\n    omit('later')\n  end\nend\n";
    const verdict = await judge(scratch, { ...CODE, 'test/half_test.rb': test }, FIX, 'ruby -Ilib test/half_test.rb');
    expect(verdict.outcome, verdict.reason).toBe('verified');
    expect(changes(verdict)).toEqual({ 'test/half_test.rb > HalfTest > test: four': 'failed → passed', 'test/half_test.rb > HalfTest > test_none': 'passed → passed', 'test/half_test.rb > HalfTest > test_later': 'skipped → skipped' });
  });
});
