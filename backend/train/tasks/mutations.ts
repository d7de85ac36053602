import { replacement, withEdits, type Edit } from '../../verify/syntax/edits.ts';
import { languageOf } from '../../verify/syntax/language.ts';
import { nodesIn } from '../../verify/syntax/nodes.ts';
import { withTree, type Node } from '../../verify/syntax/parse.ts';

/** A source file with one plausible bug. */
export interface Mutation {
  /** The line of the bug, from 1. */
  readonly line: number;
  /** The whole file. */
  readonly text: string;
}

/** Tokens that are easily confused: the usual mutation operators (as in Stryker and mutmut). */
const MISTAKEN: Readonly<Record<string, string>> = {
  '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '===': '!==', '!==': '===',
  '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '+=': '-=', '-=': '+=', '&&': '||', '||': '&&', 'and': 'or', 'or': 'and',
  'true': 'false', 'false': 'true', 'True': 'False', 'False': 'True', 'break': 'continue', 'min': 'max', 'max': 'min',
};

const OPERATIONS: ReadonlySet<string> = new Set([
  'binary_expression', 'binary_operator', 'comparison_operator', 'boolean_operator', 'augmented_assignment', 'augmented_assignment_expression',
  'assignment_expression', 'assignment_statement', 'compound_assignment_expr', 'binary', 'operator_assignment',
]);
const WORDS: ReadonlySet<string> = new Set(['true', 'false', 'True', 'False', 'break_statement', 'identifier', 'property_identifier']);
const NUMBERS: ReadonlySet<string> = new Set(['integer', 'number', 'int_literal', 'integer_literal', 'decimal_integer_literal']);

/**
 * One copy of the text per place where a bug of one word or sign is likely. Tests may or may not notice it. Empty where the language is
 * unknown or the text does not parse.
 */
export async function mutations(path: string, text: string): Promise<readonly Mutation[]> {
  const language = languageOf(path);
  if (language === undefined) return [];
  const found = await withTree(text, language, (root) => (root.hasError ? [] : [...nodesIn(root)].flatMap((node) => mistakes(node))));
  return (found ?? []).flatMap(({ line, edit }) => {
    const changed = withEdits(text, [edit]);
    return changed === undefined ? [] : [{ line, text: changed }];
  });
}

function mistakes(node: Node): { line: number; edit: Edit }[] {
  const at = (place: Node, text: string): { line: number; edit: Edit } => ({ line: place.startPosition.row + 1, edit: replacement(place, text) });
  if (NUMBERS.has(node.type) && /^\d{1,6}$/.test(node.text)) return [at(node, String(Number(node.text) + 1))];
  if (WORDS.has(node.type)) {
    const word = node.type === 'break_statement' ? node.text.replace(/;$/, '') : node.text;
    const other = Object.hasOwn(MISTAKEN, word) ? MISTAKEN[word] : undefined;
    return other === undefined ? [] : [at(node, node.text.replace(word, other))];
  }
  if (!OPERATIONS.has(node.type)) return [];
  return node.children.flatMap((sign) => {
    const other = sign && !sign.isNamed && Object.hasOwn(MISTAKEN, sign.text) ? MISTAKEN[sign.text] : undefined;
    return sign && other !== undefined ? [at(sign, other)] : [];
  });
}
