import path from 'node:path';
import { expect } from 'vitest';
import { violationsIn } from './violations.ts';
import { ARTIFACTS, type Workbench } from './workbench.ts';

/** Pictures of the window in both themes, `screens/NAME-light.png` and `screens/NAME-dark.png`. Everybody can read its panel. */
export async function lookInBothThemes({ window, panel }: Workbench, name: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await window.useTheme(theme);
    await panel.frame.locator(`body.vscode-${theme}`).waitFor();
    await expect.poll(() => violationsIn(panel.frame), { timeout: 60_000 }).toEqual([]);
    await window.screenshot(path.join(ARTIFACTS, 'screens', `${name}-${theme}.png`));
  }
}

/** The same, and `screens/NAME-narrow.png` of a narrow panel. */
export async function lookAlsoNarrow(workbench: Workbench, name: string): Promise<void> {
  const { window } = workbench;
  await lookInBothThemes(workbench, name);
  await window.resizeSideBar(300);
  await window.screenshot(path.join(ARTIFACTS, 'screens', `${name}-narrow.png`));
  await window.resizeSideBar(520);
}
