import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { formatUsd } from '../../backend/protocol/figures.ts';
import type { TeamMember } from '../../backend/protocol/training.ts';

/** What the members of a team gave to the batches of the training that coordinates them. */
export function MembersView({ members }: { readonly members: readonly TeamMember[] }): JSX.Element {
  return (
    <section class="members" aria-labelledby="members-title">
      <div class="row section-title">
        <h2 id="members-title">{l10n.t('Team')}</h2>
      </div>
      <ul>
        {members.map((member) => (
          <li key={member.name}>
            <strong dir="auto">{member.name}</strong> <span class="quiet">{givenBy(member)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function givenBy({ isHere, plans, costUsd }: TeamMember): string {
  const given = l10n.t('{0} plans for {1} of its own', plans, formatUsd(costUsd));
  return isHere ? given : l10n.t('{0}, not here now', given);
}
