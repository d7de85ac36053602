// @vitest-environment jsdom
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';
import { evaluationCommandSchema, type EvaluationCommand, type EvaluationPageState } from '../../backend/protocol/evaluation-page.ts';
import { EvaluationPage } from '../../webview/evaluation/evaluation-page.tsx';
import { page, row, ROWS, sample, view } from './evaluation-fixtures.ts';

function open(state: EvaluationPageState) {
  const root = document.createElement('div');
  document.body.replaceChildren(root);
  const posted: EvaluationCommand[] = [];
  const show = (next: EvaluationPageState): void => void act(() => render(<EvaluationPage state={next} post={(command) => posted.push(evaluationCommandSchema.parse(command))} />, root));
  show(state);
  const press = (name: string): void => void act(() => {
    const found = [...root.querySelectorAll<HTMLElement>('button, vscode-button')].find(({ textContent }) => textContent === name);
    if (!found) throw new Error(`There is no button "${name}": ${root.textContent}`);
    found.click();
  });
  const choose = (label: string, value: string): void => void act(() => {
    const select = [...root.querySelectorAll('label')].find(({ textContent }) => textContent?.startsWith(label))?.querySelector('select');
    if (!select) throw new Error(`There is no choice "${label}".`);
    select.value = value;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  return { root, posted, show, press, choose, text: () => (root.textContent ?? '').replace(/\s+/g, ' ') };
}

describe('the page of an evaluation', () => {
  it('shows each contestant with its interval, difference, cost, tokens and format rate, and the same in the plot', () => {
    const { root } = open(page());
    const cells = [...root.querySelectorAll('tbody tr')].map((line) => [...line.children].map(({ textContent }) => textContent));
    expect(cells).toHaveLength(ROWS.length);
    expect(cells[0]).toEqual(['1', 'fern alone', '45.0 %', '33.0 % to 56.0 %', '−25.0 %', '0.125', '0.40', '730', '3.2', '', 'on the frontier']);
    expect(cells[1]?.slice(4, 6)).toEqual(['', '']);
    expect(cells[5]?.slice(9)).toEqual(['95.0 %', 'on the frontier']);
    expect(root.querySelectorAll('.plot circle')).toHaveLength(ROWS.length);
    expect(root.querySelectorAll('.plot .interval')).toHaveLength(ROWS.length);
    expect(root.querySelectorAll('.plot .frontier')).toHaveLength(1);
  });

  it('says how far it is, which tasks the table compares so far, and can be stopped', () => {
    const { root, posted, press, text } = open(page({ evaluation: view({ state: 'running', done: 48, compared: 7 }) }));
    expect(text()).toContain('48 of 120 answers');
    expect(text()).toContain('So far it compares 7 of 20 tasks');
    expect(root.querySelector('progress')?.getAttribute('aria-label')).toBe('Progress of the evaluation');
    press('Stop');
    expect(posted).toEqual([{ type: 'stop' }]);
  });

  it.each([
    ['budget', 'Raise Budget and Go On…', 'resume'], ['stopped', 'Go On…', 'resume'], ['failed', 'Go On…', 'resume'],
    ['elsewhere', 'Refresh', 'refresh'], ['over', 'Show Files of Results', 'openResults'], ['waiting', 'Stop', 'stop'],
  ] as const)('offers in the state %s what a person can do: %s', (state, button, type) => {
    const { posted, press } = open(page({ evaluation: view({ state }) }));
    press(button);
    expect(posted).toEqual([{ type }]);
  });

  it.each(['budget', 'stopped', 'failed', 'over'] as const)('offers in the state %s to remove it, and not while it is under way', (state) => {
    const { posted, press } = open(page({ evaluation: view({ state }) }));
    press('Remove…');
    expect(posted).toEqual([{ type: 'remove' }]);
    for (const underWay of ['preparing', 'running', 'waiting', 'elsewhere'] as const) expect(open(page({ evaluation: view({ state: underWay }) })).text()).not.toContain('Remove…');
  });

  it('filters samples by contestant and outcome, and asks for more of them', () => {
    const { posted, choose, press, text } = open(page({ filter: { contestant: 'fern alone', outcome: 'wrong' } }));
    choose('Contestant', 'majority of five');
    choose('Answers', 'right');
    press('Show More');
    expect(posted).toEqual([
      { type: 'filter', contestant: 'majority of five' }, { type: 'filter', outcome: 'right' }, { type: 'more' },
    ]);
    expect(text()).toContain('120 answers');
  });

  it('opens a sample down to its plan, what each worker said, and what judged it said', () => {
    const { root, posted, show, text } = open(page());
    const first = (): HTMLElement | null => root.querySelector('.samples button');
    void act(() => first()?.click());
    const { contestant, task, seed } = sample;
    expect(posted).toEqual([{ type: 'open', contestant, task, seed }]);
    show(page({ opened: { contestant, task, seed } }));
    expect(first()?.getAttribute('aria-expanded')).toBe('true');
    expect(text()).toContain('Looking …');
    show(page({ opened: { contestant, task, seed, sample } }));
    expect(text()).toContain('What judged it saidOne of two cases failed: expected 3, got 2.');
    expect(text()).toContain('QuestionWrite a function that counts the vowels of a word.');
    expect(text()).toContain('Step 1: fern reads the question; asked before, paid onceOutline how vowels are counted.Go through the letters.');
    expect(text()).toContain('Step 2: juniper reads the question and step 1Write the function.return 2;');
    void act(() => first()?.click());
    expect(posted.at(-1)).toEqual({ type: 'close' });
  });

  it('shows what models, files and the backend say as text, in the plot, too', () => {
    const hostile = '<img src=x onerror="alert(1)"></text></svg><script>alert(1)</script>';
    const { root } = open(page({
      evaluation: view({ sources: [hostile], pool: [hostile], message: hostile, best: { worker: hostile, why: hostile }, rows: [row(hostile, 0.5, 0.001, { isOnFrontier: true }), row('other', 0.4, 0.002)] }),
      samples: [{ contestant: hostile, task: hostile, seed: 0, verified: true, costUsd: 0 }],
      opened: { contestant: hostile, task: hostile, seed: 0, sample: { ...sample, contestant: hostile, task: hostile, question: hostile, reason: hostile, answer: hostile } },
      problem: hostile,
    }));
    expect(root.querySelectorAll('img, script, [onerror]')).toHaveLength(0);
    expect(root.querySelector('.plot svg')?.querySelectorAll('circle')).toHaveLength(2);
    expect(root.textContent?.split(hostile).length).toBeGreaterThan(8);
  });

  it('says that workers are simulated, and not so of real ones', () => {
    expect(open(page()).text()).toContain('This shows nothing about real models.');
    expect(open(page({ evaluation: view({ simulated: false }) })).text()).not.toContain('This shows nothing about real models.');
  });

  it('says why nothing can be shown', () => {
    const { root } = open(page({ evaluation: undefined, problem: 'There is none.' }));
    expect(root.querySelector('[role="alert"]')?.textContent).toContain('There is none.');
  });
});
