import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';

const FUNCTION = /^(?:arrow_function|function_expression|function_declaration|method_definition|generator_function(?:_declaration)?)$/;

export const isFunction = ({ type }: Node): boolean => FUNCTION.test(type);

export const isAsync = (definition: Node): boolean => definition.children.some((child) => child?.type === 'async');

/** The names (or patterns) of a function's parameters. */
export function parametersOf(definition: Node): readonly Node[] {
  const single = definition.childForFieldName('parameter');
  const list = definition.childForFieldName('parameters');
  return single ? [single] : list ? partsOf(list).map((parameter) => parameter.childForFieldName('pattern') ?? parameter) : [];
}

const AROUND = /^(?:parenthesized_expression|as_expression|satisfies_expression|non_null_expression)$/;

export const isAround = ({ type }: Node): boolean => AROUND.test(type);

/** An expression without parentheses and what TypeScript says of its type. */
export function plainOf(node: Node): Node {
  let plain = node;
  for (let inner = isAround(plain) ? partsOf(plain)[0] : undefined; inner; inner = isAround(plain) ? partsOf(plain)[0] : undefined) plain = inner;
  return plain;
}

/** What gives a name its value. */
export interface Binding {
  readonly kind: 'declaration' | 'loop' | 'parameter';
  /** The name, or the pattern around it. */
  readonly pattern: Node;
  /** The members of the value that the name stands for: `{ a: [, b] }` gives `a`, `1` for b. */
  readonly path: readonly string[];
  /** The value that is declared, the list that a loop goes over, or the function. */
  readonly of: Node;
  /** Of a parameter. */
  readonly index: number;
  /** Where the name may be used. */
  readonly scope: Node;
}

/** What a name stands for where it is used. Undefined if it is not known, or if other files may use it. */
export function bindingOf(use: Node): Binding | undefined {
  for (let scope = use.parent; scope; scope = scope.parent) {
    if (isFunction(scope)) {
      for (const [index, pattern] of parametersOf(scope).entries()) {
        const path = pathIn(pattern, use.text);
        if (path) return { kind: 'parameter', pattern, path, of: scope, index, scope };
      }
    } else if (scope.type === 'for_in_statement') {
      const [pattern, of] = [scope.childForFieldName('left'), scope.childForFieldName('right')];
      const path = pattern && scope.childForFieldName('operator')?.text === 'of' ? pathIn(pattern, use.text) : undefined;
      if (pattern && of && path) return { kind: 'loop', pattern, path, of, index: 0, scope };
    } else if (/^(?:statement_block|program)$/.test(scope.type)) {
      for (const statement of partsOf(scope)) {
        const found = declaredIn(statement, use.text, scope);
        if (found) return found;
      }
    }
  }
  return undefined;
}

function declaredIn(statement: Node, name: string, scope: Node): Binding | undefined {
  if (!/^(?:lexical|variable)_declaration$/.test(statement.type)) return undefined;
  for (const declarator of partsOf(statement)) {
    const [pattern, of] = [declarator.childForFieldName('name'), declarator.childForFieldName('value')];
    const path = pattern && of ? pathIn(pattern, name) : undefined;
    if (pattern && of && path) return { kind: 'declaration', pattern, path, of, index: 0, scope };
  }
  return undefined;
}

/** The members of a value that a name in a pattern stands for. */
function pathIn(pattern: Node, name: string): readonly string[] | undefined {
  switch (pattern.type) {
    case 'identifier':
    case 'shorthand_property_identifier_pattern':
      return pattern.text === name ? [] : undefined;
    case 'assignment_pattern':
    case 'object_assignment_pattern': {
      const left = pattern.childForFieldName('left');
      const path = left ? pathIn(left, name) : undefined;
      return path && left?.type === 'shorthand_property_identifier_pattern' ? [name, ...path] : path;
    }
    case 'object_pattern':
      return firstOf(partsOf(pattern).map((part) => {
        if (part.type === 'shorthand_property_identifier_pattern') return part.text === name ? [name] : undefined;
        if (part.type !== 'pair_pattern') return pathIn(part, name);
        const [key, value] = [part.childForFieldName('key'), part.childForFieldName('value')];
        const path = value ? pathIn(value, name) : undefined;
        return key && path ? [key.text, ...path] : undefined;
      }));
    case 'array_pattern': {
      let index = 0;
      for (const child of pattern.children) {
        if (child?.type === ',') index += 1;
        const path = child?.isNamed ? pathIn(child, name) : undefined;
        if (path) return [String(index), ...path];
      }
      return undefined;
    }
    default:
      return undefined;
  }
}

const firstOf = <Item>(items: readonly (Item | undefined)[]): Item | undefined => items.find((item) => item !== undefined);

/** Where a name is used, other than where it gets its value. */
export function* usesOf({ scope, pattern }: Binding, name: string): Generator<Node> {
  for (const node of nodesIn(scope))
    if (/^(?:identifier|shorthand_property_identifier)$/.test(node.type) && node.text === name && !isWithin(node, pattern)) yield node;
}

const isWithin = (node: Node, outer: Node): boolean => node.startIndex >= outer.startIndex && node.endIndex <= outer.endIndex;
