import { languageOf, type Language } from '../syntax/language.ts';
import { nodesIn, partsOf, tokensOf } from '../syntax/nodes.ts';
import { withTree, type Node } from '../syntax/parse.ts';

/**
 * The tests in a source file (text): Rust's test modules, test functions and documentation examples, Python's doctests, and vitest's
 * in-source tests. Each is normalized, so that layout and comments do not count, and comes with the code beside it in its block: a changed
 * helper can change what a test checks.
 */
export async function embeddedTests(text: string, path: string): Promise<readonly string[]> {
  const language = languageOf(path);
  if (!language || !MARKS.test(text)) return [];
  const found = await withTree(text, language, (root) => testsIn(root, text, language));
  // A file that cannot be parsed counts as one test: it may not change.
  return found ?? [text];
}

/** Whether an edit removes or changes a test in a source file. */
export async function weakensEmbeddedTests(path: string, before: string, after: string): Promise<boolean> {
  const left = new Map<string, number>();
  for (const test of await embeddedTests(after, path)) left.set(test, (left.get(test) ?? 0) + 1);
  for (const test of await embeddedTests(before, path)) {
    const count = left.get(test) ?? 0;
    if (count === 0) return true;
    left.set(test, count - 1);
  }
  return false;
}

const MARKS = /#\[|```|~~~|>>>|import\.meta\.vitest/;

const MAX_DEPTH = 50;

function testsIn(root: Node, text: string, language: Language): readonly string[] {
  switch (language) {
    case 'rust':
      return [...rustTests(root, '', false, 0), ...examplesIn(text)];
    case 'python':
      return doctestsIn(root);
    case 'javascript':
    case 'typescript':
    case 'tsx':
      return [...nodesIn(root)].filter(isVitestBlock).flatMap((node) => {
        const body = node.childForFieldName('consequence');
        return body ? javascriptTests(body, '', 0) : [];
      });
    case 'go':
    case 'java':
    case 'php':
    case 'ruby':
      return [];
  }
}

const normal = (node: Node): string => tokensOf(node).join(' ');

/** `isTestModule`: everything in such a block belongs to its tests. */
function rustTests(block: Node, around: string, isTestModule: boolean, depth: number): readonly string[] {
  if (depth > MAX_DEPTH) return [normal(block)];
  const items: { node: Node; attributes: readonly string[] }[] = [];
  let attributes: string[] = [];
  for (const node of partsOf(block)) {
    if (node.type === 'attribute_item') {
      attributes.push(normal(node));
      continue;
    }
    items.push({ node, attributes });
    attributes = [];
  }
  const isTest = (item: (typeof items)[number]): boolean =>
    item.attributes.some((attribute) => /^# \[ (?:\w+ :: )*(?:test|rstest|test_case|bench|wasm_bindgen_test|quickcheck)\b/.test(attribute));
  const isForTests = (item: (typeof items)[number]): boolean =>
    item.attributes.some((attribute) => /^# \[ cfg\b.*\btest\b/.test(attribute) && !/\bnot \( test \)/.test(attribute));
  const written = ({ node, attributes: own }: (typeof items)[number]): string => [...own, normal(node)].join(' ');

  const rest = isTestModule ? items.filter((item) => !isTest(item) && item.node.type !== 'mod_item').map(written).join(' ') : '';
  const context = `${around} ${rest}`.trim();
  return items.flatMap((item) => {
    const body = item.node.type === 'mod_item' ? item.node.childForFieldName('body') : null;
    if (isTest(item)) return [`${context} ${written(item)}`];
    if (body) {
      const isModuleOfTests = isTestModule || isForTests(item);
      const name = `${item.attributes.join(' ')} mod ${item.node.childForFieldName('name')?.text ?? ''}`;
      return rustTests(body, isModuleOfTests ? `${context} ${name}` : '', isModuleOfTests, depth + 1);
    }
    return isForTests(item) ? [written(item)] : [];
  });
}

/** The info strings of code blocks that rustdoc takes for Rust. */
const RUST_FENCE = /^(?:$|(?:[,\s]*(?:rust|ignore(?:-\w+)?|should_panic|no_run|compile_fail|test_harness|standalone(?:_crate)?|edition\d+|E\d+))+[,\s]*$)/;

/** The code blocks in Rust documentation. They are tests unless their info string says otherwise. */
function examplesIn(text: string): readonly string[] {
  const found: string[] = [];
  let fence: { readonly mark: string; readonly lines: string[] } | undefined;
  let isInBlock = false;
  for (const line of text.split(/\r?\n/)) {
    const [, documented] = /^\s*(?:\/\/\/(?!\/)|\/\/!|#!?\[doc\s*=\s*r?#*") ?(.*)$/.exec(line) ?? [];
    const opens = /^\s*\/\*[*!](?!\*)/.test(line);
    const said = documented ?? (isInBlock || opens ? line.replace(/^\s*(?:\/\*[*!]|\*(?!\/))? ?/, '') : undefined);
    isInBlock = (isInBlock || opens) && !line.includes('*/');
    if (said === undefined) {
      fence = undefined;
      continue;
    }
    const [, mark, info = ''] = /^\s*(`{3,}|~{3,})\s*(.*?)\s*$/.exec(said) ?? [];
    if (!fence && mark !== undefined) fence = { mark, lines: [info] };
    else if (fence && mark?.startsWith(fence.mark) && info === '') {
      if (RUST_FENCE.test(fence.lines[0] ?? '')) found.push(fence.lines.join('\n'));
      fence = undefined;
    } else fence?.lines.push(said.trimEnd());
  }
  return found;
}

/** Each example of a docstring, with the ones before it, because it may use their values. */
function doctestsIn(root: Node): readonly string[] {
  const found: string[] = [];
  for (const node of nodesIn(root)) {
    const body = node.type === 'module' ? node : /^(?:function|class)_definition$/.test(node.type) ? node.childForFieldName('body') : null;
    const first = body ? partsOf(body)[0] : undefined;
    const [literal] = first?.type === 'expression_statement' ? partsOf(first) : [];
    if (literal?.type !== 'string' && literal?.type !== 'concatenated_string') continue;
    let before = '';
    for (const example of examplesOf(literal.text.replace(/["']{1,3}$/, ''))) {
      before += `${example}\n`;
      found.push(before);
    }
  }
  return found;
}

/** Each reaches from `>>>` to the end of its expected output. */
function examplesOf(docstring: string): readonly string[] {
  const examples: string[] = [];
  let open: { readonly indent: string; readonly lines: string[] } | undefined;
  for (const line of docstring.split(/\r?\n/)) {
    const [, indent] = /^(\s*|\s*\w{0,2}["']{1,3}\s*)>>>(?:\s|$)/.exec(line) ?? [];
    if (indent !== undefined || line.trim() === '') {
      if (open) examples.push(open.lines.join('\n'));
      open = indent === undefined ? undefined : { indent, lines: [] };
    }
    open?.lines.push((line.startsWith(open.indent) ? line.slice(open.indent.length) : line.trimStart()).trimEnd());
  }
  if (open) examples.push(open.lines.join('\n'));
  return examples;
}

const isVitestBlock = (node: Node): boolean =>
  node.type === 'if_statement' && /\bimport\.meta\.vitest\b/.test(node.childForFieldName('condition')?.text ?? '');

const TEST = /^(?:it|test|specify|bench)\b/;
const SUITE = /^(?:describe|suite|context)\b/;

function javascriptTests(block: Node, around: string, depth: number): readonly string[] {
  const statements = partsOf(block);
  const calledIn = (statement: Node): Node | undefined => {
    const [call] = statement.type === 'expression_statement' ? partsOf(statement) : [];
    return call?.type === 'call_expression' ? call : undefined;
  };
  const called = (statement: Node): string => calledIn(statement)?.childForFieldName('function')?.text ?? '';
  const isTest = (statement: Node): boolean => TEST.test(called(statement)) || SUITE.test(called(statement));
  const rest = statements.filter((statement) => !isTest(statement)).map(normal).join(' ');
  const context = `${around} ${rest}`.trim();
  return statements.filter(isTest).flatMap((statement) => {
    const list = calledIn(statement)?.childForFieldName('arguments');
    const body = list ? partsOf(list).map((part) => part.childForFieldName('body')).find((found) => found?.type === 'statement_block') : undefined;
    if (!SUITE.test(called(statement)) || !list || !body || depth > MAX_DEPTH) return [`${context} ${normal(statement)}`];
    const heading = [called(statement), ...partsOf(list).filter((part) => !part.childForFieldName('body')).map(normal)].join(' ');
    return javascriptTests(body, `${context} ${heading}`, depth + 1);
  });
}
