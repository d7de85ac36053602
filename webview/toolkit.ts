import { provideVSCodeDesignSystem, vsCodeButton, vsCodeTextArea } from '@vscode/webview-ui-toolkit';

/*
 * The only module that depends on the toolkit, which is archived upstream. A replacement must register elements with the tags and
 * attributes that `controls.tsx` uses.
 */

/** Registers the custom elements; call once before rendering. */
export function registerControls(): void {
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeTextArea());
}
