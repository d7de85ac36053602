import type { Access } from '../../../backend/workflow/plan.ts';
import type { Misfit } from './judge.ts';

type MadeStep = readonly [subtask: string, access?: Access];

/** A plan made by hand for an open question, with the verdict of a person. An empty list: it fits. */
export interface MadePlan {
  readonly question: string;
  readonly verdict: readonly Misfit[];
  readonly steps: readonly MadeStep[];
}

const made = (question: string, verdict: readonly Misfit[], ...steps: readonly MadeStep[]): MadePlan => ({ question, verdict, steps });

/** The judge has to agree with all of them. */
export const MADE_PLANS: readonly MadePlan[] = [
  // Plans that conductor-mini wrote before it knew kinds of questions.
  made('explain-01', ['fault', 'form', 'names'], ['Find the wrong line and write a short plan. No code.'], ['Apply the plan you are shown and return the corrected file.', [0]]),
  made('feature-01', ['fault', 'names'], ['Find the wrong line and write a short plan. No code.'], ['Write the corrected code as the plan says; return the whole file.', [0]]),
  made('why-01', ['fault', 'form', 'names'], ['Work out the wrong line and outline the change.'], ['Apply the plan you are shown and return the correction.', [0]]),
  made('documentation-01', ['fault', 'names', 'subject'], ['Write the corrected file and return the whole file.'], ['Produce the corrected code. Give the full file.'],
    ['Choose the attempt that is correct and return it complete.', [0, 1]]),
  made('small-talk-01', ['fault', 'form', 'steps'], ['Find the wrong line and write a short plan. No code.'], ['Apply the plan you are shown and return the correction.', [0]]),
  made('review-01', ['form', 'names'], ['Find the wrong line and write a short plan. No code.'], ['Apply the plan you are shown and return the correction.', [0]],
    ['Test the corrected file in your head and give the final version.', [1]]),
  made('explain-02', ['names'], ['Find out which lines matter and outline the answer.'], ['Following the notes, write the answer.', [0]]),
  made('bug-01', ['names'], ['Find the wrong line and write a short plan. No code.'], ['Apply the plan you are shown and return the correction.', [0]], ['Check the code case by case, mend it, and return the whole file.', [1]]),

  // Explanations and reasons.
  made('explain-01', [], ['Explain in words what `parse_float` does: what it takes, what it returns, and what happens with unusual input. Change no file.']),
  made('explain-01', [], ['Find `parse_float` and note what it does in each case.'], ['Explain what parse_float does, from the notes you are shown, in a few clear sentences.', [0]]),
  made('explain-01', ['names'], ['Explain in words what the function does. Change no file.']),
  made('explain-01', ['form'], ['Rewrite parse_float so that it is easier to read and return the whole file.']),
  made('explain-01', ['steps'], ['Study `parse_float` and note its cases.'], ['Explain `parse_float` from the notes.', [0]], ['Check the explanation of `parse_float` against the code and return it, improved.', 'all']),
  made('explain-01', ['last'], ['Study parse_float and draw up a plan for whoever writes the answer.']),
  made('explain-01', ['unread'], ['List what calls parse_float.'], ['Explain what `parse_float` does, in words.']),
  made('explain-04', [], ['Explain the difference between `useDeferredValue` and `startTransition`, and when to use which, with a short example in code.']),
  made('explain-12', [], ['Explain step by step, in words, what the line with `reduceRight` does.']),
  made('explain-36', [], ['Answer the question from the project you are shown, in a few sentences; change nothing.']),
  made('explain-36', [], ['Describe what this project is for, who uses it and how it is built up.']),
  made('why-01', [], ['Measure in your mind where tomli spends its time and why tomllib does not; note the reasons.'], ['Explain why `tomli` is slower than `tomllib`, using the notes you are shown. Change no code.', [0]]),
  made('why-01', ['fault'], ['Find the bug that makes tomli slower than tomllib and explain it.']),
  made('why-15', ['unseen'], ['Explain the reasons your colleague found for SELECT FOR UPDATE in claim_job.']),
  made('why-15', [], ['Give the reasons for the SELECT FOR UPDATE in `claim_job`, and say whether a unique constraint would do instead. No code.']),
  made('why-24', [], ['Answer the question.']),
  made('why-16', [], ['Erkläre, warum strictNullChecks ausgeschaltet ist.']),

  // How to.
  made('how-to-04', [], ['Show how to make a flag required in cobra: the call, and what the user sees without the flag.']),
  made('how-to-07', [], ['Give the kubectl command for a shell in a pod whose image has no bash, and one sentence of explanation.']),
  made('how-to-02', ['steps'], ['Outline how to center a div.'], ['Write the answer from the outline.', [0]], ['Review the answer and return it whole.', [1]]),
  made('how-to-19', ['fault', 'form'], ['Repair CONTRIBUTING.md and return the changed file.']),

  // Features.
  made('feature-01', [], ['Work out what `dumps` has to do for every type of value, and plan the change. No code.'], ['Write `dumps` as the plan says and return every changed file whole.', [0]],
    ['Check the change against the question case by case, correct what is wrong in it, and return every changed file whole.', [1]]),
  made('feature-01', ['unseen'], ['Write dumps as the plan says and return every changed file whole.']),
  made('feature-01', ['unseen'], ['Plan the change for dumps. No code.'], ['Write `dumps` as planned and return the changed files.', [0]], ['Compare the attempts and return the best one whole.', [1]]),
  made('feature-01', ['last'], ['Write `dumps` and return the changed files.'], ['Describe in words what the change to dumps does.', [0]]),
  made('feature-02', [], ['Add the option `--json` to the list command and return the changed files.'], ['Add the option `--json` in your own way and return the changed files.'],
    ['Compare the two attempts at `--json`, choose the one that holds in every case, and return it whole.', [0, 1]]),
  made('feature-02', ['unread'], ['Add `--json` and return the changed files.'], ['Add `--json` in your own way and return the changed files.'], ['Review the attempt and return it whole.', [1]]),
  made('feature-22', [], ['Add a watch mode to the build script; return the changed files whole.']),
  made('feature-10', ['names'], ['Extend `LRUCache` with a lifetime for each entry and return the changed file.']),
  made('feature-10', ['last'], ['Explain how LRUCache could get a ttl. No code.']),
  made('feature-17', [], ['Design the retries of WebhookDispatcher: delays, which answers are retried, what is logged.'], ['Implement the design and return all changed files.', [0]], ['Write tests for the new behaviour of `WebhookDispatcher`.', [1]],
    ['Put both together: return all changed files and tests.', [1, 2]]),

  // Code from nothing.
  made('write-from-nothing-01', [], ['Write a regular expression for an IPv4 address without leading zeros, and name three texts that match and three that do not.']),
  made('write-from-nothing-01', ['last'], ['Describe in words how an IPv4 address is built.']),
  made('write-from-nothing-06', [], ['Write the SQL query over customers and orders for Postgres.'], ['Check the query against the question; return it, put right where needed.', [0]]),
  made('write-from-nothing-06', ['fault'], ['Find the wrong line in the query over customers and orders for Postgres and return the corrected query.']),
  made('write-from-nothing-09', [], ['Write the complete function `levenshtein` in Lua in one fenced block.']),

  // Faults.
  made('bug-01', [], ['Find out why `parse_float` returns None for "1_000.5" and write a short plan. No code.'], ['Apply the plan you are shown to parse_float and return the corrected file.', [0]]),
  made('bug-04', [], ['Trace how "Cannot read properties of undefined" comes about in `ProductList`. Name the line at fault.'], ['Mend it as the diagnosis says and return the changed file whole.', [0]]),
  made('bug-04', ['names'], ['Find the wrong line and fix it; return the file.']),
  made('bug-04', ['last'], ['Explain why `ProductList` ends with "Cannot read properties of undefined". Change nothing.']),
  made('bug-31', [], ['Say whether it is a bug that `flatten` drops empty arrays, by the documentation and the tests.']),
  made('bug-10', ['unseen'], ['Check the solution and return it corrected.']),
  made('bug-17', ['no plan']),

  // Refactorings, tests, speed.
  made('refactor-01', [], ['Rename fetchUser to loadUser everywhere, tests and documentation included; return every changed file.']),
  made('refactor-01', ['fault'], ['Find the fault in `fetchUser`.'], ['Rename `fetchUser` to `loadUser` and return every changed file.', [0]]),
  made('refactor-02', [], ['List what OrderProcessor does and where to cut it.'], ['Split `OrderProcessor` along the list you are shown, keep its behaviour, and return all changed files.', [0]], ['Check that the behaviour has not changed; return all files, mended if need be.', [1]]),
  made('refactor-02', ['last', 'steps'], ['Study OrderProcessor.'], ['Study its callers.'], ['Study its tests.'], ['Plan the split.', 'all'], ['Describe the result in words.', 'all']),
  made('tests-01', [], ['List the cases that tests of `parse_key_value_pair` have to cover. No code.'], ['Write the tests for the listed cases and return the whole test file.', [0]]),
  made('tests-01', ['subject'], ['Write the function parse_key_value_pair and return it whole.']),
  made('tests-01', [], ['Write tests for `parse_key_value_pair` that would catch plausible mistakes; return the test file.']),
  made('tests-12', ['form'], ['Write the tests of a date picker and return the test file.']),
  made('performance-04', [], ['Make dedupe linear, keep the order of what it returns, and return the changed file.']),
  made('performance-01', [], ['Find where `GET /feed` spends its time, and name the two most costly places.'], ['Make these places faster and return the changed files.', [0]]),
  made('performance-01', ['fault'], ['Find the faulty line in `GET /feed`.'], ['Make it faster and return the changed files.', [0]]),
  made('performance-11', ['form'], ['Compare tomli and tomllib and edit the slower one; return its file.']),

  // Reviews, documentation, setup.
  made('review-01', [], ['Review `src/auth` for security problems; report each with its place, its risk and a remedy. Change no file.']),
  made('review-01', [], ['Look for faults in src/auth that an attacker could use and list them.'], ['Check the findings, drop what does not hold, and return the report.', [0]]),
  made('review-01', ['form'], ['Review src/auth and fix what is wrong; return the changed files.']),
  made('documentation-01', [], ['Write the docstring of parse_key_value_pair and return the changed file.']),
  made('documentation-02', [], ['Update the install part of README for v3 and return the whole file.']),
  made('documentation-02', ['unseen'], ['Update README as your colleague outlined and return the whole file.']),
  made('build-and-setup-01', [], ['Set up ESLint and prettier with a pre-commit hook; return every new or changed file.']),
  made('build-and-setup-11', [], ['Say in words how the dev server is started, with the command.']),
  made('build-and-setup-11', ['fault'], ['Find what is broken in the dev server and say it in words.']),

  made('build-and-setup-01', [], ['Name the files that ESLint needs and which versions the project uses. Hand on a short plan without code.'], ['Set ESLint up as the plan you are shown says and return every new or changed file whole.', [0]]),
  made('bug-32', [], ['If it asks for a change, return every changed file whole; if it is a question, answer it in words.']),
  made('explain-36', [], ['Do what is asked: if a change is wanted, return the changed files; if it asks a question, answer in words.']),
  made('explain-01', ['form'], ['Say in words what `parse_float` does, and return the changed file whole.']),
  made('tests-05', ['unseen'], ['Say which of the versions of the tests for PaymentService is the better one and return it.']),

  // Small talk and follow-ups.
  made('small-talk-01', [], ['Reply to the user in one friendly sentence.']),
  made('small-talk-02', [], ['Greet back and ask what is wanted.']),
  made('small-talk-13', ['steps'], ['Outline a reply.'], ['Write the reply.', [0]]),
  made('small-talk-07', ['form'], ['Write a program that introduces itself and return the file.']),
  made('follow-up-01', [], ['Give the same in Rust.']),
  made('follow-up-06', ['fault'], ['Find the mistake and mend it.']),
  made('follow-up-05', [], ['Answer the question in one or two sentences.']),
];
