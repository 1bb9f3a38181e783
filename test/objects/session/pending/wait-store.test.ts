import { expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { WaitStore } from '../../../../src/objects/session/pending/wait-store.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

const day = 24 * 60 * 60_000;

it('deletes ended waits of every kind after one retention, when a new one is stored', () => {
  let now = 0;
  const sql = fakeSql(sessionMigrations);
  const waits = new WaitStore(sql, () => now);
  const at = { turn: 't1', step: 1, name: 'n', canonical: 'client.n', arguments: {} };
  const call = (callId: string): SessionEventBody => ({ type: 'client-tool-required', ...at, callId });
  const result = (callId: string): SessionEventBody => ({ type: 'tool-result', ...at, callId, via: 'wire', isError: false, content: [] });
  const kept = (): string[] =>
    sql
      .exec<{ call_id: string }>('SELECT call_id FROM waits ORDER BY call_id')
      .toArray()
      .map((row) => row.call_id);
  waits.applyEvent({
    type: 'input-required',
    ...at,
    callId: 'i',
    entry: 'n',
    server: 's',
    requests: {},
    round: 1,
    expiresAt: new Date(day).toISOString(),
  });
  for (const event of [call('open'), call('done'), call('done.1'), result('done'), result('i')]) waits.applyEvent(event);
  waits.markAnswered('done', 'hash', 'k');
  now = limits.endedWaitTtlMs - 1;
  waits.applyEvent(call('later'));
  expect(waits.get('client-tool', 'done')).toMatchObject({ state: 'answered', answerHash: 'hash' });
  expect(waits.get('client-tool', 'done.1')?.state).toBe('expired');
  now += 1;
  waits.applyEvent(call('last'));
  expect(kept()).toEqual(['i', 'last', 'later', 'open']);
  now += day;
  waits.applyEvent(call('very-last'));
  expect(kept()).toEqual(['last', 'later', 'open', 'very-last']);
});
