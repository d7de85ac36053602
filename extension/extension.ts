import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { conductorHome } from '../backend/protocol/client/conductor-home.ts';
import type { BackendClient } from '../backend/protocol/client/backend-client.ts';
import type { StoredEvent } from '../backend/protocol/run-events.ts';
import { answerOf } from '../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { AnswerReview } from './runs/answer-review.ts';
import { BackendConnection, messageOf, type ConnectionState } from './common/backend-connection.ts';
import { BudgetNotices } from './runs/budget-notices.ts';
import { registerChat } from './chat/register-chat.ts';
import { CAPABILITIES, clientCapabilities } from './client-capabilities.ts';
import { ChooseModelCommand } from './workers/choose-model.ts';
import { ChooseTestCommand } from './tests/choose-test-command.ts';
import { ContextConfirmation } from './runs/context-confirmation.ts';
import { ContextKeys } from './common/context-keys.ts';
import { FineTuneCommand } from './training/fine-tune-command.ts';
import { LearnCommand } from './training/learn-command.ts';
import { LearningOffer, type LearningKnown } from './training/learning-offer.ts';
import { HealthPage } from './health/health-page.ts';
import { EvaluationPage } from './evaluations/evaluation-page.ts';
import { chooseEvaluation, evaluate } from './evaluations/evaluate-command.ts';
import { RecordsPage } from './records/records-page.ts';
import { KeyStore } from './workers/keys.ts';
import { localModelsOf } from './workers/local-models-of.ts';
import { LookedAt } from './common/looking-at.ts';
import { registerModelProvider } from './model-provider/register-model-provider.ts';
import { ModelNotices } from './workers/model-notices.ts';
import { ModelSettings } from './workers/model-settings.ts';
import { ModelStates } from './workers/model-states.ts';
import { NextStepError, offerSteps } from './common/next-step.ts';
import { openWorkspaceFile } from './common/open-file.ts';
import { actOn, type PageMessageOptions } from './panel/page-messages.ts';
import { replyTo } from './panel/page-questions.ts';
import { isPanelTabActive, PanelEditor } from './panel/panel-editor.ts';
import type { PanelPageOptions } from './panel/panel-page.ts';
import { PanelStateSource } from './panel/panel-state.ts';
import { PanelView } from './panel/panel-view.ts';
import { PoolStore } from './workers/pool-store.ts';
import { simulate } from './workers/simulate-command.ts';
import { plainMessage } from './common/plain-message.ts';
import { RunCommands } from './runs/run-commands.ts';
import { takeRunFor } from './runs/run-for-folder.ts';
import { LocalFirstState } from './runs/local-first.ts';
import { RunList } from './runs/run-list.ts';
import { RunStore } from './runs/run-store.ts';
import { RunSubscriptions } from './runs/run-subscriptions.ts';
import { readSettings, setLocalFirst } from './common/settings.ts';
import { StepCommands } from './runs/step-commands.ts';
import { SolveCommand } from './runs/solve-command.ts';
import type { ServeCommands } from './serve/serve-commands.ts';
import { StatusBar } from './runs/status-bar.ts';
import { AnswerGhost } from './suggest/answer-ghost.ts';
import { SolveHere } from './suggest/solve-here.ts';
import { Suggestions } from './suggest/suggestions.ts';
import { TestExplorer } from './tests/test-explorer.ts';
import { TrainingCommands } from './training/training-commands.ts';
import { TrainingDetails } from './training/training-details.ts';
import { SHOW_TRAINING, TrainingStatusBar } from './training/training-status-bar.ts';
import { Trainings } from './training/trainings.ts';
import { VerdictFeed } from './runs/verdict-feed.ts';
import { VerifyChanges } from './tests/verify-changes.ts';
import { VirtualDocuments } from './common/virtual-documents.ts';
import { stepsOf, WalkthroughProgress } from './walkthrough-progress.ts';
import { watchWorkersFile } from './workers/watch-workers-file.ts';
import { WorkerCommands } from './workers/worker-commands.ts';

const OPEN_RUN_KEY = 'conductor.openRun';
const OPEN_TRAINING_KEY = 'conductor.openTraining';
const TOLD_VERDICTS_KEY = 'conductor.toldVerdicts';
const TOLD_BUDGETS_KEY = 'conductor.toldBudgets';
const LEARNING_KEY = 'conductor.learning';

/** The extension's API for other extensions and for our own tests. */
export interface ConductorApi {
  /** The current state of the open run. */
  readonly run: () => RunSnapshot | undefined;
  readonly onDidChangeRun: vscode.Event<RunSnapshot | undefined>;
  /** Only while VS Code tests the extension: other extensions must never have access to the keys. */
  readonly test?: TestParts;
}

export interface TestParts {
  readonly keys: KeyStore;
  readonly connectionState: () => ConnectionState['kind'];
}

/** Composition root: connects the parts. It does not start the backend; the first use does. */
export function activate(context: vscode.ExtensionContext): ConductorApi {
  // The protocol formats numbers with the webview's library, which needs the language.
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });
  const log = vscode.window.createOutputChannel('Conductor', { log: true });
  const keys = new KeyStore(context.secrets);

  // Sockets and schemas take most of the load time and are needed only for a connection.
  const loadClient = async () => {
    const { connectBackend, stopBackend } = await import('../backend/protocol/client/start-backend.ts');
    return { connectBackend, stopBackend, home: readSettings().home ?? conductorHome() };
  };
  const connect = async (signal: AbortSignal): Promise<BackendClient> => {
    const { connectBackend, home } = await loadClient();
    const { nodePath } = readSettings();
    return connectBackend({
      home,
      backendScript: vscode.Uri.joinPath(context.extensionUri, 'dist', 'backend.mjs').fsPath,
      nodePath,
      nodeIsElectron: nodePath === undefined && 'electron' in process.versions,
      client: { kind: 'vscode', version: String(context.extension.packageJSON.version) },
      capabilities: CAPABILITIES,
      workspaces: folders(),
      handlers: clientCapabilities({
        keys, sendModelText: (callId, text) => connection.notify('client/modelText', { callId, text }),
      }),
      signal,
      onProgress: (sentence) => log.info(sentence),
      onProblem: (problem) => log.warn(problem),
    });
  };
  const connection = new BackendConnection({
    connect,
    stop: async () => {
      const { stopBackend, home } = await loadClient();
      await stopBackend(home);
    },
    wait: (ms, signal) => delay(ms, undefined, { signal }),
    log: (line) => log.warn(line),
  });

  const runForFolder = takeRunFor(context.globalState, folders());
  const subscriptions = new RunSubscriptions(connection);
  const runs = new RunStore({
    connection, subscriptions,
    memory: {
      runId: runForFolder ?? context.workspaceState.get<string>(OPEN_RUN_KEY),
      remember: (runId) => void context.workspaceState.update(OPEN_RUN_KEY, runId),
    },
  });
  const list = new RunList({ connection, folders });
  const trainings = new Trainings({
    connection, folders,
    memory: {
      trainingId: context.workspaceState.get<string>(OPEN_TRAINING_KEY),
      remember: (trainingId) => void context.workspaceState.update(OPEN_TRAINING_KEY, trainingId),
    },
  });
  const trainingDetails = new TrainingDetails({ connection, trainings });
  const models = new ModelStates(connection);
  const poolStore = new PoolStore(connection);
  const localFirst = new LocalFirstState({ connection, workspace: onlyFolder, isOn: () => readSettings().localFirst });
  // Workers, which are read anew with each connection, and runs that come to an end may change who tries, and the record.
  poolStore.changed.on(() => localFirst.refresh());
  connection.on('run/changed', ({ state }) => {
    if (isOver(state)) localFirst.refresh();
  });
  connection.on('run/removed', () => localFirst.refresh());
  connection.on('pool/changed', () => void poolStore.refresh().catch(() => undefined));
  const learning = new LearningOffer({
    connection,
    memory: {
      get: () => context.globalState.get<LearningKnown>(LEARNING_KEY),
      set: (known) => void context.globalState.update(LEARNING_KEY, known),
    },
    isOn: () => readSettings().offerLearning,
  });
  const notAsked = (error: unknown): void => log.warn(messageOf(error));
  connection.connected.on(() => void learning.look().catch(notAsked));
  runs.happened.on(({ event }) => {
    if (event.type === 'verify.completed') void learning.judged().catch(notAsked);
  });
  context.subscriptions.push(vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration('conductor.localFirst')) localFirst.changed.emit();
    if (event.affectsConfiguration('conductor.offerLearning')) learning.changed.emit();
  }));
  const panel = new PanelStateSource({
    connection, poolStore, runs, list, trainings, trainingDetails, models, localFirst, learning,
    isTrusted: () => vscode.workspace.isTrusted,
    folders,
    undoable: () => review.undoable,
    stoppedMessage: vscode.l10n.t('You stopped the backend. The next question starts it again.'),
  });
  const verdicts = new VerdictFeed({
    connection, list, folders,
    memory: {
      get: () => context.workspaceState.get<Record<string, string>>(TOLD_VERDICTS_KEY, {}),
      set: (reported) => void context.workspaceState.update(TOLD_VERDICTS_KEY, reported),
    },
    log: (line) => log.warn(line),
  });
  const testExplorer = new TestExplorer();
  const contextKeys = new ContextKeys();
  const documents = new VirtualDocuments();
  const review = new AnswerReview({
    connection, documents, contextKeys, memory: context.workspaceState, onOutcome: (outcome) => panel.showApplied(outcome),
  });

  const pageOptions: PanelPageOptions = {
    extensionUri: context.extensionUri,
    source: panel,
    onCommand: (command) => {
      actOn(command, pageMessageOptions).catch((error: unknown) => {
        if (error instanceof NextStepError) return report(error);
        log.error(messageOf(error));
        panel.refuse(messageOf(error));
      });
    },
    onQuestion: (question) => replyTo(question, { connection, list, runCommands }),
    onProblem: (problem) => log.warn(problem),
  };
  const panelView = new PanelView(pageOptions);
  const panelEditor = new PanelEditor(pageOptions);
  /** Reveals the side bar unless the editor tab is visible. */
  const showPanel = async (): Promise<void> => {
    if (!panelEditor.isVisible) await panelView.show();
  };
  if (runForFolder !== undefined) {
    void context.workspaceState.update(OPEN_RUN_KEY, runForFolder);
    showPanel().catch(report);
  }
  const lookedAt = new LookedAt(isPanelTabActive);
  const confirmation = new ContextConfirmation({ connection, documents });
  const chooseTestCommand = new ChooseTestCommand(connection);
  const verifyChanges = new VerifyChanges({
    extensionFolder: context.extensionUri, storage: context.logUri, showPanel, report, onVerification: (verification) => panel.showVerification(verification),
  });
  const chooseTests = (): Promise<boolean> => chooseTestCommand.run();
  const solve = new SolveCommand({ connection, poolStore, runs, panel, confirmation, lookedAt, showPanel, chooseTests });
  const runCommands = new RunCommands({ connection, poolStore, runs, list, panel, lookedAt, showPanel, memory: context.globalState });
  const stepCommands = new StepCommands({ connection, runs, documents });
  const workerCommands = new WorkerCommands({ connection, keys, poolStore });
  const chooseModel = new ChooseModelCommand({ connection, poolStore });
  const trainingCommands = new TrainingCommands({
    connection, trainings, panel, showPanel, isPanelVisible: () => panelView.isVisible || panelEditor.isVisible,
  });
  const fineTune = new FineTuneCommand({ connection, trainings, trainingCommands, chooseModel: () => chooseModel.run() });
  const learn = new LearnCommand({ connection, trainings, trainingCommands, offer: learning });
  const addWorker = async (): Promise<unknown> => {
    const { AddWorkerCommand } = await import('./workers/add-worker.ts');
    return new AddWorkerCommand({ connection, keys, poolStore, chooseModel: () => chooseModel.run() }).run();
  };
  const ghost = new AnswerGhost();
  const solveHere = new SolveHere({ connection, solve, runCommands, ghost });
  const suggestions = new Suggestions({
    connection, memory: context.globalState, isTaken: (document) => ghost.isIn(document), log: (line) => log.warn(line),
  });
  const modelSettings = new ModelSettings(connection, report);
  const healthPage = new HealthPage({
    connection, poolStore, report,
    extensionVersion: String(context.extension.packageJSON.version),
    keysChanged: keys.changed,
    runCommand: async (id) => void (await vscode.commands.executeCommand(id)),
  });
  let serving: Promise<ServeCommands> | undefined;
  const serveCommands = (): Promise<ServeCommands> => (serving ??= import('./serve/serve-commands.ts').then((part) => {
    const commands = new part.ServeCommands({ connection, extensionFolder: context.extensionUri });
    context.subscriptions.push(commands);
    return commands;
  }));
  const recordsPage = new RecordsPage({ connection, report });
  const evaluationPage = new EvaluationPage({ connection, extensionUri: context.extensionUri, report });
  const statusBar = new StatusBar();
  const trainingStatusBar = new TrainingStatusBar();
  const pageMessageOptions: PageMessageOptions = {
    connection, panel, solve, runCommands, stepCommands, trainingCommands, trainingDetails, review,
    openFile: (path, line) => openWorkspaceFile(runs.run?.request.workspace ?? onlyFolder(), path, line),
    setLocalFirst, learning,
    runCommand: async (id, argument) => void (await vscode.commands.executeCommand(id, ...(argument === undefined ? [] : [argument]))),
  };

  const walkthrough = new WalkthroughProgress({ contextKeys, memory: context.globalState });
  runs.changed.on((run) => {
    showStatus();
    for (const step of run ? stepsOf(run) : []) walkthrough.did(step);
    contextKeys.set('running', run !== undefined && !isOver(run.state));
    contextKeys.set('resumable', run !== undefined && run.state !== 'running' && run.state !== 'completed');
    contextKeys.set('hasRun', run !== undefined);
    contextKeys.set('over', run !== undefined && isOver(run.state));
    contextKeys.set('hasAnswer', run !== undefined && isOver(run.state) && answerOf(run) !== undefined);
  });
  const budgetNotices = new BudgetNotices({
    memory: {
      get: () => context.globalState.get<readonly string[]>(TOLD_BUDGETS_KEY, []),
      set: (shown) => void context.globalState.update(TOLD_BUDGETS_KEY, shown),
    },
    openLimits: () => workerCommands.openWorkersFile(),
    raiseTraining: (trainingId) => trainingCommands.act('raiseBudget', trainingId),
    report,
  });
  const onRunEvent = (happened: StoredEvent): void => {
    budgetNotices.onRunEvent(happened);
    const { event } = happened;
    if (event.type === 'run.waiting' && event.for === 'secret') workerCommands.offerKey(event.message).catch(report);
    if (event.type === 'plan.held' && !panelView.isVisible && !panelEditor.isVisible) {
      offerSteps(vscode.l10n.t('A plan waits for you. None of its workers is paid before you let it run.'), [
        { label: vscode.l10n.t('Show Plan'), command: 'conductor.showPanel' },
      ]);
    }
  };
  runs.happened.on(onRunEvent);
  poolStore.changed.on(() => {
    const { hasEnabledWorker } = poolStore;
    contextKeys.set('hasWorker', hasEnabledWorker);
    if (hasEnabledWorker) walkthrough.did('didAddWorker');
  });
  trainings.changed.on(() => {
    trainingStatusBar.update(trainings.list);
    budgetNotices.onTrainings(trainings.list, poolStore.pool?.warnAtPercent);
  });
  trainings.stopped.on((training) => void trainingCommands.tell(training).catch(report));
  models.changed.on(() => showStatus());
  verdicts.judged.on((judged) => void testExplorer.show(judged).catch((error: unknown) => log.warn(messageOf(error))));
  new ModelNotices({
    models,
    isWaitedFor: () => chooseModel.isUnderWay || (runs.run !== undefined && !isOver(runs.run.state)),
    unload: async (model) => void (await connection.request('model/unload', { model })),
    memory: context.globalState,
    report,
  });
  keys.changed.on((name) => {
    connection.notify('client/secretChanged', { name });
    if (connection.state.kind === 'connected') poolStore.refresh().catch(report);
  });
  connection.connected.on((client) => {
    client.request('backend/health', {}).then(({ backendVersion, node, pid, problems, sandbox }) => {
      log.info(`Connected to backend ${backendVersion}, process ${pid}, Node ${node}.`);
      if (!sandbox.available) log.warn(`No sandbox: ${sandbox.reason ?? 'no reason given'}`);
      for (const problem of problems) log.warn(problem);
    }).catch((error: unknown) => log.warn(messageOf(error)));
  });

  function showStatus(): void {
    const { run } = runs;
    statusBar.update(run, localModelsOf({ run, pool: undefined, statusOf: (model) => models.of(model) }));
  }

  function report(error: unknown): void {
    if (error instanceof vscode.CancellationError) return;
    if (error instanceof NextStepError) {
      log.info(error.message);
      offerSteps(error.message, error.steps);
      return;
    }
    log.error(messageOf(error));
    const showLogs = vscode.l10n.t('Show Logs');
    void vscode.window.showErrorMessage(plainMessage(messageOf(error)), showLogs).then((chosen) => {
      if (chosen === showLogs) log.show();
    });
  }

  /** Menus pass their context and keybindings pass arbitrary arguments: each command validates what it gets. */
  const commands: Record<string, (argument: unknown) => unknown> = {
    'conductor.solve': (argument) => solve.run(argument),
    'conductor.solveSelection': () => solve.run(),
    'conductor.solveHere': (argument) => solveHere.run(argument),
    'conductor.toggleSuggestions': () => suggestions.toggle(),
    'conductor.forgetSuggestions': () => suggestions.forget(),
    'conductor.newQuestion': async () => {
      panel.ask();
      await showPanel();
    },
    'conductor.cancel': () => runCommands.cancel(),
    'conductor.resume': (argument) => runCommands.resume(runIdIn(argument)),
    'conductor.retryStep': () => runCommands.retryStep(),
    'conductor.stopStep': () => stepCommands.stop(),
    'conductor.tellStep': () => stepCommands.tell(),
    'conductor.showStepChange': () => stepCommands.showChange(),
    'conductor.runAgain': () => runCommands.again(),
    'conductor.exportRun': () => runCommands.exportRun(),
    'conductor.removeRun': () => runCommands.remove(),
    'conductor.showRuns': () => runCommands.showRuns(),
    'conductor.applyAnswer': async (argument) => review.show(await runCommands.runOf(runIdIn(argument))),
    'conductor.acceptAnswer': () => review.accept(),
    'conductor.rejectAnswer': () => review.reject(),
    'conductor.undoAnswer': () => review.undo(),
    'conductor.insertAnswer': () => runCommands.insertAnswer(),
    'conductor.copyAnswer': () => runCommands.copyAnswer(),
    'conductor.fineTune': () => fineTune.run(),
    'conductor.learn': () => learn.run(),
    [SHOW_TRAINING]: async (trainingId) => {
      if (typeof trainingId === 'string') await trainingCommands.open(trainingId);
    },
    'conductor.showDemonstration': () => runCommands.demonstrate(),
    'conductor.simulate': () => simulate({ connection, poolStore }),
    'conductor.addWorker': () => addWorker(),
    'conductor.removeWorker': () => workerCommands.removeWorker(),
    'conductor.chooseConductor': () => workerCommands.chooseConductor(),
    'conductor.chooseConductorModel': (argument) => chooseModel.run(argument),
    'conductor.chooseTestCommand': async () => {
      if (await chooseTests()) walkthrough.did('didTest');
    },
    'conductor.verifyChanges': () => verifyChanges.run(),
    'conductor.setKey': () => workerCommands.setKey(),
    'conductor.removeKey': () => workerCommands.removeKey(),
    'conductor.openWorkersFile': () => workerCommands.openWorkersFile(),
    'conductor.showPanel': async (argument) => {
      const runId = runIdIn(argument);
      if (runId === undefined) await panelView.show();
      else await runCommands.open(runId);
    },
    'conductor.openPanelInEditor': () => panelEditor.show(),
    'conductor.showHealth': async () => {
      await healthPage.show();
      walkthrough.did('didSeeHealth');
    },
    'conductor.showRecords': () => recordsPage.show(),
    'conductor.evaluate': () => evaluate({ connection, open: (folder) => evaluationPage.open(folder) }),
    'conductor.openEvaluation': async () => {
      const folder = await chooseEvaluation(connection);
      if (folder !== undefined) evaluationPage.open(folder);
    },
    'conductor.showLogs': () => log.show(),
    'conductor.serve': async () => (await serveCommands()).serve(),
    'conductor.addServeKey': async () => (await serveCommands()).addKey(),
    'conductor.stopBackend': () => connection.stopBackend(),
  };

  const runChanged = new vscode.EventEmitter<RunSnapshot | undefined>();
  runs.changed.on((run) => runChanged.fire(run));
  context.subscriptions.push(
    log,
    connection,
    runChanged,
    statusBar,
    trainingStatusBar,
    testExplorer,
    keys.watch(),
    documents.register(),
    review.watch(),
    stepCommands.watch(),
    modelSettings.watch(),
    healthPage.watch(),
    recordsPage,
    evaluationPage,
    suggestions.watch(),
    ghost,
    panelView.register(),
    panelEditor.register(),
    lookedAt.watch(),
    walkthrough.watch(),
    vscode.workspace.onDidGrantWorkspaceTrust(() => panel.changed.emit()),
    watchWorkersFile(poolStore),
    registerChat({
      connection, subscriptions, runs, list, solve,
      extensionFolder: context.extensionUri,
      storage: context.logUri,
      version: String(context.extension.packageJSON.version),
      onVerification: (result) => verifyChanges.show(result),
      onEvent: onRunEvent,
    }),
    registerModelProvider({
      connection, poolStore, report,
      memory: context.globalState,
      workersFile: async () => {
        const { home } = await loadClient();
        return path.join(home, 'workers.json');
      },
      version: String(context.extension.packageJSON.version),
    }),
    ...Object.entries(commands).map(([id, action]) => vscode.commands.registerCommand(id, async (argument: unknown) => {
      try {
        return await action(argument);
      } catch (error) {
        report(error);
        return undefined;
      }
    })),
  );
  const test = { keys, connectionState: () => connection.state.kind };
  return {
    run: () => runs.run,
    onDidChangeRun: runChanged.event,
    ...(context.extensionMode === vscode.ExtensionMode.Test && { test }),
  };
}

/** The run that a button outside the panel names; undefined for other arguments, as menus pass them. */
function runIdIn(argument: unknown): string | undefined {
  if (typeof argument !== 'object' || argument === null || !('runId' in argument)) return undefined;
  return typeof argument.runId === 'string' ? argument.runId : undefined;
}

function onlyFolder(): string | undefined {
  const [folder, ...others] = folders();
  return others.length === 0 ? folder : undefined;
}

function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
}
