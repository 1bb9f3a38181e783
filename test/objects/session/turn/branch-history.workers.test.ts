import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/turn/plan.ts';
import type { Principal } from '../../../../src/core/people/principal.ts';
import type { ClientResult } from '../../../../src/core/model/message.ts';
import type { SessionPort, SubmittedTurn, SubmitTurn } from '../../../../src/ports/session.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { sessionSql } from '../session-sql.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { sessions, catalog, planTurn } = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'branch', scopes: ['chat'] };
const plan: Plan = {
  model: 'rehearsal/default',
  fallbacks: [],
  instructions: '',
  allow: null,
  aliases: true,
  limits: {},
  settings: {},
  clientTools: ['pick', 'name'].map((name) => ({ name, description: '', inputSchema: { type: 'object' } })),
};

type Item = { type: string; call_id: string; name: string; content: { text: string }[] };
type Told = SubmittedTurn & { id: string; text: string; calls: string[] };
type Given = Pick<Partial<SubmitTurn>, 'plan' | 'history' | 'idempotencyKey' | 'bodyHash'> & {
  previous?: string;
  results?: ClientResult[];
};

const make = async (): Promise<SessionPort> => sessions.get((await sessions.create(owner, { model: plan.model, listed: false })).id);
const result = (callId: string | undefined, text: string): ClientResult => {
  return { callId: callId ?? '', content: [{ type: 'text', text }], isError: false };
};

async function send(session: SessionPort, text: string | null, { previous, results = [], ...given }: Given = {}): Promise<SubmittedTurn> {
  return await session.submit(owner, {
    plan,
    input: text === null ? [] : [{ type: 'text', text }],
    ...given,
    chat: {
      dialect: 'openai-responses',
      echo: {},
      model: 'rehearsal/default',
      includeUsage: true,
      results,
      ...(previous !== undefined && { previous }),
    },
  });
}

async function told(submitted: SubmittedTurn): Promise<Told> {
  const stream = await sessions.get(submitted.session).completion(owner, submitted.completion ?? '', { streamed: false });
  const { id, output }: { id: string; output: Item[] } = JSON.parse(await new Response(stream).text());
  return {
    ...submitted,
    id,
    text: output.flatMap((item) => (item.type === 'message' ? item.content.map(({ text }) => text) : [])).join(''),
    calls: output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])),
  };
}

const ask = async (...request: Parameters<typeof send>): Promise<Told> => await told(await send(...request));
const usersOf = async (session: string): Promise<string[]> =>
  (await sessions.get(session).messages(owner)).items.flatMap(({ role, parts }) => (role === 'user' ? [String(parts[0]?.text)] : []));
/** Reads the session's table, without the tool that searches for tools. */
const gatheredBy = async (session: string): Promise<unknown[]> =>
  await runInDurableObject(bindings.SESSION.get(bindings.SESSION.idFromString(session)), (_instance, { storage }) =>
    [...storage.sql.exec("SELECT canonical FROM gathered WHERE canonical <> 'builtin.find_tools' ORDER BY seq")].map(
      ({ canonical }) => canonical,
    ),
  );
const marksOf = async (session: string): Promise<unknown[]> =>
  await runInDurableObject(bindings.SESSION.get(bindings.SESSION.idFromString(session)), (_instance, { storage }) => [
    ...sessionSql(storage).exec('SELECT label, by FROM taint ORDER BY label'),
  ]);
const failed = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    () => 'nothing',
    (error) => error.code,
  );

describe('a request with a previous response id', () => {
  it('continues the session if that response is the newest, whatever the request has', async () => {
    const session = await make();
    const first = await ask(session, '/pick');
    const second = await ask(session, 'And now?', { previous: first.id, results: [result(first.calls[0], 'red')] });
    expect(second.session).toBe(first.session);
    expect(second.text).toContain('red');
    // Turns of other clients are part of it.
    await session.waitForAnswer(owner, (await session.submit(owner, { plan, input: [{ type: 'text', text: 'hello' }] })).turn);
    const third = await ask(session, 'Still there?', { previous: second.id });
    expect([third.session, await usersOf(first.session)]).toEqual([first.session, ['/pick', 'And now?', 'hello', 'Still there?']]);
  });

  it('forks from an older response, with the conversation up to it and its own input', async () => {
    const session = await make();
    const first = await ask(session, 'one');
    const second = await ask(session, '/pick\n/name', { previous: first.id });
    const [pick, name] = second.calls;
    const third = await ask(session, null, { previous: second.id, results: [result(pick, 'red'), result(name, 'Ada')] });
    await ask(session, 'four', { previous: third.id });

    const other = await ask(session, 'two and a half', { previous: second.id, results: [result(pick, 'blue')] });
    expect(other.session).not.toBe(first.session);
    expect(await usersOf(other.session)).toEqual(['one', '/pick\n/name', 'two and a half']);
    const messages = JSON.stringify((await sessions.get(other.session).messages(owner)).items);
    // Whole texts, since ids are random letters.
    expect([messages.includes('"blue"'), messages.includes('"red"'), messages.includes('aborted')]).toEqual([true, false, true]);

    const said = [{ role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Words of the client’s.' }] }];
    const own = await ask(session, 'five', { previous: first.id, history: said });
    expect(JSON.stringify((await sessions.get(own.session).messages(owner)).items)).toMatch(/one.*Words of the client’s\..*five/);
    expect(await usersOf(first.session)).toEqual(['one', '/pick\n/name', 'four']);
  });

  it('takes the tools that were found and called up to that response, and none of later', async () => {
    const names = ['read_file', 'write_file', 'list_directory', 'delete_file'];
    const tools = names.map((name) => ({ tool: `builtin.${name}` }));
    await catalog('default').put('toolset', 'many', { tools, onDemandAbove: 1 });
    const large = await planTurn(owner, { model: plan.model, toolset: 'many' });
    const session = await make();
    const first = await ask(session, '/find_tools {"query": "list directory", "limit": 1}', { plan: large });
    const second = await ask(session, '/read_file {"path": "a.txt"}', { plan: large, previous: first.id });
    await ask(session, '/write_file {"path": "a.txt", "content": "x"}', { plan: large, previous: second.id });
    expect(await gatheredBy(first.session)).toEqual(['builtin.list_directory', 'builtin.read_file', 'builtin.write_file']);
    const branch = await ask(session, 'And then?', { plan: large, previous: second.id });
    expect(branch.session).not.toBe(first.session);
    expect(await gatheredBy(branch.session)).toEqual(['builtin.list_directory', 'builtin.read_file']);
  });

  it('keeps the taint marks of the conversation, also in a fork', async () => {
    const names = ['read_file', 'write_file'];
    await catalog('default').put('toolset', 'seeing', { tools: names.map((name) => ({ tool: `builtin.${name}` })) });
    const seeing = await planTurn(owner, { model: plan.model, toolset: 'seeing' });
    const session = await make();
    await session.writeFile(owner, 'given.txt', new TextEncoder().encode('private'));
    const first = await ask(session, 'hello', { plan: seeing });
    const second = await ask(session, '/read_file {"path": "given.txt"}', { plan: seeing, previous: first.id });
    const seen = [{ label: 'private', by: '/workspace/given.txt (builtin.read_file)' }];
    expect(await marksOf(second.session)).toEqual(seen);
    const branch = await ask(session, 'And then?', { plan: seeing, previous: first.id });
    expect(branch.session).not.toBe(first.session);
    expect(await marksOf(branch.session)).toEqual(seen);
    // A fork by another history adds the marks of that history, whose response is unknown here.
    const further = await ask(sessions.get(branch.session), 'Else?', {
      plan: seeing,
      history: [
        { role: 'assistant', parts: [{ type: 'text', text: 'no' }] },
        { role: 'user', parts: [{ type: 'text', text: 'x' }] },
      ],
    });
    expect(further.session).not.toBe(branch.session);
    const unknown = {
      label: 'untrusted',
      by: 'an assistant message in the history that the client sent, which this service did not produce',
    };
    expect(await marksOf(further.session)).toEqual([...seen, unknown]);
  });

  it('creates one branch under one idempotency key, however often it is sent', async () => {
    const session = await make();
    const first = await ask(session, 'one');
    await ask(session, 'two', { previous: first.id });
    const keyed = { previous: first.id, idempotencyKey: 'k', bodyHash: 'h' };
    const branches = await Promise.all([1, 2, 3].map(() => send(session, 'other', keyed)));
    branches.push(await send(session, 'other', keyed));
    expect(new Set(branches.map((branch) => `${branch.session} ${branch.completion}`)).size).toBe(1);
    expect(branches[0]?.session).not.toBe(first.session);
  });

  it('returns the lost response when the same outputs are repeated, and forks for others', async () => {
    const session = await make();
    const first = await ask(session, '/pick');
    const given = { previous: first.id, results: [result(first.calls[0], 'red')] };
    const second = await ask(session, null, given);
    expect((await ask(session, null, given)).id).toBe(second.id);
    const branch = await ask(session, null, { previous: first.id, results: [result(first.calls[0], 'blue')] });
    expect([branch.session === first.session, branch.text.includes('blue')]).toEqual([false, true]);
    await ask(session, 'more', { previous: second.id });
    // The newest response no longer belongs to these outputs.
    const late = await ask(session, null, given);
    expect([late.session === first.session, late.text.includes('red')]).toEqual([false, true]);
  });

  it('is refused for a response of another session', async () => {
    const elsewhere = await ask(await make(), 'one');
    expect(await failed(send(await make(), 'x', { previous: elsewhere.id }))).toBe('not_found');
  });
});

describe('a response', () => {
  it('is cancelled once while its turn waits, by an authorized caller', async () => {
    const session = await make();
    const first = await ask(session, '/pick');
    expect(await session.cancel(owner, first.id)).toEqual({ turn: first.turn, cancelled: true });
    expect(await session.cancel(owner, first.id)).toEqual({ turn: null, cancelled: false });
    expect(await failed(session.cancel(owner, 'resp_unknown'))).toBe('not_found');
    expect(await failed(session.cancel({ ...owner, keyId: 'other' }, first.id))).toBe('not_found');
  });
});

it('refuses results without a pending call, by their path in the request', async () => {
  const issues = [expect.objectContaining({ path: 'input' })];
  await expect(send(await make(), null, { results: [result('call_1', 'x')] })).rejects.toMatchObject({ extra: { issues } });
});
