/** What a test of the draft found: nothing was stored. */
import type { components } from '../../../../client/src/index.ts';
import { PathMessages } from '../../parts/text/path-messages.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { StateBadge } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { count, duration } from '../../text/format.ts';

type TestProps = { test: { result: components['schemas']['ServerTest'] | null; error: unknown }; isNew: boolean };

export function TestResult({ test: { result, error }, isNew }: TestProps) {
  if (result === null) return <ProblemView error={error} />;
  const { ok, health, connection, tools, held, prompts, resources, durationMs, warnings } = result;
  const others = [prompts > 0 && `${prompts} prompts`, resources > 0 && `${resources} resources`].filter((text) => text !== false);
  return (
    <section class={`notice rounded test-result ${ok ? '' : 'warn'}`} aria-label="Test result" role="status">
      <p>
        <StateBadge state={health.status === 'unknown' ? (ok ? 'ok' : 'failing') : health.status} />{' '}
        <strong>
          {count(tools)} {tools === 1 ? 'tool' : 'tools'}
        </strong>
        {others.length > 0 && `, ${others.join(', ')}`} in {duration(durationMs)}
        {connection !== null && (
          <>
            {' '}
            from <strong>{visible(connection.server?.name ?? 'an unnamed server')}</strong> {visible(connection.server?.version ?? '')}, MCP{' '}
            {visible(connection.protocolVersion)}
          </>
        )}
      </p>
      {health.reason !== undefined && <p>{visible(health.reason)}</p>}
      {held > 0 && <p>{held} of its definitions need a review before they can be called.</p>}
      {!ok && isNew && <p>It can be saved all the same. Its tools are listed as soon as it can be reached.</p>}
      <Remarks warnings={warnings} />
    </section>
  );
}

/** What the service says about single definitions. Held ones have cards of their own. */
export function Remarks({ warnings }: { warnings: readonly components['schemas']['Warning'][] }) {
  if (warnings.length === 0) return null;
  return (
    <details class="remarks">
      <summary>{warnings.length === 1 ? '1 remark' : `${warnings.length} remarks`} about its definitions</summary>
      <PathMessages items={warnings} />
    </details>
  );
}
