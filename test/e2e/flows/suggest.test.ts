import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bugOf } from '../../../backend/simulator/sample-project.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const SEED = 1;
const { source } = bugOf(SEED).family;

/** A plan and an answer of simulated models that take their time. */
const PATIENT = { timeout: 60_000 };

const ON = /Conductor suggestions are on/;
const OFF = /Conductor suggestions are off/;

describe('suggestions', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({
      seed: SEED, latency: 4, width: 1_440, height: 900,
      // The list of completions has its own say about what may be shown; it is not what this is about.
      settings: { 'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' }, 'files.autoSave': 'off' },
    });
    await writeFile(path.join(workbench.project, 'src', 'fresh.js'), '\n');
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  /** The document as it is on disk once it is saved. */
  const saved = async (file: string): Promise<string> => {
    await workbench.window.page.keyboard.press('Control+S');
    await workbench.window.page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
    return readFile(path.join(workbench.project, file), 'utf8');
  };

  it('are off at first, and nobody is asked for any', async () => {
    const { window, simulator } = workbench;
    await window.statusItem(OFF).waitFor({ timeout: 60_000 });
    await window.openFile('src/fresh.js');
    await window.goTo(1, 1);
    await window.type('const before = ');
    expect(simulator.asked).toBe(0);
  });

  it('say what they send and cost before they are switched on in the status bar', async () => {
    const { window } = workbench;
    await window.statusItem(OFF).click();
    const modal = window.modal('Suggestions while you type');
    await modal.getByText('Suggestions stop at $1').waitFor();
    await window.screenshot(path.join(SCREENS, 'suggestions-first.png'));
    await window.answerModal('Suggestions while you type', 'Switch On');
    await window.statusItem(ON).waitFor();
  });

  it('are shown as ghost text by the worker that the Conductor chose, and Tab takes them', async () => {
    const { window, simulator } = workbench;
    await window.goTo(1, 20);
    await window.page.keyboard.press('Control+A');
    await window.page.keyboard.press('Delete');
    await window.type('export function addUp(first, second) {');
    await expect.poll(() => window.ghostText(), PATIENT).toContain('return first;');
    await window.screenshot(path.join(SCREENS, 'ghost-text-dark.png'));
    expect(simulator.asked).toBeGreaterThan(1);
    await window.page.keyboard.press('Tab');
    expect(await saved('src/fresh.js')).toBe('export function addUp(first, second) {\n  return first;\n}');
    await window.statusItem(/By sim-\w+, a simulation\. \$0\.\d+ today/).waitFor();
    const counted = () => readFile(path.join(workbench.home, 'suggest-outcomes.json'), 'utf8').catch(() => '');
    await expect.poll(counted, PATIENT).toMatch(/"language": "javascript",\s*"worker": "sim-\w+",\s*"shown": 1,\s*"accepted": 1/);
  });

  it('serve who types along with them from one request, under way or answered', async () => {
    const { window, simulator } = workbench;
    const heading = source.slice(0, source.indexOf('  const rows = [];'));
    await writeFile(path.join(workbench.project, 'src', 'along.js'), `${heading}\n}\n`);
    await window.openFile('src/along.js');
    const line = heading.split('\n').length;
    await window.goTo(line, 1);
    await simulator.idle();
    const before = simulator.asked;
    // Both at once: on a busy machine the pause between two keys may be long enough for a request of its own.
    await window.page.keyboard.insertText('  ');
    await expect.poll(() => simulator.asked, PATIENT).toBe(before + 1);
    await window.type('const r');
    await expect.poll(() => window.ghostText(), PATIENT).toBe('ows = [];');
    await window.type('ows');
    await expect.poll(() => window.ghostText(), PATIENT).toBe(' = [];');
    expect(simulator.asked).toBe(before + 1);
    await window.page.keyboard.press('Tab');
    expect(await saved('src/along.js')).toBe(`${heading}  const rows = [];\n}\n`);
  });

  it('go on with the entry that is selected in the list of completions', async () => {
    const { window } = workbench;
    const upTo = source.indexOf('parseCsv(text)', source.indexOf('export function parseRecords'));
    await writeFile(path.join(workbench.project, 'src', 'chosen.js'), `${source.slice(0, upTo)}\n}\n`);
    await window.openFile('src/chosen.js');
    const lines = source.slice(0, upTo).split('\n');
    await window.goTo(lines.length, (lines.at(-1) ?? '').length + 1);
    await window.type('parse');
    await window.page.keyboard.press('Control+Space');
    await window.page.locator('.suggest-widget .monaco-list-row.focused').filter({ hasText: 'parseCsv' }).waitFor();
    await expect.poll(() => window.ghostText(), PATIENT).toBe('Csv(text);');
    await window.page.keyboard.press('Tab');
    await expect.poll(() => window.ghostText(), PATIENT).toBe('(text);');
    await window.page.keyboard.press('Tab');
    expect(await saved('src/chosen.js')).toContain('= parseCsv(text);\n');
  });

  it('end when they are switched off in the status bar', async () => {
    const { window, simulator } = workbench;
    await window.statusItem(ON).click();
    await window.statusItem(OFF).waitFor();
    await simulator.idle();
    const before = simulator.asked;
    await window.openFile('src/fresh.js');
    await window.goTo(3, 2);
    await window.page.keyboard.press('Enter');
    await window.type('export function takeAway(third, fourth) {');
    await window.page.keyboard.press('Escape');
    expect(await window.ghostText()).toBe('');
    expect(simulator.asked).toBe(before);
    await saved('src/fresh.js');
  });

  it('are not needed for an answer at the cursor: Solve Here shows it as ghost text, checked by the tests', async () => {
    const { window, project, bug } = workbench;
    await writeFile(path.join(project, bug.path), source.replace('  return rows;\n', '  \n'));
    await window.openFile(bug.path);
    const line = source.slice(0, source.indexOf('  return rows;')).split('\n').length;
    await window.goTo(line, 3);
    await window.runCommand('Conductor: Solve Here');
    await window.answerInput('What belongs at the cursor?', bug.question);
    await window.quickPickRow('Send the question').click();
    await expect.poll(() => window.ghostText(), { timeout: 120_000 }).toBe('return rows;');
    await window.screenshot(path.join(SCREENS, 'solve-here-dark.png'));
    await window.page.keyboard.press('Tab');
    expect(await saved(bug.path)).toBe(source);
    const [run] = await workbench.runs();
    // In the lists it stands in the person's own words.
    expect(run).toMatchObject({ state: 'completed', outcome: 'verified', question: bug.question });
  });
});

describe('suggestions that have cost what they may', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({
      seed: SEED, latency: 0, settings: { 'conductor.suggestions.enabled': true, 'conductor.suggestions.maxUsdPerDay': 0.000_001 },
    });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('stop before anybody is asked, and say so in the status bar alone', async () => {
    const { window, simulator, bug } = workbench;
    await window.statusItem(ON).waitFor({ timeout: 60_000 });
    await window.openFile(bug.path);
    await window.goTo(1, 100);
    const refused = window.statusItem(/do not work at the moment.*have cost what they may in a day/);
    // VS Code sets up inline completions some time after it has opened an editor, and asks nobody about what was typed before.
    await vi.waitFor(async () => {
      await window.type('const total = ');
      await refused.waitFor({ timeout: 5_000 });
    }, PATIENT);
    expect(await window.ghostText()).toBe('');
    expect(await window.notification(/./).count()).toBe(0);
    expect(simulator.asked).toBe(0);
  });
});
