import { partsOf, nodesIn } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { elementKey, elementsOf, elementValue, plainText } from './php-literals.ts';

/** A class or trait of a file. */
export interface PhpClass {
  readonly node: Node;
  readonly name: string;
  readonly methods: ReadonlyMap<string, Node>;
  /** The classes and traits that it takes methods from, by their last names. */
  readonly bases: readonly string[];
}

/** @param names what the classes are called where they are imported, with their names here */
export function classesIn(root: Node, names: ReadonlyMap<string, string> = new Map()): readonly PhpClass[] {
  const called = new Map([...names].map(([local, name]) => [name, local]));
  return [...nodesIn(root, ({ type }) => /^(?:class|trait)_declaration$/.test(type))].filter(({ type }) => /^(?:class|trait)_declaration$/.test(type)).map((node) => {
    const members = partsOf(node.childForFieldName('body') ?? node);
    const methods = members.filter(({ type }) => type === 'method_declaration').map((method): [string, Node] => [nameOf(method), method]);
    const taken = [...partsOf(node), ...members].filter(({ type }) => type === 'base_clause' || type === 'use_declaration').flatMap((clause) => partsOf(clause));
    return { node, name: called.get(nameOf(node)) ?? nameOf(node), methods: new Map(methods), bases: taken.map(({ text }) => text.split('\\').at(-1) ?? text) };
  });
}

const nameOf = (node: Node): string => node.childForFieldName('name')?.text ?? '';

/** A class with what it inherits of these, itself first. */
export function lineage(owner: PhpClass, all: readonly PhpClass[]): readonly PhpClass[] {
  const found = new Set([owner]);
  for (const { bases } of found) for (const base of bases) for (const other of all) if (other.name === base) found.add(other);
  return [...found];
}

export function methodOf(owners: readonly PhpClass[], name: string): Node | undefined {
  // A base may only say that there is one.
  return owners.map(({ methods }) => methods.get(name)).find((method) => method?.childForFieldName('body'));
}

/** The names of a method's parameters, with `$`. */
export const parametersOf = (method: Node): readonly string[] =>
  partsOf(method.childForFieldName('parameters') ?? method).filter(({ type }) => /_parameter$/.test(type)).map((parameter) => nameOf(parameter));

/** The comment directly above a member. */
export function documentOf(member: Node): string {
  const before = member.previousNamedSibling;
  return before?.type === 'comment' ? before.text : '';
}

/** The attributes of a member: `#[DataProvider('rows')]`. */
export function attributesOf(member: Node): readonly { readonly name: string; readonly arguments: readonly Node[] }[] {
  const list = partsOf(member).find(({ type }) => type === 'attribute_list');
  return list ? [...nodesIn(list)].filter(({ type }) => type === 'attribute').map((attribute) => ({
    name: partsOf(attribute)[0]?.text.split('\\').at(-1) ?? '',
    arguments: argumentsOf(attribute) ?? [],
  })) : [];
}

/** The values of a call's arguments. Undefined if some are named or unpacked, because their positions are then unknown. */
export function argumentsOf(call: Node): readonly Node[] | undefined {
  const list = call.childForFieldName('arguments') ?? partsOf(call).find(({ type }) => type === 'arguments');
  const given = list ? partsOf(list).map((argument) => (partsOf(argument).length === 1 && argument.type === 'argument' && !argument.text.startsWith('...') ? partsOf(argument)[0] : undefined)) : [];
  return given.every((value) => value !== undefined) ? given : undefined;
}

/** A set of data that a test is run with. */
export interface DataSet {
  /** As it stands in the name of the test; undefined if the source does not say. */
  readonly title: string | undefined;
  /** By the parameters of the test. */
  readonly values: ReadonlyMap<string, Node>;
}

/** The sets of data of a test; empty if it has none, undefined if they are not written out. */
export function dataSetsOf(method: Node, owners: readonly PhpClass[]): readonly DataSet[] | undefined {
  const document = documentOf(method);
  const attributes = attributesOf(method);
  const written = attributes.filter(({ name }) => name === 'TestWith').map(({ arguments: [row] }) => ({ key: undefined, row }));
  const providers = [
    ...[...document.matchAll(/@dataProvider\s+([\w\\:]+)/g)].map(([, name = '']) => name),
    ...attributes.filter(({ name }) => name === 'DataProvider').map(({ arguments: [name] }) => plainText(name) ?? ''),
  ];
  if (attributes.some(({ name }) => /^(?:DataProviderExternal|TestWithJson)$/.test(name)) || /@testWith\b/.test(document)) return undefined;
  const [provider, ...more] = new Set(providers);
  if (provider === undefined) return setsOf(written, method);
  const body = methodOf(owners, provider)?.childForFieldName('body');
  return more.length > 0 || written.length > 0 || !body ? undefined : setsOf(rowsIn(body), method);
}

interface Row {
  readonly key: Node | undefined;
  readonly row: Node | undefined;
}

/** What a provider returns as an array, or yields one by one. */
function rowsIn(body: Node): readonly Row[] | undefined {
  const rows: Row[] = [];
  for (const statement of partsOf(body)) {
    if (statement.type === 'comment') continue;
    const [value] = partsOf(statement);
    if (statement.type === 'return_statement' && value?.type === 'array_creation_expression' && rows.length === 0)
      return elementsOf(value).map((element) => ({ key: elementKey(element), row: elementValue(element) }));
    const [yielded] = statement.type === 'expression_statement' && value?.type === 'yield_expression' ? partsOf(value) : [];
    if (!yielded) return undefined;
    rows.push(yielded.type === 'array_element_initializer' ? { key: elementKey(yielded), row: elementValue(yielded) } : { key: undefined, row: yielded });
  }
  return rows;
}

function setsOf(rows: readonly Row[] | undefined, method: Node): readonly DataSet[] | undefined {
  const parameters = parametersOf(method);
  let number = 0;
  const sets = rows?.map(({ key, row }): DataSet | undefined => {
    if (row?.type !== 'array_creation_expression') return undefined;
    const named = plainText(key);
    const title = key === undefined ? `#${number++}` : named === undefined ? undefined : `"${named}"`;
    const values = elementsOf(row).flatMap((element, index): [string, Node][] => {
      const [name, value] = [elementKey(element), elementValue(element)];
      const parameter = name === undefined ? parameters[index] : `$${plainText(name) ?? ''}`;
      return parameter === undefined || value === undefined ? [] : [[parameter, value]];
    });
    return { title, values: new Map(values) };
  });
  return sets?.every((set) => set !== undefined) ? sets : undefined;
}
