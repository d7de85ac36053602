import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { formatMoney, formatWhen } from '../backend/protocol/figures.ts';
import { LISTED_RUNS } from '../backend/protocol/listed-runs.ts';
import type { RunSummary } from '../backend/protocol/methods.ts';
import { isOver } from '../backend/protocol/run-snapshot.ts';
import { useNow } from './clock.tsx';
import { conversationsIn, type Conversation } from './conversations.ts';
import { Button, Count, Icon, ToolButton } from './controls.tsx';
import { Disclosure } from './disclosure.tsx';
import { fillSentence } from './fill-sentence.ts';
import { useHost, useReply } from './host.ts';
import { language } from './language.ts';
import { InlineCode } from './markdown/markdown.tsx';
import { isSearching, kindName, matchingRuns, NO_SEARCH, RUN_KINDS, type RunKindWanted, type RunSearch } from './run-search.ts';
import { endedStage } from './run-stage.ts';

/** Delay after typing, so that the backend does not search for every letter. */
const SEARCH_AFTER_MS = 250;
/** The backend's limit for a search text. */
const MAX_SEARCH_CHARACTERS = 200;
/** Length of a question in a button's name. */
const MAX_NAMED_CHARACTERS = 80;

/** Past runs, newest first, with a search over all runs. */
export const RunsList = memo(function RunsList({ runs }: { readonly runs: readonly RunSummary[] }): JSX.Element | null {
  const host = useHost();
  const [search, setSearch] = useState(host.view.search);
  const [wantsOlder, setWantsOlder] = useState(false);
  const text = useSettled(search.text.trim(), SEARCH_AFTER_MS);
  const mayBeOlder = runs.length >= LISTED_RUNS;
  const searching = isSearching(search);
  const asksOlder = mayBeOlder && (searching || wantsOlder);
  const reply = useReply<'findRuns'>(asksOlder ? { type: 'findRuns', search: text } : undefined);
  const isLooking = asksOlder && (reply.state === 'waiting' || text !== search.text.trim());
  const region = useRef<HTMLElement>(null);
  /** The search results may still contain removed runs. */
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState<string>();
  const remove = useCallback((runId: string): void => {
    setProblem(undefined);
    host.ask<'removeRun'>({ type: 'removeRun', runId })
      .then((isRemoved) => { if (isRemoved) setRemoved((before) => new Set([...before, runId])); })
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  }, [host]);
  if (runs.length === 0) return null;

  const shown = matchingRuns(search, runs, reply.state === 'there' ? reply.value : []).filter(({ runId }) => !removed.has(runId));
  const change = (next: RunSearch): void => {
    const short = { ...next, text: next.text.slice(0, MAX_SEARCH_CHARACTERS) };
    host.remember({ search: short });
    setSearch(short);
  };
  return (
    <section class="runs" aria-labelledby="runs-title" ref={region} onKeyDown={(event) => moveByKey(event, region.current)}>
      <div class="row section-title"><h2 id="runs-title">{l10n.t('Past runs')}</h2>{!searching && <Count>{shown.length}</Count>}</div>
      {runs.length > 1 && <SearchBox search={search} onChange={change} />}
      <p class="quiet search-result" role="status">
        {isLooking ? l10n.t('Looking further back…') : searching && <Matches count={shown.length} text={search.text.trim()} />}
      </p>
      <ul>
        {searching
          ? shown.map((run) => <li key={run.runId}><Run run={run} onRemove={remove} /></li>)
          : conversationsIn(shown).map((conversation) => (
            <li key={conversation.thread}><ConversationItem conversation={conversation} onRemove={remove} /></li>
          ))}
      </ul>
      {problem !== undefined && (
        <p class="note tone-bad" role="alert" dir="auto">{fillSentence(l10n.t('The run could not be removed: {0}'), problem)}</p>
      )}
      {searching && !isLooking && shown.length === 0 && <Button onClick={() => change(NO_SEARCH)}>{l10n.t('Show all runs')}</Button>}
      {mayBeOlder && !searching && !wantsOlder && (
        <Button onClick={() => setWantsOlder(true)}>{l10n.t('Show older runs')}</Button>
      )}
      {reply.state === 'none' && (
        <p class="note tone-bad" dir="auto">{fillSentence(l10n.t('The search for older runs failed: {0}'), reply.problem)}</p>
      )}
    </section>
  );
});

function SearchBox({ search, onChange }: { readonly search: RunSearch; readonly onChange: (search: RunSearch) => void }): JSX.Element {
  return (
    <div class="run-search" role="search">
      <span class="search-box">
        <Icon name="search" tone="quiet" />
        <input
          type="search" value={search.text} placeholder={l10n.t('Search past runs')} aria-label={l10n.t('Search past runs')}
          maxLength={MAX_SEARCH_CHARACTERS} spellcheck={false}
          onInput={(event) => onChange({ ...search, text: event.currentTarget.value })}
        />
      </span>
      <select
        aria-label={l10n.t('Which runs')} value={search.kind}
        onChange={(event) => onChange({ ...search, kind: event.currentTarget.value as RunKindWanted })}
      >
        {RUN_KINDS.map((kind) => <option key={kind} value={kind}>{kindName(kind)}</option>)}
      </select>
    </div>
  );
}

function Matches({ count, text }: { readonly count: number; readonly text: string }): JSX.Element {
  if (count === 1) return <>{l10n.t('1 run matches.')}</>;
  if (count > 1) return <>{l10n.t('{0} runs match.', count)}</>;
  return <>{text === '' ? l10n.t('No run matches.') : fillSentence(l10n.t('No run matches “{0}”.'), text)}</>;
}

/** The newest run of a conversation; the others are folded below it. */
function ConversationItem({ conversation: { thread, newest, earlier }, onRemove }: {
  readonly conversation: Conversation; readonly onRemove: (runId: string) => void;
}): JSX.Element {
  const [only] = earlier;
  return (
    <>
      <Run run={newest} onRemove={onRemove} />
      {only && (
        <div class="conversation">
          <Disclosure id={`conversation/${thread}`} title={earlier.length === 1 ? l10n.t('1 earlier question') : l10n.t('{0} earlier questions', earlier.length)}>
            <ul>{earlier.map((run) => <li key={run.runId}><Run run={run} onRemove={onRemove} /></li>)}</ul>
          </Disclosure>
        </div>
      )}
    </>
  );
}

interface RunProps {
  readonly run: RunSummary;
  readonly onRemove: (runId: string) => void;
}

const Run = memo(function Run({ run, onRemove }: RunProps): JSX.Element {
  const host = useHost();
  const now = useNow(false);
  const stage = endedStage(run);
  const remove = isOver(run.state) ? () => onRemove(run.runId) : undefined;
  return (
    <>
      <button
        type="button" class="run" onClick={() => host.post({ type: 'open', runId: run.runId })}
        onKeyDown={({ key }) => key === 'Delete' && remove?.()}
      >
        <Icon name={stage.icon} tone={stage.tone} />
        <span class="run-question" dir="auto"><InlineCode text={run.question} /></span>
        <span class="quiet run-facts">
          {[stage.text, formatMoney(run), formatWhen(run.acceptedAt, now, language()), ...(run.simulated ? [l10n.t('simulated')] : [])].join(' · ')}
        </span>
      </button>
      {remove && <ToolButton icon="trash" label={l10n.t('Remove the run “{0}”', shortened(run.question))} onClick={remove} />}
    </>
  );
});

function shortened(question: string): string {
  const line = question.replace(/\s+/g, ' ').trim();
  return line.length > MAX_NAMED_CHARACTERS ? `${line.slice(0, MAX_NAMED_CHARACTERS - 1)}…` : line;
}

/** Arrow keys move from the search box into the list, through it, and back. */
function moveByKey(event: KeyboardEvent, region: HTMLElement | null): void {
  if (!region || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
  const places = [...region.querySelectorAll<HTMLElement>('.search-box>input, .run')];
  const at = places.indexOf(event.target as HTMLElement);
  const next = at < 0 ? undefined : places[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** The value after it has not changed for a while. */
function useSettled<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
