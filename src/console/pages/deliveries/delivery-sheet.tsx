/** A delivery: its payload, what became of it, and a replay. */
import { useEffect } from 'preact/hooks';
import { useAttempt, useEvery, useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { Facts, StateBadge, Time } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';
import { count } from '../../text/format.ts';

type SheetProps = { webhook: string; delivery: string; onChange(): void; onClose(): void };

const pollMs = 1_500;

export function DeliverySheet({ webhook, delivery, onChange, onClose }: SheetProps) {
  const path = { webhook, delivery };
  const { problem, act } = useAttempt();
  const { data, error, reload } = useLoaded((signal) =>
    moniker.value.get('/v1/webhooks/{webhook}/deliveries/{delivery}', { params: { path }, signal }),
  );
  const isOpen = data?.status === 'pending' || data?.status === 'running';
  useEffect(() => {
    if (data !== null) onChange();
  }, [data?.status, data?.run]);
  useEvery(pollMs, isOpen, reload);
  const replay = () =>
    act(
      () => moniker.value.post('/v1/webhooks/{webhook}/deliveries/{delivery}/replay', { params: { path } }),
      'The delivery is replayed',
      reload,
    );
  const text = data === null ? '' : typeof data.payload === 'string' ? data.payload : JSON.stringify(data.payload, null, 2);
  return (
    <Sheet title={<>Delivery to {visible(webhook)}</>} onClose={onClose}>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {problem.value !== null && <ProblemView error={problem.value} />}
      {data !== null && (
        <>
          <p class="actions">
            <button type="button" class="primary" disabled={isOpen} onClick={() => void replay()}>
              Replay
            </button>
            <span class="muted">Runs it with the current templates; the filter is not applied.</span>
          </p>
          <Facts
            rows={[
              ['Status', <StateBadge key="status" state={data.status} />],
              ['Reason', data.reason === null ? null : visible(data.reason)],
              ['Event', data.event === null ? null : visible(data.event)],
              ['Received', <Time key="received" iso={data.receivedAt} exact />],
              ['Ended', data.endedAt === null ? null : <Time key="ended" iso={data.endedAt} exact />],
              ['Run', `${count(data.run)}${data.run > 1 ? ', replayed' : ''}`],
              ['Redeliveries', data.repeats === 0 ? null : count(data.repeats)],
              [
                'Session',
                data.session === null ? null : (
                  <a key="session" href={pathOf('sessions', data.session)}>
                    {visible(data.sessionKey ?? data.session)}
                  </a>
                ),
              ],
              ['Missing in payload', data.warnings.length === 0 ? null : visible(data.warnings.join(', '))],
              ['Id', <code key="id">{visible(data.id)}</code>],
            ]}
          />
          <header class="actions payload">
            <h3>Payload</h3>
            <CopyButton text={text} what="the payload" />
          </header>
          {data.payload === null ? <p class="muted">It is not stored any more.</p> : <pre class="file">{visible(text)}</pre>}
        </>
      )}
    </Sheet>
  );
}
