/** What would notice a change of the toolset. */
import type { ComponentChildren } from 'preact';
import { useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';
import type { OpenToolset } from './toolset-state.ts';

export function UsedBy({ state }: { state: OpenToolset }) {
  const { etag } = state.document;
  // An aid: without it, the toolset can be edited the same.
  const { data } = useLoaded(
    async (signal) =>
      etag.value === null ? null : moniker.value.get('/v1/toolsets/{toolset}/uses', { params: { path: state.path }, signal }),
    [etag.value],
  );
  if (data === null) return null;
  const { agents, keys, equipped, webhooks, schedules, truncated } = data;
  const rows: readonly (readonly [what: string, name: ComponentChildren, how: string])[] = [
    ...agents.map(({ name, toolset }) => ['Agent', <a href={pathOf('agents', name)}>{visible(name)}</a>, toolset] as const),
    ...keys.map(({ name, agent }) => ['Key', visible(name), agent === null ? 'bound to the toolset' : `through agent ${agent}`] as const),
    ...equipped.map(({ name }) => ['Key', visible(name), 'equipped at /mcp'] as const),
    ...webhooks.map(({ name, agent }) => ['Webhook', visible(name), `through agent ${agent}`] as const),
    ...schedules.map(({ name, agent }) => ['Schedule', visible(name), `through agent ${agent}`] as const),
  ];
  return (
    <section aria-label="Used by">
      <h2>Used by</h2>
      {rows.length === 0 ? (
        <p class="muted">
          Nothing yet. <a href={pathOf('agents')}>Give it to an agent</a>, or connect an MCP client to{' '}
          <code>/mcp/{visible(state.name)}</code>.
        </p>
      ) : (
        <ul class="rows">
          {rows.map(([what, name, how], index) => (
            <li key={index}>
              <span>{what}</span> <strong>{name}</strong>
              <span class="muted">{visible(how)}</span>
            </li>
          ))}
        </ul>
      )}
      {truncated && <p class="muted">And more.</p>}
    </section>
  );
}
