import { editedPart, insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { HelperCopies } from './helper-copies.ts';
import { alteredMacro, attributesOf } from './rust-assertions.ts';
import { RustValues } from './rust-values.ts';
import type { SourceFile, SourceTest, Title } from './source-test.ts';

const MAX_MODULES = 50;

const isFunction = ({ type }: Node): boolean => /^(?:function_item|closure_expression|async_block)$/.test(type);

/** The functions of a file with an attribute such as `#[test]`. Their names include the enclosing modules. */
export function rustTests(root: Node, source: SourceFile): readonly SourceTest[] {
  const bodies = new RustBodies(root, source);
  const testsIn = (block: Node, modules: readonly string[]): readonly SourceTest[] =>
    partsOf(block).flatMap((node) => {
      const [name, body] = [node.childForFieldName('name')?.text, node.childForFieldName('body')];
      if (name === undefined || !body || modules.length > MAX_MODULES) return [];
      if (node.type === 'mod_item') return testsIn(body, [...modules, name]);
      const attributes = attributesOf(node);
      if (node.type !== 'function_item' || !attributes.some((text) => TEST.test(text))) return [];
      const whole = [...modules, name].join('::');
      const titles: Title[] = attributes.some((text) => CASES.test(text)) ? [[whole], [`${whole}::`, undefined]] : [[whole]];
      const expectsPanic = attributes.some((text) => /^#\[should_panic\b/.test(text));
      return [{
        titles,
        isSkipped: attributes.some((text) => /^#\[ignore\b/.test(text)),
        alter: () => (expectsPanic ? undefined : bodies.alterTest(node)),
      }];
    });
  return testsIn(root, []);
}

/** `#[test]`, `#[tokio::test(flavor = "…")]`, `#[rstest]`. */
const TEST = /^#\[\s*(?:[\w:]*::)?(?:test|rstest|test_case|wasm_bindgen_test)\b/;
/** Attributes of tests whose cases are separate tests. */
const CASES = /^#\[\s*(?:[\w:]*::)?(?:rstest|test_case|case|values)\b/;

/**
 * Alters functions of one file as described in `alter-expectations.ts`. An assertion becomes the condition under which it would hold. Each
 * macro is also called once with values for which it must panic, since a crate may define its own macros with these names.
 */
class RustBodies {
  readonly #source: SourceFile;
  readonly #functions = new Map<string, Node | undefined>();
  readonly #copies = new HelperCopies();
  readonly #values: RustValues;

  constructor(root: Node, source: SourceFile) {
    this.#source = source;
    for (const node of nodesIn(root)) {
      const name = node.type === 'function_item' ? node.childForFieldName('name')?.text : undefined;
      if (name !== undefined) this.#functions.set(name, this.#functions.has(name) ? undefined : node);
    }
    this.#values = new RustValues(root, this.#functions, source.dice);
  }

  /** Alters a test by one literal, or, where no assertion is certain to be reached, each assertion. */
  alterTest(definition: Node): readonly Edit[] | undefined {
    return this.#values.alter(definition) ?? this.alter(definition);
  }

  alter(definition: Node): readonly Edit[] | undefined {
    const body = definition.childForFieldName('body');
    if (!body || body.hasError) return undefined;
    const { held } = this.#source;
    const own = [...nodesIn(body, isFunction)];
    const macros = new Set<string>();
    const tried = own.flatMap((node) => this.#tried(node, macros) ?? []);
    if (tried.length === 0) return undefined;
    const probes = [...macros].map((name) => ` | ${silent(`${name}!(${name.endsWith('assert') ? 'false' : name.endsWith('_eq') ? '0, 1' : '0, 0'})`)}`);
    const check = `if !${held} { panic!("altered") }`;
    const last = partsOf(body).at(-1);
    const isValue = last !== undefined && !/_(?:statement|item|declaration)$/.test(last.type);
    const givesValue = isValue && definition.childForFieldName('return_type') !== null;
    return [
      insertion(definition.startIndex, '#[allow(unused)] '),
      insertion(body.startIndex + 1, `${STD} let mut ${held} = false${probes.join('')};`),
      ...(givesValue ? [insertion(last.startIndex, `${check} `)] : []),
      ...tried,
      ...own
        .filter(({ type }) => type === 'return_expression')
        .flatMap(({ startIndex, endIndex }) => [insertion(startIndex, `{ ${check} `), insertion(endIndex, ' }')]),
      ...(givesValue ? [] : [insertion(body.endIndex - 1, `${isValue && last.type !== 'macro_invocation' ? ';' : ''} ${check} `)]),
    ];
  }

  #tried(node: Node, macros: Set<string>): readonly Edit[] | undefined {
    const parent = node.parent?.type ?? '';
    const macro = node.type === 'macro_invocation' && /^(?:expression_statement|block|match_arm)$/.test(parent) ? alteredMacro(node) : undefined;
    if (!macro) return this.#helperCall(node);
    macros.add(macro.name);
    const text = `if ${macro.condition} { ${this.#source.held} = true; }`;
    return [replacement(node, parent === 'match_arm' ? `{ ${text} }` : text)];
  }

  /** Calls the altered copy of a helper instead. The copy panics if none of its assertions held. */
  #helperCall(call: Node): readonly Edit[] | undefined {
    const called = call.type === 'call_expression' && call.parent?.type === 'expression_statement' ? call.childForFieldName('function') : null;
    const helper = called?.type === 'identifier' ? this.#functions.get(called.text) : undefined;
    const copy = called && helper && this.#copies.of(helper, (found) => this.#copy(found));
    // The call is moved into a closure, where `?`, `return` and `await` would not act on the test.
    if (!copy || /\?|\breturn\b|\bawait\b/.test(call.text)) return undefined;
    const text = `if ${silent(this.#nameOf(called.text) + call.text.slice(called.text.length))} { ${this.#source.held} = true; }`;
    return [replacement(call, text), ...copy];
  }

  #copy(helper: Node): readonly Edit[] | undefined {
    const name = helper.childForFieldName('name');
    const edits = /^(?:pub )?async\b/.test(helper.text) ? undefined : this.alter(helper);
    if (!name || !edits) return undefined;
    const copy = editedPart(this.#source.text, helper, [...edits, replacement(name, this.#nameOf(name.text))]);
    return copy && [insertion(helper.endIndex, `\n\n${copy.part}`), ...copy.outside];
  }

  #nameOf(helper: string): string {
    return `${this.#source.held}_${helper}`;
  }
}

/** A crate of tests may be `no_std`. Elsewhere this changes nothing. */
const STD = ' #[allow(unused_extern_crates)] extern crate std;';

/** An expression that is true if the call does not panic. */
const silent = (call: string): string => `std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| { ${call}; })).is_ok()`;
