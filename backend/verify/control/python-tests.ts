import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { PythonBodies } from './python-body.ts';
import { definesSuch } from './python-conditions.ts';
import { isIn } from './python-expected.ts';
import type { ImportedTree, SourceFile, SourceTest, Title } from './source-test.ts';

interface PythonClass {
  readonly node: Node;
  /** The names of the enclosing classes, then its own. */
  readonly path: readonly string[];
  readonly bases: readonly string[];
  readonly methods: ReadonlyMap<string, Node>;
}

/** What a file declares. */
interface PythonModule {
  readonly root: Node;
  readonly functions: ReadonlyMap<string, Node>;
  readonly classes: readonly PythonClass[];
  readonly byName: ReadonlyMap<string, PythonClass>;
}

/** The tests of pytest and unittest in a file: functions, and methods of classes, including methods inherited within the file. */
export function pythonTests(root: Node, source: SourceFile, imported: readonly ImportedTree[] = []): readonly SourceTest[] {
  const own = moduleOf(root);
  const { functions, classes, byName } = own;
  const others = imported.flatMap(({ root: other, names, text }) => (definesSuch(text) ? [] : [{ ...moduleOf(other), names }]));
  const modules: readonly PythonModule[] = [own, ...others];

  const methodOf = (from: PythonClass | undefined, name: string, inside = own, seen = new Set<PythonClass>()): Node | undefined => {
    if (!from || seen.has(from)) return undefined;
    seen.add(from);
    const written = from.methods.get(name);
    if (written) return written;
    for (const base of from.bases) {
      const here = inside.byName.get(base);
      const found = here ? methodOf(here, name, inside, seen) : inside === own ? importedMethod(base, name, seen) : undefined;
      if (found) return found;
    }
    return undefined;
  };
  const importedMethod = (base: string, name: string, seen: Set<PythonClass>): Node | undefined => {
    const other = others.find(({ names }) => names.has(base));
    return other && methodOf(other.byName.get(other.names.get(base) ?? ''), name, other, seen);
  };
  const helper = (name: string, owner: string, from: Node): Node | undefined => {
    const inside = modules.find((module) => isIn(from, module.root));
    if (!inside) return undefined;
    if (owner === '') {
      const other = inside === own ? others.find(({ names }) => names.has(name)) : undefined;
      return inside.functions.get(name) ?? other?.functions.get(other.names.get(name) ?? '');
    }
    // A class of the tests may have another method in the place of that of an imported one.
    if (!/^(?:self|cls)\.$/.test(owner) || (inside !== own && classes.some(({ methods }) => methods.has(name)))) return undefined;
    const around = inside.classes.findLast(({ node: { startIndex, endIndex } }) => startIndex <= from.startIndex && from.endIndex <= endIndex);
    return methodOf(around, name, inside);
  };

  const bodies = new PythonBodies(root, source, (name, owner, from) => {
    const found = helper(name, owner, from);
    return found && decoratorsOf(found).every((text) => /^@(?:static|class)method$/.test(text)) ? found : undefined;
  });
  const skips = new Skips(root);
  const test = (path: readonly string[], name: string, node: Node, around: readonly Node[]): SourceTest => ({
    titles: titlesOf(path, name),
    isSkipped: skips.skips(node, around),
    body: node,
    alter: () => bodies.alter(node),
  });

  return [
    ...[...functions].map(([name, node]) => test([], name, node, [])),
    ...classes.flatMap((owner) => {
      const names = new Set(lineage(owner, byName).flatMap(({ methods }) => [...methods.keys()]));
      return [...names].flatMap((name) => {
        const node = methodOf(owner, name);
        return node && isIn(node, root) ? [test(owner.path, name, node, [owner.node, ...classNodesAround(owner.node)])] : [];
      });
    }),
  ];
}

function moduleOf(root: Node): PythonModule {
  const functions = new Map<string, Node>();
  const classes: PythonClass[] = [];
  collect(root, [], functions, classes);
  return { root, functions, classes, byName: new Map(classes.map((found) => [found.path.at(-1) ?? '', found])) };
}

/** unittest joins nested class names with dots. pytest appends parameters to the name. */
function titlesOf(path: readonly string[], name: string): readonly Title[] {
  const whole = [...path, name].join(' > ');
  return [[whole], [`${whole}[`, undefined], ...(path.length > 1 ? [[`${path.join('.')} > ${name}`]] : [])];
}

/** A later definition replaces an earlier one with the same name, as in Python. Of two in the branches of an `if`, neither is known to be the one. */
function collect(block: Node, path: readonly string[], functions: Map<string, Node>, classes: PythonClass[]): void {
  const unknown = new Set<string>();
  for (const node of nodesIn(block, ({ id, type }) => id !== block.id && /^(?:function_definition|class_definition|lambda)$/.test(type))) {
    const name = node.childForFieldName('name')?.text ?? '';
    if (node.id === block.id) continue;
    if (node.type === 'function_definition') {
      const earlier = functions.get(name);
      if (earlier && blockOf(earlier)?.id !== blockOf(node)?.id) unknown.add(name);
      functions.set(name, node);
    }
    const body = node.type === 'class_definition' ? node.childForFieldName('body') : null;
    if (!body || path.length > 20) continue;
    const methods = new Map<string, Node>();
    const bases = node.childForFieldName('superclasses');
    const names = bases ? partsOf(bases).map(({ text }) => text.split('.').at(-1) ?? text) : [];
    classes.push({ node, path: [...path, name], bases: names, methods });
    collect(body, [...path, name], methods, classes);
  }
  for (const name of unknown) functions.delete(name);
}

const blockOf = ({ parent }: Node): Node | null => (parent?.type === 'decorated_definition' ? parent.parent : parent);

function lineage(owner: PythonClass, byName: ReadonlyMap<string, PythonClass>): readonly PythonClass[] {
  const found = new Set([owner]);
  for (const { bases } of found)
    for (const base of bases) {
      const next = byName.get(base);
      if (next) found.add(next);
    }
  return [...found];
}

function classNodesAround(node: Node): readonly Node[] {
  const found: Node[] = [];
  for (let at = node.parent; at; at = at.parent) if (at.type === 'class_definition') found.push(at);
  return found;
}

const decoratorsOf = ({ parent }: Node): readonly string[] =>
  parent?.type === 'decorated_definition' ? partsOf(parent).filter(({ type }) => type === 'decorator').map(({ text }) => text) : [];

const SKIP = /\b(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure|SkipTest|skipTest|importorskip)\b/;

/** Conditions on the environment, which the code under test does not decide. */
const ENVIRONMENT = /\b(?:sys|os|platform|shutil|locale)\./;

/** Checks decorators, marks of the class or module, and calls at the top level or under a condition on the environment. */
class Skips {
  readonly #root: Node;
  /** Of classes by their id. A class is read once, and a module too, since a file can have thousands of tests. */
  readonly #skipped = new Map<number, boolean>();
  #skipsModule: boolean | undefined;

  constructor(root: Node) {
    this.#root = root;
  }

  skips(node: Node, classes: readonly Node[]): boolean {
    this.#skipsModule ??= isMarked(this.#root) || partsOf(this.#root).some(skipsHere);
    const body = node.childForFieldName('body');
    return this.#skipsModule || isDecorated(node) || classes.some((at) => this.#skipsClass(at)) || (body !== null && partsOf(body).some(skipsHere));
  }

  #skipsClass(node: Node): boolean {
    const body = node.childForFieldName('body');
    const known = this.#skipped.get(node.id) ?? (isDecorated(node) || (body !== null && isMarked(body)));
    this.#skipped.set(node.id, known);
    return known;
  }
}

const isDecorated = (node: Node): boolean => decoratorsOf(node).some((text) => SKIP.test(text));

const isMarked = (block: Node): boolean =>
  partsOf(block).some((at) => at.type === 'expression_statement' && /^(?:pytestmark|__unittest_skip__)\b/.test(at.text) && SKIP.test(at.text));

function skipsHere(statement: Node): boolean {
  if (statement.type === 'expression_statement' || statement.type === 'raise_statement')
    return /^(?:raise )?[\w.]*\b(?:skip|xfail|SkipTest|skipTest|importorskip)\b/.test(statement.text);
  if (statement.type !== 'if_statement') return false;
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  return condition !== null && body !== null && ENVIRONMENT.test(condition.text) && partsOf(body).some(skipsHere);
}
