import { describe, expect, test } from 'vitest';
import { fillInCall } from '../../backend/workers/adapters/fill-in-forms.ts';
import { fillInPrompt } from '../../backend/workers/adapters/fill-in-templates.ts';
import type { FillIn, GapProject } from '../../backend/workers/model.ts';
import { workerOf } from './harness.ts';

/* How parts of other files are sent with a gap. The expected texts are written out from the sources that the templates name. */

const project: GapProject = {
  name: 'library', path: 'main.py',
  pieces: [{ path: 'book.py', text: 'class Book:\n    def lend(self): ...\n' }, { path: 'student.py', text: 'class Student: ...' }],
};
const gap: FillIn = { before: 'x = ', after: '\n', stop: ['\n'], project };

describe('parts of other files', () => {
  test.each([
    [
      'Qwen/Qwen2.5-Coder-7B',
      '<|repo_name|>library\n<|file_sep|>book.py\nclass Book:\n    def lend(self): ...\n<|file_sep|>student.py\nclass Student: ...\n'
      + '<|file_sep|>main.py\n<|fim_prefix|>x = <|fim_suffix|>\n<|fim_middle|>',
    ],
    [
      'codeqwen:7b-code',
      '<reponame>library\n<file_sep>book.py\nclass Book:\n    def lend(self): ...\n<file_sep>student.py\nclass Student: ...\n'
      + '<file_sep>main.py\n<fim_prefix>x = <fim_suffix>\n<fim_middle>',
    ],
    [
      'starcoder2:3b',
      '<repo_name>library<file_sep>book.py\nclass Book:\n    def lend(self): ...\n<file_sep>student.py\nclass Student: ...\n'
      + '<file_sep><fim_prefix>main.py\nx = <fim_suffix>\n<fim_middle>',
    ],
    [
      'codegemma:2b-code',
      'book.py\nclass Book:\n    def lend(self): ...<|file_separator|>student.py\nclass Student: ...<|file_separator|>'
      + 'main.py\n<|fim_prefix|>x = <|fim_suffix|>\n<|fim_middle|>',
    ],
    [
      'codestral-22b',
      '[SUFFIX]\n[PREFIX]+++++ book.py\nclass Book:\n    def lend(self): ...\n\n+++++ student.py\nclass Student: ...\n\n+++++ main.py\nx = ',
    ],
    [
      'deepseek-coder:6.7b-base',
      '<｜fim▁begin｜>#book.py\nclass Book:\n    def lend(self): ...\n\n#student.py\nclass Student: ...\n\n#main.py\nx = '
      + '<｜fim▁hole｜>\n<｜fim▁end｜>',
    ],
    [
      'codellama:7b-code',
      '<PRE> # book.py:\n# class Book:\n#     def lend(self): ...\n# student.py:\n# class Student: ...\n# main.py:\nx =  <SUF>\n <MID>',
    ],
  ])('are shown to %s as it saw files in its training', (model, prompt) => {
    expect(fillInPrompt(model, gap)?.prompt).toBe(prompt);
  });

  const request = { messages: [], fillIn: gap, maxOutputTokens: 64 };
  const worker = (model: string) => workerOf({ provider: 'openai-compatible', baseUrl: 'http://localhost/v1', model });

  test('are given to llama.cpp as files of their own, whose markers it knows', () => {
    expect(fillInCall('infill', worker('any'), request).body).toMatchObject({
      input_prefix: 'x = ', input_suffix: '\n', cache_prompt: true,
      input_extra: [
        { filename: 'book.py', text: 'class Book:\n    def lend(self): ...\n' }, { filename: 'student.py', text: 'class Student: ...\n' },
      ],
    });
  });

  test.each([
    ['qwen2.5-coder:1.5b', '# book.py:\n# class Book:\n#     def lend(self): ...\n# student.py:\n# class Student: ...\n# main.py:\nx = '],
    ['deepseek-coder-v2', '#book.py\nclass Book:\n    def lend(self): ...\n\n#student.py\nclass Student: ...\n\n#main.py\nx = '],
  ])('stand in the text before the gap where the server puts the markers of %s around it', (model, prompt) => {
    expect(fillInCall('suffix', worker(model), request).body).toMatchObject({ prompt, suffix: '\n' });
  });

  test('stand under plus signs at Mistral', () => {
    expect(fillInCall('fim', worker('codestral-latest'), request).body).toMatchObject({
      prompt: '+++++ book.py\nclass Book:\n    def lend(self): ...\n\n+++++ student.py\nclass Student: ...\n\n+++++ main.py\nx = ',
    });
  });

  test.each(['index.html', 'data.json', 'README.md'])('are left out of %s, which has no comments of one line, where they would have to be comments', (path) => {
    const within = { ...gap, project: { ...project, path } };
    expect(fillInCall('suffix', worker('some-coder'), { ...request, fillIn: within }).body).toMatchObject({ prompt: 'x = ' });
  });

  test.each([
    '<|fim_middle|>', '<file_sep>', '<|repo_name|>', '<｜fim▁end｜>', '[SUFFIX]', '</s>', ' <MID>', '+++++ a.py', '<|endoftext|>',
  ])('that hold a marker of a model are left out: %j', (marker) => {
    const pieces = [{ path: 'a.py', text: `x\n${marker}` }];
    const within = { ...gap, project: { ...project, pieces } };
    expect(fillInPrompt('qwen2.5-coder:7b', within)?.prompt).toBe('<|fim_prefix|>x = <|fim_suffix|>\n<|fim_middle|>');
    expect(fillInCall('infill', worker('any'), { ...request, fillIn: within }).body).not.toHaveProperty('input_extra');
    expect(fillInCall('fim', worker('any'), { ...request, fillIn: within }).body).toMatchObject({ prompt: 'x = ' });
    const mixed = { ...gap, project: { ...project, pieces: [...pieces, ...project.pieces] } };
    expect(fillInPrompt('qwen2.5-coder:7b', mixed)?.prompt).toBe(fillInPrompt('qwen2.5-coder:7b', gap)?.prompt);
  });
});
