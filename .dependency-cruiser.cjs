// The house's import rules: which room may import which (docs/architecture.md draws them).
const ROOMS = {
  'extension': ['backend/protocol'],
  'webview': ['backend/protocol'],
  'backend/protocol': [],
  'backend/server': ['protocol', 'solve', 'suggest', 'train', 'eval', 'context', 'workers', 'journal'],
  'backend/train': ['solve', 'conductor', 'workers', 'verify', 'journal', 'lm', 'protocol'],
  'backend/eval': ['solve', 'train', 'conductor', 'workers', 'workflow', 'verify', 'journal', 'simulator', 'lm', 'protocol'],
  'backend/solve': ['context', 'conductor', 'workflow', 'workers', 'verify', 'journal', 'protocol'],
  'backend/suggest': ['context', 'conductor', 'solve', 'workers', 'journal', 'protocol'],
  'backend/conductor': ['workflow', 'workers', 'lm'],
  'backend/workflow': ['workers'],
  'backend/workers': ['lm', 'protocol'],
  'backend/context': [],
  'backend/verify': [],
  'backend/journal': ['protocol'],
  'backend/lm': [],
  'backend/simulator': ['verify'],
  'backend/cli': ['protocol', 'simulator', 'lm', 'verify'],
};
const folder = (room) => (room.startsWith('backend/') ? room : `backend/${room}`);

const roomRules = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room.replace('/', '-')}-imports`,
  comment: `${room}/ may import ${allowed.length ? allowed.map(folder).join(', ') : 'nothing of ours'}.`,
  severity: 'error',
  from: { path: `^${room}/` },
  to: {
    path: '^(extension|webview|backend|test)/',
    pathNot: [room, ...allowed.map(folder)].map((name) => `^${name}/`),
  },
}));

// Inside the model runtime the same: which part may import which.
const LM_PARTS = {
  graph: [],
  checkpoint: [],
  tokenizer: [],
  automaton: [],
  adapter: ['checkpoint'],
  quantize: ['checkpoint'],
  download: [],
  hub: ['checkpoint', 'quantize', 'download'],
  device: ['download', 'quantize'],
  decoder: ['graph', 'checkpoint', 'adapter', 'quantize', 'automaton'],
  trainer: ['checkpoint', 'adapter', 'decoder'],
};

const lmRules = Object.entries(LM_PARTS).map(([part, allowed]) => ({
  name: `lm-${part}-imports`,
  comment: `backend/lm/${part}/ may import ${allowed.length ? allowed.join(', ') : 'no other part of the runtime'}.`,
  severity: 'error',
  from: { path: `^backend/lm/${part}/` },
  to: { path: '^backend/lm/', pathNot: [part, ...allowed].map((name) => `^backend/lm/${name}/`) },
}));

module.exports = {
  forbidden: [
    ...roomRules,
    ...lmRules,
    {
      name: 'onnxruntime-in-the-models-process',
      comment: 'Its runs block the thread they are on, so only what runs in the model\'s process may load it.',
      severity: 'error',
      from: { path: '^(extension|webview|backend)/', pathNot: '^backend/lm/(graph/session|load-model)\\.ts$' },
      to: { path: 'onnxruntime-node' },
    },
    {
      name: 'only-the-extension-sees-vscode',
      comment: 'The backend and the webview run without VS Code.',
      severity: 'error',
      from: { path: '^(backend|webview)/' },
      to: { path: '^vscode$|@types/vscode' },
    },
    {
      name: 'protocol-is-portable',
      comment: 'The contract is bundled into the webview too: only protocol/client/ may use Node.',
      severity: 'error',
      from: { path: '^backend/protocol/', pathNot: '^backend/protocol/client/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'webview-is-a-page',
      comment: 'A webview has no Node, and nothing of the client that needs it.',
      severity: 'error',
      from: { path: '^webview/' },
      to: { path: '^backend/protocol/client/|^node:' },
    },
    {
      name: 'toolkit-in-one-file',
      comment: 'webview-ui-toolkit is archived upstream: one file imports it, so that one file replaces it.',
      severity: 'error',
      from: { pathNot: '^webview/toolkit\\.ts$' },
      to: { path: '@vscode/webview-ui-toolkit' },
    },
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-tests', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
    {
      name: 'nothing-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^vscode$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^test/fixtures/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
