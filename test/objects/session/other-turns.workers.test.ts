/** How one session affects others, and what a turn keeps while the workspace changes, over the real objects. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import type { SessionPort } from '../../../src/ports/session.ts';
import { Timers } from '../../../src/objects/session/object/timers.ts';
import { TurnStore } from '../../../src/objects/session/turn/turn-store.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { wire } from '../../../src/wiring/wire.ts';
import { maxQueuedTurns } from '../../../src/objects/session/turn/turn-store.ts';
import { sessionSql } from './session-sql.ts';
import { takeErrors } from '../../service-errors.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { sessions, catalog, planTurn } = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'k1', scopes: ['chat', 'tools', 'approve', 'admin'] };
const model = 'rehearsal/default';
const stubOf = (id: string) => bindings.SESSION.get(bindings.SESSION.idFromString(id));

/** Created for each use: a stub whose object was reset stays broken. */
function fresh(id: string): SessionPort {
  return new Proxy(sessions.get(id), { get: (_, method) => Reflect.get(sessions.get(id), method) });
}

async function make(toolset: string) {
  const { id } = await sessions.create(owner, { model, toolset, listed: false });
  const session = fresh(id);
  const say = async (text: string): Promise<string> => {
    const plan = await planTurn(owner, { model, toolset });
    return (await session.submit(owner, { plan, input: [{ type: 'text', text }] })).turn;
  };
  return { id, session, say };
}

async function kill(id: string): Promise<void> {
  await runInDurableObject(stubOf(id), (_, state) => state.abort('the process dies')).catch(() => undefined);
}

describe('a flooded session', () => {
  it('does not delay the turns of another session', async () => {
    await catalog('default').put('toolset', 'flood', {
      tools: [{ tool: 'builtin.bash', name: 'shell', aliases: [] }, { tool: 'builtin.read_file' }],
    });
    const [noisy, quiet] = [await make('flood'), await make('flood')];
    await noisy.session.writeFile(owner, 'big.txt', new TextEncoder().encode('a line of many\n'.repeat(350_000)));
    const plan = await planTurn(owner, { model, toolset: 'flood' });
    const send = (text: string) => noisy.session.submit(owner, { plan, input: [{ type: 'text', text }] });
    await send('/shell sleep 25');
    await Promise.all(Array.from({ length: maxQueuedTurns }, () => send('/read_file {"path": "big.txt"}')));
    // What exceeds the limits is refused, not queued.
    await expect(send('more')).rejects.toMatchObject({ code: 'rate_limited' });
    await noisy.session.cancel(owner);
    for (let turn = 0; turn < 5; turn += 1) {
      const answer = await quiet.session.waitForAnswer(owner, await quiet.say('/shell echo here'));
      expect(answer).toMatchObject({ status: 'completed', toolCalls: [{ isError: false }] });
    }
    // The quiet session ran in parallel to the noisy one, not after it.
    expect((await noisy.session.view(owner)).queued).toBeGreaterThan(0);
    await noisy.session.remove(owner);
  });
});

describe('an alias that is assigned to another tool', () => {
  const tools = (first: string, second: string) => ({
    tools: [
      { tool: 'builtin.bash', name: first, approval: 'always' },
      { tool: 'builtin.read_file', name: second, aliases: [] },
    ],
  });

  it('keeps its meaning until a waiting turn ends, also after a crash, and has the new one in the next turn', async () => {
    await catalog('default').put('toolset', 'swapped', tools('do_it', 'look_up'));
    const { id, session, say } = await make('swapped');
    // The second step runs after the change.
    const turn = await say('/do_it {"command": "echo one"}\n\n/do_it {"command": "echo two"}');
    const before = await session.waitForAnswer(owner, turn);
    expect(before).toMatchObject({ status: 'waiting', pending: [{ canonical: 'builtin.bash' }] });
    await catalog('default').put('toolset', 'swapped', tools('look_up', 'do_it'));
    await kill(id);
    await session.decide(owner, before.pending?.[0]?.callId ?? '', 'approve', { remember: false });
    const second = await session.waitForAnswer(owner, turn);
    expect(second).toMatchObject({ status: 'waiting', pending: [{ canonical: 'builtin.bash', arguments: { command: 'echo two' } }] });
    await session.decide(owner, second.pending?.[0]?.callId ?? '', 'approve', { remember: false });
    const ended = await session.waitForAnswer(owner, turn);
    expect(ended.toolCalls.map(({ canonical, isError }) => [canonical, isError])).toEqual([
      ['builtin.bash', false],
      ['builtin.bash', false],
    ]);
    const next = await session.waitForAnswer(owner, await say('/do_it {"path": "nothing.txt"}'));
    expect(next).toMatchObject({ status: 'completed', toolCalls: [{ canonical: 'builtin.read_file' }] });
  });
});

describe('an alarm', () => {
  it('throws no error and is retried when its session cannot be opened, and then does its work', async () => {
    const { id, session } = await make('flood');
    const plan = await planTurn(owner, { model });
    const due = (kind: string) => `UPDATE timers SET due = 0 WHERE kind = '${kind}'`;
    await runInDurableObject(stubOf(id), (_, { storage }) => {
      new TurnStore(sessionSql(storage), Date.now).accept('turn_late', plan, [{ type: 'text', text: 'hello' }]);
      new Timers(storage).set('turn', Date.now() + limits.turnAlarmMs);
      storage.sql.exec('ALTER TABLE turns RENAME TO turns_away');
    });
    await kill(id);
    for (let ringing = 0; ringing < 10; ringing += 1) {
      // False without an alarm: it was set again each time.
      expect(await runDurableObjectAlarm(stubOf(id))).toBe(true);
      await runInDurableObject(stubOf(id), (_, { storage }) => void storage.sql.exec(due('turn')));
    }
    await runInDurableObject(stubOf(id), (_, { storage }) => void storage.sql.exec('ALTER TABLE turns_away RENAME TO turns'));
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(true);
    expect(await session.waitForAnswer(owner, 'turn_late')).toMatchObject({ status: 'completed' });
    expect(takeErrors().map(({ message }) => message)).toEqual(Array(10).fill('a session alarm failed'));
  });
});

describe('a deletion during a turn', () => {
  it('removes queued turns, readers, idempotency keys and files; the same keys find nothing', async () => {
    await catalog('default').put('toolset', 'flood', {
      tools: [{ tool: 'builtin.bash', name: 'shell', aliases: [] }, { tool: 'builtin.read_file' }],
    });
    const setup = { model, toolset: 'flood', listed: true };
    const { id } = await sessions.create(owner, setup, 'the-same');
    const session = fresh(id);
    const plan = await planTurn(owner, { model, toolset: 'flood' });
    const request = (text: string) => ({ plan, input: [{ type: 'text' as const, text }], idempotencyKey: text, bodyHash: text });
    const running = await session.submit(owner, request('/shell sleep 20; echo late > late.txt'));
    const queued = await session.submit(owner, request('/shell echo queued > queued.txt'));
    const streams = [await session.stream(owner, running.turn), await session.stream(owner, queued.turn)].map((stream) =>
      new Response(stream).text(),
    );
    await session.writeFile(owner, 'a.txt', new Uint8Array([1]));
    await session.remove(owner);
    const [first, second] = await Promise.all(streams);
    expect(first).toContain('"status":"cancelled"');
    expect(second).not.toContain('event: turn-start');
    await expect(session.submit(owner, request('/shell echo queued > queued.txt'))).rejects.toMatchObject({ code: 'not_found' });
    expect((await catalog('default').sessions({ keyId: owner.keyId }, { limit: 200 })).items.map((row) => row.id)).not.toContain(id);

    await kill(id);
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(false);
    const again = await sessions.create(owner, setup, 'the-same');
    expect(again).toMatchObject({ id, turn: null, queued: 0 });
    expect(await session.eventsAfter(owner, 0, 0)).toEqual([]);
    await expect(session.readFile(owner, 'a.txt')).rejects.toMatchObject({ code: 'not_found' });
    // The key of the old turn is free: this is a new turn.
    const renewed = await session.submit(owner, request('/shell echo queued > queued.txt'));
    expect(renewed.turn).not.toBe(queued.turn);
    expect(await session.waitForAnswer(owner, renewed.turn)).toMatchObject({ status: 'completed' });
    await expect(session.readFile(owner, 'late.txt')).rejects.toMatchObject({ code: 'not_found' });
  });
});
