import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { callOf, RubyValues } from './ruby-values.ts';
import { joinedTitles, type SourceFile, type SourceTest, type Title } from './source-test.ts';

const GROUP = /^[fx]?(?:describe|context|feature|example_group)$/;
const EXAMPLE = /^(?:[fx]?(?:it|specify|example|scenario|its)|skip|pending)$/;
const SHARED = /^(?:shared_examples(?:_for)?|shared_context)$/;
const USES_SHARED = /^(?:include_examples|it_behaves_like|it_should_behave_like|include_context)$/;

/** What tests of Minitest may be declared in, beside classes and blocks. */
const DECLARES = /^(?:singleton_class|method|singleton_method|body_statement|if|unless|then|else)$/;

const MAX_DEPTH = 20;

/** The tests of RSpec, Minitest and test-unit in a file. */
export function rubyTests(root: Node, source: SourceFile): readonly SourceTest[] {
  const values = new RubyValues(root, source.dice);
  const shared = sharedIn(root);
  const test = (titles: readonly Title[], body: Node | undefined, isSkipped: boolean): SourceTest => ({
    titles, isSkipped: isSkipped || !body || skipsAtOnce(body), ...(body && { body }), alter: () => (body ? values.alter(body) : undefined),
  });

  /** `path`: the words of the groups around. */
  const examplesIn = (body: Node, path: readonly Title[], isSkipped: boolean, depth: number): readonly SourceTest[] =>
    depth > MAX_DEPTH ? [] : partsOf(body).flatMap((statement) => {
      const call = callOf(statement);
      const inner = call?.block?.childForFieldName('body') ?? undefined;
      if (!call) return [];
      const { method: { text: name }, given, receiver } = call;
      const isOff = isSkipped || /^(?:x|skip$|pending$)/.test(name) || isMarkedSkipped(given);
      const isOfRSpec = !receiver || receiver.text === 'RSpec';
      if (isOfRSpec && GROUP.test(name) && inner) return examplesIn(inner, [...path, wordsOf(given)], isOff, depth + 1);
      if (isOfRSpec && EXAMPLE.test(name)) {
        const words = given.filter(({ type }) => !/^(?:simple_symbol|pair|hash)$/.test(type));
        const own: Title = words.length === 0 || name === 'its' ? ['example ', undefined] : wordsOf(words);
        return [test([joinedTitles([...path, own]), ...specTitles(path, words)], inner, isOff)];
      }
      if (isOfRSpec && USES_SHARED.test(name)) {
        const [used] = given;
        const block = used && shared.get(used.text);
        const around: readonly Title[] = used && /^it_/.test(name) ? [...path, ['behaves like ', ...wordsOf([used])]] : path;
        return [...(block ? examplesIn(block, around, isOff, depth + 1) : []), ...(inner ? examplesIn(inner, around, isOff, depth + 1) : [])];
      }
      // Tests that a loop declares.
      return inner && receiver && /^each/.test(name) ? examplesIn(inner, path, isSkipped, depth + 1) : [];
    });

  const methodsIn = (body: Node, names: readonly string[], depth: number): readonly SourceTest[] =>
    depth > MAX_DEPTH ? [] : partsOf(body).flatMap((node) => {
      const [name, inner] = [node.childForFieldName('name')?.text, node.childForFieldName('body') ?? undefined];
      if (/^(?:class|module)$/.test(node.type) && name !== undefined && inner) return methodsIn(inner, [...names, name], depth + 1);
      const owner = names.join('::');
      // After `include Shop`, `module Parts` may go on with `Shop::Parts`.
      const within = (...titles: readonly Title[]): readonly Title[] => (names.length > 1 ? [...titles, ...titles.map((title): Title => [undefined, '::', ...title])] : titles);
      if (node.type === 'method' && name?.startsWith('test')) return [test(within([`${owner} > ${name}`]), inner, false)];
      const call = callOf(node);
      const [words] = call?.given ?? [];
      const block = call?.block?.childForFieldName('body') ?? undefined;
      const title = words?.type === 'string' ? wordsOf([words]) : words?.type === 'simple_symbol' ? [words.text.slice(1)] : [undefined];
      if (block && words && call?.method.text === 'define_method') return [test(within([`${owner} > `, ...title]), block, false)];
      if (block && words && call?.method.text === 'test') return [test(within([`${owner} > test_`, ...title.map((piece) => piece?.replaceAll(/\s+/g, '_'))], [`${owner} > test: `, ...title]), block, false)];
      // Tests that a loop, a condition or a method of the class declares.
      const more = block ?? (DECLARES.test(node.type) ? node : undefined);
      return more ? methodsIn(more, names, depth + 1) : [];
    });

  const bodies = [root, ...[...nodesIn(root, ({ type }) => /^(?:class|method|call)$/.test(type))].filter(({ type }) => type === 'module').flatMap((node) => node.childForFieldName('body') ?? [])];
  return [...bodies.flatMap((body) => examplesIn(body, [], false, 0)), ...methodsIn(root, [], 0)];
}

/** The blocks of shared examples, by how their name is written. One that is declared twice is not known. */
function sharedIn(root: Node): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>();
  const twice = new Set<string>();
  for (const node of nodesIn(root)) {
    const call = node.type === 'call' ? callOf(node) : undefined;
    const body = call?.block?.childForFieldName('body');
    const [name] = call?.given ?? [];
    if (!call || !body || !name || !SHARED.test(call.method.text)) continue;
    if (found.has(name.text)) twice.add(name.text);
    found.set(name.text, body);
  }
  for (const name of twice) found.delete(name);
  return found;
}

/** As RSpec joins them: a class, and behind it without a space what begins like a method. */
function wordsOf(given: readonly Node[]): Title {
  const words = given.filter(({ type }) => !/^(?:simple_symbol|pair|hash)$/.test(type));
  return words.flatMap((word, index) => {
    const title = wordOf(word);
    const isOfClass = index > 0 && /^(?:constant|scope_resolution)$/.test(words[index - 1]?.type ?? '') && /^(?:#|::|\.)/.test(title[0] ?? '');
    return index === 0 || isOfClass ? title : [' ', ...title];
  });
}

function wordOf(word: Node): Title {
  if (/^(?:constant|scope_resolution)$/.test(word.type)) return word.parent?.parent && isInModule(word) ? [undefined, word.text] : [word.text];
  if (word.type !== 'string') return [undefined];
  return word.namedChildren.map((part) => (part?.type === 'string_content' ? part.text : undefined));
}

const isInModule = (node: Node): boolean => {
  for (let at = node.parent; at; at = at.parent) if (at.type === 'module') return true;
  return false;
};

/** How Minitest's `describe` and `it` name a test: `outer::inner > test_0001_words`. */
function specTitles(path: readonly Title[], words: readonly Node[]): readonly Title[] {
  if (path.length === 0) return [];
  const owner = path.flatMap((title, index) => (index === 0 ? title : ['::', ...title]));
  return [[...owner, ' > test_', undefined, ...(words.length === 0 ? ['_anonymous'] : ['_', ...wordsOf(words)])]];
}

const isMarkedSkipped = (given: readonly Node[]): boolean => given.some(({ text }) => /^(?::skip|:pending|skip: |pending: )/.test(text));

function skipsAtOnce(body: Node): boolean {
  const [first] = partsOf(body);
  return first !== undefined && /^(?:skip|pending|omit|pend)\b/.test(first.text);
}
