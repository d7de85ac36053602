const path = require('node:path');

// The house's import rules: which room may import which (docs/architecture.md draws them).
const ROOMS = {
  'extension': ['backend/protocol'],
  'webview': ['backend/protocol'],
  'backend/common': [],
  'backend/protocol': ['common'],
  'backend/server': ['protocol', 'records', 'solve', 'suggest', 'converse', 'train', 'eval', 'context', 'workers', 'journal', 'common'],
  'backend/train': ['records', 'solve', 'conductor', 'workflow', 'workers', 'verify', 'journal', 'lm', 'protocol', 'common'],
  'backend/eval': ['train', 'solve', 'hands', 'conductor', 'workers', 'workflow', 'verify', 'lm', 'simulator', 'protocol', 'common'],
  'backend/hands': ['context', 'workers', 'verify', 'protocol', 'common'],
  'backend/solve': ['records', 'hands', 'context', 'conductor', 'workflow', 'workers', 'verify', 'journal', 'protocol', 'common'],
  'backend/suggest': ['records', 'context', 'conductor', 'solve', 'workers', 'journal', 'protocol', 'common'],
  'backend/converse': ['solve', 'workers', 'protocol', 'common'],
  'backend/serve': ['protocol', 'common'],
  'backend/conductor': ['workflow', 'workers', 'lm', 'protocol', 'common'],
  'backend/workflow': ['workers', 'common'],
  'backend/workers': ['lm', 'protocol', 'common'],
  'backend/context': ['common'],
  'backend/verify': ['protocol', 'common'],
  'backend/journal': ['protocol', 'common'],
  'backend/records': ['journal', 'protocol', 'common'],
  'backend/lm': ['common'],
  'backend/simulator': ['verify', 'common'],
  'backend/cli': ['serve', 'protocol', 'eval', 'simulator', 'lm', 'verify', 'common'],
  'backend/lab': ['eval', 'simulator', 'train', 'conductor', 'workers', 'workflow', 'verify', 'journal', 'lm', 'protocol', 'common'],
  'backend/wiring': ['server', 'serve', 'converse', 'eval', 'lab', 'simulator', 'solve', 'hands', 'train', 'context', 'conductor', 'workers', 'verify', 'lm', 'protocol', 'common'],
};
const folder = (room) => (/^(extension|webview|backend)(\/|$)/.test(room) ? room : `backend/${room}`);

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

// Inside the large rooms the same: which part may import which. Files at the root of a room may import all of its
// parts; a part imports only the root files that it lists.
const PARTS = {
  'extension': {
    common: [],
    workers: ['common'],
    training: ['common'],
    runs: ['common', 'workers', 'training'],
    tests: ['common', 'runs'],
    suggest: ['common', 'runs'],
    health: ['common', 'workers'],
    records: ['common'],
    evaluations: ['common'],
    panel: ['common', 'workers', 'training', 'runs'],
    chat: ['common', 'runs', 'tests'],
    serve: ['common'],
    'model-provider': ['common', 'workers'],
  },
  'backend/lm': {
    graph: ['device'],
    checkpoint: [],
    tokenizer: [],
    automaton: [],
    adapter: ['checkpoint'],
    quantize: ['checkpoint', 'device'],
    download: [],
    hub: ['checkpoint', 'quantize', 'download', 'device'],
    device: ['download', 'machine-memory.ts'],
    decoder: ['graph', 'checkpoint', 'adapter', 'quantize', 'automaton', 'device'],
    trainer: ['checkpoint', 'adapter', 'decoder'],
    trial: ['checkpoint', 'adapter', 'quantize', 'decoder', 'trainer', 'device'],
  },
  'backend/train': {
    statistics: [],
    engines: [],
    tasks: ['statistics'],
    grpo: ['engines', 'statistics'],
    rollouts: ['grpo', 'engines', 'tasks', 'statistics'],
    outcomes: ['grpo', 'engines', 'statistics'],
    team: ['grpo', 'engines'],
    trainings: ['team', 'outcomes', 'rollouts', 'grpo', 'engines', 'tasks', 'statistics'],
  },
  'backend/workers': {
    servers: ['errors.ts'],
    limits: ['servers', 'errors.ts', 'failure-sentences.ts', 'model.ts', 'read-json-file.ts'],
    adapters: ['servers', 'limits', 'errors.ts', 'failure-sentences.ts', 'model.ts', 'redact.ts'],
  },
  'backend/verify': {
    files: [],
    syntax: [],
    patch: ['files', 'syntax'],
    git: ['files', 'patch'],
    copies: ['files', 'git'],
    sandbox: ['files'],
    runners: ['files', 'sandbox'],
    tools: ['files', 'sandbox', 'runners'],
    control: ['files', 'syntax', 'runners'],
    closure: ['files', 'runners'],
    reach: ['closure', 'runners', 'sandbox'],
    judge: ['files', 'syntax', 'copies', 'sandbox', 'runners'],
    graders: ['files', 'patch', 'sandbox', 'judge'],
  },
};

const partRules = Object.entries(PARTS).flatMap(([room, parts]) => Object.entries(parts).map(([part, allowed]) => ({
  name: `${path.posix.basename(room)}-${part}-imports`,
  comment: `${room}/${part}/ may import ${allowed.length ? allowed.join(', ') : 'no other part of its room'}.`,
  severity: 'error',
  from: { path: `^${room}/${part}/` },
  to: { path: `^${room}/`, pathNot: [part, ...allowed].map((name) => `^${room}/${name}${name.endsWith('.ts') ? '$' : '/'}`) },
})));

module.exports = {
  forbidden: [
    ...roomRules,
    ...partRules,
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
