/** One key: what it may do, where its use is recorded, and changing, rotating and revoking it. */
import { boundChoice, Select } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { Facts, StateBadge, Time } from '../../parts/records/records.tsx';
import { amount, limitNames } from '../../parts/fields/limit-fields.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';
import { bindingsOf, daysLeft, draftOf, keyState, mergePatchOf, type KeyDraft } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { NewKey } from './new-key.tsx';

type Key = components['schemas']['Key'];
/** `onChanged`: the stored key as it is now. */
type KeySheetProps = { apiKey: Key; onChanged(key: Key): void; onClose(): void };

export function KeySheet({ apiKey, onChanged, onClose }: KeySheetProps) {
  const isEditing = useSignal(false);
  const rotated = useSignal<components['schemas']['CreatedKey'] | null>(null);
  const params = { path: { key: apiKey.id } };
  const save = async (draft: KeyDraft): Promise<void> => {
    const body = mergePatchOf(draftOf(apiKey), draft);
    onChanged(await moniker.value.patch('/v1/keys/{key}', { params, body }));
    isEditing.value = false;
    announce('The key is changed');
  };
  const isActive = keyState(apiKey) === 'active';
  return (
    <Sheet title={visible(apiKey.name)} onClose={onClose}>
      {isEditing.value ? (
        <KeyForm existing={draftOf(apiKey)} save={save} onCancel={() => (isEditing.value = false)} />
      ) : (
        <>
          {rotated.value !== null && <NewKey created={rotated.value} />}
          <KeyNotices apiKey={apiKey} />
          <KeyFacts apiKey={apiKey} />
          {isActive && (
            <>
              <p class="actions">
                <button type="button" onClick={() => (isEditing.value = true)}>
                  Change
                </button>
              </p>
              <Rotate
                id={apiKey.id}
                onRotated={(created) => {
                  rotated.value = created;
                  const { key: _secret, ...stored } = created;
                  onChanged(stored);
                }}
              />
            </>
          )}
          <Revoke apiKey={apiKey} onChanged={onChanged} />
        </>
      )}
    </Sheet>
  );
}

/** What the key needs while it is active. */
function KeyNotices({ apiKey }: { apiKey: Key }) {
  const { expiresAt, previousUsedAt, previousExpiresAt } = apiKey;
  if (keyState(apiKey) !== 'active') return null;
  return (
    <>
      {expiresAt !== null && daysLeft(apiKey) !== null && (
        <p class="notice warn rounded">It expires on {new Date(expiresAt).toLocaleString()}. To keep it, change its expiry.</p>
      )}
      {previousUsedAt !== null && previousExpiresAt !== null && (
        <p class="notice warn rounded">
          A client used an earlier secret (<Time iso={previousUsedAt} />
          ), which works until {new Date(previousExpiresAt).toLocaleString()}. Give it the newest one before then.
        </p>
      )}
    </>
  );
}

function KeyFacts({ apiKey }: { apiKey: Key }) {
  const {
    id,
    scopes,
    models,
    caller,
    egressHosts,
    ips,
    limits,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
    rotatedAt,
    previousExpiresAt,
  } = apiKey;
  const listed = (values: readonly string[] | undefined) => values && visible(values.join(', '));
  return (
    <Facts
      rows={[
        ['State', <StateBadge key="state" state={keyState(apiKey)} />],
        ['Id', <code key="id">{visible(id)}</code>],
        ['Scopes', scopes.join(', ')],
        ['Bound to', visible(bindingsOf(apiKey))],
        ['Uses only the models', listed(models)],
        ['Caller', listed(caller && Object.entries(caller).map(([field, value]) => `${field}: ${value}`))],
        ['Used only from', listed(ips)],
        ['Reaches only', egressHosts?.length === 0 ? 'no host' : listed(egressHosts)],
        [
          'Limits',
          limits &&
            visible(
              limitNames
                .flatMap(([name, label]) => (limits[name] === undefined ? [] : [`${label}: ${amount(name, limits[name])}`]))
                .join('; '),
            ),
        ],
        ['Created', <Time key="created" iso={createdAt} exact />],
        ['Expires', expiresAt === null ? 'never' : <Time key="expires" iso={expiresAt} exact />],
        ['Rotated', rotatedAt && <Time key="rotated" iso={rotatedAt} exact />],
        [
          'Earlier secret works',
          previousExpiresAt && (
            <>
              until <Time key="previous" iso={previousExpiresAt} exact />
            </>
          ),
        ],
        ['Revoked', revokedAt && <Time key="revoked" iso={revokedAt} exact />],
        ['Last used', lastUsedAt === null ? 'never' : <Time key="used" iso={lastUsedAt} exact />],
        [
          'Used for',
          <span key="uses" class="actions">
            <a href={pathOf('usage', null, { key: id })}>tokens and cost</a>
            <a href={pathOf('audit', null, { key: id })}>calls and changes</a>
          </span>,
        ],
      ]}
    />
  );
}

const overlaps: readonly (readonly [seconds: number, label: string])[] = [
  [0, 'not at all: it leaked'],
  [3_600, 'for an hour'],
  [86_400, 'for a day'],
  [7 * 86_400, 'for 7 days'],
  [30 * 86_400, 'for 30 days'],
];

function Rotate({ id, onRotated }: { id: string; onRotated(created: components['schemas']['CreatedKey']): void }) {
  const overlapSeconds = useSignal(86_400);
  const { problem, attempt } = useAttempt();
  const rotate = () =>
    attempt(async () => {
      const body = { overlapSeconds: overlapSeconds.value };
      onRotated(await moniker.value.post('/v1/keys/{key}/rotate', { params: { path: { key: id } }, body }));
      announce('The key is rotated');
    });
  return (
    <div class="key-act">
      <h3>Rotate</h3>
      <p class="muted">A new secret for the same key, which keeps its rights and its sessions.</p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <p class="actions">
        <label>
          The current secret works <Select {...boundChoice(overlapSeconds)} choices={overlaps} />
        </label>
        <ConfirmButton label="Rotate" question="Make a new secret?" onConfirm={() => void rotate()} />
      </p>
    </div>
  );
}

function Revoke({ apiKey, onChanged }: { apiKey: Key; onChanged(key: Key): void }) {
  const result = useSignal<string | null>(null);
  const { problem, attempt } = useAttempt();
  const revoke = (cancel: boolean) =>
    attempt(async () => {
      const params = { path: { key: apiKey.id }, query: { cancel: cancel ? ('true' as const) : ('false' as const) } };
      const ended = await moniker.value.delete('/v1/keys/{key}', { params });
      const { cancelledTurns = 0, isDone = true } = ended ?? {};
      const rest = isDone ? '' : ' More are ended in the background.';
      result.value = cancel ? `The key is revoked. ${cancelledTurns} of its turns were ended.${rest}` : 'The key is revoked.';
      announce(result.value);
      onChanged({ ...apiKey, revokedAt: new Date().toISOString() });
    });
  if (result.value !== null)
    return (
      <p class="notice rounded" role="status">
        {result.value}
      </p>
    );
  if (keyState(apiKey) !== 'active') return null;
  return (
    <div class="key-act">
      <h3>Revoke</h3>
      <p class="muted">A revoked key is rejected within seconds. If it leaked, end the turns that it started as well.</p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <p class="actions">
        <ConfirmButton label="Revoke" question="Revoke the key?" onConfirm={() => void revoke(false)} />
        <ConfirmButton label="Revoke and end its turns" question="Revoke it and end its turns?" onConfirm={() => void revoke(true)} />
      </p>
    </div>
  );
}
