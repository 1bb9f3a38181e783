import { expect, it } from 'vitest';
import { limits } from '../../../src/core/limits.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { sessionMigrations } from '../../../src/session/object/schema.ts';
import { WaitStore } from '../../../src/session/pending/wait-store.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';

const day = 24 * 60 * 60_000;

/** A database of the release before `waits`, with rows of every kind and state. */
function earlierRelease(): SqlStorage {
  const sql = fakeSql(sessionMigrations.slice(0, 10));
  const approval = (callId: string, own: Record<string, string | number | null>) => {
    const row = {
      ...{ call_id: callId, turn: 't1', canonical: 'builtin.bash', entry: 'asks', toolset: null, arguments_hash: null, kind: 'always' },
      ...{ target: null, reason: 'it is second', question: '{"effects":[],"effectCount":1,"binding":["b1"]}', round: 2 },
      ...{ earlier: '["it is first"]', state: 'pending', asked_at: 1, expires_at: 7 * day, told: 0, ...own },
    };
    sql.exec(`INSERT INTO approvals (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row).map(() => '?')})`, ...Object.values(row));
    sql.exec('INSERT INTO approval_arguments VALUES (?, 0, ?)', callId, `{"of":"${callId}`);
    sql.exec('INSERT INTO approval_arguments VALUES (?, 1, ?)', callId, '"}');
  };
  approval('a1', {});
  approval('a2', { state: 'approved', question: null, round: 1, earlier: '[]', target: '/a' });
  approval('d1', { turn: null, toolset: 'demo', arguments_hash: 'h1', asked_at: 2 });
  approval('d2', { turn: null, toolset: 'demo', arguments_hash: 'h2', state: 'denied' });
  approval('d3', { turn: null, toolset: 'demo', arguments_hash: 'h3', state: 'denied', told: 1 });
  approval('d4', { turn: null, arguments_hash: 'h4', state: 'used' });
  const input = `INSERT INTO inputs (call_id, round, turn, canonical, question, state, expires_at, answer_hash) VALUES (?, ?, 't1', 'crm.find', 'Which one?', ?, ?, ?)`;
  sql.exec(input, 'i1', 1, 'given', 7 * day, 'hash');
  sql.exec(input, 'i1', 2, 'pending', 8 * day, null);
  sql.exec(input, 'i2', 1, 'closed', 7 * day, null);
  sql.exec(`INSERT INTO input_parts VALUES ('i1', 'asked', 0, '{"requests":{},"state":"s"}')`);
  sql.exec(`INSERT INTO events (id, at, body) VALUES (1, ?, '{"type":"turn-start"}')`, 5 * day);
  for (const [callId, state, hash] of [
    ['c1', 'pending', null],
    ['c1.2', 'answered', 'hash'],
    ['c3', 'closed', null],
  ])
    sql.exec('INSERT INTO client_calls (call_id, turn, state, answer_hash) VALUES (?, ?, ?, ?)', callId, 't1', state, hash);
  return sql;
}

it('has the approvals, requests for input and calls of the client that an earlier release stored', () => {
  const sql = earlierRelease();
  for (const statement of sessionMigrations.slice(10).join(';\n').split(';\n')) sql.exec(statement);
  const waits = new WaitStore(sql, () => 6 * day);
  expect(waits.pendingApprovals().map(({ callId }) => callId)).toEqual(['a1', 'd1']);
  expect(waits.get('approval', 'a1')).toEqual({
    ...{ kind: 'approval', callId: 'a1', round: 2, turn: 't1', state: 'pending', askedAt: 1, expiresAt: 7 * day, answerHash: null },
    ...{ decidedAt: null, decidedBy: null },
    ...{ canonical: 'builtin.bash', entry: 'asks', toolset: null, ask: 'always', target: null, reason: 'it is second' },
    ...{ question: { effects: [], effectCount: 1, binding: ['b1'] }, earlier: ['it is first'] },
  });
  expect(waits.argumentsOf('a1')).toEqual({ of: 'a1' });
  expect(waits.get('approval', 'a2')).toMatchObject({ state: 'approved', question: null, target: '/a', earlier: [] });
  expect(waits.verdict('a2')).toEqual({ decision: 'approve', approved: { binding: [], round: 1 } });
  const found = ['h1', 'h2', 'h3', 'h4'].map((argumentsHash) => waits.findDirect({ toolset: 'demo', argumentsHash })?.callId);
  expect(found).toEqual(['d1', 'd2', undefined, undefined]);
  expect(waits.findDirect({ toolset: null, argumentsHash: 'h1' })).toBeNull();
  expect(waits.get('approval', 'd4')?.state).toBe('used');
  expect(waits.allOf('i1').map(({ state, answerHash }) => [state, answerHash])).toEqual([
    ['answered', 'hash'],
    ['pending', null],
  ]);
  expect(waits.questionOf('i1')).toEqual({ requests: {}, state: 's' });
  expect(waits.get('input', 'i2')).toMatchObject({ state: 'expired', canonical: 'crm.find', text: 'Which one?', turn: 't1' });
  expect(['c1', 'c1.2', 'c3'].map((callId) => waits.get('client-tool', callId)).map((call) => [call?.state, call?.answerHash])).toEqual([
    ['pending', null],
    ['answered', 'hash'],
    ['expired', null],
  ]);
  expect(waits.nextExpiry()).toBe(7 * day);
});

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
