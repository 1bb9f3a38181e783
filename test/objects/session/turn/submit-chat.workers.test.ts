import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { InputPart, Message } from '../../../../src/core/model/message.ts';
import type { Plan } from '../../../../src/core/turn/plan.ts';
import type { Principal } from '../../../../src/core/people/principal.ts';
import { readToolCallId, toToolCallId } from '../../../../src/core/text/reference.ts';
import type { ClientResult } from '../../../../src/core/model/message.ts';
import type { SessionPort, SubmittedTurn, SubmitTurn } from '../../../../src/ports/session.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { sessionSql } from '../session-sql.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { sessions, catalog, planTurn } = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'chat', scopes: ['chat'] };
const clientTools = ['pick', 'name'].map((name) => ({ name, description: '', inputSchema: { type: 'object' } }));
const plan: Plan = {
  model: 'rehearsal/default',
  fallbacks: [],
  instructions: '',
  allow: null,
  aliases: true,
  limits: {},
  settings: {},
  clientTools,
};

type Told = { id: string; content: string; calls: string[]; finish: string; tokens: number };
type Given = Partial<Pick<SubmitTurn, 'history' | 'idempotencyKey' | 'bodyHash'>> & { results?: ClientResult[] };

const textPart = (text: string): InputPart => ({ type: 'text', text });
const user = (text: string): Message => ({ role: 'user', parts: [textPart(text)] });
const resultOf = (callId: string, text: string): ClientResult => ({ callId, content: [{ type: 'text', text }], isError: false });

/** A response as a client sends it back. */
const said = ({ content, calls }: Told): Message => ({
  role: 'assistant',
  parts: [
    { type: 'text', text: content },
    ...calls.map((callId) => ({
      type: 'tool-call' as const,
      callId,
      requested: 'pick',
      canonical: null,
      via: null,
      nativeId: callId,
      arguments: {},
    })),
  ],
});

async function make(): Promise<SessionPort> {
  return sessions.get((await sessions.create(owner, { model: plan.model, listed: false })).id);
}

async function send(session: SessionPort, text: string | null, { results = [], ...given }: Given = {}): Promise<SubmittedTurn> {
  const input = text === null ? [] : [textPart(text)];
  return await session.submit(owner, {
    plan,
    input,
    ...given,
    chat: { dialect: 'openai-chat', echo: {}, model: 'rehearsal/default', includeUsage: false, results },
  });
}

async function told({ session, completion }: SubmittedTurn): Promise<Told> {
  const stream = await sessions.get(session).completion(owner, completion ?? '', { streamed: false });
  const { id, choices, usage } = JSON.parse(await new Response(stream).text());
  const [{ message, finish_reason: finish }] = choices;
  const calls = (message.tool_calls ?? []).map((call: { id: string }) => call.id);
  return { id, content: message.content ?? '', calls, finish, tokens: usage.total_tokens };
}

const ask = async (...request: Parameters<typeof send>): Promise<Told> => await told(await send(...request));
const textsOf = async (session: SessionPort): Promise<string> => JSON.stringify((await session.messages(owner)).items);

describe('a chat request to a session whose turn waits', () => {
  it('brings results of some calls, and gets the others again', async () => {
    const session = await make();
    const first = await ask(session, '/pick\n/name');
    const [pick = '', name = ''] = first.calls;
    const second = await ask(session, null, { results: [resultOf(pick, 'red')] });
    expect([second.calls, second.finish, second.tokens]).toEqual([[name], 'tool_calls', 0]);
    const third = await ask(session, null, { results: [resultOf(name, 'Ada')] });
    expect(third.finish).toBe('stop');
    for (const text of ['red', 'Ada']) expect(third.content).toContain(text);
  });

  it('accepts both of two concurrent results, and the text sent with them', async () => {
    const session = await make();
    const first = await ask(session, '/pick\n/name');
    const results = first.calls.map((callId, index) => resultOf(callId, `result ${index}`));
    const second = await ask(session, 'And now?', { results, history: [user('/pick\n/name'), said(first)] });
    expect(second.finish).toBe('stop');
    expect(await textsOf(session)).toMatch(/result 0.*result 1.*And now\?/);
    expect(await textsOf(session)).not.toContain('aborted');
    const history = [user('/pick\n/name'), said(first), user('And now?'), said(second)];
    expect((await send(session, 'hello', { history })).session).toBe((await session.view(owner)).id);
  });

  it('aborts unanswered calls when other input is sent', async () => {
    const session = await make();
    const first = await ask(session, '/pick\n/name');
    const second = await ask(session, 'Never mind.', { results: [resultOf(first.calls[0] ?? '', 'red')] });
    expect([second.calls, second.finish]).toEqual([[], 'stop']);
    expect((await textsOf(session)).match(/"code":"aborted"/g)).toHaveLength(1);
  });

  it('gets the same response when it is repeated, with another key or none', async () => {
    const session = await make();
    const first = await ask(session, '/pick');
    const request = { results: [resultOf(first.calls[0] ?? '', 'red')], history: [user('/pick'), said(first)] };
    const answers = await Promise.all([1, 2, 3].map(() => ask(session, null, request)));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect((await textsOf(session)).match(/"type":"tool-result"/g)).toHaveLength(1);
  });

  it('forks into a complete conversation with a different result than the stored one', async () => {
    const session = await make();
    const first = await ask(session, '/pick');
    const history = [user('/pick'), said(first)];
    await ask(session, null, { results: [resultOf(first.calls[0] ?? '', 'red')], history });
    const other = await send(session, null, { results: [resultOf(first.calls[0] ?? '', 'blue')], history });
    expect(other.session).not.toBe((await session.view(owner)).id);
    expect((await told(other)).content).toContain('blue');
    expect(await textsOf(session)).not.toContain('blue');
  });

  it('includes what happened without a reader, when a result came another way', async () => {
    const session = await make();
    const first = await ask(session, '/pick');
    const [callId = ''] = first.calls;
    await session.submitResults(owner, [resultOf(readToolCallId(callId)?.own ?? '', 'red')]);
    const history = [user('/pick'), said(first)];
    const rest = await send(session, null, { results: [resultOf(callId, 'red')], history });
    expect(rest.session).toBe((await session.view(owner)).id);
    expect((await told(rest)).content).toContain('red');
  });

  it('starts with the rest of the waiting turn when a new turn follows it', async () => {
    const session = await make();
    const first = await ask(session, '/pick');
    await session.submitResults(owner, [resultOf(readToolCallId(first.calls[0] ?? '')?.own ?? '', 'red')]);
    const second = await send(session, 'hello', { history: [user('/pick'), said(first)] });
    expect(second.session).toBe((await session.view(owner)).id);
    const answer = await told(second);
    expect(answer.content).toMatch(/red[\s\S]*I am the rehearsal/);
    const third = await send(session, 'bye', { history: [user('/pick'), said(first), user('hello'), said(answer)] });
    expect(third.session).toBe(second.session);
  });

  it('shows the calls of a native turn before it aborts any', async () => {
    const session = await make();
    const { turn } = await session.submit(owner, { plan, input: [textPart('/pick')] });
    await session.waitForAnswer(owner, turn);
    const answer = await ask(session, 'What is it?');
    expect([answer.calls.length, answer.finish]).toEqual([1, 'tool_calls']);
    const rest = await ask(session, null, { results: [resultOf(answer.calls[0] ?? '', 'red')] });
    expect(rest.finish).toBe('stop');
    expect(await textsOf(session)).toContain('What is it?');
  });
});

describe('a chat client whose tool is called by another tool', () => {
  it('gets that call, answers it, and stays in its session with it in its history', async () => {
    await catalog('default').put('toolset', 'scripts', { tools: [{ tool: 'builtin.bash' }] });
    const { edition } = await planTurn(owner, { model: plan.model, toolset: 'scripts' });
    const scripts: Plan = { ...plan, ...(edition && { edition }) };
    const { id } = await sessions.create(owner, { model: plan.model, toolset: 'scripts', listed: false });
    const session = sessions.get(id);
    const chat = { dialect: 'openai-chat' as const, echo: {}, model: plan.model, includeUsage: false };
    const say = async (text: string | null, history: Message[], results: ClientResult[] = []): Promise<SubmittedTurn> =>
      await session.submit(owner, { plan: scripts, input: text === null ? [] : [textPart(text)], history, chat: { ...chat, results } });
    const first = await told(await say('/bash {"command":"tool pick"}', []));
    expect(first.finish).toBe('tool_calls');
    expect(first.calls).toEqual([expect.stringMatching(/^call_[a-z0-9]+-1_/)]);
    const asked = user('/bash {"command":"tool pick"}');
    const second = await told(await say(null, [asked, said(first)], [resultOf(first.calls[0] ?? '', 'red')]));
    expect([second.finish, second.content]).toEqual(['stop', expect.stringContaining('red')]);
    const third = await say('bye', [asked, said(first), said(second)]);
    expect(third.session).toBe(id);
    // As after the retention of the call's row.
    await runInDurableObject(env.SESSION.get(env.SESSION.idFromString(id)), (_instance, { storage }) =>
      sessionSql(storage).exec('DELETE FROM waits'),
    );
    const history = [asked, said(first), said(second), user('bye'), said(await told(third))];
    expect((await say('bye again', history)).session).toBe(id);
  });
});

describe('a chat request after a turn that failed', () => {
  const broken = { ...plan, model: 'rehearsal/none' };
  const fail = async (session: SessionPort, text: string | null, given: Given = {}): Promise<void> => {
    const { results = [], ...rest } = given;
    const input = text === null ? [] : [textPart(text)];
    const chat = { dialect: 'openai-chat' as const, echo: {}, model: broken.model, includeUsage: false, results };
    const failed = await session.submit(owner, { plan: broken, input, ...rest, chat });
    expect(failed.session).toBe((await session.view(owner)).id);
    await expect(told(failed)).rejects.toThrow();
  };

  it.each([
    ['sends it again', 'hello again', ['hello again']],
    ['drops it', 'something else', ['something else']],
    ['keeps it and adds more', 'hello again, please', ['hello again', 'please']],
  ])('stays in its session if the client %s', async (_how, text, kept) => {
    const session = await make();
    const { id } = await session.view(owner);
    const first = await ask(session, 'hello');
    const history = [user('hello'), said(first)];
    await fail(session, 'hello again', { history });
    await fail(session, 'hello again', { history });
    const second = await send(session, text, { history });
    expect(second.session).toBe(id);
    if (kept.length > 1) return;
    const third = await send(session, 'bye', { history: [...history, ...kept.map(user), said(await told(second))] });
    expect(third.session).toBe(id);
    // Everything that was sent and answered is present.
    expect((await send(session, 'bye', { history: [user('hello')].concat(said(await told(second))) })).session).not.toBe(id);
  });

  it('repeats the model request when it brings the same results again', async () => {
    const session = await make();
    const { id } = await session.view(owner);
    const first = await ask(session, '/pick');
    const request = { results: [resultOf(first.calls[0] ?? '', 'red')], history: [user('/pick'), said(first)] };
    await setModel(id, 'rehearsal/default', 'rehearsal/none');
    await expect(ask(session, null, request)).rejects.toThrow();
    const again = await send(session, null, request);
    expect(again.session).toBe(id);
    const answer = await told(again);
    expect([answer.finish, answer.content]).toEqual(['stop', expect.stringContaining('red')]);
    // Completed steps are shown again, and the call still has one result.
    expect((await ask(session, null, request)).id).toBe(answer.id);
    expect((await textsOf(session)).match(/"type":"tool-result"/g)).toHaveLength(1);
    const history = [user('/pick'), said(first), said(answer)];
    expect((await send(session, 'bye', { history })).session).toBe(id);
  });
});

/** Fails the waiting turn, as if its provider failed in the meantime. */
async function setModel(session: string, from: string, to: string): Promise<void> {
  await runInDurableObject(bindings.SESSION.get(bindings.SESSION.idFromString(session)), (_object, { storage }) => {
    storage.sql.exec('UPDATE turns SET plan = replace(plan, ?, ?)', from, to);
  });
}

describe('results in a chat request', () => {
  it('for calls that are not pending are refused, in any session', async () => {
    const session = await make();
    for (const callId of ['call_1', toToolCallId('call_1', (await session.view(owner)).id), toToolCallId('call_1', 'ab'.repeat(32))])
      await expect(send(session, null, { results: [resultOf(callId, 'x')] })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await textsOf(session)).toBe('[]');
  });
});

describe('a fork', () => {
  it('by one key is one session with one turn', async () => {
    const session = await make();
    await ask(session, 'hello');
    await session.writeFile(owner, 'notes.txt', new TextEncoder().encode('of the first session'));
    const request = {
      history: [user('bonjour'), said({ content: 'salut', calls: [] } as unknown as Told)],
      idempotencyKey: 'fork',
      bodyHash: 'h',
    };
    const made = await Promise.all([1, 2, 3].map(() => send(session, 'encore', request)));
    made.push(await send(session, 'encore', request));
    expect(new Set(made.map((one) => `${one.session} ${one.completion}`)).size).toBe(1);
    expect(made[0]?.session).not.toBe((await session.view(owner)).id);
    const forked = sessions.get(made[0]?.session ?? '');
    expect((await textsOf(forked)).match(/encore/g)).toHaveLength(1);
    const file = await forked.readFile(owner, 'notes.txt');
    expect('content' in file && new TextDecoder().decode(file.content)).toBe('of the first session');
    await expect(send(session, 'encore', { ...request, bodyHash: 'other' })).rejects.toMatchObject({ code: 'idempotency_mismatch' });
  });
});
