/** `/console/keys`: the keys of the workspace. A new key is shown once; one that leaked is rotated, or revoked with the turns that it started. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { RecordPages, type Column, StateBadge, Time } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { bindingsOf, daysLeft, keyState, type KeyDraft } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { KeySheet } from './key-sheet.tsx';
import { NewKey } from './new-key.tsx';

type Key = components['schemas']['Key'];

export function KeysPage() {
  const pages = usePages((page, signal) => moniker.value.get('/v1/keys', { params: { query: { limit: 50, ...page } }, signal }));
  const isCreating = useSignal(false);
  const created = useSignal<components['schemas']['CreatedKey'] | null>(null);
  const opened = useSignal<Key | null>(null);
  const create = async (body: KeyDraft): Promise<void> => {
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
    { label: 'Bound to', cell: (key) => visible(bindingsOf(key)) },
    { label: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time iso={lastUsedAt} />) },
    { label: 'State', cell: (key) => <KeyStates apiKey={key} /> },
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
      {created.value !== null && <NewKey created={created.value} onDone={() => (created.value = null)} />}
      {isCreating.value && <KeyForm existing={null} save={create} onCancel={() => (isCreating.value = false)} />}
      <RecordPages
        caption="Keys"
        pages={pages}
        columns={columns}
        keyOf={({ id }) => id}
        none="No keys yet"
        hint="Clients can use the root key, but a key of their own can be limited to agents or toolsets, and revoked. Create one."
      />
      {opened.value !== null && (
        <KeySheet
          apiKey={opened.value}
          onClose={() => (opened.value = null)}
          onChanged={(key) => {
            opened.value = key;
            void pages.reload();
          }}
        />
      )}
    </div>
  );
}

/** The state, and what it needs: a key that expires soon, or an earlier secret that a client still sends. */
function KeyStates({ apiKey }: { apiKey: Key }) {
  const days = daysLeft(apiKey);
  return (
    <span class="actions">
      <StateBadge state={keyState(apiKey)} />
      {days !== null && <span class="badge warn">{days === 0 ? 'expires within a day' : `expires in ${days} d`}</span>}
      {keyState(apiKey) === 'active' && apiKey.previousUsedAt !== null && <span class="badge warn">earlier secret in use</span>}
    </span>
  );
}
