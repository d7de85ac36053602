import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { alterExpectations } from '../../../backend/verify/control/alter-expectations.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function alter(text: string, name: string) {
  const folder = await temporaryFolder();
  const file = 'spec/a_spec.rb';
  await mkdir(path.join(folder, 'spec'), { recursive: true });
  await writeFile(path.join(folder, file), text);
  const { certain, texts } = await alterExpectations({ folder, paths: new Set([file]), runner: { name: 'rspec', idRoot: 'file' }, ids: [`${file} > ${name}`] });
  return { isSure: certain.size === 1, text: texts.get(file) ?? text };
}

const rspec = (body: string, around = ''): string => `RSpec.describe Shop do\n${around}\n  it 'totals' do\n    ${body}\n  end\nend\n`;
const minitest = (body: string): string => `class ShopTest < Minitest::Test\n  def test_totals\n    ${body}\n  end\nend\n`;

describe('in Ruby, the negative control expects another value', () => {
  it.each([
    ['of eq', 'expect(total).to eq(600)', /eq\((?!600)\d{3}\)/],
    ['of a text', "expect(name).to eq 'first'", /eq '(?!first)[a-z]{5}'/],
    ['of a negative number', 'expect(total).to eql(-600)', /eql\(-(?!600)\d{3}\)/],
    ['of one that must be', 'expect(total).to be == 600', /be == (?!600)\d{3}/],
    ['of a list', 'expect(list).to match_array([600])', /\[(?!600)\d{3}\]/],
    ['of words', 'expect(list).to eq %w[first]', /%w\[(?!first)[a-z]{5}\]/],
    ['of a hash', 'expect(given).to eq(a: :first)', /a: :(?!first)[a-z]{5}\)/],
    ['of a part of a text', "expect(text).to include('first words')", /include\('(?!first words)[a-z]{5} [a-z]{5}'\)/],
    ['of a class', 'expect { total }.to raise_error(ArgumentError)', /raise_error\((?!ArgumentError)[A-Z][\w:]+\)/],
    ['of the words of an error', "expect { total }.to raise_error(ArgumentError, 'first')", /ArgumentError, '(?!first)[a-z]{5}'/],
    ['of a text over lines', 'expect(text).to eq(<<~TEXT)\n      first\n    TEXT', /\n {6}(?!first)[a-z]{5}\n/],
    ['of a local variable', 'want = 600\n    expect(total).to eq(want)', /want = (?!600)\d{3}\n/],
    ['of a group', 'aggregate_failures do\n      expect(total).to eq(600)\n    end', /eq\((?!600)\d{3}\)/],
    ['of a table', '[[1, 600], [2, 700]].each do |given, want|\n      expect(total(given)).to eq(want)\n    end', /\[\[1, (?!600)\d{3}\], \[2, (?!700)\d{3}\]\]/],
    ['of any error', 'expect { total }.to raise_error', /raise_error\([A-Z][\w:]+\)/],
    ['of an error with a pattern', 'expect { total }.to raise_error(/first/)', /raise_error\([A-Z][\w:]+, \/first\/\)/],
    ['of the only block', 'open(file) do |text|\n      expect(text.size).to eq(600)\n    end', /eq\((?!600)\d{3}\)/],
    ['of the only block in a block', 'list.each { |item| open(item) { |text| expect(text.size).to eq(600) } }', /eq\((?!600)\d{3}\)/],
    ['in the old way', 'total.should == 600', /should == (?!600)\d{3}/],
    ['or the opposite', 'expect(total).to be_zero', /not_to be_zero/],
    ['or the opposite of the opposite', 'expect(total).not_to be_zero', /expect\(total\)\.to be_zero/],
  ])('%s in RSpec', async (_, body, altered) => {
    expect(await alter(rspec(body), 'Shop > totals')).toMatchObject({ isSure: true, text: expect.stringMatching(altered) as string });
  });

  it('of what `let` gives', async () => {
    const made = await alter(rspec('expect(total).to eq(want)', '  let(:want) { 600 }'), 'Shop > totals');
    expect(made).toMatchObject({ isSure: true, text: expect.stringMatching(/let\(:want\) \{ (?!600)\d{3} \}/) as string });
  });

  it.each([
    ['a value', 'assert_equal 600, total', /assert_equal (?!600)\d{3}, total/],
    ['a number that is near', 'assert_in_delta 600.0, total, 0.5', /delta (?!600)\d{3}\.0, total/],
    ['a class', 'assert_raises(ArgumentError) { total }', /assert_raises\((?!ArgumentError)[A-Z][\w:]+\)/],
    ['any error', 'assert_raises { total }', /assert_raises\([A-Z][\w:]+\) \{/],
    ['an error that is kept', 'error = assert_raises(ArgumentError) { total }\n    puts error', /assert_raises\((?!ArgumentError)[A-Z][\w:]+\)/],
    ['a list of which each item is looked at', 'totals.each { |total| assert_equal 600, total }', /assert_equal (?!600)\d{3}, total/],
    ['what a stub leads to', 'Time.stub(:now, now) { assert_equal 600, total }', /assert_equal (?!600)\d{3}, total/],
    ['the opposite in a block of a helper', 'with_files(list) { |path| assert_equal(list, read(path)) }', /refute_equal\(list/],
    ['an expectation', '_(total).must_equal 600', /must_equal (?!600)\d{3}/],
    ['the opposite', 'assert_nil total', /refute_nil total/],
    ['the opposite in test-unit', 'assert_true total', /assert_false total/],
  ])('of %s in Minitest', async (_, body, altered) => {
    expect(await alter(minitest(body), 'ShopTest > test_totals')).toMatchObject({ isSure: true, text: expect.stringMatching(altered) as string });
  });

  it.each([
    ['with the words of a class and a method', "RSpec.describe Shop, '#total', :slow do\n  it('is') { expect(total).to eq 600 }\nend\n", 'Shop#total > is'],
    ['in a group of a group', "describe 'a' do\n  context 'b' do\n    it 'is' do\n      expect(total).to eq 600\n    end\n  end\nend\n", 'a > b > is'],
    ['without words', 'RSpec.describe Shop do\n  it { is_expected.to eq 600 }\nend\n', 'Shop > example 1'],
    ['that a loop declares', "RSpec.describe Shop do\n  [1, 2].each do |number|\n    it(\"is #{number}\") { expect(total).to eq 600 }\n  end\nend\n", 'Shop > is 2'],
    ['that is shared', "RSpec.describe Shop do\n  shared_examples 'sums' do\n    it('is') { expect(total).to eq 600 }\n  end\n  it_behaves_like 'sums'\nend\n", 'Shop > behaves like sums > is'],
    ["of Minitest's describe", "describe Shop do\n  describe 'sums' do\n    it 'is' do\n      assert_equal 600, total\n    end\n  end\nend\n", 'Shop::sums > test_0001_is'],
    ["of Rails' test", "class ShopTest < ActiveSupport::TestCase\n  test 'sums up' do\n    assert_equal 600, total\n  end\nend\n", 'ShopTest > test_sums_up'],
    ['that a class defines', "class ShopTest < Minitest::Test\n  %w[a b].each do |name|\n    define_method(\"test_#{name}\") { assert_equal 600, total }\n  end\nend\n", 'ShopTest > test_b'],
    ['that a condition declares', "class ShopTest < Minitest::Test\n  if Shop.open?\n    def test_it\n      assert_equal 600, total\n    end\n  end\nend\n", 'ShopTest > test_it'],
    ['that a method of the class declares', "class ShopTest < Minitest::Test\n  class << self\n    def sums(name)\n      define_method(\"test_#{name}\") { assert_equal 600, total }\n    end\n  end\n  sums 'up'\nend\n", 'ShopTest > test_up'],
    ['in a module of one that is included', "include Shop\nmodule Big\n  class ShopTest < Minitest::Test\n    def test_it\n      assert_equal 600, total\n    end\n  end\nend\n", 'Shop::Big::ShopTest > test_it'],
    ['in a module', "module Big\n  class ShopTest < Minitest::Test\n    def test_it\n      assert_equal 600, total\n    end\n  end\nend\n", 'Big::ShopTest > test_it'],
  ])('in a test %s', async (_, text, name) => {
    expect(await alter(text, name)).toMatchObject({ isSure: true, text: expect.stringMatching(/(?:eq|equal) (?!600)\d{3}\b/) as string });
  });

  it('in each definition that may have made a test', async () => {
    const text = "class ShopTest < Minitest::Test\n  def self.wrong(name)\n    define_method(\"test_of_wrong_#{name}\") { assert_raises(ArgumentError) { total } }\n  end\n  %w[a b].each do |name|\n    define_method(\"test_of_#{name}\") { assert_equal 600, total }\n  end\n  wrong 'a'\nend\n";
    expect(await alter(text, 'ShopTest > test_of_wrong_a')).toMatchObject({ isSure: true, text: expect.stringMatching(/assert_raises\((?!ArgumentError)[^]*assert_equal (?!600)/) as string });
  });

  it.each([
    ['in one of several blocks', 'open { |file| expect(file.read).to eq(600) }\n    read { |file| expect(file.read).to eq(600) }'],
    ['in a block that runs later', 'shop.on_sale { |item| expect(item).to eq(600) }'],
    ['in a block of another thread', 'Thread.new { expect(total).to eq(600) }'],
    ['in a block that is left', 'list.each do |item|\n      next if item.nil?\n      expect(item).to eq(600)\n    end'],
    ['behind a return', 'return if slow?\n    expect(total).to eq(600)'],
    ['behind a skip', 'skip "later" if slow?\n    expect(total).to eq(600)'],
    ['beside a rescue', 'begin\n      expect(total).to eq(600)\n    rescue StandardError\n      nil\n    end'],
    ['of a value that is used twice', 'want = 600\n    expect(total(want)).to change { a }.by(want)'],
    ['whose opposite says nothing', 'expect { total }.not_to raise_error(ArgumentError) && expect(list).to all(be_odd)'],
    ['that cannot be turned', 'expect(list).to all(be_odd)'],
  ])('and is not sure of one %s', async (_, body) => {
    expect(await alter(rspec(body), 'Shop > totals')).toEqual({ isSure: false, text: rspec(body) });
  });
});
