// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { pictureOf } from '../../backend/protocol/pictures.ts';
import { gif, png } from '../support/picture-bytes.ts';
import { POOL_SUMMARY, picturesRun, stateWith, verifiedRun } from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';

/* Pictures of a question: pasted, dropped, chosen, taken away, sent. */

beforeEach(() => stubLayout());

const file = (bytes: Uint8Array, type = 'image/png', name = 'shot.png'): File => new File([bytes as Uint8Array<ArrayBuffer>], name, { type });
const SHOT = file(png(800, 600));

/** jsdom knows no clipboard and no drag. */
async function give(panel: RenderedPanel, kind: 'paste' | 'drop', files: readonly File[], { label = 'Ask', types = ['Files'] } = {}): Promise<Event> {
  const event = new Event(kind, { bubbles: true, cancelable: true });
  Object.assign(event, { [kind === 'paste' ? 'clipboardData' : 'dataTransfer']: { files, types } });
  const before = panel.text();
  void act(() => void (panel.root.querySelector(`section[aria-label="${label}"] .question-input`) as HTMLElement).dispatchEvent(event));
  // Files are read in their own time.
  if (event.defaultPrevented) await vi.waitFor(() => { if (shown(panel).length === 0 && panel.text() === before) throw new Error('nothing was added'); });
  return event;
}

const shown = (panel: RenderedPanel): (string | null)[] => [...panel.root.querySelectorAll('.pictures [role="img"]')].map((one) => one.getAttribute('aria-label'));

function type(panel: RenderedPanel, question: string, label = 'Ask'): void {
  const area = panel.root.querySelector(`section[aria-label="${label}"] .question-input`) as HTMLTextAreaElement;
  void act(() => {
    area.value = question;
    area.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

describe('a new question', () => {
  it.each(['paste', 'drop'] as const)('takes a picture by %s, shows it, and sends it', async (kind) => {
    const panel = renderPanel(stateWith({}));
    expect((await give(panel, kind, [SHOT])).defaultPrevented).toBe(true);
    expect(shown(panel)).toEqual(['Picture: PNG, 800 x 600']);
    type(panel, 'What is wrong here?');
    panel.click('Solve');
    expect(panel.posted.at(-1)).toEqual({ type: 'solve', question: 'What is wrong here?', pictures: [pictureOf(png(800, 600))] });
  });

  it('takes pictures from the button, and none twice', async () => {
    const panel = renderPanel(stateWith({}));
    const input = panel.root.querySelector('input[type="file"]') as HTMLInputElement;
    const clicked = vi.spyOn(input, 'click');
    panel.click('Add a picture, or paste or drop one here');
    expect(clicked).toHaveBeenCalledOnce();
    Object.defineProperty(input, 'files', { value: [SHOT, file(gif(10, 20), 'image/gif'), SHOT] });
    void act(() => void input.dispatchEvent(new Event('change', { bubbles: true })));
    await vi.waitFor(() => expect(shown(panel).length).toBeGreaterThan(0));
    expect(shown(panel)).toEqual(['Picture: PNG, 800 x 600', 'Picture: GIF, 10 x 20']);
  });

  it('loses a picture that is taken away', async () => {
    const panel = renderPanel(stateWith({}));
    await give(panel, 'paste', [SHOT, file(gif(10, 20), 'image/gif')]);
    panel.click('Remove picture 1 (PNG, 800 x 600)');
    expect(shown(panel)).toEqual(['Picture: GIF, 10 x 20']);
    type(panel, 'What?');
    panel.click('Solve');
    expect(panel.posted.at(-1)).toMatchObject({ pictures: [pictureOf(gif(10, 20))] });
  });

  it('says what is no picture, and adds nothing then', async () => {
    const panel = renderPanel(stateWith({}));
    await give(panel, 'drop', [SHOT, file(new TextEncoder().encode('<svg/>'), 'image/svg+xml', 'a.svg')]);
    expect(panel.text()).toContain('Models do not take this kind of file. They take PNG, JPEG, WebP and GIF.');
    expect(shown(panel)).toEqual([]);
  });

  it('takes four, and then has no button for more', async () => {
    const panel = renderPanel(stateWith({}));
    await give(panel, 'drop', [1, 2, 3, 4].map((side) => file(png(side, side))));
    expect(shown(panel)).toHaveLength(4);
    expect(() => panel.button('Add a picture, or paste or drop one here')).toThrow();
  });

  it('keeps text as text, also where a picture of it was copied', async () => {
    const panel = renderPanel(stateWith({}));
    expect((await give(panel, 'paste', [])).defaultPrevented).toBe(false);
    expect((await give(panel, 'paste', [SHOT], { types: ['text/plain', 'Files'] })).defaultPrevented).toBe(false);
    expect(shown(panel)).toEqual([]);
  });

  it('says where no worker sees pictures', async () => {
    const blind = renderPanel(stateWith({}));
    await give(blind, 'paste', [SHOT]);
    expect(blind.text()).toContain('None of your workers sees pictures.');
    const seeing = renderPanel(stateWith({ pool: { ...POOL_SUMMARY, workers: POOL_SUMMARY.workers.map((worker) => ({ ...worker, seesPictures: true })) } }));
    await give(seeing, 'paste', [SHOT]);
    expect(seeing.text()).not.toContain('None of your workers sees pictures.');
  });
});

it('a question that continues takes pictures, too, and the next one begins without', async () => {
  const run = verifiedRun();
  const panel = renderPanel(stateWith({ run }));
  await give(panel, 'paste', [SHOT], { label: 'Continue' });
  type(panel, 'And here?', 'Continue');
  panel.click('Continue');
  expect(panel.posted.at(-1)).toEqual({ type: 'solve', question: 'And here?', continues: run.runId, pictures: [pictureOf(png(800, 600))] });
  const next = { ...run, runId: 'run-2', request: { ...run.request, question: 'And here?', continues: run.runId } };
  panel.show(stateWith({ run: next }));
  panel.show(stateWith({ run }));
  expect(shown(panel)).toEqual([]);
});

it('a run shows its pictures, says who sees them, and gives them back to be asked again', () => {
  const panel = renderPanel(stateWith({ run: picturesRun() }));
  expect(shown(panel)).toEqual(['Picture: PNG, 256 x 256', 'Picture: PNG, 1280 x 720']);
  expect(panel.text()).toContain('Seen by gemini-pro and claude; the other workers are told of them in words.');
  panel.click(/^Ask again/);
  panel.show(stateWith({}));
  expect(shown(panel)).toHaveLength(2);
});
