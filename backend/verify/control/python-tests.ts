import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { PythonBodies } from './python-body.ts';
import type { SourceFile, SourceTest, Title } from './source-test.ts';

interface PythonClass {
  readonly node: Node;
  /** The names of the enclosing classes, then its own. */
  readonly path: readonly string[];
  readonly bases: readonly string[];
  readonly methods: ReadonlyMap<string, Node>;
}

/** The tests of pytest and unittest in a file: functions, and methods of classes, including methods inherited within the file. */
export function pythonTests(root: Node, source: SourceFile): readonly SourceTest[] {
  const functions = new Map<string, Node>();
  const classes: PythonClass[] = [];
  collect(root, [], functions, classes);
  const byName = new Map(classes.map((found) => [found.path.at(-1) ?? '', found]));

  const methodOf = (from: PythonClass | undefined, name: string, seen = new Set<PythonClass>()): Node | undefined => {
    if (!from || seen.has(from)) return undefined;
    seen.add(from);
    const own = from.methods.get(name);
    if (own) return own;
    for (const base of from.bases) {
      const found = methodOf(byName.get(base), name, seen);
      if (found) return found;
    }
    return undefined;
  };
  const classAround = (node: Node): PythonClass | undefined =>
    classes.findLast(({ node: { startIndex, endIndex } }) => startIndex <= node.startIndex && node.endIndex <= endIndex);

  const bodies = new PythonBodies(root, source, (name, owner, from) => {
    const found = owner === '' ? functions.get(name) : /^(?:self|cls)\.$/.test(owner) ? methodOf(classAround(from), name) : undefined;
    return found && decoratorsOf(found).every((text) => /^@(?:static|class)method$/.test(text)) ? found : undefined;
  });
  const test = (path: readonly string[], name: string, node: Node, around: readonly Node[]): SourceTest => ({
    titles: titlesOf(path, name),
    isSkipped: isSkipped(node, around, root),
    alter: () => bodies.alter(node),
  });

  return [
    ...[...functions].map(([name, node]) => test([], name, node, [])),
    ...classes.flatMap((owner) => {
      const names = new Set(lineage(owner, byName).flatMap(({ methods }) => [...methods.keys()]));
      return [...names].flatMap((name) => {
        const node = methodOf(owner, name);
        return node ? [test(owner.path, name, node, [owner.node, ...classNodesAround(owner.node)])] : [];
      });
    }),
  ];
}

/** unittest joins nested class names with dots. pytest appends parameters to the name. */
function titlesOf(path: readonly string[], name: string): readonly Title[] {
  const whole = [...path, name].join(' > ');
  return [[whole], [`${whole}[`, undefined], ...(path.length > 1 ? [[`${path.join('.')} > ${name}`]] : [])];
}

/** A later definition replaces an earlier one with the same name, as in Python. */
function collect(block: Node, path: readonly string[], functions: Map<string, Node>, classes: PythonClass[]): void {
  for (const node of nodesIn(block, ({ id, type }) => id !== block.id && /^(?:function_definition|class_definition|lambda)$/.test(type))) {
    const name = node.childForFieldName('name')?.text ?? '';
    if (node.id === block.id) continue;
    if (node.type === 'function_definition') functions.set(name, node);
    const body = node.type === 'class_definition' ? node.childForFieldName('body') : null;
    if (!body || path.length > 20) continue;
    const methods = new Map<string, Node>();
    const bases = node.childForFieldName('superclasses');
    const names = bases ? partsOf(bases).map(({ text }) => text.split('.').at(-1) ?? text) : [];
    classes.push({ node, path: [...path, name], bases: names, methods });
    collect(body, [...path, name], methods, classes);
  }
}

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
function isSkipped(node: Node, classes: readonly Node[], root: Node): boolean {
  if ([node, ...classes].some((at) => decoratorsOf(at).some((text) => SKIP.test(text)))) return true;
  const bodies = [...classes.map((at) => at.childForFieldName('body')), root].filter((body) => body !== null);
  const marks = bodies.flatMap(partsOf).filter(({ type }) => type === 'expression_statement');
  if (marks.some(({ text }) => /^(?:pytestmark|__unittest_skip__)\b/.test(text) && SKIP.test(text))) return true;
  const own = node.childForFieldName('body');
  return [...(own ? partsOf(own) : []), ...partsOf(root)].some(skipsHere);
}

function skipsHere(statement: Node): boolean {
  if (statement.type === 'expression_statement' || statement.type === 'raise_statement')
    return /^(?:raise )?[\w.]*\b(?:skip|xfail|SkipTest|skipTest|importorskip)\b/.test(statement.text);
  if (statement.type !== 'if_statement') return false;
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  return condition !== null && body !== null && ENVIRONMENT.test(condition.text) && partsOf(body).some(skipsHere);
}
