import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { CodeGeneratorRequestSchema, CodeGeneratorResponseSchema, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';

/*
 * node with-node.mjs node test/train/remote/skyrl/generate-messages.ts
 * Generates the types of Tinker's messages from the definitions that its SDK publishes, compiled for Python. Needs pip and npm.
 */

const SDK = 'tinker==0.25.0';
const GENERATOR = '@bufbuild/protoc-gen-es@2.17.0';
const target = fileURLToPath(new URL('../../../../backend/train/engines/remote/messages/', import.meta.url));

const folder = await mkdtemp(path.join(tmpdir(), 'tinker-messages-'));
try {
  execFileSync('python3', ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--no-deps', '--target', folder, SDK], { stdio: 'inherit' });
  const source = await readFile(path.join(folder, 'tinker', 'proto', 'tinker_public_pb2.py'), 'utf8');
  const [, literal] = /AddSerializedFile\((b'.*')\)/.exec(source) ?? [];
  if (literal === undefined) throw new Error(`${SDK} has its definitions in another form.`);
  const bytes = execFileSync('python3', ['-c', 'import ast, sys; sys.stdout.buffer.write(ast.literal_eval(sys.stdin.read()))'], { input: literal });
  const file = fromBinary(FileDescriptorProtoSchema, bytes);
  const request = create(CodeGeneratorRequestSchema, { fileToGenerate: [file.name], parameter: 'target=js+dts', protoFile: [file] });
  const answer = execFileSync('npx', ['--yes', '--package', GENERATOR, 'protoc-gen-es'], { input: toBinary(CodeGeneratorRequestSchema, request) });
  const { error, file: generated } = fromBinary(CodeGeneratorResponseSchema, answer);
  if (error !== '') throw new Error(error);
  for (const { name, content } of generated) await writeFile(path.join(target, path.basename(name)), content);
} finally {
  await rm(folder, { recursive: true, force: true });
}
