/** The options that all commands that run a model share. */
const MODEL_OPTIONS = `  -m, --model DIR|OWNER/NAME
                         a folder in Hugging Face format, or a downloaded model
      --adapter DIR      a LoRA adapter in PEFT format
      --device DEVICE    auto, cuda, webgpu or cpu; default auto, the best available device
      --precision PRECISION
                         full, 8-bit or 4-bit; default full, the precision of the files
      --storage DIR      the folder for models and quantised weights; default: Conductor's own
      --cuda-index URL   the Python package index to download the CUDA libraries from
  -y, --yes              download the CUDA libraries for a GPU without asking`;

/** The output of `--help`, by command. docs/command-line.md has the same in more detail. */
const COMMANDS = {
  solve: `conductor solve "question" [OPTION]...
  -w, --workspace DIR    the project; default: the current folder
  -f, --file PATH[:FROM-TO]
                         a file, or lines of it, that the question is about; repeatable
  -p, --picture FILE     a picture for the workers that take pictures: PNG, JPEG, WebP or GIF, up to 4; repeatable
      --worker ID        use only this worker; repeatable
      --conductor ID     the worker that plays the Conductor for this question
      --continue RUN     continue from the answer of this run, or of the "last" one of the project: its change is built on,
                         applied or not
      --attempts N       plans to try, from the cheapest, until one is verified, 1 to 5; default 1; they are not revised
      --at-once          try all attempts at the same time: quicker, and dearer
      --local-first      let a worker that costs nothing try first; if the tests verify its answer, nobody is paid
      --rounds N         maximum number of rounds (plan and revisions), 1 to 5; default 2
      --test-command CMD the command that runs the project's tests; default: detected
      --runner NAME      the test runner whose report is read, of the given or detected command; exit-code: its exit code alone
      --reports GLOB     the JUnit files that your command writes
      --image IMAGE      run the tests in a container of this local image (Docker, Podman) instead of the sandbox
      --no-tests         run no tests
      --test ID          a test that must pass, instead of those that failed before; repeatable
      --failed-before leave-out|must-pass
                         what becomes of tests that failed before: left out of the verdict, or to be mended, which is the default
      --max-usd N        limit of this run in dollars, instead of the one in workers.json; not for unpriced workers
      --review           show each plan with its expected cost before its workers are paid, and ask: run it, edit it in
                         $VISUAL or $EDITOR, cancel, or ask for another plan
      --review-above N   only a plan that may cost more than N dollars, or whose cost is not known
      --require-verified exit with 1 unless the tests accept the answer
      --apply            write the answer's change into the project, whatever the tests say of it; with --require-verified
                         only a verified one
  -y, --yes              run the tests without a sandbox if there is none, without asking
      --json             print one JSON object; ask no questions`,
  runs: `conductor runs [list] [OPTION]...
  -w, --workspace DIR    only runs of this project
      --search TEXT      only runs whose question contains this text
      --limit N          the newest N, 1 to 500; default 50
      --json             print a JSON array
conductor runs show RUN [--json]
                         show the events and the answer of a run; RUN is an id, or "last" for the newest one of the
                         project, here and below
conductor runs apply RUN
                         write the answer's change into the project
conductor runs undo RUN  take that change back, where the project still has it
conductor runs resume RUN [OPTION]...
                         resume a run that stopped, failed or was cancelled, or follow an active one
      --max-usd N, --max-tokens N
                         raise its total limit of dollars or tokens to N
  -y, --yes, --json      as with solve
conductor runs retry RUN --step N [OPTION]...
                         repeat one step of a finished run, and the steps that read it, in a new run
      --round N          the round of the step; default: the last
      --max-usd N, --max-tokens N, -y, --yes, --json
                         as with resume, for the new run
conductor runs again RUN [OPTION]...
                         ask the question of a run again, with the same context, in a new run
      --worker ID, --conductor ID
                         the workers and the Conductor, as with solve
      --max-usd N, --max-tokens N, -y, --yes, --json
                         as with resume, for the new run
conductor runs cancel RUN
                         cancel a run; finished steps are kept
conductor runs stop-step RUN --step N [--round N]
                         stop a step that is at work; the run goes on with what the step has
conductor runs tell RUN --step N --text TEXT [--round N]
                         say something to the worker of a step that is at work; it reads it at its next turn
conductor runs remove RUN
                         delete a finished run; its cost still counts for its day
conductor runs export RUN [OPTION]...
      --format FORMAT    events (default), one JSON object per line; json, everything including all prompts; or markdown,
                         a readable document
  -o, --out FILE         write to a file instead of standard output`,
  worker: `conductor worker [list] [--json]
                         list the pool, the Conductor, and workers without a key or price
conductor worker agents [--json]
                         list the known agents, and which of them are installed here
conductor worker add ID --agent NAME [--host HOST]... [--step-usd N] [--model MODEL] [--key NAME]
                         add an agent that is installed, such as opencode, as a worker; docs/agents.md
      --host HOST        a host that it may reach, instead of the usual ones of this agent
      --step-usd N       dollars set aside for a step; 0 if your subscription covers it
conductor worker add ID --provider PROVIDER --model MODEL [OPTION]...
                         test a worker and add it, or replace the one with this id
      --provider PROVIDER
                         openai, openai-compatible, anthropic, or local for a model on this machine
      --model MODEL      the provider's name for the model; for a local model its folder, or OWNER/NAME if downloaded
      --adapter DIR      a LoRA adapter for a local or served model, used while it plays the Conductor
      --served MODEL     a Conductor at a server such as vLLM that is the model MODEL of this machine: docs/outgrow.md
      --served-folder DIR, --server-folder DIR
                         a folder that the server can read, too, for its adapters; and what the server calls it
      --base-url URL     address of the server; required for openai-compatible; without a path, /v1 is tried, too
      --key NAME         the environment variable with its key, such as OPENAI_API_KEY
      --description TEXT what it is good at; shown to the Conductor
      --hands HOW        how it works in a copy of the project before it answers: tools, fenced (commands in its text)
                         or none; without it, what its test call shows
      --conductor        make it the Conductor
      --no-try           add it without a test call
      --json             print the pool as JSON
conductor worker try ID  test a worker with one or two small real calls
conductor worker plan ID|conductor-mini|auto [--json]
                         choose who plans: a worker; conductor-mini, which costs nothing; or auto, the worker that
                         plans best for its price
conductor worker remove ID [--json]`,
  records: `conductor records [list] [OPTION]...
                         show what tests said of each worker: verified answers, their cost and time
  -w, --workspace DIR    only answers in this project; default: all projects
      --details          also by role and kind of question
      --json             print one JSON object
conductor records forget [-w DIR] [-y, --yes]
                         forget what tests said of workers, in a project or in all; the runs stay
conductor records on     choose workers by their records, and tell a prompted Conductor of them; this is the default
conductor records off    use them for nothing; they are still kept and shown`,
  'left-out': `conductor left-out [list] [-w DIR] [--json]
                         list the tests that you left out of verdicts of this project while they fail
conductor left-out take-back [TEST]... [-w DIR]
                         have them count again, or all
  -w, --workspace DIR    the project; default: the current folder`,
  backend: `conductor backend [status] [--json]
                         show the state of the backend process
conductor backend stop   stop it; unfinished runs resume when it starts again`,
  demo: `conductor demo [OPTION]...
      --seed N           select another bug, from 0
      --keep             keep the sample project and the run`,
  simulate: `conductor simulate [TASKS]... [OPTION]...
                         let simulated workers be the pool until Ctrl+C, to try eval and train without a key.
                         TASKS: files whose answers they know besides the gym's, such as HumanEval.jsonl.gz
      --seed N           of the gym's tasks and of the workers' luck; default 1
      --beside           let your own workers answer, too; without it nothing is sent to them meanwhile
      --json             print the simulation as one JSON object`,
  verify: `conductor verify [OPTION]...
                         test the uncommitted changes, or a diff, on top of the last commit
  -w, --workspace DIR    the project, in a Git repository; default: the current folder
      --patch FILE.diff  test this diff instead; - is standard input
      --base COMMIT      judge on top of this commit instead of the last one, such as origin/main
      --tests base|head  whose tests judge: those of that commit, which is the default, or those of the change itself;
                         where it changes some, it passes at most
      --command CMD      the test command; default: detected in the last commit
      --runner NAME      the test runner whose report is read, of the given or detected command; exit-code: its exit code alone
      --reports GLOB     the JUnit files that your command writes
      --image IMAGE      run the tests in a container of this local image (Docker, Podman) instead of the sandbox
      --test ID          a test that must pass, instead of those that failed before; repeatable
      --failed-before leave-out|must-pass
                         what becomes of tests that failed before: left out of the verdict, or to be mended, which is the default
      --timeout SECONDS  limit for one run of the tests; default 300
      --no-sandbox       run the tests without a sandbox, with your permissions, files and network
      --require-verified exit with 1 if the tests pass, but it is not shown that they would notice a wrong change
      --list             print the detected test commands, the likeliest first, and run no tests
      --json             print one JSON object
  -o, --out FILE         also write that object to a file; where there is no verdict, with the reason
      --junit FILE       also write a JUnit report, whose first test is the verdict
      --sarif FILE       also write a SARIF log, with a result for each test that counts against the change
                         Exit codes: 0 verified or passes, 1 failed or refused, 2 wrong usage, 4 not verifiable`,
  mcp: `conductor mcp [OPTION]...
                         serve the Model Context Protocol on standard input and output, for agents and editors
  -w, --workspace DIR    a project that may be worked on; repeatable; default: the current folder. Folders that the client
                         has open are allowed as well`,
  acp: `conductor acp [OPTION]...
                         serve the Agent Client Protocol on standard input and output: an agent for Zed, JetBrains, Neovim
                         and other editors, which start it
      --review           show each plan with its expected cost, and ask, before its workers are paid
      --review-above N   only a plan that may cost more than N dollars, or whose cost is not known
      --max-usd N        limit of each run in dollars, instead of the one in workers.json; not for unpriced workers
      --worker ID        use only this worker; repeatable`,
  serve: `conductor serve [--port N] [--until-input-ends]
                         serve OpenAI's Chat Completions and Responses and Anthropic's Messages on 127.0.0.1, for programs
                         that hold conversations; default port 4100. The model "conductor" plans; every other model is a
                         worker's id. With --until-input-ends it ends when its standard input does, for programs
                         that start it
conductor serve key add NAME [--max-usd N]
                         make a key for a program, with a limit of what it may cost in all; it is shown once
conductor serve key list [--json]
conductor serve key remove NAME
                         take the key back, at once`,
  hook: `conductor hook stop [OPTION]...
                         for agents: judge the uncommitted changes when the agent is about to stop; reads and writes JSON
      --timeout SECONDS  let the agent stop if the tests have not ended by then; default 25
      --command CMD      the test command; default: detected in the last commit
conductor hook pre-push  for Git: judge what is about to be pushed; exits with 1 if it breaks tests`,
  install: `conductor install claude|codex|copilot|cursor|gemini|opencode|git [OPTION]...
                         set up an agent: the gate at its stop, if it has hooks, and Conductor's tools, by MCP; or git: the gate before a
                         push. Shows the change first
  -w, --workspace DIR    the project; default: the current folder
      --user             for all projects: in your home folder instead of the project
      --dry-run          show the change only
  -y, --yes              do not ask`,
  uninstall: `conductor uninstall claude|codex|copilot|cursor|gemini|opencode|git [OPTION]...
                         take back what install wrote; files that are as it left them are as they were before, to the byte
  -w, --workspace DIR, --user, --dry-run, -y, --yes
                         as with install`,
  model: `conductor model [list] [--json] [--storage DIR]
                         list downloaded models, and models known to plan well
conductor model inspect DIR|OWNER/NAME [OPTION]...
                         show a model's properties, its memory needs, and which adapters fit it
      --adapter DIR      an adapter, or a folder of adapters, to inspect as well; repeatable
      --json             print one JSON object
conductor model pull [OWNER/NAME] [OPTION]...
                         download a model, resuming an interrupted download, and print its folder;
                         default: the model recommended for this machine
      --revision NAME    a branch, tag or commit; default main
      --storage DIR      the folder for models; default: Conductor's own
  -y, --yes              download the recommended model without asking
      --json             print one JSON object; ask no questions
conductor model choose DIR|OWNER/NAME [OPTION]...
                         use a local model as the Conductor and as a worker
      --no-worker        use it only as the Conductor
      --json             print the pool as JSON`,
  generate: `conductor generate --model DIR|OWNER/NAME (--prompt TEXT | --input FILE.json) [OPTION]...
  -p, --prompt TEXT      answer this prompt and stream the text
  -i, --input FILE.json  continue the prompt of each sequence, and print {"tokens": [[id, ...], ...]};
                         the file holds {"sequences": [[id, ...], ...], "prompt_lengths": [n, ...]}; - is standard input
      --max-tokens N     maximum number of new tokens; default 256
      --temperature T    default 0: always the likeliest token; 1 samples from the model's distribution
      --top-p P          sample from the smallest set of tokens with at least this total probability; default 1
      --top-k N          sample from the N likeliest tokens; default 0, all
      --seed S           the same seed gives the same samples; row i uses S + i; default 0
      --json             with --prompt, print one JSON object with text, tokens and finish_reason
${MODEL_OPTIONS}`,
  logprobs: `conductor logprobs --model DIR|OWNER/NAME --input FILE.json [OPTION]...
                         print the log-probabilities of the tokens after each prompt:
                         {"completion_logprobs": [[number, ...], ...]}
  -i, --input FILE.json  {"sequences": [[id, ...], ...], "prompt_lengths": [n, ...]}; - is standard input
${MODEL_OPTIONS}`,
  train: `conductor train [OPTION]...
                         fine-tune the local Conductor on a project's own tests; Ctrl+C pauses
  -w, --workspace DIR    the project; default: the current folder
  -c, --config FILE.json the settings: see docs/training.md; all have defaults
      --max-usd N        limit of all rollouts together in dollars; default 10
      --max-tokens N     limit of all rollouts together in tokens; default 20,000,000
  -y, --yes              start without asking for agreement to the cost
      --json             print one JSON object at the end; needs --yes
conductor train join URL --key NAME [OPTION]...
                         train with others: plans of this project go into the batches of the coordinator at URL;
                         NAME is the environment variable that has the key. Options as above
conductor train key add NAME | list [--json] | remove NAME
                         keys with which others join the team that this machine coordinates
conductor train list [-w DIR] [--json]
conductor train show TRAINING [--tasks] [--json]
                         show a training; with --tasks its tasks, and why each was admitted or left out
conductor train follow TRAINING [--json]
                         print the progress of an active training, or the state of another
conductor train pause TRAINING
                         pause a training; nothing that was paid for is lost
conductor train resume TRAINING [--max-usd N] [--max-tokens N] [--json]
                         resume a training; N is the total limit of all rollouts, including what is already spent
conductor train finish TRAINING [--json]
                         end a training early, and compare the result on held-out tasks
conductor train cancel TRAINING
                         end a training permanently; to resume it later, use pause
conductor train adopt TRAINING [--json]
                         plan with the trained weights, after the comparison on held-out tasks
conductor train back TRAINING [--json]
                         plan with the previous weights again
conductor train remove TRAINING
                         delete a finished training, with its checkpoints and the texts of its runs
conductor train curves TRAINING
                         print the metrics of each step with TRL's names, one JSON object per line`,
  learn: `conductor learn [OPTION]...
                         have the local Conductor learn from plans that your tests verified already; nobody is paid
  -w, --workspace DIR    only from this project; default: from all
      --check            only say what there is to learn from
      --json             print one JSON object at the end`,
  eval: `conductor eval TASKS... [OPTION]...
                         compare ways to answer tasks with your workers, by accuracy and cost; docs/eval.md.
                         TASKS: files of published data sets or of our own form, project, or gym; Ctrl+C stops, the same command goes on
  -c, --contestants LIST alone, random, reflection, majority, mixture, context, router, trained-router,
                         fusion-single, fusion-cascade, fusion-critique, conductor:WORKER; default alone,random,reflection,majority,mixture.
                         conductor:WORKER+SWITCH... changes one thing of a Conductor, such as +rounds=2, +vague or +pool=3
      --rounds N         plans of each Conductor in turn, as long as the tests do not verify its answer; default 1
      --attempts N       independent plans of each Conductor; the first verified answer ends them; default 1
      --complete         BigCodeBench's programs to complete, instead of its instructions
      --start-date DAY   of data sets with dates (LiveCodeBench), tasks from this day on, such as 2024-08-01
      --end-date DAY     of data sets with dates, tasks up to this day
      --examples FILE    your own examples for the prompt of conductor:WORKER+examples=own
      --pool LIST        these workers, or "simulated" for workers that need no key
      --best ID          the worker of contestants with one worker; default: the best in practice, or the most expensive
      --practice FILE    tasks that a router learns from; repeatable; "project" for tasks of other files of the project
  -w, --workspace DIR    what the tasks "project" are made of, and whose tests judge them; default: the current folder
      --test-command TEXT, --runner NAME, --reports GLOB, --image NAME
                         how its tests run, as for solve
      --limit N          at most N tasks of each source, drawn by the seed
      --seeds N          independent repeats; default 1
      --seed N           of everything that is drawn; default 1
      --max-usd N        limit of all calls together in dollars, also those of an earlier start; default 10
      --max-tokens N     limit of all calls together in tokens; default 20,000,000
      --parallel N       answers under way at once; default 8
  -o, --out DIR          the folder of results and of paid answers; default: one in Conductor's own
      --check            say what each file was taken for, and what in it cannot be read, and call no worker
  -y, --yes              start without asking for agreement to the cost
      --json             print one JSON object; needs --yes
conductor eval list [--json]
                         list the evaluations that are kept, also those of VS Code
conductor eval remove EVALUATION [-y, --yes]
                         delete one of the list, or in a folder, with the answers that were paid for`,
  grad: `conductor grad --model DIR|OWNER/NAME --adapter DIR --input FILE.json --loss TYPE --out FILE.safetensors [OPTION]...
                         write the policy gradient with respect to the adapter's tensors, and print
                         {"loss": number, "grad_norm": number}
  -i, --input FILE.json  as for logprobs, with "old_logprobs": [[number, ...], ...], "advantages": [number, ...] and
                         "clip": [low, high]; - is standard input
  -o, --out FILE         the file to write the gradients to
      --loss TYPE        grpo (mean over completions), dapo (mean over tokens) or dr_grpo (see below)
      --max-completion-length N
                         dr_grpo divides by this times the number of completions
      --temperature X    the temperature at which the completions were sampled; default 1
${MODEL_OPTIONS}`,
} as const;

/** Each command in a line, for whoever looks around; the first ones are the first steps. */
const OVERVIEW: Readonly<Record<keyof typeof COMMANDS, string>> = {
  demo: 'solves a bug in a sample project with simulated models: no key, nothing to pay',
  worker: 'adds, tries and lists the models that answer: worker add ID --provider NAME --model MODEL',
  solve: 'answers a question about the project in the current folder, checked by its tests: solve "question"',
  runs: 'lists past runs; shows, applies, takes back, resumes, repeats and exports one',
  verify: 'tests your uncommitted changes, a diff or commits; needs no model',
  install: 'keeps Claude Code, Codex, Copilot, Cursor, OpenCode or a Git push at work while your tests fail',
  uninstall: 'takes back what install wrote',
  records: 'shows what your tests said of each model, and what a verified answer cost',
  'left-out': 'lists the tests that you left out of verdicts while they fail, and takes that back',
  model: 'downloads and chooses models that run on this machine',
  serve: 'is a model for programs that speak the protocols of OpenAI or Anthropic',
  mcp: 'serves agents and editors by the Model Context Protocol',
  acp: 'is an agent in Zed, JetBrains, Neovim and other editors',
  hook: 'is what install sets up: judges what an agent or a push changes',
  learn: 'lets the local Conductor learn from plans that your tests verified; nobody is paid',
  train: "fine-tunes the local Conductor on a project's own tests",
  eval: 'compares ways to answer tasks by accuracy and cost',
  simulate: 'lets simulated models be the pool, to try eval and train',
  backend: 'shows or stops the background process',
  generate: 'runs a local model on a prompt',
  logprobs: 'prints log-probabilities of a local model',
  grad: 'writes the policy gradient of an adapter',
};

const EVERYWHERE = `Keys are read from the environment variables that the workers name. They are never stored.
Exit codes: 0 answered (verified, or nothing to check) or trained, 1 failed or red, 2 wrong usage, 3 stopped at the budget,
a plan that waits for you, or training paused, 4 a change could not be verified, 130 cancelled.`;

/** The usage of one command, or the overview of all. */
export function usageOf(command?: string): string {
  const names = Object.keys(OVERVIEW) as (keyof typeof COMMANDS)[];
  if (command === undefined) return ['conductor COMMAND [OPTION]...', names.map((name) => `conductor ${name.padEnd(11)}${OVERVIEW[name]}`).join('\n'), 'The options of a command: conductor COMMAND --help'].join('\n\n');
  return [...names.filter((name) => name === command).map((name) => COMMANDS[name]), EVERYWHERE].join('\n\n');
}

/** Whether the arguments contain `--help` or `-h`. Words after `--` are not options. */
export function asksForUsage(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).some((word) => word === '--help' || word === '-h');
}
