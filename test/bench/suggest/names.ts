import type { Language } from '../../../backend/verify/syntax/language.ts';
import { nodesIn } from '../../../backend/verify/syntax/nodes.ts';
import { withTree, type Node } from '../../../backend/verify/syntax/parse.ts';

/*
 * What a file defines and uses, read from its syntax tree: another way than the one that is measured, which reads lines.
 */

export interface NamePlace {
  readonly name: string;
  /** Both from 0. */
  readonly line: number;
  readonly column: number;
}

export interface NamesOfFile {
  readonly defined: readonly NamePlace[];
  readonly used: readonly NamePlace[];
}

const DEFINING: Readonly<Record<string, readonly string[]>> = {
  python: ['function_definition', 'class_definition'],
  script: [
    'function_declaration', 'generator_function_declaration', 'class_declaration', 'abstract_class_declaration', 'interface_declaration',
    'type_alias_declaration', 'enum_declaration', 'method_definition', 'method_signature', 'abstract_method_signature',
  ],
  go: ['function_declaration', 'method_declaration', 'type_spec', 'const_spec', 'var_spec'],
  rust: [
    'function_item', 'function_signature_item', 'struct_item', 'enum_item', 'trait_item', 'type_item', 'const_item', 'static_item',
    'macro_definition',
  ],
  java: ['class_declaration', 'interface_declaration', 'enum_declaration', 'method_declaration', 'record_declaration', 'annotation_type_declaration'],
};

const IDENTIFIERS: ReadonlySet<string> = new Set(['identifier', 'property_identifier', 'type_identifier', 'field_identifier']);

const IMPORTING: ReadonlySet<string> = new Set([
  'import_statement', 'import_from_statement', 'import_declaration', 'use_declaration', 'export_clause', 'package_declaration',
  'package_clause', 'future_import_statement', 'import_spec',
]);

/** Where a name is bound inside the file: then it does not mean the definition elsewhere. */
const BINDING: ReadonlySet<string> = new Set([
  'required_parameter', 'optional_parameter', 'formal_parameters', 'rest_pattern', 'assignment_pattern', 'array_pattern', 'catch_clause',
  'parameters', 'typed_parameter', 'default_parameter', 'typed_default_parameter', 'lambda_parameters', 'parameter_declaration',
  'closure_parameters', 'parameter', 'formal_parameter', 'let_declaration', 'for_in_clause', 'as_pattern_target', 'keyword_argument',
  'type_parameter', 'type_parameters', 'labeled_statement', 'field_declaration', 'property_signature', 'public_field_definition', 'pair',
  'catch_formal_parameter', 'inferred_parameters', 'enhanced_for_statement', 'enum_constant', 'enum_assignment', 'mod_item',
  'variadic_parameter_declaration', 'named_parameter', 'list_splat_pattern', 'dictionary_splat_pattern', 'shorthand_field_initializer',
  'field_initializer', 'field_pattern', 'constrained_type_parameter', 'keyed_element', 'literal_element', 'enum_variant', 'tuple_pattern',
  'shorthand_property_identifier_pattern', 'shorthand_property_identifier', 'range_clause', 'element_value_pair', 'method_reference',
]);

export async function namesIn(text: string, language: Language): Promise<NamesOfFile> {
  const family = language === 'javascript' || language === 'typescript' || language === 'tsx' ? 'script' : language;
  const names = await withTree(text, language, (root) => collect(root, family));
  return names ?? { defined: [], used: [] };
}

function collect(root: Node, family: string): NamesOfFile {
  const defined: NamePlace[] = [];
  const used: NamePlace[] = [];
  const bound = new Set<string>();
  const definingIds = new Set<number>();
  for (const node of nodesIn(root)) {
    for (const name of definedBy(node, family)) {
      definingIds.add(name.id);
      defined.push(placeOf(name));
    }
  }
  for (const node of nodesIn(root, (one) => IMPORTING.has(one.type))) {
    if (!IDENTIFIERS.has(node.type) && node.type !== 'shorthand_property_identifier_pattern') continue;
    if (definingIds.has(node.id)) continue;
    if (isBound(node)) bound.add(node.text);
    else used.push(placeOf(node));
  }
  return { defined, used: used.filter(({ name }) => !bound.has(name)) };
}

function definedBy(node: Node, family: string): readonly Node[] {
  if (DEFINING[family]?.includes(node.type)) {
    if (family === 'go' && (node.type === 'var_spec' || node.type === 'const_spec') && !isOutermost(node)) return [];
    const name = node.childForFieldName('name');
    return name ? [name] : [];
  }
  if (family === 'python' && node.type === 'assignment' && node.parent?.parent?.type === 'module') return identifierAt(node, 'left');
  if (family !== 'script') return [];
  if (node.type === 'variable_declarator' && isOutermost(node) && !/\brequire\(/.test(node.childForFieldName('value')?.text.slice(0, 60) ?? '')) return identifierAt(node, 'name');
  // `exports.name = …`, `response.name = function …`
  const left = node.type === 'assignment_expression' ? node.childForFieldName('left') : null;
  const property = left?.type === 'member_expression' ? left.childForFieldName('property') : null;
  const isFunction = /function|class/.test(node.childForFieldName('right')?.type ?? '');
  return property && (isFunction || /^(?:module\.)?exports\./.test(left?.text ?? '')) ? [property] : [];
}

function identifierAt(node: Node, field: string): readonly Node[] {
  const name = node.childForFieldName(field);
  return name?.type === 'identifier' ? [name] : [];
}

function isOutermost(node: Node): boolean {
  for (let above = node.parent; above; above = above.parent) {
    if (/function|method|block|arrow|class_body/.test(above.type)) return false;
  }
  return true;
}

function isBound(node: Node): boolean {
  const { parent } = node;
  if (!parent) return false;
  if (node.type === 'shorthand_property_identifier_pattern') return !/\brequire\(/.test(parent.parent?.text.slice(0, 400) ?? '');
  // A type or a default value of a parameter is a use.
  if (BINDING.has(parent.type)) return parent.childForFieldName('type')?.id !== node.id && parent.childForFieldName('value')?.id !== node.id;
  if (parent.type === 'variable_declarator') return parent.childForFieldName('name')?.id === node.id && !/\brequire\(/.test(parent.text);
  if (['assignment', 'for_statement', 'named_expression'].includes(parent.type)) return parent.childForFieldName('left')?.id === node.id;
  return parent.parent?.type === 'short_var_declaration' && parent.parent.childForFieldName('left')?.id === parent.id;
}

function placeOf(node: Node): NamePlace {
  return { name: node.text, line: node.startPosition.row, column: node.startPosition.column };
}
