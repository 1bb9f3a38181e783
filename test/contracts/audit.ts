/** The contract of the audit of a workspace. `make` returns an empty one. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditFilter, AuditRow } from '../../src/core/records/audit.ts';
import type { AuditPort } from '../../src/ports/audit.ts';
import { encodeCursor } from '../../src/core/json/cursor.ts';
import { pages, refusal } from './catalog/workspace.ts';

export function auditContract(make: () => Promise<AuditPort>): void {
  let audit: AuditPort;
  beforeEach(async () => {
    audit = await make();
  });
  describe('the audit', () => {
    const calls = (limit: number, query: AuditFilter = {}) =>
      pages(async (page) => {
        const { items, nextCursor } = await audit.list({ ...query, ...page, kind: 'call' });
        return { items: items.flatMap((row) => (row.kind === 'call' ? [row] : [])), nextCursor };
      }, limit);
    const intent = { verdict: 'outcome_unknown', code: 'outcome_unknown' } as const;

    it.each([
      ['without a session', { session: null, sequence: null }],
      ['of a session', { session: 's1', sequence: 1 }],
    ])('replaces the intent of a call %s by its outcome, once', async (_what, own) => {
      await audit.append([auditRow({ ...own, ...intent })]);
      expect(await calls(5)).toMatchObject([{ ...intent, callId: 'call_1' }]);
      await audit.append([auditRow({ ...own, verdict: 'waiting' })]);
      expect(await calls(5)).toMatchObject([{ verdict: 'waiting' }]);
      await audit.append([auditRow({ ...own, ...intent })]);
      for (let times = 0; times < 2; times += 1) await audit.append([auditRow({ ...own, canonical: 'builtin.read_file' })]);
      expect(await calls(5)).toMatchObject([{ verdict: 'ran', canonical: 'builtin.read_file' }]);
      expect(await calls(5, { tool: 'builtin.read_file' })).toHaveLength(1);
    });

    it('has no next page once every log is read to its end', async () => {
      for (const callId of ['1', '2', '3']) await audit.append([auditRow({ session: null, sequence: null, callId })]);
      expect(await audit.list({ limit: 3 })).toMatchObject({ items: [{}, {}, {}], nextCursor: null });
    });

    it('has a separate row for a call that is repeated under its id', async () => {
      const own = { session: null, sequence: null } as const;
      await audit.append([auditRow(own)]);
      await audit.append([auditRow({ ...own, ...intent })]);
      expect((await calls(5)).map(({ verdict }) => verdict)).toEqual(['outcome_unknown', 'ran']);
      await audit.append([auditRow({ ...own, verdict: 'refused' })]);
      expect((await calls(5)).map(({ verdict }) => verdict)).toEqual(['refused', 'ran']);
    });

    it('stores a row of a session once, and filters by session and tool', async () => {
      await audit.append([
        auditRow({ session: 's1', sequence: 1 }),
        auditRow({ session: 's1', sequence: 2, canonical: null, requested: 'nonsense' }),
      ]);
      await audit.append([
        auditRow({ session: 's1', sequence: 2, canonical: 'builtin.bash' }),
        auditRow({ session: null, sequence: null }),
        auditRow({ session: null, sequence: null, callId: 'call_2' }),
        auditRow({ session: null, sequence: null, callId: 'call_2' }),
      ]);
      expect(await calls(3)).toHaveLength(4);
      expect((await calls(10, { session: 's1' })).map(({ sequence }) => sequence)).toEqual([2, 1]);
      expect((await audit.list({ tool: 'nonsense', limit: 10 })).items).toMatchObject([{ session: 's1', sequence: 2, canonical: null }]);
      expect((await audit.list({ session: 's1', tool: 'builtin.bash', limit: 10 })).items).toHaveLength(1);
    });

    it('names the parent of a nested call; a row from before nested calls has none', async () => {
      const { parent: _parent, agent: _agent, ...before } = auditRow({ session: 's1', sequence: 1 });
      await audit.append([before as AuditRow, auditRow({ session: 's1', sequence: 2, callId: 'call_1.1', parent: 'call_1' })]);
      expect((await calls(10, { session: 's1' })).map(({ parent }) => parent)).toEqual(['call_1', null]);
    });

    it('has every row of many concurrent ones as soon as their writer gets a response', async () => {
      const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
      await Promise.all(
        numbers.map(async (number) => {
          await audit.append([auditRow({ session: `s${number}`, sequence: 1 })]);
          expect((await audit.list({ session: `s${number}`, limit: 1 })).items).toHaveLength(1);
        }),
      );
      const kept = await calls(50);
      expect(new Set(kept.map(({ session }) => session))).toEqual(new Set(numbers.map((number) => `s${number}`)));
      expect(kept).toHaveLength(numbers.length);
    });

    it('filters by time, verdict, code, key, agent and kind', async () => {
      const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
      const rows = [
        auditRow({ callId: 'a', sequence: 1, at: at(1), agent: 'helper' }),
        auditRow({ callId: 'b', sequence: 2, at: at(2), verdict: 'refused', code: 'denied', keyId: 'k1' }),
        auditRow({ callId: 'c', sequence: 3, at: at(3), canonical: null, requested: "it's 100%" }),
      ];
      await audit.append(rows);
      const found = async (filter: AuditFilter) => (await calls(10, filter)).map(({ callId }) => callId);
      expect(await found({ from: at(2) })).toEqual(['c', 'b']);
      expect(await found({ to: at(2) })).toEqual(['b', 'a']);
      expect(await found({ from: at(2), to: at(2) })).toEqual(['b']);
      expect(await found({ from: '2027-01-01T00:00:00.000Z', to: at(1) })).toEqual([]);
      expect(await found({ verdict: 'refused' })).toEqual(['b']);
      expect(await found({ code: 'denied' })).toEqual(['b']);
      expect(await found({ key: 'k1' })).toEqual(['b']);
      expect(await found({ agent: 'helper' })).toEqual(['a']);
      expect(await found({ agent: 'constructor' })).toEqual([]);
      expect(await found({ tool: "it's 100%" })).toEqual(['c']);
      expect((await audit.list({ kind: 'change', limit: 10 })).items).toEqual([]);
    });

    it('lists an intent only until its outcome is stored, on every page', async () => {
      for (const callId of ['a', 'b', 'c', 'd']) await audit.append([auditRow({ session: null, sequence: null, callId, ...intent })]);
      for (const callId of ['d', 'b']) await audit.append([auditRow({ session: null, sequence: null, callId })]);
      for (const limit of [1, 2, 10]) expect((await calls(limit)).map(({ callId }) => callId).toSorted()).toEqual(['a', 'b', 'c', 'd']);
      expect((await calls(10, { verdict: 'outcome_unknown' })).map(({ callId }) => callId).toSorted()).toEqual(['a', 'c']);
    });

    it('continues a list where it ended while rows are added', async () => {
      const add = async (from: number, count: number): Promise<void> => {
        for (let number = from; number < from + count; number += 1)
          await audit.append([auditRow({ session: `s${number}`, callId: `c${number}` })]);
      };
      await add(0, 20);
      const first = await audit.list({ limit: 7 });
      await add(20, 20);
      const rest: string[] = [];
      let cursor = first.nextCursor;
      while (cursor !== null) {
        const page = await audit.list({ limit: 7, cursor });
        rest.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      const ids = [...first.items.map(({ id }) => id), ...rest];
      expect(new Set(ids).size).toBe(20);
      expect(ids).toHaveLength(20);
    });

    it('refuses cursors of other lists and forged ones', async () => {
      await audit.append([auditRow({})]);
      const forged = [encodeCursor('sessions', 5), encodeCursor('audit', 'nothing'), encodeCursor('audit', { 0: 1, x: 2 }), 'nonsense'];
      for (const cursor of [...forged, encodeCursor('audit', { 0: -1 }), encodeCursor('audit-verify', ['x', 1])]) {
        expect((await refusal(audit.list({ limit: 5, cursor }))).code).toBe('invalid_request');
        expect((await refusal(audit.verify(cursor))).code).toBe('invalid_request');
      }
    });

    it('verifies its rows', async () => {
      expect(await audit.verify()).toMatchObject({ ok: true, checked: 0, broken: null, nextCursor: null });
      for (let number = 0; number < 10; number += 1) await audit.append([auditRow({ session: `s${number}` })]);
      expect(await audit.verify()).toMatchObject({ ok: true, checked: 10, broken: null, nextCursor: null });
    });
  });
}

export function auditRow(fields: Partial<AuditRow>): AuditRow {
  return {
    at: '2026-01-01T00:00:00.000Z',
    keyId: 'root',
    session: 's1',
    sequence: 1,
    turn: null,
    agent: null,
    callId: 'call_1',
    parent: null,
    requested: 'shell',
    canonical: 'builtin.bash',
    via: 'alias',
    toolset: 'support',
    edition: 'support@1.1',
    argumentsHash: '00',
    verdict: 'ran',
    code: null,
    durationMs: 1,
    ...fields,
  };
}
