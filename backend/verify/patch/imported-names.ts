import { nodesIn } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';

/** One name that an import gives a file. */
export interface Imported {
  /** What is imported as what, in a form that does not depend on how imports are grouped. */
  readonly what: string;
  /** The name in the file; undefined where the import does not say it. */
  readonly name: string | undefined;
}

const IMPORTS = new Set(['import_statement', 'import_from_statement', 'future_import_statement', 'import_declaration', 'use_declaration', 'namespace_use_declaration']);

/** Imports of all languages, and `require` in JavaScript. */
export const isImport = (node: Node): boolean => IMPORTS.has(node.type) || requiredIn(node).length > 0;

const requiredIn = (node: Node): readonly Node[] => {
  if (node.type !== 'lexical_declaration' && node.type !== 'variable_declaration') return [];
  const declarators = node.namedChildren.filter((child): child is Node => child?.type === 'variable_declarator');
  return declarators.every((one) => /^require\s*\(\s*(["'`])[^"'`]*\1\s*\)[\w.]*$/.test(one.childForFieldName('value')?.text ?? '')) ? declarators : [];
};

const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

export function importsOf(node: Node): readonly Imported[] {
  switch (node.type) {
    case 'import_from_statement':
      return pythonNames(node, `from ${squeezed(node.childForFieldName('module_name')?.text ?? '')} import`);
    case 'import_statement':
      return node.childForFieldName('source') ? javascriptNames(node) : pythonNames(node, 'import');
    case 'use_declaration':
      return node.namedChildren.flatMap((child) => (child ? rustNames(child, `${node.text.startsWith('pub') ? 'pub ' : ''}use `) : []));
    case 'import_declaration': {
      const specs = [...nodesIn(node)].filter(({ type }) => type === 'import_spec');
      return specs.length > 0 ? specs.map(goName) : [javaName(node)];
    }
    case 'namespace_use_declaration': {
      const [, name] = /^use (?:function |const )?[\w\\ ]*?(\w+)\s*;$/.exec(squeezed(node.text)) ?? [];
      return [{ what: squeezed(node.text), name }];
    }
    case 'future_import_statement':
      return [{ what: squeezed(node.text), name: undefined }];
    default:
      return requiredIn(node).flatMap((declarator) => requiredNames(declarator));
  }
}

function pythonNames(node: Node, from: string): Imported[] {
  const names = node.childrenForFieldName('name').filter((name): name is Node => name !== null);
  if (names.length === 0) return [{ what: squeezed(node.text), name: undefined }];
  return names.map((name) => {
    const alias = name.childForFieldName('alias')?.text;
    const written = squeezed(name.text);
    // `import a.b` binds `a`.
    return { what: `${from} ${written}`, name: alias ?? (from === 'import' ? written.split('.')[0] : written) };
  });
}

function javascriptNames(node: Node): Imported[] {
  const source = (node.childForFieldName('source')?.text ?? '').slice(1, -1);
  const isType = /^import\s+type\b/.test(node.text) ? 'type ' : '';
  const clause = node.namedChildren.find((child) => child?.type === 'import_clause');
  if (!clause) return [{ what: `import ${source}`, name: undefined }];
  return clause.namedChildren.flatMap((part): Imported[] => {
    if (!part) return [];
    if (part.type !== 'named_imports') return [{ what: `import ${isType}${squeezed(part.text)} from ${source}`, name: part.type === 'identifier' ? part.text : part.namedChildren[0]?.text }];
    return part.namedChildren.flatMap((one) => (one?.type === 'import_specifier'
      ? [{ what: `import ${isType}{ ${squeezed(one.text)} } from ${source}`, name: (one.childForFieldName('alias') ?? one.childForFieldName('name'))?.text }]
      : []));
  });
}

function requiredNames(declarator: Node): Imported[] {
  const [name, value] = [declarator.childForFieldName('name'), squeezed(declarator.childForFieldName('value')?.text ?? '').replaceAll(/["'`]/g, '"')];
  if (!name) return [];
  if (name.type !== 'object_pattern') return [{ what: `${squeezed(name.text)} = ${value}`, name: name.text }];
  return name.namedChildren.flatMap((one) => (one ? [{ what: `{ ${squeezed(one.text)} } = ${value}`, name: (one.childForFieldName('value') ?? one).text }] : []));
}

function goName(spec: Node): Imported {
  const path = (spec.childForFieldName('path')?.text ?? '').slice(1, -1);
  const alias = spec.childForFieldName('name')?.text;
  const isBlind = alias === '_' || alias === '.';
  return { what: `import ${alias === undefined ? '' : `${alias} `}${path}`, name: isBlind ? undefined : (alias ?? path.replace(/\/v\d+$/, '').split('/').at(-1)) };
}

function javaName(node: Node): Imported {
  const words = squeezed(node.text).replace(/\s*;$/, '');
  return { what: words, name: words.endsWith('*') ? undefined : words.split(/[\s.]/).at(-1) };
}

function rustNames(node: Node, before: string): Imported[] {
  switch (node.type) {
    case 'scoped_use_list':
      return node.childForFieldName('list')?.namedChildren.flatMap((child) => (child ? rustNames(child, `${before}${squeezed(node.childForFieldName('path')?.text ?? '')}::`) : [])) ?? [];
    case 'use_list':
      return node.namedChildren.flatMap((child) => (child ? rustNames(child, before) : []));
    case 'use_as_clause':
      return [{ what: before + squeezed(node.text), name: node.childForFieldName('alias')?.text }];
    case 'use_wildcard':
      return [{ what: before + squeezed(node.text), name: undefined }];
    case 'visibility_modifier':
      return [];
    default: {
      const written = squeezed(node.text);
      return [{ what: before + written, name: written.split('::').at(-1) }];
    }
  }
}
