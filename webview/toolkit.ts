import { provideVSCodeDesignSystem, vsCodeButton, vsCodeTextArea } from '@vscode/webview-ui-toolkit';

/*
 * The only file that knows where the controls come from: the toolkit is archived upstream. Its replacement has to register
 * elements with the tags and attributes that `controls.tsx` uses.
 */

/** Makes the custom elements known to the page; call once, before anything is rendered. */
export function registerControls(): void {
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeTextArea());
}
