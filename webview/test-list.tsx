import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Disclosure } from './disclosure.tsx';
import { formatCount } from './language.ts';
import { visibleText } from './markdown/visible-text.ts';
import { placeOf } from './test-table.tsx';
import type { TestGroup } from './verdict-rows.ts';

const MAX_NAMES = 200;

/** Tests that are listed only by name, in a disclosure, with one more per file. */
export function TestList({ groups, title, id }: {
  readonly groups: readonly TestGroup[];
  readonly title: string;
  readonly id: string;
}): JSX.Element {
  const [only, ...others] = groups;
  return (
    <Disclosure id={id} title={title}>
      {only && others.length === 0
        ? <><p class="label"><bdi>{placeOf(only)}</bdi></p><Names group={only} /></>
        : groups.map((group) => (
          <Disclosure
            key={group.place[0] ?? ''} id={`${id}/${group.place[0] ?? ''}`}
            title={<bdi>{placeOf(group) || l10n.t('Without a file')}</bdi>}
            aside={group.rows.length === 1 ? l10n.t('1 test') : l10n.t('{0} tests', group.rows.length)}
          >
            <Names group={group} />
          </Disclosure>
        ))}
    </Disclosure>
  );
}

function Names({ group: { rows } }: { readonly group: TestGroup }): JSX.Element {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, MAX_NAMES);
  return (
    <>
      <ul class="test-names">
        {shown.map(({ test, name, suites }) => <li key={test.id}><bdi>{visibleText([...suites, name].join(' › '))}</bdi></li>)}
      </ul>
      {shown.length < rows.length && (
        <button type="button" class="show-all" onClick={() => setAll(true)}>{l10n.t('Show all {0} tests', formatCount(rows.length))}</button>
      )}
    </>
  );
}
