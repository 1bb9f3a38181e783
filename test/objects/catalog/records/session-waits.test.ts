/** The inbox of a workspace when one key asks or decides far more than others. */
import { describe, expect, it } from 'vitest';
import type { CatalogContext } from '../../../../src/objects/catalog/context.ts';
import { updateSession } from '../../../../src/objects/catalog/records/session-index.ts';
import { listWaits } from '../../../../src/objects/catalog/records/list-waits.ts';
import { maxDecidedWaits } from '../../../../src/objects/catalog/records/session-waits.ts';
import type { ListedWait, SessionWait, WaitFilter } from '../../../../src/core/turn/session-summary.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

function opened() {
  const sql = fakeSql(catalogMigrations);
  // Nothing else of the context is used.
  const context = { sql, settings: { closeAfterDelete: false }, record: (work: () => unknown) => work() } as unknown as CatalogContext;
  let revision = 0;
  const store = (session: string, keyId: string, callIds: readonly string[], state: SessionWait['state']) => {
    const wait = { kind: 'approval', turn: 't1', canonical: 'builtin.bash', reason: 'It asks', round: 1, askedAt: 1_000 } as const;
    const end = state === 'pending' ? { decidedAt: null, decidedBy: null } : { decidedAt: 2_000, decidedBy: keyId };
    updateSession(context, {
      ...{ id: session, keyId, agent: null, model: null, toolset: null, createdAt: 0, open: { pendingQuestions: 0, queuedTurns: 0 } },
      summary: { revision: ++revision, status: 'waiting', title: null, activeAt: 0, usage: { inputTokens: 0, outputTokens: 0 } },
      waits: callIds.map((callId) => ({ ...wait, ...end, callId, state, expiresAt: 9_000 })),
    });
  };
  const all = (state: WaitFilter['state'], keyId?: string) => {
    const found: ListedWait[] = [];
    let cursor: string | undefined;
    do {
      const page = listWaits(context, { state, of: keyId === undefined ? null : { keyId } }, { limit: 500, ...(cursor && { cursor }) });
      found.push(...page.items);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  };
  return { store, all };
}

const idsTo = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);

describe('the questions of a workspace', () => {
  it('are all listed, page by page, however many of them one key has', () => {
    const { store, all } = opened();
    store('one', 'other', ['kept'], 'pending');
    const flood = maxDecidedWaits + 500;
    store('many', 'greedy', idsTo(flood), 'pending');
    const pending = all('pending');
    expect(pending).toHaveLength(flood + 1);
    expect(new Set(pending.map(({ session, callId }) => `${session} ${callId}`)).size).toBe(flood + 1);
    expect(pending.at(-1)).toMatchObject({ session: 'one', callId: 'kept' });
    expect(all('pending', 'other')).toHaveLength(1);
  });

  it('lose the oldest decided ones of the key that has the most, and none of the others', () => {
    const { store, all } = opened();
    store('few', 'other', idsTo(300), 'denied');
    store('many', 'greedy', idsTo(maxDecidedWaits + 1_000), 'denied');
    store('more', 'third', idsTo(200), 'approved');
    const left = all('decided');
    expect(left.length).toBeLessThan(maxDecidedWaits + 100);
    const of = (keyId: string) => left.filter((row) => row.keyId === keyId).map(({ callId }) => callId);
    expect([of('other').length, of('third').length]).toEqual([300, 200]);
    // Those of its newest decisions are left.
    expect(of('greedy').slice(0, 2)).toEqual([`c${maxDecidedWaits + 999}`, `c${maxDecidedWaits + 998}`]);
    expect(of('greedy')).not.toContain('c0');
  });
});
