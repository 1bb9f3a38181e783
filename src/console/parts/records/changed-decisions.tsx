/** Past calls that a change of rules or of a toolset decides differently. */
import type { components } from '../../../../client/src/index.ts';
import { visible } from '../text/visible.ts';

type Decisions = Pick<components['schemas']['PolicyImpact'], 'changed' | 'unjudged'>;

const verbs = { allow: 'allowed', ask: 'asked about', deny: 'denied' } as const;

export function ChangedDecisions({ decisions: { changed, unjudged } }: { decisions: Decisions }) {
  const left = unjudged.arguments + unjudged.tools;
  return (
    <>
      <ul class="rows">
        {changed.map(({ tool, was, now, calls, agents }) => (
          <li key={`${tool} ${was.rule} ${was.verdict} ${now.rule}`}>
            <strong>{visible(tool)}</strong>: {calls === 1 ? '1 call' : `${calls} calls`} {verbs[now.verdict]} instead of{' '}
            {verbs[was.verdict]}
            <span class="muted">
              {visible(now.reason)}
              {agents.length > 0 && `, by ${visible(agents.join(', '))}`}
            </span>
          </li>
        ))}
      </ul>
      {left > 0 && <p class="muted">{left} calls could not be judged: their tools or arguments are not known.</p>}
    </>
  );
}
