/** Forks over the real objects: what they take over, repeats and interrupted copies. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/core/people/principal.ts';
import { maxForkCharacters } from '../../../../src/objects/session/turn/fork-session.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { sessionSql } from '../session-sql.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { sessions, catalog, planTurn } = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'forker', scopes: ['chat', 'tools', 'approve', 'admin'] };
const setup = { model: 'rehearsal/default', toolset: 'forked', instructions: 'Be brief.' };
const textOf = (content: Uint8Array) => new TextDecoder().decode(content);

beforeAll(async () => {
  await catalog('default').put('toolset', 'forked', {
    tools: [
      { tool: 'builtin.write_file', name: 'save', approval: 'never' },
      { tool: 'builtin.read_file', name: 'load', approval: 'always' },
    ],
  });
});

async function begin() {
  const { id } = await sessions.create(owner, { ...setup, listed: true });
  const session = sessions.get(id);
  const say = async (text: string) => {
    const { turn } = await session.submit(owner, { plan: await planTurn(owner, setup), input: [{ type: 'text', text }] });
    return { turn, answer: await session.waitForAnswer(owner, turn) };
  };
  return { id, session, say };
}

describe('a fork', () => {
  it('has the conversation up to its turn with tool calls, and the files, and goes its own way', async () => {
    const { id, session, say } = await begin();
    const { turn } = await say('/save {"path": "a.txt", "content": "one"}');
    const before = (await session.messages(owner)).items;
    await say('later');
    const made = await session.fork(owner, turn);
    expect(made).toMatchObject({ from: { session: id, turn }, turn: null, queued: 0, lastEvent: 1, toolset: 'forked' });
    expect(made.title).toBe('/save {"path": "a.txt", "content": "one"}');
    const fork = sessions.get(made.id);
    const messages = (await fork.messages(owner)).items;
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(messages.map(({ parts }) => parts)).toEqual(before.map(({ parts }) => parts));
    expect(await fork.setup(owner)).toEqual({ ...setup, listed: true, from: { session: id, turn } });
    const file = await fork.readFile(owner, 'a.txt');
    expect('content' in file && textOf(file.content)).toBe('one');

    await fork.writeFile(owner, 'a.txt', new TextEncoder().encode('two'));
    const next = await fork.submit(owner, { plan: await planTurn(owner, setup), input: [{ type: 'text', text: 'next' }] });
    expect(await fork.waitForAnswer(owner, next.turn)).toMatchObject({ status: 'completed' });
    const own = await session.readFile(owner, 'a.txt');
    expect('content' in own && textOf(own.content)).toBe('one');
    expect((await session.messages(owner)).items).toHaveLength(6);
    // A fork can be forked, and survives its source.
    const second = await fork.fork(owner, next.turn);
    await session.remove(owner);
    await fork.remove(owner);
    expect((await sessions.get(second.id).messages(owner)).items).toHaveLength(6);
  });

  it('keeps the taint marks, so that a fork does not escape the rule', async () => {
    const { id, session, say } = await begin();
    const { turn } = await say('hello');
    await runInDurableObject(bindings.SESSION.get(bindings.SESSION.idFromString(id)), (_, state) => {
      sessionSql(state.storage).exec(
        `INSERT INTO taint (label, by, origin, at) VALUES ('private', 'mail.read', 'https://mail.example', 1)`,
      );
    });
    // The object has read before that it has none.
    await evictDurableObject(bindings.SESSION.get(bindings.SESSION.idFromString(id)));
    const { id: made } = await session.fork(owner, turn);
    const rows = await runInDurableObject(bindings.SESSION.get(bindings.SESSION.idFromString(made)), (_, state) =>
      sessionSql(state.storage).exec('SELECT label, by, origin FROM taint').toArray(),
    );
    expect(rows).toEqual([{ label: 'private', by: 'mail.read', origin: 'https://mail.example' }]);
  });

  it('is one for one key, also for parallel requests, and is completed by a repeat after a failure in the middle', async () => {
    const { id, session, say } = await begin();
    const { turn } = await say('/save {"path": "a.txt", "content": "one"}');
    const forks = await Promise.all(Array.from({ length: 3 }, () => session.fork(owner, turn, 'k')));
    expect(new Set(forks.map(({ id: made }) => made)).size).toBe(1);
    await sessions.get(forks[0]?.id ?? '').writeFile(owner, 'a.txt', new TextEncoder().encode('changed'));
    // A repeat changes nothing.
    await session.fork(owner, turn, 'k');
    const file = await sessions.get(forks[0]?.id ?? '').readFile(owner, 'a.txt');
    expect('content' in file && textOf(file.content)).toBe('changed');

    // As left by a process that died before it copied the conversation.
    const half = await sessions.create(owner, { ...setup, listed: true, from: { session: id, turn } }, 'half');
    expect(half.lastEvent).toBe(0);
    expect(await session.fork(owner, turn, 'half')).toMatchObject({ id: half.id, lastEvent: 1 });
    expect((await sessions.get(half.id).messages(owner)).items).toHaveLength(4);
    // A key that has made another session does not write into that session.
    const other = await sessions.create(owner, { ...setup, listed: true }, 'taken');
    expect(await session.fork(owner, turn, 'taken')).toMatchObject({ id: other.id, lastEvent: 0 });
    expect((await sessions.get(other.id).listFiles(owner, '/workspace')).entries).toEqual([]);
  });

  it('is refused for an unknown turn, one that waits, another key, and a conversation that is too long', async () => {
    const { session, say } = await begin();
    await expect(session.fork(owner, 'turn_x')).rejects.toMatchObject({ code: 'not_found' });
    const { turn: ended } = await say('x'.repeat(maxForkCharacters / 2));
    await expect(session.fork({ ...owner, keyId: 'else', scopes: ['chat'] }, ended)).rejects.toMatchObject({ code: 'not_found' });
    expect(await session.fork(owner, ended)).toMatchObject({ lastEvent: 1 });
    const { turn: long } = await say('x'.repeat(maxForkCharacters / 2));
    await expect(session.fork(owner, long)).rejects.toMatchObject({ code: 'body_too_large' });
    const { turn: waiting, answer } = await say('/load {"path": "a.txt"}');
    expect(answer.status).toBe('waiting');
    await expect(session.fork(owner, waiting)).rejects.toMatchObject({ code: 'conflict' });
  });
});
