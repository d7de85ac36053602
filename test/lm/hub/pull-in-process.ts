// A process of its own that pulls a model: node pull-in-process.ts ENDPOINT REPO STORAGE. Prints the model as JSON.
import { pullModel } from '../../../backend/lm/hub/pull-model.ts';

const [endpoint = '', repo = '', storage = ''] = process.argv.slice(2);
console.log(JSON.stringify(await pullModel({ endpoint, repo, storage, signal: new AbortController().signal })));
