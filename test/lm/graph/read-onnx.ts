import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/* As much of onnx.proto3 as the tests look at: the nodes of a model, and the names around them. */

export interface ReadNode {
  readonly type: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly bodies: readonly ReadGraph[];
}

export interface ReadGraph {
  readonly nodes: readonly ReadNode[];
  readonly initializers: readonly string[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** What is computed on the way and has a shape. */
  readonly between: readonly string[];
}

type Fields = Map<number, Uint8Array[]>;

/** The length-delimited fields of a message, by number. */
function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields: Fields = new Map();
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (wire === WireType.LengthDelimited) fields.set(field, [...(fields.get(field) ?? []), reader.bytes()]);
    else reader.skip(wire, field);
  }
  return fields;
}

const texts = (fields: Fields, field: number): string[] => (fields.get(field) ?? []).map((bytes) => new TextDecoder().decode(bytes));
const names = (fields: Fields, field: number, name: number): string[] =>
  (fields.get(field) ?? []).map((bytes) => texts(fieldsOf(bytes), name)[0]!);

export function readModel(bytes: Uint8Array): ReadGraph {
  return readGraph(fieldsOf(bytes).get(7)![0]!);
}

function readGraph(bytes: Uint8Array): ReadGraph {
  const fields = fieldsOf(bytes);
  return {
    nodes: (fields.get(1) ?? []).map(readNode),
    initializers: names(fields, 5, 8),
    inputs: names(fields, 11, 1),
    outputs: names(fields, 12, 1),
    between: names(fields, 13, 1),
  };
}

function readNode(bytes: Uint8Array): ReadNode {
  const fields = fieldsOf(bytes);
  const bodies = (fields.get(5) ?? []).flatMap((attribute) => fieldsOf(attribute).get(6) ?? []).map(readGraph);
  return { type: texts(fields, 4)[0]!, inputs: texts(fields, 1), outputs: texts(fields, 2), bodies };
}
