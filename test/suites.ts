/** Test files that take long or need more than Node. */
interface SlowTests {
  readonly reason: string;
  /** Patterns as Vitest takes them. */
  readonly files: readonly string[];
}

export const TEST_FILES = ['test/**/*.test.ts', 'test/**/*.test.tsx'];
export const NO_TEST_FILES = ['test/e2e/**', '**/node_modules/**', 'test/fixtures/**'];

/** `npm test` runs every test file but these; `npm run test:all` runs them, too. */
export const SLOW_TESTS: readonly SlowTests[] = [
  {
    reason: 'They run projects of all languages in the sandbox: they need bubblewrap, and toolchains.',
    files: [
      'test/verify/{escape,honest,published,reward-hacks,container}/**/*.test.ts',
      'test/verify/runners/{cargo,go,javascript,junit,phpunit,python,ruby}.test.ts',
      'test/verify/graders/{cases-grader,check-grader,reward-hacks,task-file,unittest-grader}.test.ts',
      'test/verify/{base-result,code-not-run,copy-pool,coverage,drawn-tests,endurance,node-test,reached-first,sandbox,verify}.test.ts',
      'test/verify/walls/{namespaces,walls}.test.ts',
      'test/verify/limits/control-group.test.ts',
      'test/hands/{step-copy,hostile-worker,person-tools}.test.ts',
      'test/wiring/agents.test.ts',
      'test/eval/evaluation/{human-eval,project}.test.ts',
      'test/eval/swe-bench/in-images.test.ts',
      'test/eval/intervals/scipy.test.ts',
      'test/eval/result-files/python-readers.test.ts',
      'test/cli/{learn-command,secrets-in-output,train-command,verify-command,verify-reports}.test.ts',
      'test/train/{hands-rollout,rollout-crash}.test.ts', 'test/train/team/killed.test.ts',
      'test/train/tasks/{project-tasks,redo-tasks}.test.ts',
      'test/lab/gym/{gym-grades,learns}.test.ts',
      'test/solve/follow-up/follow-up-run.test.ts',
      'test/lm/device/unzip.test.ts',
      'test/packaging/{ci-action,harbor}.test.ts',
      'test/real/agents/doors.test.ts',
    ],
  },
  {
    reason: 'They start the command line, the backend or the process of the local model, again and again.',
    files: [
      'test/cli/{acp-command,command-line,generate-command,grad-command,hook-command,logprobs-command,mcp-command,mcp-keys,model-command,plan-review,run-again,run-model,serve-command,simulate-command}.test.ts',
      'test/lm/process/{device-trials,local-models,model-client,model-death,training}.test.ts',
      'test/lm/real-model/{sentencepiece,smollm2}.test.ts',
      'test/train/remote/skyrl/skyrl-training.test.ts',
      'test/eval/evaluation/killed.test.ts',
      'test/eval/evaluations/backend-killed.test.ts',
      'test/server/backend-process.test.ts',
      'test/train/team/team.test.ts',
      'test/windows/windows.test.ts',
      'test/solve/{agent-run,crash-matrix,hands-run,local-run,steered-steps}.test.ts',
    ],
  },
  {
    reason: 'They compute for long: with many random batches, with each weight, a thousand times, for fifty clients at once, or with the model that is bundled.',
    files: ['test/lm/decoder/{batch-invariance,memory,quantized,train-step,trainable,webgpu,webgpu-placement}.test.ts', 'test/lm/trainer/trl.test.ts', 'test/conductor/plan-grammar-random.test.ts', 'test/webview/accessible-scenes.test.tsx', 'test/lm/process/model-memory.test.ts', 'test/lab/mini/conductor-mini.test.ts', 'test/train/{learn-from-outcomes,training-manager}.test.ts', 'test/serve/many-sessions.test.ts'],
  },
  {
    reason: 'They measure simulated workers over thousands of answers.',
    files: ['test/lab/gym/{balance,hands}.test.ts', 'test/simulator/worker-model.test.ts'],
  },
  {
    reason: 'They put something in the place of a module of Node, which no other file may have loaded before.',
    files: ['test/common/failing-writes.test.ts'],
  },
  {
    reason: 'They read the whole repository.',
    files: ['test/lint/{house-style,import-rules}.test.ts', 'test/packaging/shipped-files.test.ts'],
  },
];

/** The longest of all, in their order. They begin first, so that nothing waits for one of them at the end. */
export const LONGEST_TEST_FILES = [
  'test/verify/reward-hacks/{typescript/vitest,python/pytest,go/go}.test.ts',
  'test/solve/crash-matrix.test.ts',
  'test/train/remote/skyrl/skyrl-training.test.ts',
  'test/train/training-manager.test.ts',
  'test/cli/verify-command.test.ts',
  'test/train/learn-from-outcomes.test.ts',
  'test/lm/real-model/smollm2.test.ts',
  'test/lm/process/device-trials.test.ts',
  'test/verify/honest/go.test.ts',
  'test/verify/runners/python.test.ts',
  'test/windows/windows.test.ts',
  'test/verify/honest/python-plugins.test.ts',
  'test/verify/reward-hacks/java/java.test.ts',
  'test/verify/reward-hacks/typescript/{mocha,node-test}.test.ts',
  'test/verify/coverage.test.ts',
  'test/cli/command-line.test.ts',
  'test/verify/honest/toolchains.test.ts',
  'test/verify/{verify,reached-first}.test.ts',
  'test/lm/decoder/webgpu.test.ts',
  'test/real/agents/doors.test.ts',
  'test/verify/honest/built.test.ts',
  'test/verify/reward-hacks/php/phpunit.test.ts',
  'test/verify/endurance.test.ts',
  'test/verify/runners/javascript.test.ts',
  'test/cli/{learn-command,train-command}.test.ts',
  'test/train/team/team.test.ts',
  'test/verify/graders/reward-hacks.test.ts',
  'test/verify/escape/limits.test.ts',
  'test/lab/gym/learns.test.ts',
  'test/verify/published/packages.test.ts',
  'test/lint/house-style.test.ts',
  'test/lm/decoder/batch-invariance.test.ts',
  'test/lm/process/{model-memory,model-client,training}.test.ts',
  'test/server/backend-process.test.ts',
];

export const SLOW_TEST_FILES = SLOW_TESTS.flatMap(({ files }) => files);

/** Those of the sandbox run with both kinds of walls: of these files, those that are slow anyway. */
export const SANDBOX_TEST_FILES = [
  'test/verify/escape/{files,killed-backend,limits,network,processes,still-works}.test.ts',
  'test/verify/{sandbox,walls/walls}.test.ts',
  'test/hands/hostile-worker.test.ts',
  'test/wiring/agents.test.ts',
];
