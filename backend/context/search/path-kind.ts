import path from 'node:path';
import { isTestPath } from '../file-names.ts';
import { familyOf } from '../symbols/definition-rules.ts';

export type PathKind = 'source' | 'test' | 'example' | 'document' | 'configuration' | 'generated';

const GENERATED =
  /(?:^|\/)(?:dist|build|out|vendor|third[-_]party|generated|gen|node_modules|coverage|public|static|assets|\.yarn|deno)\/|\.(?:min|bundle)\.\w+$|\.(?:pb|gen|generated)\.\w+$|_pb2\.py$|\.(?:snap|lock|map|svg)$|(?:^|\/)(?:package-lock\.json|go\.sum|[\w.-]*lock\.(?:json|ya?ml))$/i;
const EXAMPLE =
  /(?:^|\/)(?:examples?|_?examples?|demos?|samples?|bench|benchmarks?|perf|playgrounds?|fixtures?|__fixtures__|website|www|scripts?|tools?|e2e|integration[-_]?tests?|templates?|testdata|mocks?|__mocks__|__snapshots__)\//i;
const FIXTURE = /(?:^|\/)(?:fixtures?|__fixtures__|testdata|__snapshots__)\//i;
const DOCUMENT =
  /(?:^|\/)(?:docs?|documentation|changelogs?|changes|\.github|\.changeset)\/|\.(?:md|mdx|rst|txt|adoc|html?|csv|css|scss|less)$|(?:^|\/)(?:readme|changes|changelog|history|license|licence|authors|contributing|copying|news)[^/]*$/i;

const CONFIGURATION =
  /(?:^|[./])(?:config|conf|rc)\.\w+$|^setup\.py$|^(?:gulp|grunt|rollup|webpack|babel|jest|eslint)(?:file|\.config)/i;

/** What a file is for, by its path. */
export function kindOf(file: string): PathKind {
  const isCode = familyOf(file) !== undefined;
  if (GENERATED.test(file)) return 'generated';
  if (DOCUMENT.test(file) && !isCode) return 'document';
  if (isTestPath(file)) return FIXTURE.test(file) ? 'example' : 'test';
  if (EXAMPLE.test(file)) return 'example';
  if (DOCUMENT.test(file)) return 'document';
  return isCode && !CONFIGURATION.test(path.posix.basename(file)) ? 'source' : 'configuration';
}
