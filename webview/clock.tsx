import * as l10n from '@vscode/l10n';
import { createContext, type JSX } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { formatElapsed } from '../backend/protocol/figures.ts';

/** How far the page's clock is ahead of the extension's, in milliseconds: the two may run on different machines. */
export const ClockOffsetContext = createContext(0);

/** The current time by the extension's clock; updated every second while `ticking`. */
export function useNow(ticking: boolean): number {
  const offset = useContext(ClockOffsetContext);
  const [, tick] = useState(0);
  useEffect(() => {
    if (!ticking) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [ticking]);
  return Date.now() - offset;
}

/** The time since `since`, updated every second. */
export function Elapsed({ since }: { readonly since: number }): JSX.Element {
  return <>{formatElapsed(useNow(true) - since)}</>;
}

/** Whole seconds until `at`. */
export function Countdown({ at }: { readonly at: number }): JSX.Element {
  const seconds = Math.ceil((at - useNow(true)) / 1_000);
  return <>{seconds > 0 ? l10n.t('in {0} s', seconds) : l10n.t('now')}</>;
}
