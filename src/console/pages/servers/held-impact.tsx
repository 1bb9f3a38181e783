/** What accepting a held definition would have done to the calls of the last 30 days, computed on demand. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { SessionLinks } from '../../parts/text/session-links.tsx';
import { visible } from '../../parts/text/visible.ts';

type Impact = components['schemas']['DefinitionImpact'];

export function HeldPastCalls({ path }: { path: { server: string; tool: string } }) {
  const impact = useSignal<Impact | null>(null);
  const { problem, attempt } = useAttempt();
  const compare = () =>
    attempt(async () => {
      impact.value = await moniker.value.get('/v1/servers/{server}/tools/{tool}/impact', { params: { path } });
    });
  return (
    <>
      <button type="button" aria-label={`What would accepting break? ${path.tool}`} onClick={() => void compare()}>
        What would accepting break?
      </button>
      {problem.value !== null && <ProblemView error={problem.value} />}
      {impact.value !== null && <Rows impact={impact.value} />}
    </>
  );
}

function Rows({ impact: { judged, refusedCalls, refused, hashed, left, turns } }: { impact: Impact }) {
  return (
    <div role="status">
      <p>
        It would have refused {refusedCalls} of {judged} recorded calls of the last 30 days.
      </p>
      <ul class="rows">
        {refused.map(({ toolset, calls, sessions, issues, mends }, index) => (
          <li key={index}>
            <strong>{visible(toolset ?? 'Without a toolset')}</strong> {calls === 1 ? '1 call' : `${calls} calls`}:{' '}
            {visible(issues.map(({ path, message }) => `${path} ${message}`).join('; '))}
            {mends.length > 0 && (
              <span class="muted">
                kept by aliases of arguments: {visible(mends.map(({ alias, argument }) => `${alias} → ${argument}`).join(', '))}
              </span>
            )}
            <SessionLinks sessions={sessions} />
          </li>
        ))}
      </ul>
      {hashed + left > 0 && <p class="muted">{hashed + left} calls were not compared: their arguments are not stored, or too many.</p>}
      {(turns.left > 0 || turns.more) && (
        <p class="muted">The calls of some turns were not read: there are too many, or their session was deleted.</p>
      )}
    </div>
  );
}
