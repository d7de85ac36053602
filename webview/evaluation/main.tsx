import * as l10n from '@vscode/l10n';
import { render } from 'preact';
import type { EvaluationCommand, EvaluationPageMessage, EvaluationPageState } from '../../backend/protocol/evaluation-page.ts';
import type { WebviewApi } from '../host.ts';
import { share } from '../share.ts';
import { registerControls } from '../toolkit.ts';
import { EvaluationPage } from './evaluation-page.tsx';

declare const acquireVsCodeApi: () => WebviewApi;

registerControls();
const api = acquireVsCodeApi();
const post = (command: EvaluationCommand): void => api.postMessage(command);
const root = document.getElementById('root');
if (!root) throw new Error('The page has no element with the id "root".');
l10n.config({ contents: root.dataset['texts'] ?? '{}' });

let state: EvaluationPageState | undefined;
window.addEventListener('message', ({ data }: MessageEvent<EvaluationPageMessage>) => {
  if (data.type !== 'state') return;
  state = share(state, data.state);
  render(<EvaluationPage state={state} post={post} />, root);
});
post({ type: 'ready' });
