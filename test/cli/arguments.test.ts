import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { solveRequest } from '../../backend/cli/arguments.ts';
import { UsageError } from '../../backend/cli/usage-error.ts';

const at = '/home/ada/project/src';

describe('conductor solve', () => {
  it('reads relative paths from where the user stands', () => {
    const { request } = solveRequest(['why?', '--workspace', '..', '--file', 'a.js:10-20', '-f', '../b.js:7', '-f', 'c d.js'], at);
    expect(request.workspace).toBe('/home/ada/project');
    expect(request.focus.files).toEqual([
      { path: 'src/a.js', startLine: 10, endLine: 20 }, { path: 'b.js', startLine: 7, endLine: 7 }, { path: 'src/c d.js' },
    ]);
  });

  it('takes a file that would be outside of the project for one in it', () => {
    const { request } = solveRequest(['why?', '-w', '../project', '-f', 'src/a.js:3', '-f', '/home/ada/project/b.js', '-f', '../c.js', '-f', '/etc/d'], '/home/ada/other');
    expect(request.focus.files?.map((file) => file.path)).toEqual(['src/a.js', 'b.js', '../c.js', '../../../etc/d']);
  });

  it('takes no home folder for a project, nor one that holds it, unless it is named', () => {
    for (const folder of [homedir(), path.dirname(homedir()), '/']) {
      expect(() => solveRequest(['why?'], folder), folder).toThrow(/home folder and no project.*name its folder with --workspace/);
    }
    expect(solveRequest(['why?', '--workspace', '.'], homedir()).request.workspace).toBe(homedir());
    expect(solveRequest(['why?'], path.join(homedir(), 'project')).request.workspace).toBe(path.join(homedir(), 'project'));
  });

  it.each([
    ['--command', '--test-command is one'], ['--usd', '--max-usd is one'], ['--files', '--file is one'], ['--nothing-like-it', '--help lists the options'],
  ])('says of %s which option was meant, if one is like it', (option, said) => {
    expect(() => solveRequest(['why?', option, 'x'], at)).toThrow(new UsageError(`Unknown option ${option}; ${said}.`));
  });

  it('leaves finding the tests to the backend unless told otherwise', () => {
    expect(solveRequest(['why?'], at).request.testCommand).toBeUndefined();
    expect(solveRequest(['why?', '--no-tests'], at).request.testCommand).toBeNull();
    expect(solveRequest(['why?', '--test-command', 'node --test'], at).request.testCommand).toBe('node --test');
    const { request } = solveRequest(['why?', '--test-command', 'make check', '--runner', 'custom', '--reports', 'reports/*.xml'], at);
    expect(request).toMatchObject({ testCommand: 'make check', testRunner: 'custom', testReports: 'reports/*.xml' });
  });

  it('takes the tests that must pass, and what becomes of those that failed before', () => {
    const request = (...args: string[]) => solveRequest(['why?', ...args], at).request;
    expect(request('--test', 'a > b', '--test', 'c', '--failed-before', 'leave-out')).toMatchObject({ tests: ['a > b', 'c'], failedBefore: 'leave-out' });
    expect(request('--failed-before', 'must-pass').failedBefore).toBe('must-pass');
    expect(request().failedBefore).toBeUndefined();
    expect(() => request('--failed-before', 'maybe')).toThrow('--failed-before takes leave-out or must-pass');
    expect(() => request('--test', ' ')).toThrow('--test takes the id of a test');
    expect(() => request('--no-tests', '--failed-before', 'leave-out')).toThrow('--no-tests excludes');
  });

  it('tries one plan unless more attempts are asked for', () => {
    expect(solveRequest(['why?'], at).request.attempts).toBe(1);
    expect(solveRequest(['why?', '--attempts', '3'], at).request.attempts).toBe(3);
    expect(solveRequest(['why?', '--attempts', '3', '--at-once'], at).request.atOnce).toBe(true);
    expect(solveRequest(['why?', '--local-first'], at).request.localFirst).toBe(true);
    expect(solveRequest(['why?'], at).request.localFirst).toBeUndefined();
  });

  it('accepts an empty question, which becomes a run that fails with a sentence', () => {
    expect(solveRequest([' '], at).request.question).toBe('');
  });

  it.each([
    [['--rounds', '99'], '--rounds takes a whole number from 1 to 5, not "99".'],
    [['--at-once'], '--at-once tries several attempts at the same time: name their number with --attempts.'],
    [['--attempts', '6'], '--attempts takes a whole number from 1 to 5, not "6".'],
    [['--rounds', '1.5'], '--rounds takes a whole number from 1 to 5, not "1.5".'],
    [['--file', ''], '--file takes the path of a file, not "".'],
    [['--file', 'a.js:9-3'], '--file takes lines from 1 up'],
    [['--test-command', ''], '--test-command takes a command'],
    [['--runner', ''], '--runner takes the name of a test runner'],
    [['--reports', ' '], '--reports takes a pattern of files'],
  ])('%j: the sentence names the option and what it takes', (args, sentence) => {
    expect(() => solveRequest(['why?', ...args], at)).toThrow(sentence);
  });

  it.each([
    [[]], [['two', 'words']], [['why?', '--unknown']], [['why?', '--rounds', '0']], [['why?', '--rounds', '9']], [['why?', '--max-usd', 'x']],
    [['why?', '--no-tests', '--test-command', 'x']], [['why?', '--no-tests', '--reports', 'x']], [['why?', '--file']],
  ])('%j is a mistake that is named', (args) => expect(() => solveRequest(args, at)).toThrow(UsageError));
});
