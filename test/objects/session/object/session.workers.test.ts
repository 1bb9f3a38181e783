import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { Principal } from '../../../../src/core/people/principal.ts';
import type { SessionEvent } from '../../../../src/core/turn/session-event.ts';
import type { Plan } from '../../../../src/core/turn/plan.ts';
import { EventLog } from '../../../../src/objects/session/log/event-log.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { sessionSql } from '../session-sql.ts';
import { takeErrors } from '../../../service-errors.ts';
import { waitFor } from '../../../wait-for.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { sessions, catalog } = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'k1', scopes: ['chat'] };
const stranger: Principal = { workspace: 'default', keyId: 'k2', scopes: ['chat'] };
const plan: Plan = { model: 'rehearsal/default', fallbacks: [], instructions: '', allow: null, aliases: true, limits: {}, settings: {} };
const say = (text: string) => ({ plan, input: [{ type: 'text' as const, text }] });

/** Only a chat client's request is compared with the conversation. */
const chat = { dialect: 'openai-chat' as const, echo: {}, model: plan.model, includeUsage: false, results: [] };

const make = async () => {
  const { id } = await sessions.create(owner, { model: plan.model, listed: false });
  return { id, session: sessions.get(id), stub: bindings.SESSION.get(bindings.SESSION.idFromString(id)) };
};

async function readAll(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream).text();
}

const ids = (stream: string): number[] => [...stream.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));

describe('a session', () => {
  it('answers a turn, remembers it, and numbers its events without gaps', async () => {
    const { session } = await make();
    const first = await session.submit(owner, say('my name is Ada'));
    const answer = await session.waitForAnswer(owner, first.turn);
    expect(answer).toMatchObject({ status: 'completed', reason: 'stop' });
    const second = await session.submit(owner, say('what did I say?'));
    expect((await session.waitForAnswer(owner, second.turn)).text).toContain('Ada');
    const events = await session.eventsAfter(owner, 0, 0);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    expect((await session.messages(owner)).items.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('streams a turn from its first event to its end, to any number of readers', async () => {
    const { session } = await make();
    const { turn } = await session.submit(owner, say('hello'));
    const [one, two] = await Promise.all([session.stream(owner, turn), session.stream(owner, turn)]);
    const [first, second] = await Promise.all([readAll(one), readAll(two)]);
    expect(first).toBe(second);
    expect(first.match(/^event: .+$/gm)?.at(0)).toBe('event: turn-start');
    expect(first.match(/^event: .+$/gm)?.at(-1)).toBe('event: turn-end');
  });

  it('continues after any event with the next one', async () => {
    const { session } = await make();
    const { turn } = await session.submit(owner, say('hello'));
    const all = ids(await readAll(await session.stream(owner, turn)));
    for (const after of all) {
      const rest = await session.eventsAfter(owner, after, 0);
      expect(rest.map(({ id }) => id)).toEqual(all.filter((id) => id > after));
    }
  });

  it('finishes a turn whose reader disconnected', async () => {
    const { session } = await make();
    const { turn } = await session.submit(owner, say('hello'));
    const stream = await session.stream(owner, turn);
    await stream.cancel();
    expect(await session.waitForAnswer(owner, turn)).toMatchObject({ status: 'completed' });
  });

  it('runs turns one at a time, in the order accepted', async () => {
    const { session } = await make();
    const turns = await Promise.all(Array.from({ length: 10 }, (_, index) => session.submit(owner, say(`turn ${index}`))));
    await Promise.all(turns.map(({ turn }) => session.waitForAnswer(owner, turn)));
    const events = await session.eventsAfter(owner, 0, 0);
    const bounds = events
      .filter(({ type }) => type === 'turn-start' || type === 'turn-end')
      .map((event) => [event.type, 'turn' in event ? event.turn : '']);
    expect(bounds).toEqual(
      turns.flatMap(({ turn }) => [
        ['turn-start', turn],
        ['turn-end', turn],
      ]),
    );
  });

  it('does not exist for another key, and does for an administrator', async () => {
    const { session } = await make();
    await expect(session.view(stranger)).rejects.toMatchObject({ code: 'not_found' });
    await expect(session.submit(stranger, say('x'))).rejects.toMatchObject({ code: 'not_found' });
    expect(await session.view({ ...stranger, scopes: ['admin'] })).toMatchObject({ queued: 0 });
    await expect(session.view({ ...owner, workspace: 'other', scopes: ['admin'] })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is unknown before it is created, and stores nothing for a guessed id', async () => {
    const id = bindings.SESSION.newUniqueId();
    await expect(sessions.get(id.toString()).view(owner)).rejects.toMatchObject({ code: 'not_found' });
    expect(() => sessions.get('nonsense')).toThrow(expect.objectContaining({ code: 'not_found' }));
    const tables = await runInDurableObject(bindings.SESSION.get(id), (_, state) =>
      state.storage.sql.exec(`SELECT name FROM sqlite_master WHERE name = 'meta'`).toArray(),
    );
    expect(tables).toEqual([]);
  });

  it('no longer exists after it was deleted', async () => {
    const { session } = await make();
    await session.submit(owner, say('hello'));
    await session.remove(owner);
    await expect(session.view(owner)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('ends a running turn for its readers when it is deleted, and accepts no new one during the deletion', async () => {
    const { session } = await make();
    const { turn } = await session.submit(owner, say('hello'));
    const stream = await session.stream(owner, turn);
    const removed = session.remove(owner);
    // All arrive while it is being deleted, or after.
    const late = Promise.allSettled(Array.from({ length: 20 }, (_, at) => session.submit(owner, say(`late ${at}`))));
    expect((await readAll(stream)).match(/^event: .+$/gm)?.at(-1)).toBe('event: turn-end');
    await removed;
    expect(await late).toEqual(
      Array.from({ length: 20 }, () => ({ status: 'rejected', reason: expect.objectContaining({ code: 'not_found' }) })),
    );
    await expect(session.view(owner)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('forks once for one idempotency key', async () => {
    const { id, session } = await make();
    await session.waitForAnswer(owner, (await session.submit(owner, say('hello'))).turn);
    const history = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'something else' }] }];
    const request = { ...say('again'), chat, history, idempotencyKey: 'fork', bodyHash: 'h' };
    const forks = await Promise.all(Array.from({ length: 3 }, () => session.submit(owner, request)));
    forks.push(await session.submit(owner, request));
    expect(forks[0]?.session).not.toBe(id);
    expect(new Set(forks.map(({ session: fork, turn }) => `${fork} ${turn}`)).size).toBe(1);
    expect(await session.findByIdempotencyKey(owner, 'fork', 'h')).toMatchObject({ session: forks[0]?.session, turn: forks[0]?.turn });
    await expect(session.submit(owner, { ...request, bodyHash: 'other' })).rejects.toMatchObject({ code: 'idempotency_mismatch' });
  });

  it('creates one turn for one idempotency key, and refuses another body under it', async () => {
    const { session } = await make();
    const request = { ...say('once'), idempotencyKey: 'k', bodyHash: 'h' };
    const turns = await Promise.all(Array.from({ length: 5 }, () => session.submit(owner, request)));
    expect(new Set(turns.map(({ turn }) => turn)).size).toBe(1);
    expect(await session.findByIdempotencyKey(owner, 'k', 'h')).toMatchObject({ turn: turns[0]?.turn });
    expect(await session.findByIdempotencyKey(owner, 'k2', 'h')).toBeNull();
    expect(await session.findCallByIdempotencyKey(owner, 'k', 'h')).toBeNull();
    await expect(session.findByIdempotencyKey(owner, 'k', 'other')).rejects.toMatchObject({ code: 'idempotency_mismatch' });
    await expect(session.submit(owner, { ...request, bodyHash: 'other' })).rejects.toMatchObject({ code: 'idempotency_mismatch' });
  });

  it('starts a turn with a given id once, also when the repeat comes days later', async () => {
    const { session, stub } = await make();
    expect(await session.hasTurn(owner, 'turn-named')).toBe(false);
    const turns = await Promise.all(Array.from({ length: 5 }, () => session.submit(owner, { ...say('once'), turn: 'turn-named' })));
    await runInDurableObject(stub, (_instance, { storage }) =>
      sessionSql(storage).exec('UPDATE turns SET accepted_at = 0; DELETE FROM idempotency'),
    );
    turns.push(await session.submit(owner, { ...say('once'), turn: 'turn-named' }));
    expect(new Set(turns.map(({ turn }) => turn))).toEqual(new Set(['turn-named']));
    expect(await session.hasTurn(owner, 'turn-named')).toBe(true);
    await session.waitForAnswer(owner, 'turn-named');
    expect((await session.messages(owner)).items.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it("names the turn's first edition also in a repeat with another edition", async () => {
    const { session } = await make();
    const edition = { toolset: 'none', version: 1, revision: 1, hash: 'h' };
    const request = { ...say('once'), idempotencyKey: 'k', bodyHash: 'h' };
    const first = await session.submit(owner, { ...request, plan: { ...plan, edition } });
    const repeat = await session.submit(owner, { ...request, plan: { ...plan, edition: { ...edition, version: 2 } } });
    expect([first.edition, repeat.edition]).toEqual([edition, edition]);
    expect(repeat.turn).toBe(first.turn);
    // The turn looks for the edition.
    await waitFor(() => expect(takeErrors()[0]).toMatchObject({ message: 'reading from the catalog failed; retrying' }));
    await session.cancel(owner);
  });

  it('skips a resent history, and forks a different one', async () => {
    const { id, session } = await make();
    const { turn } = await session.submit(owner, say('hello'));
    const { text } = await session.waitForAnswer(owner, turn);
    const history = [
      { role: 'user' as const, parts: [{ type: 'text' as const, text: 'hello' }] },
      { role: 'assistant' as const, parts: [{ type: 'text' as const, text }] },
    ];
    expect((await session.submit(owner, { ...say('again'), chat, history })).session).toBe(id);
    const fork = await session.submit(owner, { ...say('again'), chat, history: history.slice(0, 1) });
    expect(fork.session).not.toBe(id);
    await sessions.get(fork.session).waitForAnswer(owner, fork.turn);
    expect((await sessions.get(fork.session).messages(owner)).items.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
  });

  it('stores files, and names the error of a path', async () => {
    const { session } = await make();
    expect(await session.writeFile(owner, 'a/b.txt', new TextEncoder().encode('x'))).toEqual({ path: '/workspace/a/b.txt', created: true });
    expect(await session.listFiles(owner, 'a')).toMatchObject({
      path: '/workspace/a',
      entries: [{ name: 'b.txt', kind: 'file', size: 1 }],
    });
    expect(await session.readFile(owner, 'a')).toEqual({ directory: true });
    await session.deleteFile(owner, 'a/b.txt');
    await expect(session.readFile(owner, 'a/b.txt')).rejects.toMatchObject({ code: 'not_found' });
    await expect(session.readFile(owner, 'a\u0000b')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('deletes itself after an hour when it is unlisted, and not while it is listed', async () => {
    const unlisted = await make();
    const listed = await sessions.create(owner, { model: plan.model, listed: true });
    const listedStub = bindings.SESSION.get(bindings.SESSION.idFromString(listed.id));
    for (const stub of [unlisted.stub, listedStub]) {
      await runInDurableObject(stub, async (_, state) => {
        state.storage.sql.exec('UPDATE timers SET due = 0');
        await state.storage.setAlarm(Date.now() + 60_000);
      });
      expect(await runDurableObjectAlarm(stub)).toBe(true);
    }
    await expect(unlisted.session.view(owner)).rejects.toMatchObject({ code: 'not_found' });
    expect(await sessions.get(listed.id).view(owner)).toMatchObject({ id: listed.id });
  });

  it('is listed while it exists, also if no client asked for a session, unless it only stores a direct call', async () => {
    const listed = async () => (await catalog('default').sessions({ keyId: owner.keyId }, { limit: 200 })).items.map(({ id }) => id);
    const [{ session, stub }, forCall] = [await make(), await sessions.create(owner, { model: plan.model, listed: false, forCall: true })];
    const id = stub.id.toString();
    await expect.poll(listed).toContain(id);
    expect(await listed()).not.toContain(forCall.id);
    await session.remove(owner);
    expect(await listed()).not.toContain(id);
  });

  it('no longer exists once it is deleted, and its data is deleted when its audit rows are in the Catalog', async () => {
    const { session, stub } = await make();
    await runInDurableObject(stub, (_, state) => {
      // A row that cannot be sent simulates a Catalog that does not take it.
      state.storage.sql.exec(`INSERT INTO audit (body) VALUES ('not JSON')`);
    });
    await session.remove(owner);
    await expect(session.view(owner)).rejects.toMatchObject({ code: 'not_found' });
    await expect(session.submit(owner, say('still there?'))).rejects.toMatchObject({ code: 'not_found' });
    const tables = () =>
      runInDurableObject(stub, (_, state) => state.storage.sql.exec(`SELECT name FROM sqlite_master WHERE name = 'audit'`).toArray());
    expect(await tables()).toHaveLength(1);
    await runInDurableObject(stub, (_, state) => void state.storage.sql.exec('DELETE FROM audit'));
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await tables()).toEqual([]);
    expect(new Set(takeErrors().map(({ message }) => message))).toEqual(
      new Set(['audit rows could not be sent; it will be retried', 'a deletion of a session is not finished yet']),
    );
  });
});

describe('the log', () => {
  it('returns what was written, of any size and spelling, from memory and from disk', async () => {
    const { stub } = await make();
    const text = `${'😀'.repeat(limits.maxRowCharacters / 2)}x${'\u2028"\\'.repeat(1000)}`;
    const [written, again] = await runInDurableObject(stub, (_, state) => {
      const log = new EventLog(sessionSql(state.storage), Date.now);
      for (let count = 0; count < 3; count += 1) log.append({ type: 'text-delta', turn: 't', step: 1, text: `${count} ${text}` });
      const reopened = new EventLog(sessionSql(state.storage), Date.now);
      return [[...log.readAll(0)], [...reopened.readAll(0)]] as [SessionEvent[], SessionEvent[]];
    });
    expect(written).toEqual(again);
    expect(again.map((event) => event.type === 'text-delta' && event.text.slice(2) === text)).toEqual([true, true, true]);
  });
});
