import path from 'node:path';
import { Workbench } from './harness/workbench.ts';

/*
 * Takes the pictures of the README: a run of the simulator's in the side bar of a real VS Code, beside the file that it is about.
 *
 *   npm run package -- linux-x64 && bash test/e2e/vscode/install.sh
 *   node with-node.mjs node test/e2e/pictures.ts
 */

const media = path.join(import.meta.dirname, '..', '..', 'media');
/** A bug that is told in a line and mended in a few. */
const SEED = 7;

const workbench = await Workbench.start({ seed: SEED, latency: 1, width: 1_000, height: 750, scale: 2 });
try {
  const { window, panel, bug } = workbench;
  await window.openFile(bug.path);
  await workbench.solve();
  await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
  await window.resizeSideBar(400);
  for (const theme of ['dark', 'light'] as const) {
    await window.useTheme(theme);
    await window.screenshot(path.join(media, `panel-${theme}.png`));
  }
} finally {
  await workbench.stop();
}
