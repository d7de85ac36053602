import * as l10n from '@vscode/l10n';
import { render } from 'preact';
import type { ReplyMessage, StateMessage } from '../backend/protocol/panel-messages.ts';
import { ClockOffsetContext } from './clock.tsx';
import { Host, HostContext, type Place, type WebviewApi } from './host.ts';
import { Panel } from './panel.tsx';
import { StateReceiver } from './state-receiver.ts';
import { registerControls } from './toolkit.ts';

declare const acquireVsCodeApi: () => WebviewApi;

/** Smaller clock differences are ignored: otherwise the offset would change with every message. */
const CLOCK_TOLERANCE_MS = 2_000;

registerControls();
const host = new Host(acquireVsCodeApi(), (document.documentElement.dataset['place'] ?? 'side') as Place);
const root = document.getElementById('root');
if (!root) throw new Error('The page has no element with the id "root".');
l10n.config({ contents: root.dataset['texts'] ?? '{}' });

const receiver = new StateReceiver();
let clockOffsetMs = 0;

window.addEventListener('message', ({ data }: MessageEvent<StateMessage | ReplyMessage>) => {
  if (data.type === 'reply') host.replied(data);
  if (data.type !== 'state') return;
  const isFirst = receiver.state === undefined;
  const offset = Date.now() - data.sentAt;
  if (Math.abs(offset - clockOffsetMs) > CLOCK_TOLERANCE_MS) clockOffsetMs = offset;
  if (!receiver.take(data)) host.post({ type: 'ready' });
  if (!receiver.state) return;
  render(
    <HostContext.Provider value={host}>
      <ClockOffsetContext.Provider value={clockOffsetMs}>
        <Panel state={receiver.state} />
      </ClockOffsetContext.Provider>
    </HostContext.Provider>,
    root,
  );
  if (isFirst) window.scrollTo(0, host.view.scrollTop);
});
window.addEventListener('scrollend', () => host.remember({ scrollTop: window.scrollY }));

host.post({ type: 'ready' });
