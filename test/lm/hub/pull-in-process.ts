// A process of its own that pulls a model: node pull-in-process.ts ENDPOINT REPO STORAGE. Prints the model as JSON, and on standard
// error the file whose bytes are coming.
import { pullModel } from '../../../backend/lm/hub/pull-model.ts';

const [endpoint = '', repo = '', storage = ''] = process.argv.slice(2);
const model = await pullModel({
  endpoint, repo, storage, signal: new AbortController().signal,
  onProgress: ({ file, bytesPerSecond }) => { if (bytesPerSecond > 0) process.stderr.write(`${file}\n`); },
});
console.log(JSON.stringify(model));
