import { replacement, withEdits, type Edit } from '../../verify/syntax/edits.ts';
import { languageOf, type Language } from '../../verify/syntax/language.ts';
import { beforeInLine, nodesIn, partsOf } from '../../verify/syntax/nodes.ts';
import { withTree, type Node } from '../../verify/syntax/parse.ts';

/** A source file in which one function is emptied. */
export interface EmptiedFunction {
  readonly name: string;
  /** The whole file. */
  readonly text: string;
  /** Lines of the removed body. */
  readonly lines: number;
}

/** What replaces a function's body: it compiles, and fails when it is called. */
const NOTHING: Readonly<Record<Language, string>> = {
  python: 'raise NotImplementedError',
  javascript: 'throw new Error(\'not written yet\');',
  typescript: 'throw new Error(\'not written yet\');',
  tsx: 'throw new Error(\'not written yet\');',
  go: 'panic("not written yet")',
  rust: 'todo!()',
  java: 'throw new UnsupportedOperationException("not written yet");',
  ruby: 'raise \'not written yet\'',
  php: 'throw new \\LogicException(\'not written yet\');',
};

const FUNCTIONS: ReadonlySet<string> = new Set([
  'function_definition', 'function_declaration', 'generator_function_declaration', 'method_definition', 'method_declaration', 'function_item',
  'arrow_function', 'function_expression', 'method', 'singleton_method',
]);

/** Shorter functions are not worth a task. */
const FEWEST_LINES = 2;

/**
 * One copy of the text per function, with this function emptied; its signature and documentation stay. Functions inside it are removed with
 * it. Empty where the language is unknown or the text does not parse.
 */
export async function emptiedFunctions(path: string, text: string): Promise<readonly EmptiedFunction[]> {
  const language = languageOf(path);
  if (language === undefined) return [];
  const found = await withTree(text, language, (root) => (root.hasError ? [] : [...nodesIn(root)].flatMap((node) => emptied(node, text, language) ?? [])));
  return (found ?? []).flatMap(({ name, lines, edit }) => {
    const changed = withEdits(text, [edit]);
    return changed === undefined ? [] : [{ name, lines, text: changed }];
  });
}

function emptied(node: Node, text: string, language: Language): { name: string; lines: number; edit: Edit } | undefined {
  const name = FUNCTIONS.has(node.type) ? nameOf(node) : undefined;
  const body = node.childForFieldName('body');
  if (name === undefined || !body) return undefined;
  const isPython = language === 'python';
  const hasBraces = !isPython && language !== 'ruby';
  if (hasBraces && !body.text.startsWith('{')) return undefined;
  const parts = partsOf(body);
  const [first] = parts;
  const isDocstring = isPython && first?.type === 'expression_statement' && partsOf(first)[0]?.type === 'string';
  const [start, end] = [parts[isDocstring ? 1 : 0], parts.at(-1)];
  if (!start || !end) return undefined;
  const lines = !hasBraces ? end.endPosition.row - start.startPosition.row + 1 : body.endPosition.row - body.startPosition.row - 1;
  if (lines < FEWEST_LINES) return undefined;
  const nothing = NOTHING[language];
  if (!hasBraces) return { name, lines, edit: replacement({ startIndex: start.startIndex, endIndex: end.endIndex }, nothing) };
  const indent = /^\s*/.exec(beforeInLine(text, node.startIndex))?.[0] ?? '';
  const unit = /\n([\t ]+)\S/.exec(body.text)?.[1] ?? `${indent}  `;
  return { name, lines, edit: replacement(body, `{\n${unit}${nothing}\n${indent}}`) };
}

/** The name of a function; undefined for anonymous functions and for those that the language itself calls. */
function nameOf(node: Node): string | undefined {
  const own = node.childForFieldName('name') ?? (node.parent?.type === 'variable_declarator' ? node.parent.childForFieldName('name') : null);
  const name = own?.text;
  return name === undefined || /^__|^constructor$|^initialize$|^main$/.test(name) ? undefined : name;
}
