/** `/console/keys`: the keys of the workspace. A new key is shown once; one that leaked is revoked with the turns that it started. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { RecordPages } from '../../parts/record-pages.tsx';
import type { Column } from '../../parts/records.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { visible } from '../../parts/visible.ts';
import { KeyForm } from './key-form.tsx';
import { KeySheet } from './key-sheet.tsx';

type Key = components['schemas']['Key'];

export function KeysPage() {
  const pages = usePages((cursor, signal) =>
    moniker.value.get('/v1/keys', { params: { query: { limit: 50, ...(cursor && { cursor }) } }, signal }),
  );
  const isCreating = useSignal(false);
  const created = useSignal<{ name: string; key: string } | null>(null);
  const opened = useSignal<Key | null>(null);
  const create = async (body: components['schemas']['KeyRequest']): Promise<void> => {
    created.value = await moniker.value.post('/v1/keys', { body });
    isCreating.value = false;
    announce('The key is created');
    await pages.reload();
  };
  const columns: readonly Column<Key>[] = [
    {
      label: 'Key',
      cell: (key) => (
        <button type="button" class="link" onClick={() => (opened.value = key)}>
          {visible(key.name)}
        </button>
      ),
    },
    { label: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    { label: 'Bound to', cell: boundTo },
    { label: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time iso={lastUsedAt} />) },
    { label: 'State', cell: (key) => <StateBadge state={stateOf(key)} /> },
  ];
  return (
    <div class="view wide">
      <div class="head">
        <h1>Keys</h1>
        <span class="grow" />
        {!isCreating.value && (
          <button type="button" class="primary" onClick={() => (isCreating.value = true)}>
            Create a key
          </button>
        )}
      </div>
      {created.value !== null && (
        <section class="new-key" aria-label="New key">
          <h2>{visible(created.value.name)}</h2>
          <p>Copy the key now: it is not shown again.</p>
          <p class="actions">
            <code>{created.value.key}</code>
            <CopyButton text={created.value.key} what="the key" />
            <span class="grow" />
            <button type="button" onClick={() => (created.value = null)}>
              Done
            </button>
          </p>
        </section>
      )}
      {isCreating.value && <KeyForm create={create} onCancel={() => (isCreating.value = false)} />}
      <RecordPages
        caption="Keys"
        pages={pages}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <>
            <h2>No keys yet</h2>
            <p>Clients can use the root key, but a key of their own can be limited to agents or toolsets, and revoked. Create one.</p>
          </>
        }
      />
      {opened.value !== null && (
        <KeySheet
          apiKey={opened.value}
          state={stateOf(opened.value)}
          bindings={boundTo(opened.value)}
          onClose={() => (opened.value = null)}
          onRevoked={() => void pages.reload()}
        />
      )}
    </div>
  );
}

function stateOf({ revokedAt, expiresAt }: Key): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

function boundTo({ toolsets = [], agents = [] }: Key) {
  const names = [...agents.map((name) => `agent ${name}`), ...toolsets.map((name) => `toolset ${name}`)];
  return names.length === 0 ? 'nothing' : visible(names.join(', '));
}
