import { expect, it } from 'vitest';
import type { SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { ApprovalLinks } from '../../../../src/objects/session/pending/approval-links.ts';
import { WaitStore } from '../../../../src/objects/session/pending/wait-store.ts';
import { CallStore } from '../../../../src/objects/session/direct/keyed-call-store.ts';
import { CompletionStore } from '../../../../src/objects/session/log/completion-store.ts';
import { lazySessionTables, sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { TurnStore } from '../../../../src/objects/session/turn/turn-store.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { plan } from '../runner-session.ts';
import { noEffects } from '../../../fakes/no-effects.ts';

/** Also reports which statements scan a table that grows with the session. */
function watched() {
  const sql = fakeSql(sessionMigrations);
  const scans: string[] = [];
  let statements = 0;
  const exec = (query: string, ...bindings: string[]) => {
    statements += 1;
    // The first row of an order is found at once. SQLite also calls a maximum over all rows a search.
    if (!query.startsWith('INSERT') && !query.endsWith('LIMIT 1'))
      for (const row of sql.exec(`EXPLAIN QUERY PLAN ${query}`, ...bindings).toArray())
        if (/^(SCAN|SEARCH(?!.*USING)) (turns|calls|completions|idempotency|waits|wait_parts)\b/.test(String(row.detail)))
          scans.push(query);
    return sql.exec(query, ...bindings);
  };
  return { sql: { exec } as unknown as SqlStorage, scans, statements: () => statements };
}

it('finds what every turn reads without scanning the whole session', () => {
  const { sql, scans, statements } = watched();
  const now = () => 0;
  const turns = new TurnStore(sql, now);
  const completions = new CompletionStore(sql);
  const waits = new WaitStore(sql, now);
  const links = new ApprovalLinks(sql, now);
  const calls = new CallStore(sql, now);

  turns.accept('t1', plan, []);
  turns.markStarted('t1', 0);
  turns.markWaiting('t1', 'approval_required');
  turns.current();
  turns.isWaiting();
  turns.countQueued();
  turns.takeInput('t1');
  turns.findByKey('k', 'h');
  const range = { turn: 't1', after: 1, earlier: { turn: 't1', after: 0 } };
  completions.add({ id: 'c1', range, model: 'm', includeUsage: false, dialect: 'openai-chat', echo: {}, asked: '', createdAt: 0 });
  completions.get('c1');
  completions.readFrom(range);
  const at = { turn: 't1', step: 1, callId: 'a', name: 'n', canonical: 'client.n', arguments: {} };
  const told: SessionEventBody[] = [
    { type: 'client-tool-required', ...at },
    {
      type: 'approval-required',
      ...at,
      ...noEffects,
      entry: 'n',
      reason: 'r',
      ask: 'always',
      target: null,
      expiresAt: '2026-01-08T00:00:00.000Z',
    },
    { type: 'input-required', ...at, entry: 'n', server: 's', requests: {}, round: 1, expiresAt: '2026-01-08T00:00:00.000Z' },
    { type: 'input-given', ...at, round: 1, actions: {}, by: 'root' },
    { type: 'tool-result', ...at, via: 'wire', isError: false, content: [] },
    { type: 'turn-end', turn: 't1', status: 'completed', reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } },
  ];
  for (const event of told) waits.applyEvent(event);
  waits.addQuestion('a', { requests: {} });
  waits.given('a');
  waits.argumentsOf('a');
  waits.get('input', 'a');
  waits.get('input', 'a', 1);
  waits.allOf('a');
  waits.pendingApprovals();
  waits.pendingInside('a');
  waits.pendingCharacters();
  waits.closeInside('a');
  waits.markUsed('a');
  waits.markAnswered('a', 'h', 'k');
  waits.expired();
  waits.nextExpiry();
  waits.findDirect({ toolset: 'demo', argumentsHash: 'h' });
  links.find('h');
  calls.find('k', 'h');
  calls.begin('k', 'h', 'b');

  expect(statements()).toBeGreaterThan(25);
  expect(scans).toEqual([]);
});

it('creates all tables, at once or when they are used', () => {
  const namesOf = (sql: SqlStorage) =>
    [...sql.exec<{ name: string }>('SELECT name FROM sqlite_master ORDER BY name')].map(({ name }) => name);
  const sql = fakeSql(sessionMigrations, lazySessionTables);
  expect(namesOf(sql).length).toBeLessThan(15);
  for (const statement of Object.values(lazySessionTables).flat()) sql.exec(statement);
  expect(namesOf(sql)).toEqual(namesOf(fakeSql(sessionMigrations)));
});
