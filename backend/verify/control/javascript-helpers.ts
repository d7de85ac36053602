import { nodesIn } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { isFunction } from './javascript-scopes.ts';
import type { ImportedTree } from './source-test.ts';

/** What a file exports under no name of its own. */
const DEFAULT = 'default';

/** Finds the functions that tests call, in their file and in those that it imports. */
export class JavaScriptHelpers {
  /** By the root of a file's tree, for the files that were looked into. */
  readonly #functions = new Map<number, ReadonlyMap<string, Node>>();
  readonly #root: Node;
  readonly #imported: readonly ImportedTree[];

  constructor(root: Node, imported: readonly ImportedTree[]) {
    this.#root = root;
    this.#imported = imported;
  }

  /** The function that is called by this name, or by this member of an imported file. */
  find(called: Node): Node | undefined {
    if (called.type === 'identifier') return this.#functionsOf(called.tree.rootNode).get(called.text) ?? this.#ofImport(called, called.text);
    const [object, property] = [called.childForFieldName('object'), called.childForFieldName('property')];
    return object?.type === 'identifier' && property ? this.#ofImport(called, `${object.text}.${property.text}`) : undefined;
  }

  #ofImport(called: Node, name: string): Node | undefined {
    if (called.tree.rootNode.id !== this.#root.id) return undefined;
    const [object = '', member] = name.split('.');
    for (const { root, names } of this.#imported) {
      const [whole, exported] = [names.get(`${object}.*`), names.get(name)];
      const wanted = member !== undefined && whole !== undefined ? member : member === undefined ? exported : undefined;
      const found = wanted === undefined ? undefined : this.#functionsOf(root).get(wanted);
      if (found) return found;
    }
    return undefined;
  }

  #functionsOf(root: Node): ReadonlyMap<string, Node> {
    const found = this.#functions.get(root.id) ?? functionsIn(root);
    this.#functions.set(root.id, found);
    return found;
  }
}

/** The functions of a file whose names are unique. */
function functionsIn(root: Node): ReadonlyMap<string, Node> {
  const found = new Map<string, Node | undefined>();
  for (const node of nodesIn(root)) {
    const [name, value] = namedFunction(node);
    if (name !== '' && value && isFunction(value)) found.set(name, found.has(name) ? undefined : value);
    if (node.type === 'export_statement' && node.text.startsWith('export default')) {
      const exported = node.childForFieldName('value') ?? node.childForFieldName('declaration');
      if (exported && isFunction(exported)) found.set(DEFAULT, exported);
    }
  }
  return new Map([...found].filter((entry): entry is [string, Node] => entry[1] !== undefined));
}

function namedFunction(node: Node): readonly [name: string, value: Node | null] {
  const name = node.childForFieldName('name')?.text ?? '';
  if (node.type === 'variable_declarator') return [name, node.childForFieldName('value')];
  if (node.type === 'function_declaration') return [name, node];
  const left = node.type === 'assignment_expression' ? (node.childForFieldName('left')?.text ?? '') : '';
  const exported = left === 'module.exports' ? DEFAULT : /^(?:module\.)?exports\.(\w+)$/.exec(left)?.[1];
  return [exported ?? '', node.childForFieldName('right')];
}
