import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { attributesOf, classesIn, dataSetsOf, documentOf, lineage, methodOf, type PhpClass } from './php-classes.ts';
import { PhpValues } from './php-values.ts';
import type { ImportedTree, SourceFile, SourceTest } from './source-test.ts';

/** The tests of PHPUnit in a file: the methods of its classes, also those that they inherit. Each set of data is a test of its own. */
export function phpTests(root: Node, { dice }: SourceFile, imported: readonly ImportedTree[] = []): readonly SourceTest[] {
  const own = classesIn(root);
  const classes = [...own, ...imported.flatMap((other) => classesIn(other.root, other.names))];
  const values = new PhpValues(root, classes, dice);
  return own.filter(({ node }) => node.type === 'class_declaration').flatMap((owner) => {
    const owners = lineage(owner, classes);
    const names = new Set(owners.flatMap(({ methods }) => [...methods.keys()]));
    const isOff = owners.some(({ methods }) => skipsHere(methods.get('setUp')) || skipsHere(methods.get('setUpBeforeClass')));
    return [...names].flatMap((name) => {
      const method = methodOf(owners, name);
      return method && isTest(name, method) ? testsOf(name, method, owner, owners, isOff, values) : [];
    });
  });
}

function testsOf(name: string, method: Node, owner: PhpClass, owners: readonly PhpClass[], isOff: boolean, values: PhpValues): readonly SourceTest[] {
  const whole = `${owner.name} > ${name}`;
  const sets = dataSetsOf(method, owners);
  const isSkipped = isOff || skipsHere(method);
  const titled = (sets ?? []).filter(({ title }) => title !== undefined);
  return [
    ...titled.map((set): SourceTest => ({ titles: [[`${whole} with data set ${set.title}`]], isSkipped, body: method, alter: () => values.alter(method, owner, [set.values]) })),
    { titles: [[whole], [`${whole} with data set `, undefined]], isSkipped, body: method, alter: () => values.alter(method, owner, sets?.map((set) => set.values) ?? []) },
  ];
}

const isTest = (name: string, method: Node): boolean => name.startsWith('test') || /@test\b/.test(documentOf(method)) || attributesOf(method).some((attribute) => attribute.name === 'Test');

/** Whether a method always gives a test up. */
function skipsHere(method: Node | undefined): boolean {
  const body = method?.childForFieldName('body');
  return body ? partsOf(body).some(({ type, text }) => type === 'expression_statement' && /^(?:\$this->|self::|static::)markTest(?:Skipped|Incomplete)\(/.test(text)) : false;
}
