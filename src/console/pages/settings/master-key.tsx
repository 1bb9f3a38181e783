/** The master key: which one seals what is stored, and sealing everything again after it was changed. */
import { useAttempt, useEvery, useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { Facts, StateBadge } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { count } from '../../text/format.ts';

const pollMs = 2_000;

export function MasterKeyTab() {
  const { data, error, reload } = useLoaded((signal) => moniker.value.get('/v1/master-key', { signal }));
  const { problem, act } = useAttempt();
  const isRunning = data?.reseal.status === 'running';
  useEvery(pollMs, isRunning, reload);
  const begin = () => act(() => moniker.value.post('/v1/master-key/reseal'), 'Sealing has begun', reload);
  if (data === null) return error === null ? <p class="muted">Loading…</p> : <ProblemView error={error} retry={() => void reload()} />;
  const { current, previous, reseal } = data;
  const { status, done, left, startedAt, finishedAt, removableAt, workspaces } = reseal;
  const faults = workspaces.filter(({ fault, unreadable }) => fault !== null || unreadable.length > 0);
  return (
    <div class="master-key">
      <p class="muted">
        The master key seals secrets, provider keys and tokens. To replace it: set <code>MONIKER_MASTER_KEY_PREVIOUS</code> to the current
        one and <code>MONIKER_MASTER_KEY</code> to a new one, restart, then seal everything again here. API keys stay valid.
      </p>
      {[error, problem.value].map((one, index) => one !== null && <ProblemView key={index} error={one} />)}
      <Facts
        rows={[
          ['Current key', <code key="current">{current}</code>],
          ['Previous key', previous === null ? 'not set' : <code>{previous}</code>],
          ['State', status === 'none' ? 'sealed with the current key' : <StateBadge state={status} />],
          ['Begun', startedAt && new Date(startedAt).toLocaleString()],
          ['Ended', finishedAt && new Date(finishedAt).toLocaleString()],
          ['Values', status === 'none' ? null : `${count(done)} sealed, ${count(left)} left`],
        ]}
      />
      {status !== 'none' && (
        <p>
          <progress aria-label="Sealed values" max={Math.max(1, done + left)} value={status === 'done' ? Math.max(1, done + left) : done} />
        </p>
      )}
      {removableAt !== null && (
        <p class="notice rounded" role="status">
          {Date.parse(removableAt) <= Date.now() ? 'You can' : `From ${new Date(removableAt).toLocaleString()}, you can`} remove{' '}
          <code>MONIKER_MASTER_KEY_PREVIOUS</code> from the settings.
        </p>
      )}
      {faults.map(({ workspace, fault, unreadable }) => (
        <div key={workspace} class="problem">
          <h2>Workspace {visible(workspace)}</h2>
          {fault !== null && <p>{visible(fault)} It is tried again.</p>}
          {unreadable.length > 0 && (
            <p>
              Neither key opens these values. Write them again: {visible(unreadable.map(({ kind, name }) => `${kind} ${name}`).join(', '))}.
            </p>
          )}
        </div>
      ))}
      {previous !== null && !isRunning && (
        <p class="actions">
          <ConfirmButton label="Seal everything again" question="Seal everything with the current key?" onConfirm={() => void begin()} />
        </p>
      )}
    </div>
  );
}
