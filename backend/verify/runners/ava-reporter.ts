/**
 * A module that Node loads before ava. In ava's main process it signs what ava writes to stdout as TAP, and in no other. Tests run in other
 * threads or processes, or share no memory with it: they can write to stdout, too, but not by the function that is watched here.
 *
 * It removes itself from NODE_OPTIONS, so tests and what they start do not see it. `watch` is the module of `javascript-watch.ts`.
 */
export const avaReporter = ({ watch, option }: { readonly watch: string; readonly option: string }): string => `
'use strict';
const { isMainThread } = require('worker_threads');
const isAva = isMainThread && /(?:^|[\\\\/])ava(?:[\\\\/]|$)/.test(String(process.argv[1]));
if (isAva && !process.send) {
  const { NODE_OPTIONS = '' } = process.env;
  process.env.NODE_OPTIONS = NODE_OPTIONS.replace(${JSON.stringify(option)}, '').trim();
  if (process.env.NODE_OPTIONS === '') delete process.env.NODE_OPTIONS;
  delete process.env.CONDUCTOR_NODE_OPTIONS;
  const line = require(${JSON.stringify(watch)}).openReport();
  line({ __proto__: null, type: 'start' });
  const write = process.stdout.write;
  process.stdout.write = function (chunk, ...more) {
    line({ __proto__: null, type: 'tap', text: String(chunk) });
    return write.call(this, chunk, ...more);
  };
  process.on('exit', () => line({ __proto__: null, type: 'end' }));
}
`;
