import { describe, expect, test } from 'vitest';
import { ChatTemplate } from '../../../backend/lm/tokenizer/chat-template.ts';
import { TokenizerError } from '../../../backend/lm/tokenizer/errors.ts';

const messages = [{ role: 'user', content: 'Why?' }];

function render(source: string, variables: Readonly<Record<string, unknown>> = { messages }): string {
  return new ChatTemplate('m/chat_template.jinja', source).render(variables, 4);
}

function errorOf(source: string): TokenizerError {
  try {
    render(source);
  } catch (error) {
    if (error instanceof TokenizerError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

test('blocks take their line along, as transformers has it', () => {
  expect(render('{% for m in messages %}\n  {% if true %}\n{{ m.content }}\n  {% endif %}\n{% endfor %}\n')).toBe('Why?\n');
});

test.each([
  ['lstrip', '  b\n  '],
  ['rstrip', '\n  b\n  '],
  ['strip', '  b\n  '],
])('%s with characters strips only those', (method, stripped) => {
  expect(render(`{{ text.${method}('\\n') }}`, { text: '\n  b\n  ' })).toBe(stripped);
  expect(render(`{{ text.${method}() }}`, { text: ' b ' })).toBe(' b '[({ lstrip: 'trimStart', rstrip: 'trimEnd', strip: 'trim' } as const)[method as 'strip']]());
});

test('strip goes for any of its characters', () => {
  expect(render('{{ \'xy-\u{1F916}-yx\'.strip(\'yx-\') }}')).toBe('\u{1F916}');
});

/** In the form of Gemma 3's: what the system says is the beginning of the user's first turn, and the assistant is "model". */
const GEMMA = `{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}{%- set start = messages[0]['content'] + '\n\n' -%}
    {%- else -%}{%- set start = messages[0]['content'][0]['text'] + '\n\n' -%}{%- endif -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set start = '' -%}{%- set turns = messages -%}
{%- endif -%}
{%- for turn in turns -%}
    {%- if (turn['role'] == 'user') != (loop.index0 % 2 == 0) -%}{{ raise_exception('Roles must alternate') }}{%- endif -%}
    {%- set role = 'model' if turn['role'] == 'assistant' else turn['role'] -%}
    {{ '<start_of_turn>' + role + '\n' + (start if loop.first else '') }}
    {%- if turn['content'] is string -%}
        {{ turn['content'] | trim }}
    {%- elif turn['content'] is iterable -%}
        {%- for item in turn['content'] -%}{%- if item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}{%- endfor -%}
    {%- endif -%}
    {{ '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\n' }}{%- endif -%}
`;

test('a template of Gemma begins the first turn of the user with what the system says', () => {
  const turns = [{ role: 'system', content: 'Plan.' }, { role: 'user', content: ' Why? ' }, { role: 'assistant', content: 'So.' }, { role: 'user', content: 'And?' }];
  expect(render(GEMMA, { messages: turns, bos_token: '<bos>', add_generation_prompt: true })).toBe(
    '<bos><start_of_turn>user\nPlan.\n\nWhy?<end_of_turn>\n<start_of_turn>model\nSo.<end_of_turn>\n' +
    '<start_of_turn>user\nAnd?<end_of_turn>\n<start_of_turn>model\n',
  );
});

test('the template\'s own refusal is passed on, short and on one line', () => {
  const error = errorOf('{{ raise_exception(\'Roles must\\nalternate\' ~ messages[0].content) }}');
  expect(error).toMatchObject({ kind: 'chat-template', file: 'm/chat_template.jinja' });
  expect(error.message).toContain('refuses these messages ("Roles must\\nalternateWhy?")');
});

test.each([
  ['a syntax error', '{% for m in %}'],
  ['an unknown function', '{{ open(\'/etc/passwd\') }}'],
  ['a method of JavaScript', '{{ messages.constructor.constructor(\'return process\')() }}'],
  ['a macro that calls itself', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}'],
  ['deep nesting', `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`],
])('%s becomes a sentence', (_name, source) => {
  expect(errorOf(source)).toMatchObject({ kind: 'chat-template', message: expect.stringMatching(/^m\/chat_template\.jinja: .*does not work.*\.$/s) as string });
});

describe('a template that asks for far too much is stopped:', () => {
  const times = (count: number, body: string): string => `{% for i in range(${count}) %}${body}{% endfor %}`;
  test.each([
    ['loops in loops', times(10_000, times(10_000, times(10_000, '')))],
    ['a long range', '{{ range(10 ** 9) }}'],
    ['an endless range', '{{ range(0, 1, 1 / 10 ** 300) }}'],
    ['a list that doubles', `{% set ns = namespace(a=[1]) %}${times(64, '{% set ns.a = ns.a + ns.a %}')}`],
    ['a list that holds itself twice', `{% set ns = namespace(a=[1]) %}${times(64, '{% set ns.a = [ns.a, ns.a] %}')}{{ ns.a }}`],
    ['an object that holds itself', '{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}'],
    ['a text that doubles', `{% set ns = namespace(a='aa') %}${times(64, '{% set ns.a = ns.a ~ ns.a %}')}`],
  ])('%s', (_name, source) => {
    expect(errorOf(source).message).toMatch(/asks for far more work/);
  });
});

test('a long conversation is not too much', () => {
  const long = Array.from({ length: 200 }, (_, at) => ({ role: 'user', content: `${at} `.repeat(1000) }));
  const characters = long.reduce((sum, { content }) => sum + content.length, 0);
  const source = '{% for m in messages %}{% if loop.index0 > 0 %}{{ messages[loop.index0 - 1].role }}{% endif %}{{ m.content | trim }}{% endfor %}';
  expect(new ChatTemplate('f', source).render({ messages: long }, characters).length).toBeGreaterThan(characters - 200);
});
