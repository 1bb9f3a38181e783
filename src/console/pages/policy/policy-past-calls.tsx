/** What the rules, with changes that are not saved, would have decided about the calls of the last 30 days. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { Warnings } from '../../parts/documents/warnings.tsx';
import { ChangedDecisions } from '../../parts/records/changed-decisions.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';

export function PolicyPastCalls({ draft }: { draft: components['schemas']['Policy'] }) {
  /** Of the rules that were compared. */
  const compared = useSignal<{ rules: unknown; impact: components['schemas']['PolicyImpact'] } | null>(null);
  const { problem, attempt } = useAttempt();
  const compare = () =>
    attempt(async () => {
      compared.value = { rules: draft, impact: await moniker.value.post('/v1/policy/impact', { body: draft }) };
    });
  return (
    <section aria-label="Past calls">
      <p>
        <button type="button" onClick={compare}>
          What would these rules change?
        </button>
      </p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      {compared.value?.rules === draft && <Answer impact={compared.value.impact} />}
    </section>
  );
}

function Answer({ impact }: { impact: components['schemas']['PolicyImpact'] }) {
  const { judged, changedCalls, idle, warnings = [], more, turns } = impact;
  return (
    <div role="status">
      <p>
        {changedCalls === 0 ? 'None' : changedCalls} of {judged} calls of the last 30 days would be decided differently.
      </p>
      <ChangedDecisions decisions={impact} />
      {idle.length > 0 && <p class="muted">Rules that decided none of them: {idle.join(', ')}.</p>}
      {(more || turns.more || turns.left > 0) && <p class="muted">There are more calls than were compared.</p>}
      <Warnings warnings={warnings} />
    </div>
  );
}
