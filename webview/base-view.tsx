import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { formatDuration } from '../backend/protocol/figures.ts';
import type { BaseView as Base } from '../backend/protocol/run-snapshot.ts';
import { Elapsed } from './clock.tsx';
import { FileLink } from './context-view.tsx';
import { Icon } from './controls.tsx';
import { Disclosure } from './disclosure.tsx';
import { FailingTestItem } from './failing-test-item.tsx';
import { visibleText } from './markdown/visible-text.ts';

/** The tests on the code as it is: that they run, or what they say. */
export function BaseView({ base: { startedAt, result }, id }: { readonly base: Base; readonly id: string }): JSX.Element {
  if (!result) {
    return (
      <p class="quiet">
        <Icon name="loading" tone="busy" /> {l10n.t('Running the tests on the code as it is')} · <Elapsed since={startedAt} />
      </p>
    );
  }
  const { failed, failing, total, leftOut = 0, problem, durationMs } = result;
  if (problem !== undefined) {
    return <p class="quiet" dir="auto"><Icon name="warning" tone="caution" /> {l10n.t('The tests gave no result on the code as it is: {0}', visibleText(problem))}</p>;
  }
  if (failed === 0) {
    return (
      <p class="quiet">
        <Icon name="check" tone="good" />{' '}
        {leftOut > 0 ? l10n.t('On the code as it is, no other test fails ({0} ran)', total) : l10n.t('On the code as it is, no test fails ({0} ran)', total)} · {formatDuration(durationMs)}{leftOut > 0 && ` · ${leftOutWords(leftOut)}`}
      </p>
    );
  }
  return (
    <Disclosure
      id={`${id}/base`} aside={formatDuration(durationMs)}
      title={<><Icon name="error" tone="bad" /> {failed === 1 ? l10n.t('On the code as it is, 1 of {0} tests fails', total) : l10n.t('On the code as it is, {0} of {1} tests fail', failed, total)}</>}
    >
      <ul class="test-names">
        {failing.map(({ id: test, message, places: [place] }) => (
          <FailingTestItem key={test} id={test} message={message}>
            {place && <> <FileLink path={place.path} startLine={place.startLine} /></>}
          </FailingTestItem>
        ))}
        {failed > failing.length && <li class="quiet">{l10n.t('and {0} more', failed - failing.length)}</li>}
        {leftOut > 0 && <li class="quiet">{leftOutWords(leftOut)}</li>}
      </ul>
    </Disclosure>
  );
}

const leftOutWords = (count: number): string => (count === 1 ? l10n.t('1 test that fails is left out') : l10n.t('{0} tests that fail are left out', count));
