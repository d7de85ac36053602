import path from 'node:path';
import { writeSmallQwen3 } from './small-qwen3.ts';

// node with-node.mjs node test/train/remote/write-small-qwen3.ts FOLDER: the model for a server that skyrl.test.ts compares.
const [, , folder] = process.argv;
if (folder === undefined) throw new Error('Name the folder to write.');
await writeSmallQwen3(path.resolve(folder));
