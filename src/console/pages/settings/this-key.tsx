/** What the key of this tab is, may do, and is limited to. */
import type { components } from '../../../../client/src/index.ts';
import { useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { Facts } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { count, duration } from '../../text/format.ts';

type Limits = components['schemas']['Me']['limits'];

const limitTexts: readonly (readonly [name: keyof Limits, label: string, show: (value: number) => string])[] = [
  ['maxBodyBytes', 'Request body', bytes],
  ['maxLargeBodyBytes', 'Body of chats, turns, skills and servers', bytes],
  ['maxFileBytes', 'File of a session', bytes],
  ['maxSessionFilesBytes', 'All files of a session', bytes],
  ['maxPageItems', 'Items of a page', count],
  ['maxToolsetEntries', 'Entries of a toolset', count],
  ['maxStepsPerTurn', 'Model calls of a turn', count],
  ['maxCallsPerTurn', 'Tool calls of a turn', count],
  ['turnTimeoutMs', 'Working time of a turn', duration],
  ['approvalTtlMs', 'Wait for an approval', duration],
  ['maxOpenQuestions', 'MCP calls that wait for an answer', count],
];

export function ThisKey() {
  const { data, error, reload } = useLoaded((signal) => moniker.value.get('/v1/me', { signal }));
  if (error !== null) return <ProblemView error={error} retry={() => void reload()} />;
  if (data === null) return <p class="muted">Loading…</p>;
  const { id, name, workspace, scopes, agents, toolsets, caller, createdAt, expiresAt, limits } = data;
  const list = (names: readonly string[] | undefined) => names && visible(names.join(', '));
  return (
    <div class="settings">
      <section aria-label="This key">
        <h2>{visible(name)}</h2>
        <Facts
          rows={[
            ['Id', <code key="id">{visible(id)}</code>],
            ['Workspace', visible(workspace)],
            ['Scopes', scopes.join(', ')],
            ['Only agents', list(agents)],
            ['Only toolsets', list(toolsets)],
            ['Caller', list(caller && Object.entries(caller).map(([field, value]) => `${field}: ${value}`))],
            ['Created', createdAt === null ? 'comes from the settings of the service' : new Date(createdAt).toLocaleString()],
            ['Expires', expiresAt === null ? 'never' : new Date(expiresAt).toLocaleString()],
          ]}
        />
      </section>
      <section aria-label="Limits">
        <h2>Limits</h2>
        <Facts rows={limitTexts.map(([member, label, show]) => [label, show(limits[member])])} />
      </section>
    </div>
  );
}

/** Limits are powers of two. */
function bytes(value: number): string {
  return value >= 1_048_576 ? `${count(value / 1_048_576)} MB` : `${count(value / 1_024)} kB`;
}
