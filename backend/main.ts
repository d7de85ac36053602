import { homedir } from 'node:os';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { agentRunner, findAgents } from './wiring/agents.ts';
import { findBundledModel } from './wiring/bundled-model.ts';
import { ContextGatherer } from './context/gather-context.ts';
import { StepCopies } from './hands/step-copies.ts';
import { IndexFolder } from './context/symbols/index-folder.ts';
import { SymbolIndexes } from './context/symbols/symbol-indexes.ts';
import { searchNoCurrentFolder } from './common/program-search.ts';
import { redactText } from './common/secrets/secrets.ts';
import { ClientTools } from './converse/client-tools.ts';
import { Converser } from './converse/converser.ts';
import { spokenStep } from './converse/spoken-step.ts';
import { EvaluationManager } from './eval/evaluations/evaluation-manager.ts';
import { Journal } from './journal/journal.ts';
import { holderName } from './journal/leases.ts';
import { endpoints } from './wiring/endpoints.ts';
import { evaluationKeys } from './wiring/evaluation-keys.ts';
import { mathComparer } from './wiring/math-comparer.ts';
import { explainModelError, modelParts } from './wiring/models.ts';
import { taskMaker } from './wiring/task-maker.ts';
import { openVerificationParts } from './wiring/verification.ts';
import { conductorHome } from './protocol/client/conductor-home.ts';
import { teamKeys } from './protocol/client/team-keys.ts';
import { DEMONSTRATION_FOLDER } from './protocol/demonstration-runs.ts';
import { VERSION } from './protocol/product-version.ts';
import { runRequestSchema } from './protocol/run-request.ts';
import { workerConfigSchema, type WorkersFile } from './protocol/worker-config.ts';
import type { ClientRegistry } from './server/client-registry.ts';
import { PoolEditor } from './server/handlers/workers-handlers.ts';
import { BackendHealth, nodeProblem, onnxruntimeProblem } from './server/health.ts';
import { hostBackend, type BackendParts } from './server/host-backend.ts';
import { lookAround } from './server/look-around.ts';
import { SimulatedPool } from './server/simulated-pool.ts';
import { RunKeys } from './solve/run-keys.ts';
import { nextPlanner } from './solve/run-pool.ts';
import { planningRecords } from './solve/planning-records.ts';
import { RunManager } from './solve/run-manager.ts';
import { OutcomesFile } from './suggest/outcomes-file.ts';
import { ProjectPieces } from './suggest/project-pieces.ts';
import { RoutesFile } from './suggest/routes-file.ts';
import { SendableFiles } from './suggest/sendable-files.ts';
import { Suggester } from './suggest/suggester.ts';
import type { Demonstration } from './simulator/demonstration.ts';
import { TrainingManager } from './train/trainings/training-manager.ts';
import { testsRunBy } from './verify/runners/fan-out.ts';
import { likelyCommands } from './verify/runners/likely-commands.ts';
import { ProgramSandbox } from './verify/graders/code/program-sandbox.ts';
import { parsePatch } from './verify/patch/parse-patch.ts';
import { WorkerCaller } from './workers/call-worker.ts';
import { delay } from './workers/limits/delay.ts';
import { findServers, placesOf } from './workers/servers/find-servers.ts';
import { listModels } from './workers/servers/list-models.ts';
import { loadPrices } from './workers/limits/prices.ts';
import { ProviderLimits } from './workers/limits/provider-limits.ts';
import { rollOut, withdraw } from './workers/roll-out.ts';
import { tryWorker } from './workers/try-worker.ts';
import { workersFileLoader } from './workers/workers-file.ts';

/*
 * Composition root of the backend process: the only place that creates its parts and wires them together. What a start does not need is loaded when
 * it is first asked for: the sooner is the answer to who waits for it.
 */

searchNoCurrentFolder();
const home = conductorHome();
// Unlike `process.stderr`, the console ignores write errors: the backend survives a full disk.
const log = (line: string): void => console.error(`${new Date().toISOString()} ${redactText(line)}`);

/** An unanswered question blocks a run's model. After this time the model runs on the CPU. */
const CONSENT_TIMEOUT_MS = 10 * 60_000;
/** A server reads an adapter of some hundred megabytes, perhaps over a network. */
const ROLL_OUT_MS = 6 * 60_000;
/** A person waits. */
const WITHDRAW_MS = 10_000;

async function compose(clients: ClientRegistry): Promise<BackendParts> {
  const workersPath = path.join(home, 'workers.json');
  const prices = await loadPrices(path.join(home, 'prices.json'));
  const limits = new ProviderLimits();
  const simulations: SimulatedPool = new SimulatedPool({
    start: async (request) => (await import('./wiring/simulation.ts')).startSimulation(request, path.join(home, 'simulation')),
    ended: () => forgetSimulated(),
  });
  const readWorkers = workersFileLoader(workersPath);
  const loadWorkers = async (): Promise<WorkersFile> => {
    const file = simulations.over(await readWorkers());
    limits.setWorkers(file.workers);
    return file;
  };
  const bundledModel = findBundledModel();
  const bundled = bundledModel?.conductor;
  const models = modelParts({
    home,
    loadWorkers,
    bundled: bundledModel,
    confirmCuda: ({ question }, signal) => clients.confirm(
      { title: 'Download the CUDA libraries?', detail: `The local model would run on the GPU. ${question}`, accept: 'Download' },
      AbortSignal.any([signal, AbortSignal.timeout(CONSENT_TIMEOUT_MS)]),
    ).catch(() => undefined),
    log,
  });
  const verification = await openVerificationParts(home, (workspace) => clients.python(workspace));
  const { verifier, sandbox, folders, copies, searchPath } = verification;
  const caller = new WorkerCaller({
    limits, prices, localModel: models.localModel, servedModels: models.servedModels, tell: log, runAgent: agentRunner({ sandbox, folders, searchPath, homeFolder: homedir() }),
  });
  const runtimeProblem = onnxruntimeProblem({ requireFrom: import.meta.url, signal: AbortSignal.timeout(60_000) });
  // The bundled model cannot plan if onnxruntime does not load. The check runs in the background; until it ends, onnxruntime is assumed to load.
  let modelsRun = true;
  runtimeProblem.then((problem) => { modelsRun = problem === undefined; }, () => undefined);
  let demonstration: Promise<Demonstration> | undefined;
  const demonstrated = (): Promise<Demonstration> => (demonstration ??= import('./simulator/demonstration.ts').then((module) => new module.Demonstration(path.join(home, DEMONSTRATION_FOLDER))));
  const indexes = new SymbolIndexes(new IndexFolder({ folder: path.join(home, 'indexes'), version: VERSION, log }));
  const context = new ContextGatherer({ ripgrepPath: rgPath, indexes });

  const maker = taskMaker({ verifier, sandbox }, context);

  const hands = { copies: new StepCopies({ copies, sandbox, folders, ripgrepPath: rgPath, verifier }) };
  const journal = Journal.open(path.join(home, 'journal.sqlite'));
  const clientTools = new ClientTools();
  const runs = new RunManager({
    journal,
    clients,
    caller,
    checker: {
      findTestCommands: maker.findTestCommands,
      testsRunBy,
      likelyCommands,
      runnerOf: maker.runnerOf,
      sandboxAvailability: maker.sandboxAvailability,
      parsePatch: (answer, workspace, shown, asks) => parsePatch(answer, workspace, { candidates: shown, ...asks }),
      hold: (workspace, signal) => verifier.hold(workspace, signal),
      verify: (request) => verifier.verify(request),
      testBase: (request) => verifier.testBase(request),
      tryTests: (request) => verifier.tryTests(request),
      placesOf: (ids, request) => verifier.placesOf(ids, request),
    },
    gatherContext: (request) => context.gather(request),
    supply: (request) => context.supply(request),
    spoken: (place) => spokenStep(place, clientTools),
    hands,
    loadWorkers,
    priced: (worker) => ({ ...worker, price: prices.of(worker) }),
    adapterVersion: models.adapterVersion,
    get bundledConductor() { return modelsRun ? bundled : undefined; },
    demonstration: async () => {
      const { question, workspace, rounds, workers, conductor } = await (await demonstrated()).begin();
      const planner = bundled && (await runtimeProblem) === undefined ? undefined : conductor;
      return {
        request: runRequestSchema.parse({ question, workspace, rounds }),
        workers: [...workers, ...(planner ? [{ ...planner, enabled: false }] : [])].map((worker) => workerConfigSchema.parse(worker)),
        conductor: planner?.id,
      };
    },
    awakenSimulated: async (worker) => (await demonstrated()).goOn(worker),
    holder: holderName(),
    log,
  });

  const sendable = new SendableFiles({ ripgrepPath: rgPath });
  const suggestions = new Suggester({
    journal, clients, caller, loadWorkers, log,
    files: sendable,
    pieces: new ProjectPieces({ files: sendable, indexes, log }),
    file: new RoutesFile(path.join(home, 'suggest-routes.json'), log),
    outcomes: new OutcomesFile({ path: path.join(home, 'suggest-outcomes.json'), log }),
    priced: (worker) => ({ ...worker, price: prices.of(worker) }),
    adapterVersion: models.adapterVersion,
    ...(bundled && { bundledConductor: bundled }),
  });

  const pool = new PoolEditor({
    file: workersPath,
    shown: (file) => simulations.over(file),
    tryWorker: (worker, signal) => tryWorker(worker, {
      caller,
      keys: new RunKeys({ clients, signal, patient: false, onWaiting: () => new Promise(() => {}) }),
      clientModel: (call) => clients.model(call),
      signal,
    }),
    priceOf: (worker) => {
      const known = prices.known(worker);
      return known && { inputPerMillion: known.price.inputPerMillion, outputPerMillion: known.price.outputPerMillion, origin: known.origin };
    },
    whyNoModel: (worker) => models.whyNot(worker),
    adapterVersion: (worker) => models.adapterVersion(worker),
    findAgents: () => findAgents(searchPath),
    findServers: (signal) => findServers({ places: placesOf(process.env), signal }),
    listModels,
    get bundledConductor() { return modelsRun ? bundled : undefined; },
    nextPlanner: (file, ready) => nextPlanner(ready, {
      file,
      priced: (worker) => ({ ...worker, price: prices.of(worker) }),
      bundledConductor: modelsRun ? bundled : undefined,
      recordOf: planningRecords(journal),
    }),
  }, clients);

  const servedOptions = (mostMs: number) => {
    const signal = AbortSignal.timeout(mostMs);
    return { caller, keys: new RunKeys({ clients, signal, patient: false, onWaiting: () => new Promise(() => {}) }), signal };
  };
  const comparer = mathComparer({ ELECTRON_RUN_AS_NODE: '1' });
  const trainings = new TrainingManager({
    trainings: path.join(home, 'trainings'),
    adapters: path.join(home, 'adapters'),
    parts: {
      ...maker, journal, caller, prices, hands, delay,
      clientModel: (call) => clients.model(call),
      graderTools: { programs: new ProgramSandbox({ sandbox, folders, hidden: [home] }), comparer },
      openModel: (conductor, trains) => models.openTrainable(conductor, trains),
      weightsTraining: (conductor, heldBytes) => models.weightsTraining(conductor, heldBytes),
      modelFolder: ({ model }) => models.folderOf(model),
      baseOf: (conductor) => models.baseOf(conductor),
      teamKeys: teamKeys(home),
      log,
      now: Date.now,
    },
    clients,
    loadWorkers,
    changeWorkers: (change) => pool.change(change),
    rollOut: (worker) => rollOut(worker, servedOptions(ROLL_OUT_MS)),
    withdraw: (worker, adapters) => withdraw(worker, adapters, servedOptions(WITHDRAW_MS)),
    ...(bundled && { bundledConductor: bundled }),
    priced: (worker) => ({ ...worker, price: prices.of(worker) }),
    log,
  });

  /** What was learned from simulated workers must not plan for others: it goes with them. */
  const forgetSimulated = async (): Promise<void> => {
    await trainings.opened;
    const { workers } = await readWorkers();
    const isGone = ({ id }: { readonly id: string }): boolean => !workers.some((worker) => worker.id === id);
    for (const { trainingId, adopted, simulated, pool: learnedFrom = [] } of trainings.list()) {
      if (adopted && simulated && learnedFrom.some(isGone)) await trainings.goBack(trainingId);
    }
  };

  const evaluations = new EvaluationManager({
    home,
    open: async (request, preparing) => (await import('./wiring/evaluation.ts')).openEvaluation(request, {
      ...preparing, home, host: 'backend',
      parts: { verification, localModel: models.localModel, servedModels: models.servedModels, caller, clientModel: (call) => clients.model(call) },
    }),
    keys: ({ signal, patient, onWaiting }) => evaluationKeys({ clients, signal, patient, onWaiting }),
    running: () => simulations.current,
    now: Date.now,
    log,
  });

  const conversations = new Converser({ runs, tools: clientTools, loadWorkers });
  return {
    runs,
    pool,
    trainings,
    evaluations,
    simulations,
    judged: journal,
    suggestions,
    conversations,
    endpoints: endpoints({ home, conversations, loadWorkers, explain: explainModelError, log }),
    models: models.access,
    health: new BackendHealth({
      backendVersion: VERSION,
      problems: [runtimeProblem],
      sandbox: sandbox.availability(),
      look: (signal) => lookAround({ home, loadWorkers, caller, spent: (scope) => journal.budget.spent(scope), signal }),
    }),
    resume: () => {
      runs.resumeUnfinished();
      void evaluations.goOn().catch((error: unknown) => log(`Earlier evaluations could not be read: ${String(error)}`));
      void trainings.open().then(forgetSimulated).catch((error: unknown) => log(`Earlier trainings could not be read: ${String(error)}`));
    },
    close: async () => {
      await Promise.all([runs.close(), trainings.close(), evaluations.close(), suggestions.close()]);
      await simulations.close();
      await comparer.close();
      await verification.close();
      await models.close();
      await (await demonstration)?.close();
      journal.close();
    },
  };
}

const problem = nodeProblem();
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
process.on('uncaughtException', (error) => {
  log(`The backend exits because of an uncaught error: ${error.stack ?? String(error)}`);
  process.exit(1);
});
await hostBackend({ home, version: VERSION, compose, explain: explainModelError, log });
process.exit(0);
