/** Checks all rows of the audit, request by request, and names the first broken row of each log. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { Facts } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { count } from '../../text/format.ts';

type Verification = components['schemas']['AuditVerification'];
type Check = {
  state: 'running' | 'stopped' | 'done';
  rows: number;
  logs: ReadonlyMap<string, Verification['logs'][number]>;
};

const reasons: Readonly<Record<components['schemas']['AuditFault']['reason'], string>> = {
  altered: 'The row does not match its hash: it was altered.',
  missing: 'The row was removed.',
  rewritten: 'The rows match their hashes, but not the signed head of their log: they were rewritten.',
  signature: 'The signature of the head of the log is invalid.',
  unreadable: 'The log cannot be read.',
};

export function VerifyPanel() {
  const check = useSignal<Check | null>(null);
  const problem = useSignal<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    problem.value = null;
    let current: Check = { state: 'running', rows: 0, logs: new Map() };
    check.value = current;
    try {
      for (let cursor: string | undefined; ; ) {
        const found: Verification = await moniker.value.get('/v1/audit/verify', {
          params: { query: { ...(cursor && { cursor }) } },
          signal: own.signal,
        });
        const isDone = found.nextCursor === null;
        const logs = new Map([...current.logs, ...found.logs.map((log) => [log.log, log] as const)]);
        current = { state: isDone ? 'done' : 'running', rows: current.rows + found.checked, logs };
        check.value = current;
        if (isDone) break;
        cursor = found.nextCursor ?? undefined;
      }
      announce(faultsOf(current.logs).length === 0 ? 'The audit is intact' : 'A row of the audit is broken');
    } catch (error) {
      check.value = { ...current, state: 'stopped' };
      if (!own.signal.aborted) problem.value = error;
    }
  };
  const { state, rows, logs } = check.value ?? { state: null, rows: 0, logs: new Map() as Check['logs'] };
  const faults = faultsOf(logs);
  const late = [...logs.values()].flatMap(({ log, retentionFault }) => (retentionFault === null ? [] : [`${log}: ${retentionFault}`]));
  return (
    <section class="verify" aria-label="Verification">
      <p class="actions">
        {state === 'running' ? (
          <button type="button" onClick={() => running.current?.abort()}>
            Stop
          </button>
        ) : (
          <button type="button" onClick={() => void run()}>
            Verify all rows
          </button>
        )}
        <span role="status">
          {state === null && (
            <span class="muted">Each row has a hash of itself and of the row before it; the newest are signed every minute.</span>
          )}
          {state === 'running' && <>Checked {count(rows)} rows…</>}
          {state === 'stopped' && <>Stopped after {count(rows)} rows.</>}
          {state === 'done' && faults.length === 0 && (
            <>
              <span class="badge ok">intact</span> {count(rows)} rows in {count(logs.size)} logs are as they were written.
            </>
          )}
        </span>
      </p>
      {state === 'running' && <progress aria-label="Verification" />}
      {faults.length > 0 && (
        <div class="problem" role="alert">
          <h2>The audit is not intact</h2>
          {faults.map(({ id, log, number, through, reason, detail }) => (
            <div key={log}>
              <p>
                {reasons[reason]} {detail !== undefined && visible(detail)} Rows after it in the same log prove nothing.
              </p>
              <Facts
                rows={[
                  ['First broken row', <code key="id">{id}</code>],
                  ['Log', log],
                  ['Number', through > number ? `${count(number)} to ${count(through)}` : count(number)],
                ]}
              />
            </div>
          ))}
          <p>{count(rows)} rows were checked.</p>
        </div>
      )}
      {late.length > 0 && <p class="notice warn">Old rows could not be deleted. {late.join(' ')}</p>}
      {problem.value !== null && <ProblemView error={problem.value} retry={() => void run()} />}
    </section>
  );
}

function faultsOf(logs: Check['logs']) {
  return [...logs.values()].flatMap(({ fault }) => fault ?? []);
}
