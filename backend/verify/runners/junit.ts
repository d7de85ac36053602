import { XMLParser, XMLValidator } from 'fast-xml-parser';
import * as z from 'zod';
import { redactText } from '../../common/secrets/secrets.ts';
import { ReportError, type TestReport } from './test-report.ts';
import { readReportFile, relativeFile, ResultCollector, type ReportedTest } from './report-file.ts';

/** Of all files of one run together. The XML parser is synchronous; this much takes it about a second. */
const MAX_JUNIT_BYTES = 8 * 1024 * 1024;
const MAX_JUNIT_FILES = 5_000;
/** Of nested suites. */
const MAX_DEPTH = 50;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  cdataPropName: '#cdata',
  // Declared entities could grow without bounds or read files. XML's own five are decoded below.
  processEntities: false,
  maxNestedTags: 100,
});

/** A node of the parser's `preserveOrder` output. */
type Node = Readonly<Record<string, unknown>>;

export interface JunitNames {
  /** What stands before a test's name: its `classname`, or the names of the suites around it where a runner writes the class in another order. */
  readonly namesBy?: 'class' | 'suites';
}

/** Reads files in the order of their names. Throws `ReportError` if there is none, or one cannot be read. */
export async function readJunitFiles(files: readonly string[], copy: string, names: JunitNames = {}): Promise<TestReport> {
  if (files.length === 0) throw new ReportError('The command wrote no JUnit file.');
  if (files.length > MAX_JUNIT_FILES) throw new ReportError(`The command wrote more than ${MAX_JUNIT_FILES} JUnit files.`);
  const collector = new ResultCollector(copy);
  let left = MAX_JUNIT_BYTES;
  for (const file of [...files].sort()) {
    const text = await readReportFile(file, left);
    left -= Buffer.byteLength(text);
    addJunit(text, collector, copy, names);
  }
  return { results: collector.results };
}

/** Throws `ReportError`. */
export function parseJunit(text: string, copy: string, names: JunitNames = {}): TestReport {
  const collector = new ResultCollector(copy);
  addJunit(text, collector, copy, names);
  return { results: collector.results };
}

function addJunit(text: string, collector: ResultCollector, copy: string, { namesBy }: JunitNames): void {
  let roots: readonly Node[];
  try {
    // The parser itself accepts a file that is cut off.
    if (XMLValidator.validate(text) !== true) throw new ReportError('The JUnit file is not XML, or is cut off.');
    roots = nodesSchema.parse(parser.parse(text));
  } catch (error) {
    if (error instanceof ReportError) throw error;
    throw new ReportError(`The JUnit file cannot be read: ${redactText(error instanceof Error ? error.message : String(error)).slice(0, 200)}`);
  }
  const suites = roots.filter((node) => ['testsuites', 'testsuite'].includes(nameOf(node)));
  if (suites.length === 0) throw new ReportError('The XML file is not a JUnit report.');
  for (const suite of suites) addSuite(suite, [], { collector, copy, bySuites: namesBy === 'suites' });
}

const nodesSchema = z.array(z.record(z.string(), z.unknown()));
const attributesSchema = z.record(z.string(), z.string());

interface Reading {
  readonly collector: ResultCollector;
  readonly copy: string;
  /** The outermost suite is a file. */
  readonly bySuites: boolean;
}

function addSuite(suite: Node, above: readonly string[], reading: Reading): void {
  const { collector } = reading;
  if (above.length > MAX_DEPTH) throw new ReportError('The JUnit file nests suites too deeply.');
  const own = attributesOf(suite);
  const names = nameOf(suite) === 'testsuite' && own.name !== undefined ? [...above, reading.bySuites && above.length === 0 ? relativeFile(own.name, reading.copy) : own.name] : above;
  let hasFailingTest = false;
  for (const child of childrenOf(suite)) {
    if (nameOf(child) === 'testsuite') addSuite(child, names, reading);
    if (nameOf(child) !== 'testcase') continue;
    const test = testOf(child, names, own, reading);
    hasFailingTest ||= test.status === 'failed';
    collector.add(test);
  }
  // A failure outside of tests, such as in the set-up of a class or while loading a file.
  const faults = childrenOf(suite).filter((child) => ['error', 'failure'].includes(nameOf(child)));
  const counted = [own.errors, own.failures].some((count) => count !== undefined && Number(count) > 0);
  const hasTests = childrenOf(suite).some((child) => ['testcase', 'testsuite'].includes(nameOf(child)));
  if (faults.length > 0 || (counted && !hasTests && !hasFailingTest))
    collector.add({ kind: 'container', status: 'failed', path: names, message: faults.map(messageOf).join('\n') });
}

function testOf(node: Node, suites: readonly string[], suite: Attributes, { copy, bySuites }: Reading): ReportedTest {
  const { name = '', classname, file = suite.file, status, time } = attributesOf(node);
  const children = childrenOf(node);
  const fault = children.find((child) => ['failure', 'error'].includes(nameOf(child)));
  // ctest's terms for tests that did not run.
  const isSkipped = children.some((child) => nameOf(child) === 'skipped') || ['notrun', 'disabled', 'skipped'].includes(status ?? '');
  const hasFailed = fault !== undefined || ['fail', 'failed', 'error'].includes(status ?? '');
  return {
    kind: 'test',
    status: hasFailed ? 'failed' : isSkipped ? 'skipped' : 'passed',
    path: [file === undefined ? undefined : relativeFile(file, copy), ...(classname && !bySuites ? [classname] : suites), name],
    message: fault && messageOf(fault),
    durationMs: time === undefined ? undefined : Number(time.replaceAll(',', '')) * 1_000,
  };
}

/** The message of a failure, and its text if that says more. */
function messageOf(node: Node): string {
  const { message = '' } = attributesOf(node);
  const text = textOf(node).trim();
  return text.includes(message) ? text : `${message}\n${text}`.trim();
}

type Attributes = Readonly<Record<string, string | undefined>>;

const nameOf = (node: Node): string => Object.keys(node).find((key) => key !== ':@') ?? '';

function childrenOf(node: Node): readonly Node[] {
  const parsed = nodesSchema.safeParse(node[nameOf(node)]);
  return parsed.data ?? [];
}

function attributesOf(node: Node): Attributes {
  const attributes = attributesSchema.safeParse(node[':@']).data ?? {};
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, decoded(value)]));
}

function textOf(node: Node): string {
  return childrenOf(node)
    .map((child) => (typeof child['#text'] === 'string' ? decoded(child['#text']) : '#cdata' in child ? cdataOf(child) : ''))
    .join('');
}

function cdataOf(node: Node): string {
  return childrenOf({ '#cdata': node['#cdata'] })
    .map((child) => (typeof child['#text'] === 'string' ? child['#text'] : ''))
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Decodes XML's five entities and numeric characters. Others stay as they are. */
function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(lt|gt|amp|quot|apos));/g, (whole, decimal, hexadecimal, name) => {
    if (typeof name === 'string') return ENTITIES[name] ?? whole;
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hexadecimal), 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
