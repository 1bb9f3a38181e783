/** One key: what it may do, where its use is recorded, and revoking it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';
import { Sheet } from '../../parts/sheet.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { visible } from '../../parts/visible.ts';
import { pathOf } from '../../router.ts';

type KeySheetProps = {
  apiKey: components['schemas']['Key'];
  state: string;
  bindings: ComponentChildren;
  onClose(): void;
  onRevoked(): void;
};

export function KeySheet({ apiKey, state, bindings, onClose, onRevoked }: KeySheetProps) {
  const { id, name, scopes, caller, createdAt, expiresAt, revokedAt, lastUsedAt } = apiKey;
  const problem = useSignal<unknown>(null);
  const result = useSignal<string | null>(null);
  const revoke = async (cancel: boolean): Promise<void> => {
    problem.value = null;
    try {
      const params = { path: { key: id }, query: { cancel: cancel ? ('true' as const) : ('false' as const) } };
      const ended = await moniker.value.delete('/v1/keys/{key}', { params });
      const { cancelledTurns = 0, isDone = true } = ended ?? {};
      const rest = isDone ? '' : ' More are ended in the background.';
      result.value = cancel ? `The key is revoked. ${cancelledTurns} of its turns were ended.${rest}` : 'The key is revoked.';
      announce(result.value);
      onRevoked();
    } catch (error) {
      problem.value = error;
    }
  };
  return (
    <Sheet title={visible(name)} onClose={onClose}>
      <Facts
        rows={[
          ['State', <StateBadge key="state" state={result.value === null ? state : 'revoked'} />],
          ['Id', <code key="id">{visible(id)}</code>],
          ['Scopes', scopes.join(', ')],
          ['Bound to', bindings],
          [
            'Caller',
            caller &&
              visible(
                Object.entries(caller)
                  .map(([field, value]) => `${field}: ${value}`)
                  .join(', '),
              ),
          ],
          ['Created', <Time key="created" iso={createdAt} exact />],
          ['Expires', expiresAt === null ? 'never' : <Time key="expires" iso={expiresAt} exact />],
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
      {problem.value !== null && <ProblemView error={problem.value} />}
      {result.value !== null ? (
        <p class="notice rounded" role="status">
          {result.value}
        </p>
      ) : (
        state === 'active' && (
          <div class="revoke">
            <h3>Revoke</h3>
            <p class="muted">A revoked key is rejected within seconds. If it leaked, end the turns that it started as well.</p>
            <p class="actions">
              <ConfirmButton label="Revoke" question="Revoke the key?" onConfirm={() => void revoke(false)} />
              <ConfirmButton label="Revoke and end its turns" question="Revoke it and end its turns?" onConfirm={() => void revoke(true)} />
            </p>
          </div>
        )
      )}
    </Sheet>
  );
}
