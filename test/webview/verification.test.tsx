// @vitest-environment jsdom
import { beforeEach, expect, it } from 'vitest';
import { stateWith } from './fixtures.ts';
import { UNKNOWN_VERDICT, VERIFIED } from './verdict-fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => stubLayout());

const shown = { id: 1, folder: 'intervals' };

it('shows that one\'s own changes are being verified, then the verdict, and leads back and to another try', () => {
  const panel = renderPanel(stateWith({ verification: shown }));
  expect(panel.text()).toContain('Your changes in intervals');
  expect(panel.text()).toContain('The terminal shows how far they are');
  expect(panel.root.querySelector('.verdict')).toBeNull();
  panel.show(stateWith({ verification: { ...shown, verdict: VERIFIED, commit: 'f09b2def5a3c1e0d' } }));
  expect(panel.root.querySelector('.verdict')?.textContent).toContain('Verified');
  expect(panel.text()).toContain('Compared with the commit f09b2def5a3c.');
  expect(panel.root.querySelector('[role="status"]')?.textContent).toBe('Verified.');
  panel.click('Verify again');
  panel.click('Runs');
  expect(panel.posted).toEqual([{ type: 'verifyChanges' }, { type: 'newQuestion' }]);
});

it('offers what to do next where the verdict could not be learned', () => {
  const panel = renderPanel(stateWith({ verification: { ...shown, verdict: UNKNOWN_VERDICT } }));
  expect(panel.text()).toContain('This says nothing about your changes: they are neither right nor wrong.');
  panel.click('Choose test command…');
  panel.click('Open settings');
  panel.click('Show health');
  expect(panel.posted).toEqual([{ type: 'chooseTests' }, { type: 'openTestSettings' }, { type: 'showHealth' }]);
});

it('gives the command that a missing sandbox needs, and says why there is no verdict at all', () => {
  const panel = renderPanel(stateWith({ verification: { ...shown, verdict: { ...UNKNOWN_VERDICT, remedy: 'sudo apt-get install bubblewrap' } } }));
  panel.click('Copy the install command');
  expect(panel.posted).toEqual([{ type: 'copy', text: 'sudo apt-get install bubblewrap' }]);
  expect(panel.text()).not.toContain('Choose test command');
  panel.show(stateWith({ verification: { ...shown, problem: 'The verification was stopped.' } }));
  expect(panel.text()).toContain('The verification was stopped.');
  panel.button('Verify again');
});
