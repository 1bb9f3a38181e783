import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import { originOf, type Principal } from '../../../src/core/people/principal.ts';
import type { SessionPort } from '../../../src/ports/session.ts';
import { EventLog } from '../../../src/objects/session/log/event-log.ts';
import { Timers } from '../../../src/objects/session/object/timers.ts';
import { TurnStore } from '../../../src/objects/session/turn/turn-store.ts';
import { createAuditKey } from '../../../src/objects/shared/audit-chain.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { objectName } from '../../../src/storage/keys.ts';
import { createRootProof } from '../../../src/storage/keys/root-proof.ts';
import { wire } from '../../../src/wiring/wire.ts';
import { waitFor } from '../../wait-for.ts';
import { sessionSql } from './session-sql.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { sessions, catalog, audit, directory, planTurn, settings } = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'k1', scopes: ['chat', 'tools', 'approve', 'admin'] };
const root: Principal = { workspace: 'default', keyId: 'root', scopes: ['admin'] };
const once = { remember: false };

/** The session's files show what the tool did: one line per run. */
const effect = '/asks {"command":"echo ran >> /workspace/effects.txt"}';
let plan: Plan;
let rootProof = '';

beforeAll(async () => {
  rootProof = await createRootProof(createAuditKey(settings), settings).current();
  await catalog('default').put('toolset', 'survival', {
    tools: [
      { tool: 'builtin.bash', name: 'asks', aliases: [], approval: 'always' },
      { tool: 'builtin.bash', name: 'shell', aliases: [] },
      { tool: 'builtin.read_file', name: 'read_file' },
    ],
  });
  plan = await planTurn(owner, { model: 'rehearsal/default', toolset: 'survival' });
});

/** Created for each use: a stub whose object was reset stays broken. */
const stubOf = (id: string) => bindings.SESSION.get(bindings.SESSION.idFromString(id));

async function make(setup = { model: 'rehearsal/default', toolset: 'survival', listed: false }) {
  const { id } = await sessions.create(owner, setup);
  const session = fresh(id);
  const say = async (text: string): Promise<string> => (await session.submit(owner, { plan, input: [{ type: 'text', text }] })).turn;
  const effects = async (): Promise<number> => {
    try {
      const file = await session.readFile(owner, 'effects.txt');
      return 'content' in file ? new TextDecoder().decode(file.content).trim().split('\n').length : 0;
    } catch {
      // Nothing ran, so there is no file.
      return 0;
    }
  };
  return { id, session, say, effects };
}

function fresh(id: string): SessionPort {
  return new Proxy(sessions.get(id), { get: (_, method) => Reflect.get(sessions.get(id), method) });
}

/** Resets the object. In a separate visit, since an abort discards the writes of the same visit. */
async function kill(id: string): Promise<void> {
  await runInDurableObject(stubOf(id), (_, state) => state.abort('the process dies')).catch(() => undefined);
}

/** The Catalog has another clock, so the row is aged instead. */
async function expireKey(id: string): Promise<void> {
  const object = bindings.CATALOG.get(bindings.CATALOG.idFromName(await objectName('default', 'catalog', '')));
  await runInDurableObject(object, (_, state) => void state.storage.sql.exec('UPDATE keys SET expires_at = 1 WHERE id = ?', id));
}

const tablesOf = (id: string): Promise<unknown[]> =>
  runInDurableObject(stubOf(id), (_, state) =>
    state.storage.sql.exec(`SELECT name FROM sqlite_master WHERE name IN ('meta', 'events')`).toArray(),
  );

describe('a turn that waits for an approval', () => {
  it('survives ten crashes and evictions, and runs once for two concurrent approvals', async () => {
    const { session, id, say, effects } = await make();
    const turn = await say(effect);
    const asked = await session.waitForAnswer(owner, turn);
    expect(asked).toMatchObject({ status: 'waiting', reason: 'approval_required' });
    const callId = asked.pending?.[0]?.callId ?? '';
    for (let death = 0; death < 10; death += 1) {
      if (death % 2 === 0) await kill(id);
      else await evictDurableObject(stubOf(id));
      expect(await session.waitForAnswer(owner, turn)).toEqual(asked);
    }
    expect(await effects()).toBe(0);
    const both = await Promise.all([1, 2].map(() => session.decide(owner, callId, 'approve', once)));
    expect(both.map(({ decision }) => decision)).toEqual(['approve', 'approve']);
    expect(await session.waitForAnswer(owner, turn)).toMatchObject({ status: 'completed', toolCalls: [{ callId, isError: false }] });
    await kill(id);
    expect(await session.decide(owner, callId, 'approve', once)).toMatchObject({ status: 'completed' });
    expect(await effects()).toBe(1);
  });

  it('never runs what was denied, and refuses an approval after the denial', async () => {
    const { session, id, say, effects } = await make();
    const turn = await say(effect);
    const callId = (await session.waitForAnswer(owner, turn)).pending?.[0]?.callId ?? '';
    await session.decide(owner, callId, 'deny', once);
    await kill(id);
    await expect(session.decide(owner, callId, 'approve', once)).rejects.toMatchObject({ code: 'conflict' });
    expect(await session.waitForAnswer(owner, turn)).toMatchObject({ status: 'completed', toolCalls: [{ callId, code: 'denied' }] });
    expect(await effects()).toBe(0);
  });

  it('sets only the alarm of its expiry, and keeps an unlisted session', async () => {
    const { session, id, say } = await make();
    const turn = await say(effect);
    await session.waitForAnswer(owner, turn);
    await runInDurableObject(stubOf(id), async (_, state) => {
      const due = state.storage.sql.exec<{ kind: string }>('SELECT kind FROM timers ORDER BY kind').toArray();
      expect(due.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['approval', 'expire']));
      expect(due.map(({ kind }) => kind)).not.toContain('turn');
    });
    const alarmIn = () => runInDurableObject(stubOf(id), async (_, { storage }) => ((await storage.getAlarm()) ?? 0) - Date.now());
    // As soon as the lists have the session.
    await expect.poll(alarmIn).toBeGreaterThan(limits.turnAlarmMs);
    await runInDurableObject(stubOf(id), async (_, state) => {
      state.storage.sql.exec(`UPDATE timers SET due = 0 WHERE kind = 'expire'`);
    });
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(true);
    expect(await session.waitForAnswer(owner, turn)).toMatchObject({ status: 'waiting' });
  });

  it("keeps later turns queued, and reports a repeat's current place in the queue", async () => {
    const { session, id, say } = await make();
    await session.waitForAnswer(owner, await say(effect));
    const request = { plan, input: [{ type: 'text' as const, text: 'hello' }], idempotencyKey: 'queued', bodyHash: 'h' };
    await say('between');
    const first = await session.submit(owner, request);
    expect(first.position).toBe(2);
    await kill(id);
    expect(await session.submit(owner, request)).toMatchObject({ turn: first.turn, position: 2 });
    await session.cancel(owner);
    await session.waitForAnswer(owner, first.turn);
    expect(await session.submit(owner, request)).toMatchObject({ turn: first.turn, position: 0 });
  });

  it('stays cancelled after later crashes', async () => {
    const { session, id, say, effects } = await make();
    const turn = await say(effect);
    const callId = (await session.waitForAnswer(owner, turn)).pending?.[0]?.callId ?? '';
    expect(await session.cancel(owner)).toEqual({ turn, cancelled: true });
    const before = await session.eventsAfter(owner, 0, 0);
    await kill(id);
    expect(await session.waitForAnswer(owner, turn)).toMatchObject({ status: 'cancelled' });
    await expect(session.decide(owner, callId, 'approve', once)).rejects.toMatchObject({ code: 'conflict' });
    expect(await session.eventsAfter(owner, 0, 0)).toEqual(before);
    expect(await effects()).toBe(0);
  });

  it('is decided by the nonce of a link, once', async () => {
    const { session, say, effects } = await make();
    const turn = await say(effect);
    const callId = (await session.waitForAnswer(owner, turn)).pending?.[0]?.callId ?? '';
    const link = { ...(await session.mintLink(root, callId)), origin: originOf({ ...root, rootProof }, Date.now()) };
    expect(await session.linkedApproval(link)).toMatchObject({ callId, turn, state: 'pending' });
    await session.decideByLink(link, 'approve');
    await expect(session.decideByLink(link, 'approve')).rejects.toMatchObject({ code: 'not_found' });
    expect(await session.waitForAnswer(owner, turn)).toMatchObject({ status: 'completed' });
    expect(await effects()).toBe(1);
  });

  it('is not decided by a link whose key was revoked or has expired, and keeps waiting', async () => {
    const { session, say, effects } = await make();
    const turn = await say(effect);
    const callId = (await session.waitForAnswer(owner, turn)).pending?.[0]?.callId ?? '';
    const linkOf = async (name: string) => {
      const { record } = await catalog('default').createKey({
        name,
        scopes: ['admin'],
        expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
      });
      const origin = originOf({ keyId: record.id }, Date.now());
      return { id: record.id, origin, ...(await session.mintLink({ ...owner, keyId: record.id }, callId)) };
    };
    const [revoked, expired, good] = [await linkOf('revoked'), await linkOf('expired'), await linkOf('good')];
    expect(await session.linkedApproval(revoked)).toMatchObject({ callId, state: 'pending' });
    await catalog('default').revokeKey(revoked.id);
    await expireKey(expired.id);
    for (const link of [revoked, expired]) {
      await expect(session.linkedApproval(link)).rejects.toMatchObject({ code: 'not_found' });
      await expect(session.decideByLink(link, 'approve')).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await session.approval(owner, callId)).toMatchObject({ state: 'pending' });
    await session.decideByLink(good, 'approve');
    expect(await session.waitForAnswer(owner, turn)).toMatchObject({ status: 'completed' });
    expect(await effects()).toBe(1);
  });
});

describe('a turn that waits while its own key is revoked or expires', () => {
  const ways = {
    revoked: (id: string) => catalog('default').revokeKey(id),
    expired: (id: string) => expireKey(id),
  };

  it.each(['revoked', 'expired'] as const)(
    'keeps the rights that it was accepted with: a key that is %s cannot decide, an administrator can',
    async (how) => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const { key, record } = await catalog('default').createKey({ name: how, scopes: ['chat', 'approve'], expiresAt });
      const mine: Principal = { workspace: 'default', keyId: record.id, scopes: record.scopes };
      const { id } = await sessions.create(mine, { model: 'rehearsal/default', toolset: 'survival', listed: false });
      const session = fresh(id);
      const { turn } = await session.submit(mine, { plan, input: [{ type: 'text', text: effect }] });
      const callId = (await session.waitForAnswer(mine, turn)).pending?.[0]?.callId ?? '';
      await ways[how](record.id);
      await expect(directory.principal(key)).rejects.toMatchObject({ code: 'unauthenticated', extra: { reason: how } });
      await kill(id);
      expect(await session.approval(root, callId)).toMatchObject({ state: 'pending' });
      await session.decide(root, callId, 'approve', once);
      expect(await session.waitForAnswer(root, turn)).toMatchObject({ status: 'completed', toolCalls: [{ callId, isError: false }] });
    },
  );
});

describe('a turn whose process died', () => {
  /** A turn with open calls: one started and safe, one started and unsafe, one not started. */
  async function leave(id: string): Promise<void> {
    await runInDurableObject(stubOf(id), (_, state) => {
      const turns = new TurnStore(sessionSql(state.storage), Date.now);
      const log = new EventLog(sessionSql(state.storage), Date.now);
      turns.accept('turn_dead', plan, [{ type: 'text', text: 'x' }]);
      turns.markStarted('turn_dead', log.newest);
      const at = { turn: 'turn_dead', step: 1 };
      log.append({ type: 'turn-start', turn: 'turn_dead', input: turns.takeInput('turn_dead'), model: plan.model });
      log.append({ type: 'step-start', ...at });
      const call = (callId: string, name: string, canonical: string, args: Record<string, unknown>): void => {
        log.append({ type: 'tool-input-start', ...at, callId, name, canonical, via: 'wire' });
        log.append({ type: 'tool-input-end', ...at, callId, arguments: args, repaired: false });
      };
      call('c_unsafe', 'shell', 'builtin.bash', { command: 'echo ran >> /workspace/effects.txt' });
      call('c_safe', 'read_file', 'builtin.read_file', { path: 'a.txt' });
      call('c_later', 'shell', 'builtin.bash', { command: 'echo ran >> /workspace/later.txt' });
      log.append({ type: 'step-end', ...at, reason: 'tool-calls', model: plan.model });
      for (const callId of ['c_unsafe', 'c_safe']) log.append({ type: 'tool-start', ...at, callId, attempt: 1 });
      new Timers(state.storage).set('turn', Date.now() + limits.turnAlarmMs);
    });
  }

  it('resumes by its alarm: safe calls run again, unsafe ones do not, and unstarted ones run', async () => {
    const { id, session, effects } = await make();
    await session.writeFile(owner, 'a.txt', new TextEncoder().encode('content of a'));
    await leave(id);
    await kill(id);
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(true);
    const answer = await session.waitForAnswer(owner, 'turn_dead');
    expect(answer.status).toBe('completed');
    expect(answer.toolCalls.map(({ callId, code }) => `${callId} ${code ?? 'ok'}`)).toEqual([
      'c_unsafe outcome_unknown',
      'c_safe ok',
      'c_later ok',
    ]);
    expect(await effects()).toBe(0);
    await waitFor(async () => {
      const { items } = await audit('default').list({ session: id, limit: 10 });
      expect(items.map((row) => (row.kind === 'call' ? `${row.callId} ${row.verdict}` : row.kind)).sort()).toEqual([
        'c_later ran',
        'c_safe ran',
        'c_unsafe ran',
      ]);
    });
  });

  it('is started by the alarm when it was accepted and no request followed', async () => {
    const { session, id } = await make();
    await runInDurableObject(stubOf(id), (_, state) => {
      new TurnStore(sessionSql(state.storage), Date.now).accept('turn_new', plan, [{ type: 'text', text: 'hello' }]);
      new Timers(state.storage).set('turn', Date.now() + limits.turnAlarmMs);
    });
    await kill(id);
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(true);
    expect(await session.waitForAnswer(owner, 'turn_new')).toMatchObject({ status: 'completed' });
    const starts = (await session.eventsAfter(owner, 0, 0)).filter(({ type }) => type === 'turn-start');
    expect(starts).toHaveLength(1);
  });

  it('sets its alarm as soon as it is accepted', async () => {
    const { session, id, say } = await make();
    await session.view(owner);
    const turn = say('hello');
    await turn;
    await runInDurableObject(stubOf(id), async (_, state) => {
      const alarm = await state.storage.getAlarm();
      expect(alarm).not.toBeNull();
      expect(alarm ?? 0).toBeLessThanOrEqual(Date.now() + limits.turnAlarmMs);
    });
    await session.waitForAnswer(owner, await turn);
  });
});

describe('a deletion', () => {
  it('is finished by the alarm when its process died during it, and the session stays deleted', async () => {
    const { session, id, say } = await make();
    await session.waitForAnswer(owner, await say(effect));
    await runInDurableObject(stubOf(id), async (_, state) => {
      state.storage.sql.exec('UPDATE meta SET leaving = 1');
      await state.storage.setAlarm(Date.now() + 60_000);
    });
    await kill(id);
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(true);
    expect(await tablesOf(id)).toEqual([]);
    await expect(session.view(owner)).rejects.toMatchObject({ code: 'not_found' });
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(false);
  });

  it('is finished by the next request after its process died', async () => {
    const { session, id } = await make();
    await runInDurableObject(stubOf(id), (_, state) => void state.storage.sql.exec('UPDATE meta SET leaving = 1'));
    await kill(id);
    await expect(session.view(owner)).rejects.toMatchObject({ code: 'not_found' });
    await waitFor(async () => expect(await tablesOf(id)).toEqual([]));
  });

  it('leaves neither a turn nor an alarm', async () => {
    const { session, id, say } = await make();
    await session.waitForAnswer(owner, await say(effect));
    await say('behind it');
    await session.remove(owner);
    await kill(id);
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(false);
    expect(await tablesOf(id)).toEqual([]);
    await expect(session.view(owner)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a session made with a key', () => {
  const setup = { model: 'rehearsal/default', listed: false };

  it('is created once for all repeats of its owner, and is another one for another principal', async () => {
    const key = 'the same key';
    const made = await Promise.all(Array.from({ length: 5 }, () => sessions.create(owner, setup, key)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    const [first] = made;
    await kill(first?.id ?? '');
    expect((await sessions.create(owner, setup, key)).id).toBe(first?.id);
    expect((await sessions.create({ ...owner, keyId: 'k2' }, setup, key)).id).not.toBe(first?.id);
    expect((await sessions.create(owner, setup, 'another')).id).not.toBe(first?.id);
  });

  it('is empty again after its deletion', async () => {
    const { id } = await sessions.create(owner, setup, 'gone');
    const session = sessions.get(id);
    await session.writeFile(owner, 'a.txt', new Uint8Array([1]));
    await session.remove(owner);
    expect((await sessions.create(owner, setup, 'gone')).id).toBe(id);
    await expect(session.readFile(owner, 'a.txt')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is stored for as long as the key is valid', async () => {
    const { id } = await sessions.create(owner, setup, 'kept');
    await runInDurableObject(stubOf(id), (_, state) => {
      const { due } = state.storage.sql.exec<{ due: number }>(`SELECT due FROM timers WHERE kind = 'expire'`).one();
      expect(due).toBeGreaterThan(Date.now() + limits.idempotencyTtlMs - 60_000);
    });
  });

  it('is stored for as long also after a later request without a key', async () => {
    const { id } = await sessions.create(owner, { ...setup, listed: false }, 'kept on');
    const session = sessions.get(id);
    const { turn } = await session.submit(owner, { plan, input: [{ type: 'text', text: 'hello' }] });
    await session.waitForAnswer(owner, turn);
    await runInDurableObject(stubOf(id), (_, state) => {
      const { due } = state.storage.sql.exec<{ due: number }>(`SELECT due FROM timers WHERE kind = 'expire'`).one();
      expect(due).toBeGreaterThan(Date.now() + limits.idempotencyTtlMs - 60_000);
    });
  });
});
