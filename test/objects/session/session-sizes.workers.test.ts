/** A session does not grow without bound: what it stores for a time is deleted again, and a full one accepts nothing more. */
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { bodyOf } from '../../http/harness.ts';
import { send } from '../catalog/real-service.ts';
import { testEnv } from '../../storage/workspace.ts';
import { sessionSql } from './session-sql.ts';

const many = 15;
const stubOf = (id: string) => testEnv.SESSION.get(testEnv.SESSION.idFromString(id));
const make = async (): Promise<string> =>
  (await bodyOf(await send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'sized' }))).id;
const call = (session: string, name: string, key: string, command = 'seq 1 20000') =>
  send('POST', '/v1/toolsets/sized/calls', { name, arguments: { command }, session }, { 'idempotency-key': key });
const say = (session: string, input: string, key: string) =>
  send('POST', `/v1/sessions/${session}/turns`, { input }, { 'idempotency-key': key });

/** Rows by table, without the conversation itself. */
const rows = (id: string) =>
  runInDurableObject(stubOf(id), (_instance, { storage }) =>
    Object.fromEntries(
      ['idempotency', 'calls', 'call_answers', 'waits', 'wait_parts', 'approval_links', 'turn_inputs', 'journal', 'audit', 'notices'].map(
        (name) => [name, sessionSql(storage).exec<{ n: number }>(`SELECT count(*) AS n FROM ${name}`).one().n],
      ),
    ),
  );

beforeAll(async () => {
  const tool = { tool: 'builtin.bash', aliases: [] };
  await send('PUT', '/v1/toolsets/sized', {
    tools: [
      { ...tool, name: 'shell' },
      { ...tool, name: 'asks', approval: 'always' },
    ],
  });
});
afterEach(() => void vi.useRealTimers());

describe('the size of a session', () => {
  it('comes back after many keyed turns, calls and questions', async () => {
    const id = await make();
    for (let index = 0; index < many; index += 1) {
      expect((await say(id, 'hello', `turn-${index}`)).status).toBe(200);
      expect((await call(id, 'shell', `call-${index}`)).status).toBe(200);
      await call(id, 'asks', `question-${index}`, `echo ${index} ${'x'.repeat(2_000)}`);
      const { items } = await bodyOf(await send('GET', `/v1/sessions/${id}/approvals`));
      expect((await send('POST', `/v1/sessions/${id}/approvals/${items[0].callId}`, { decision: 'deny' })).status).toBe(200);
    }
    const during = await rows(id);
    expect(during).toMatchObject({ idempotency: many, calls: many, waits: many });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + limits.approvalTtlMs + limits.endedWaitTtlMs + limits.idempotencyTtlMs });
    expect((await say(id, 'hello', 'last-turn')).status).toBe(200);
    await call(id, 'shell', 'last-call', 'echo last');
    await call(id, 'asks', 'last-question', 'echo last');
    vi.useRealTimers();
    expect(await rows(id)).toEqual({
      ...{ idempotency: 1, calls: 1, call_answers: 0, waits: 1, wait_parts: 1, approval_links: 0 },
      ...{ turn_inputs: 0, journal: 0, audit: 0, notices: 0 },
    });
  });

  it('is limited: a full session can be read and deleted, and refuses turns and keyed calls', async () => {
    const id = await make();
    expect((await say(id, 'hello', 'before')).status).toBe(200);
    await runInDurableObject(stubOf(id), (_instance, { storage: { sql } }) =>
      Object.defineProperty(sql, 'databaseSize', { configurable: true, value: limits.maxSessionBytes + 1 }),
    );
    for (const refused of [await say(id, 'hello', 'after'), await call(id, 'shell', 'after')]) {
      expect(refused.status).toBe(409);
      expect(await bodyOf(refused)).toMatchObject({ code: 'conflict', detail: expect.stringContaining('continue in a new one') });
    }
    // A repeat is no new turn.
    expect((await say(id, 'hello', 'before')).status).toBe(200);
    expect((await bodyOf(await send('GET', `/v1/sessions/${id}/messages`))).items).toHaveLength(2);
    expect((await send('DELETE', `/v1/sessions/${id}`)).status).toBe(204);
  });
});
