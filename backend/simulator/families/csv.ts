import { code, type Family } from './family.ts';

export const csvFamily: Family = {
  kind: 'parsing',
  name: 'csv',
  path: 'src/csv.js',
  testPath: 'test/csv.test.js',
  summary: 'reads comma separated text with quoted fields',
  exports: ['parseCsv', 'parseRecords'],
  difficulty: 0.7,
  source: code`
/**
 * The rows of comma separated text (RFC 4180). A field in double quotes may hold commas and line breaks; a quote inside it
 * is written as two quotes.
 */
export function parseCsv(text) {
  const rows = [];
  let row = [];
  let field = '';
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (quoted) {
      if (character !== '"') {
        field += character;
      } else if (text[index + 1] === '"') {
        field += '"';
        index += 1;
      } else {
        quoted = false;
      }
    } else if (character === '"') {
      quoted = true;
    } else if (character === ',') {
      row.push(field);
      field = '';
    } else if (character === '\n') {
      rows.push([...row, field]);
      row = [];
      field = '';
    } else if (character !== '\r') {
      field += character;
    }
  }
  if (field !== '' || row.length > 0) rows.push([...row, field]);
  return rows;
}

/** One object for each row, named by the first row. A field that is missing at the end of a row is an empty text. */
export function parseRecords(text) {
  const [header = [], ...rows] = parseCsv(text);
  return rows.map((row) => Object.fromEntries(header.map((name, column) => [name.trim(), row[column] ?? ''])));
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv, parseRecords } from '../src/csv.js';

test('fields are split at commas and rows at line breaks', () => {
  assert.deepEqual(parseCsv('a,b\n1,2\n'), [['a', 'b'], ['1', '2']]);
});

test('a last row without a line break is kept', () => {
  assert.deepEqual(parseCsv('a,b\n1,2'), [['a', 'b'], ['1', '2']]);
});

test('an empty last field is kept', () => {
  assert.deepEqual(parseCsv('a,b\n1,'), [['a', 'b'], ['1', '']]);
});

test('quoted fields may hold commas and line breaks', () => {
  assert.deepEqual(parseCsv('"one, two",three\n"first\nsecond",x'), [['one, two', 'three'], ['first\nsecond', 'x']]);
});

test('two quotes inside a quoted field are one quote', () => {
  assert.deepEqual(parseCsv('"say ""yes, please""",ok'), [['say "yes, please"', 'ok']]);
});

test('line breaks of Windows leave nothing behind', () => {
  assert.deepEqual(parseCsv('a,b\r\n1,2\r\n'), [['a', 'b'], ['1', '2']]);
});

test('records are named by the first row, without the spaces around a name', () => {
  assert.deepEqual(parseRecords('name, age\nAda,36\n'), [{ name: 'Ada', age: '36' }]);
});

test('a missing field of a record is an empty text', () => {
  assert.deepEqual(parseRecords('name,age\nAda\n'), [{ name: 'Ada', age: '' }]);
});
`,
  variants: [
    {
      id: 'backslash-quotes',
      edits: [{ find: `text[index + 1] === '"'`, replace: `text[index - 1] === '\\\\'` }],
      diagnosis: 'quotes inside a field are expected to be escaped by a backslash, but they are written as two quotes',
      symptoms: [
        'parseCsv drops the quotation marks inside a quoted field: "she said ""yes""" loses them.',
        'Fields with doubled quotes come out of parseCsv without any quote.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'empty-end-lost',
      edits: [{ find: "if (field !== '' || row.length > 0)", replace: "if (field !== '')" }],
      diagnosis: 'the last row is added only when its last field has text, so a row that ends in a comma is dropped',
      symptoms: [
        'parseCsv("a,b\\n1,") only returns the first row.',
        'When the last field of the file is empty, parseCsv forgets the whole last row.',
      ],
      subtlety: 0.7,
    },
    {
      id: 'carriage-return-kept',
      edits: [{ find: "} else if (character !== '\\r') {", replace: '} else {' }],
      diagnosis: 'the carriage return of a Windows line break is taken for a part of the last field',
      symptoms: [
        'With files from Windows, the last column of parseCsv has a strange invisible character at its end.',
        'parseCsv("a,b\\r\\n1,2\\r\\n") gives "b\\r" and "2\\r".',
      ],
      subtlety: 0.45,
    },
    {
      id: 'missing-undefined',
      edits: [{ find: "row[column] ?? ''", replace: 'row[column]' }],
      diagnosis: 'a field that is missing at the end of a row becomes undefined instead of an empty text',
      symptoms: [
        'parseRecords gives undefined for columns that a short row does not have; our code expects empty strings.',
        'parseRecords("name,age\\nAda\\n") returns a record whose age is undefined.',
      ],
      subtlety: 0.4,
    },
    {
      id: 'names-untrimmed',
      edits: [{ find: 'name.trim()', replace: 'name' }],
      diagnosis: 'the column names are used with the spaces around them',
      symptoms: [
        'parseRecords("name, age\\nAda,36\\n")[0].age is undefined, the key seems to have a space in it.',
        'The keys that parseRecords makes from the header are not trimmed.',
      ],
      subtlety: 0.35,
    },
    {
      id: 'quote-not-skipped',
      edits: [{ find: `        field += '"';\n        index += 1;\n`, replace: `        field += '"';\n` }],
      diagnosis: 'after two quotes the second one is read again and ends the quoted field too early',
      symptoms: [
        'parseCsv gets confused after a doubled quote: a comma later in the same field suddenly splits it.',
        'A field such as "say ""yes, please""" is split at its comma by parseCsv.',
      ],
      subtlety: 0.75,
    },
  ],
};
