/** What the commands that run a model have in common. */
const MODEL_OPTIONS = `  -m, --model DIR|OWNER/NAME
                         a folder as Hugging Face has it, or a model that was pulled
      --adapter DIR      a LoRA adapter as PEFT has it
      --device DEVICE    auto, cuda or cpu; auto without it, the best one that works
      --precision PRECISION
                         full, 8-bit or 4-bit; full without it, as the files have it
      --storage DIR      the folder that models and what is worked out for them are kept in; Conductor's own without it
      --cuda-index URL   the Python package index that the CUDA libraries are fetched from
  -y, --yes              fetch the CUDA libraries without being asked, where a GPU could use them`;

/** What `--help` prints, by command. docs/command-line.md says the same at more length. */
const COMMANDS = {
  solve: `conductor solve "question" [OPTION]...
  -w, --workspace DIR    the project; without it, the folder you stand in
  -f, --file PATH[:FROM-TO]
                         a file, or lines of it, that the question is about; may be given again
      --worker ID        plan with this worker and no others; may be given again
      --conductor ID     the worker whose model plays the Conductor for this question
      --rounds N         the first plan and its revisions, 1 to 5 in all; 2 without it
      --test-command CMD the command that runs the project's tests; without it, they are looked for
      --runner NAME      which runner's report is read: of the command, or of those that are found
      --reports GLOB     the JUnit files that a command of your own writes
      --image IMAGE      run the tests in a container of this image, which Docker must have, instead of in the sandbox
      --no-tests         check nothing
      --max-usd N        dollars for this run instead of those in workers.json; unpriced workers are held by tokens alone
      --require-verified end with 1 unless the tests accepted the answer
  -y, --yes              let the tests of this run go without a sandbox where there is none
      --json             print one JSON object, and ask nothing`,
  runs: `conductor runs [list] [OPTION]...
  -w, --workspace DIR    only runs in this project
      --search TEXT      only runs whose question has this text
      --limit N          the newest N, 1 to 500; 50 without it
      --json             print a JSON array
conductor runs show RUN [--json]
                         what happened, and the answer
conductor runs resume RUN [OPTION]...
                         go on with a run that stopped, failed or was cancelled, or follow one that is under way
      --max-usd N, --max-tokens N
                         raise its dollars or tokens to N, in all
  -y, --yes, --json      as with solve
conductor runs retry RUN --step N [OPTION]...
                         ask one step of a run that is over again, in a new run, with what reads it; the rest is kept
      --round N          the round of the step; the last one without it
      --max-usd N, --max-tokens N, -y, --yes, --json
                         as with resume, for the new run
conductor runs again RUN [OPTION]...
                         ask the question of a run again, with its context, in a new run
      --worker ID, --conductor ID
                         who takes part, as with solve
      --max-usd N, --max-tokens N, -y, --yes, --json
                         as with resume, for the new run
conductor runs cancel RUN
                         end a run; what is finished is kept
conductor runs remove RUN
                         delete one that is over, with its plan, answers and results; what it cost still counts for its day
conductor runs export RUN [OPTION]...
      --format FORMAT    markdown, a document for people; json, all of it with what was sent; or, as without it, events,
                         one JSON object a line
  -o, --out FILE         write it into a file, whole or not at all, instead of printing it`,
  worker: `conductor worker [list] [--json]
                         the pool, with who plays the Conductor, and who lacks a key or a price
conductor worker add ID --provider PROVIDER --model MODEL [OPTION]...
                         try a worker and add it, or replace the one with this id
      --provider PROVIDER
                         openai, openai-compatible, anthropic, or local for a model that runs on this machine
      --model MODEL      the provider's name of the model; of a local one its folder, or OWNER/NAME if it was pulled
      --adapter DIR      a LoRA adapter that changes a local model while it plays the Conductor
      --base-url URL     address of the server; an openai-compatible worker needs it
      --key NAME         the environment variable that holds its key, such as OPENAI_API_KEY
      --description TEXT what it is good at; the Conductor is told
      --conductor        it plays the Conductor from now on
      --no-try           add it without the small real call that tries it
      --json             print the pool as JSON
conductor worker try ID  one small real call
conductor worker remove ID [--json]`,
  backend: `conductor backend [status] [--json]
                         the process behind the command line and VS Code
conductor backend stop   end it; runs under way go on when it starts again`,
  demo: `conductor demo [OPTION]...
      --seed N           another bug, from 0
      --keep             keep the sample project and the run`,
  verify: `conductor verify [OPTION]...
                         let the project's tests judge what is not committed, or a diff, on top of the last commit
  -w, --workspace DIR    the project, in a Git repository; without it, the folder you stand in
      --patch FILE.diff  judge this diff instead; - is standard input
      --command CMD      what runs the tests; without it, it is looked for in the last commit
      --runner NAME      which runner's report is read: of the command, or of those that are found
      --reports GLOB     the JUnit files that a command of your own writes
      --image IMAGE      run the tests in a container of this image, which Docker must have, instead of in the sandbox
      --test ID          a test that has to pass, whatever it did before, instead of those that failed; may be given again
      --timeout SECONDS  for one run of the tests; 300 without it
      --no-sandbox       run the tests without a sandbox: with your rights, on your files, on the network
      --list             print the test commands that are found, the likeliest first, and judge nothing
      --json             print one JSON object
                         Exit codes: 0 verified, 1 failed or refused, 2 wrong usage, 4 nothing could be learned`,
  model: `conductor model [list] [--json] [--storage DIR]
                         the models that were pulled, and those that are known to plan well
conductor model inspect DIR|OWNER/NAME [OPTION]...
                         what a model is, what it takes in memory, and which adapters fit it
      --adapter DIR      an adapter, or a folder of them, to look at with it; may be given again
      --json             print one JSON object
conductor model pull [OWNER/NAME] [OPTION]...
                         fetch a model, going on where an earlier try stopped, and print its folder;
                         without a name, the one that suits this machine
      --revision NAME    a branch, tag or commit; main without it
      --storage DIR      the folder that models are kept in; Conductor's own without it
  -y, --yes              fetch the one that suits without being asked
      --json             print one JSON object, and ask nothing
conductor model choose DIR|OWNER/NAME [OPTION]...
                         have a model of this machine play the Conductor, and answer as a worker
      --no-worker        it plans and does not answer
      --json             print the pool as JSON`,
  generate: `conductor generate --model DIR|OWNER/NAME (--prompt TEXT | --input FILE.json) [OPTION]...
  -p, --prompt TEXT      answer this, and print the text as it comes
  -i, --input FILE.json  continue each sequence from its prompt's length on, and print {"tokens": [[id, ...], ...]};
                         the file holds {"sequences": [[id, ...], ...], "prompt_lengths": [n, ...]}; - is standard input
      --max-tokens N     at most so many new tokens; 256 without it
      --temperature T    0, as without it, takes the likeliest token each time; 1 is the model's own mind
      --top-p P          draw from the likeliest tokens that have this share together; 1 without it
      --top-k N          draw from the N likeliest tokens; 0, as without it, from all
      --seed S           the same seed draws the same again; row i has S + i; 0 without it
      --json             with --prompt, print one JSON object with text, tokens and finish_reason
${MODEL_OPTIONS}`,
  logprobs: `conductor logprobs --model DIR|OWNER/NAME --input FILE.json [OPTION]...
                         how likely a model finds the tokens after each prompt:
                         {"completion_logprobs": [[number, ...], ...]}
  -i, --input FILE.json  {"sequences": [[id, ...], ...], "prompt_lengths": [n, ...]}; - is standard input
${MODEL_OPTIONS}`,
  train: `conductor train [OPTION]...
                         fine-tune the Conductor of this machine on a project's own tests; Ctrl+C pauses
  -w, --workspace DIR    the project; without it, the folder you stand in
  -c, --config FILE.json how to train: see docs/training.md; every setting has a default
      --max-usd N        dollars that all rollouts together may cost; 10 without it
      --max-tokens N     tokens that all rollouts together may use; 20,000,000 without it
  -y, --yes              begin without being asked whether to spend that
      --json             print one JSON object at the end; needs --yes
conductor train list [-w DIR] [--json]
conductor train show TRAINING [--tasks] [--json]
                         how one went; its tasks, with why each was admitted or left out
conductor train follow TRAINING [--json]
                         tell one that is under way as it goes; of any other, how it stands
conductor train pause TRAINING
                         stop one at once; nothing that was paid for is lost
conductor train resume TRAINING [--max-usd N] [--max-tokens N] [--json]
                         go on where it stood; N is for all rollouts together, with what is spent
conductor train finish TRAINING [--json]
                         end one with the steps that are done, and compare what they taught on held-out tasks
conductor train cancel TRAINING
                         end one for good; pause one that is to go on later
conductor train adopt TRAINING [--json]
                         have the Conductor plan with what was trained, once it was compared on held-out tasks
conductor train back TRAINING [--json]
                         have it plan with what it planned with before
conductor train remove TRAINING
                         delete one that is over, with its checkpoints and the texts of its runs
conductor train curves TRAINING
                         what was measured at each step, one JSON object a line, by the names that TRL has`,
  grad: `conductor grad --model DIR|OWNER/NAME --adapter DIR --input FILE.json --loss TYPE --out FILE.safetensors [OPTION]...
                         a policy gradient with respect to the adapter, by the names of its own tensors:
                         {"loss": number, "grad_norm": number}
  -i, --input FILE.json  as for logprobs, with "old_logprobs": [[number, ...], ...], "advantages": [number, ...] and
                         "clip": [low, high]; - is standard input
  -o, --out FILE         where the gradients are written
      --loss TYPE        grpo (mean over completions), dapo (mean over tokens) or dr_grpo (see the next)
      --max-completion-length N
                         what dr_grpo divides by, together with the number of completions
      --temperature X    at which the completions were sampled; 1 if absent
${MODEL_OPTIONS}`,
} as const;

const EVERYWHERE = `Keys are read from the environment, under the names that the workers give them; they are never stored.
Exit codes: 0 answered (verified, or nothing to check) or trained, 1 failed or red, 2 wrong usage, 3 stopped at the budget,
or a training that is paused, 4 nothing could be learned of a change to verify, 130 cancelled.`;

/** The usage of one command, or of all where none is named. */
export function usageOf(command?: string): string {
  const texts = Object.entries(COMMANDS).filter(([name]) => command === undefined || name === command).map(([, text]) => text);
  return [...texts, EVERYWHERE].join('\n\n');
}

/** Whether the words after a command ask for its usage. What stands after `--` is no option. */
export function asksForUsage(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).some((word) => word === '--help' || word === '-h');
}
