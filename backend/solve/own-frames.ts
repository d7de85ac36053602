/** A frame of Python, and one of JavaScript, of a file outside the project: paths inside it are relative in messages of tests. */
const FOREIGN_PYTHON = /^\s+File "(?:\/|[A-Za-z]:\\|<)/;
const FOREIGN_JAVASCRIPT = /^\s+at .*(?:node:|[(\s]\/|file:\/\/|[A-Za-z]:\\)/;
const PYTHON = /^\s+File "/;

/** A test's message without frames of files outside the project: their words say nothing about its code. */
export function ownFrames(message: string): string {
  let isForeign = false;
  return message.split('\n').filter((line) => {
    // The lines below a frame of Python show its code.
    if (PYTHON.test(line) || !/^\s/.test(line)) isForeign = FOREIGN_PYTHON.test(line);
    return !isForeign && !FOREIGN_JAVASCRIPT.test(line);
  }).join('\n');
}
