// @vitest-environment jsdom
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordsTable } from '../../backend/records/records-table.ts';
import { RecordBook } from '../../backend/records/record-book.ts';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import type { Records } from '../../backend/protocol/records.ts';
import { recordsHtml, saidHtml, tableHtml, type RecordsWords } from '../../extension/records/records-html.ts';
import { answers } from '../records/judged-step.ts';

const words: RecordsWords = {
  title: 'Records', introduction: 'Who earns their price?', looking: 'Looking …', where: 'Answers in', allProjects: 'all projects', details: 'Details', use: 'Use', forget: 'Forget',
  none: 'None yet.', notInPool: 'not in the pool', notes: ['A note.'],
  columns: { worker: 'Worker', expected: 'Expected', verified: 'Verified', interval: 'Interval', usdPerVerified: 'Of a verified one', usdPerAnswer: 'Of an answer', time: 'Time' },
};

const file = workersFileSchema.parse({ version: 1, workers: [
  { id: 'strong', provider: 'openai', model: 'large', key: 'OPENAI_API_KEY' }, { id: 'cheap', provider: 'openai', model: 'small', key: 'OPENAI_API_KEY' },
] });

const table = (): Records => recordsTable(new RecordBook([
  ...answers(20, 18, { worker: 'strong', model: 'large', usd: 0.1 }), ...answers(9, 2, { worker: 'cheap', model: 'small' }),
  ...answers(3, 1, { worker: 'strong', model: 'large', role: 'check', kind: 'tests' }), ...answers(2, 0, { worker: 'gone', model: '<img src=x onerror=alert(1)>' }),
]), undefined, file);

/** The page in a browser of its own, and what it posted to the extension. */
function open(): { readonly page: Document; readonly posted: unknown[]; readonly show: (records: Records) => void } {
  const posted: unknown[] = [];
  const frame = document.body.appendChild(document.createElement('iframe'));
  onTestFinished(() => frame.remove());
  const { contentWindow: window, contentDocument: page } = frame;
  if (!window || !page) throw new Error('The frame has no page.');
  Object.assign(window, { acquireVsCodeApi: () => ({ postMessage: (message: unknown) => posted.push(message) }) });
  page.write(recordsHtml({ nonce: 'n', language: 'en', words, projects: [{ name: 'shop & co', path: '/projects/shop' }] }));
  page.close();
  const show = (records: Records): void => {
    const data = { said: saidHtml(records, words), table: tableHtml(records, words), used: records.used, known: true };
    window.dispatchEvent(new MessageEvent('message', { data }));
  };
  return { page, posted, show };
}

const textsOf = (row: Element | null | undefined): string[] => [...row?.querySelectorAll('th, td') ?? []].map(({ textContent }) => (textContent ?? '').replace(/\s+/g, ' ').trim());

describe('the page of records', () => {
  it('shows each worker with its parts by role and kind, and says who earns their price', () => {
    const { page, posted, show } = open();
    expect(posted).toEqual([{ act: 'show', subject: '' }]);
    show(table());
    const [strong, cheap, gone] = ['strong', 'cheap', 'gone'].map((name) => [...page.querySelectorAll('tbody')].find(({ textContent }) => textContent?.includes(name)));
    expect(page.querySelector('tbody')).toBe(strong);
    expect(textsOf(strong?.querySelector('tr'))).toEqual(['strong large', expect.stringMatching(/^\d\d %$/), '19 of 23', expect.stringMatching(/^\d\d to \d\d %$/), expect.stringMatching(/^\$0\.1/), expect.stringMatching(/^\$0\.0/), '2.0 s']);
    expect([...strong?.querySelectorAll('.part th') ?? []].map(({ textContent }) => textContent)).toEqual(['writing, bug', 'checking, tests']);
    expect(cheap?.className).toBe('');
    expect(textsOf(gone?.querySelector('tr'))[0]).toContain('(not in the pool)');
    expect(page.querySelector('#said')?.textContent).toContain('strong is expected to be right most often');
    expect(page.querySelectorAll('img')).toHaveLength(0);
    expect(page.querySelector<HTMLInputElement>('#use')).toMatchObject({ checked: true, disabled: false });
  });

  it('says what was chosen, and shows the parts on request', () => {
    const { page, posted, show } = open();
    show(table());
    const project = page.querySelector<HTMLSelectElement>('#project');
    if (project) project.value = '/projects/shop';
    project?.dispatchEvent(new Event('change'));
    page.querySelector<HTMLElement>('#use')?.click();
    page.querySelector<HTMLElement>('#forget')?.click();
    expect(posted.slice(1)).toEqual([{ act: 'show', subject: '/projects/shop' }, { act: 'useNot', subject: '' }, { act: 'forget', subject: '' }]);
    expect(page.querySelector('#table')?.className).toBe('short');
    page.querySelector<HTMLElement>('#details')?.click();
    expect(page.querySelector('#table')?.className).toBe('');
  });

  it('says so where tests have judged nothing', () => {
    const { page, show } = open();
    show(recordsTable(new RecordBook([]), undefined, file));
    expect(page.querySelector('#said')?.textContent).toBe('None yet.');
    expect(page.querySelector('table')).toBeNull();
    expect(page.querySelector<HTMLElement>('#forget')?.hidden).toBe(true);
  });

  it('may load and run nothing but itself', () => {
    const html = recordsHtml({ nonce: 'abc', language: 'en', words, projects: [] });
    expect(html).toContain("default-src 'none'; style-src 'nonce-abc'; script-src 'nonce-abc'");
    expect(html.match(/<(?:script|style)\b[^>]*>/g)).toEqual(['<style nonce="abc">', '<script nonce="abc">']);
    expect(tableHtml(table(), words)).not.toContain('style=');
  });
});
