/** The mixed work of the ledger: what was accepted is written down when the service says so, and sent again under its key until then. */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents } from '../crash/lane.ts';
import { startScriptedModel, type Reply, type ScriptedCall, type ScriptedModel } from '../crash/scripted-model.ts';
import { startUpstream, type Upstream } from '../crash/upstream.ts';
import type { Answer, StreamEvent } from '../e2e/service.ts';
import { type LedgerService, stdioScript } from './ledger-service.ts';

/** `at`: when it was accepted. */
export type AcceptedTurn = { tag: string; session: string; turn: string; at: number };
/** `isAnswered`: the client got the whole answer, without an error. */
export type DirectWork = { tag: string; isAnswered: boolean; at: number };

export type Work = {
  model: ScriptedModel;
  upstream: Upstream;
  turns: AcceptedTurn[];
  chats: DirectWork[];
  calls: DirectWork[];
  deliveries: string[];
  /** What readers of events have, by session. */
  read: Map<string, StreamEvent[]>;
  /** What was wrong meanwhile. */
  wrong: string[];
  /** Resolves when every loop has ended. */
  stop(): Promise<void>;
  close(): void;
};

export const done: Reply = { text: 'That is all there is to say.' };
export const agent = 'doer';
const secret = 'the secret of the ledger 0123456789';
export const callbackName = 'told of deliveries';
export const subscriptionName = 'told of turns';
/** Calls of these names are reset after their effect. */
export const brokenName = /\/broken$/;
const safeName = /\/(?:get|look)$/;
export const isSafeName = (name: string): boolean => safeName.test(name);
const acceptMs = 120_000;

export async function startWork(service: LedgerService): Promise<Work> {
  const [model, upstream] = await Promise.all([startScriptedModel(), startUpstream()]);
  await furnish(service, model, upstream);
  let isOver = false;
  const work: Work = {
    ...{ model, upstream, turns: [], chats: [], calls: [], deliveries: [], read: new Map(), wrong: [] },
    stop: async () => {
      isOver = true;
      await Promise.all(loops);
    },
    close: () => {
      model.close();
      upstream.close();
    },
  };
  const loop = async (name: string, pauseMs: number, once: (index: number) => Promise<void>): Promise<void> => {
    for (let index = 0; !isOver; index += 1) {
      await once(index).catch((error: unknown) => void work.wrong.push(`${name}: ${String(error).slice(0, 500)}`));
      await sleep(pauseMs);
    }
  };
  const loops = [
    loop('turns', 100, turnsOf(service, work)),
    loop('turns', 150, turnsOf(service, work)),
    loop('chats', 500, () => chat(service, work)),
    loop('webhooks', 900, (index) => deliver(service, work, index)),
    loop('calls over MCP', 500, () => callOverMcp(service, work)),
    loop('runs', 9_000, () => runSchedule(service)),
    loop('readers', 700, (index) => readSome(service, work, index)),
  ];
  return work;
}

async function furnish(service: LedgerService, model: ScriptedModel, upstream: Upstream): Promise<void> {
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await service.now().call('PUT', path, body);
    if (status !== 201 && status !== 200) throw new Error(`PUT ${path}: ${status} ${text}`);
  };
  await put('/v1/providers/scripted', { kind: 'openai-compatible', baseUrl: model.baseUrl });
  await put('/v1/servers/notes', { kind: 'mcp', command: process.execPath, args: [stdioScript, service.dataDir], trusted: true });
  const tools = [
    { tool: 'builtin.http_request', name: 'send', approval: 'never' },
    { tool: 'notes.note', name: 'note', approval: 'never' },
    { tool: 'notes.look', name: 'look', approval: 'never' },
  ];
  await put('/v1/toolsets/effects', { tools });
  for (const name of [agent, 'talker'])
    await put(`/v1/agents/${name}`, { model: 'scripted/any', toolset: 'effects', instructions: 'You are scripted.' });
  const callbackUrl = upstream.urlOf(callbackName);
  const hook = { scheme: 'github', secret, session: 'hook {{lane}}', input: '{{tag}}', callbackUrl, callbackSecret: secret };
  await put('/v1/webhooks/hook', { agent, ...hook });
  await put('/v1/schedules/often', { agent, interval: '8s', session: 'scheduled', input: 'It is {{@time}}.' });
  const events = ['turn.completed', 'turn.failed'];
  await put('/v1/subscriptions/all', { url: upstream.urlOf(subscriptionName), secret, agents: [agent], events });
}

/** Repeats a request until it is accepted. Throws for a refusal, which no trouble of the service explains. */
async function accepted(service: LedgerService, send: () => Promise<Answer>, status: number): Promise<Answer> {
  for (const end = performance.now() + acceptMs; ; await sleep(250)) {
    const answer = await send().catch((error: unknown) => String(error));
    if (typeof answer !== 'string' && answer.status === status) return answer;
    if (typeof answer === 'string' ? answer.includes('differs from the OpenAPI document') : isRefusal(answer.status))
      throw new Error(typeof answer === 'string' ? answer : `${answer.status} ${answer.text}`);
    if (performance.now() > end)
      throw new Error(`not accepted within ${acceptMs / 1_000} s: ${typeof answer === 'string' ? answer : answer.text}`);
    if (typeof answer === 'string')
      await service
        .now()
        .call('GET', '/healthz')
        .catch(() => undefined);
  }
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function scripts({ model, upstream }: Pick<Work, 'model' | 'upstream'>, tag: string) {
  const hold = (name: string): string => {
    // Long enough to be killed in.
    upstream.hold(`${tag}/${name}`, sleep(Math.random() * 1_500));
    return upstream.urlOf(`${tag}/${name}`);
  };
  const send = (name: string, method: 'GET' | 'POST'): ScriptedCall => ({ name: 'send', arguments: { url: hold(name), method } });
  return {
    get: () => send('get', 'GET'),
    post: (name = 'post') => send(name, 'POST'),
    broken: () => {
      upstream.breakOff(`${tag}/broken`);
      return send('broken', 'POST');
    },
    note: (): ScriptedCall => ({ name: 'note', arguments: { url: hold('note') } }),
    look: (): ScriptedCall => ({ name: 'look', arguments: { url: hold('look') } }),
    set: (replies: Reply[]) => model.script(tag, replies),
  };
}

const tagOf = (kind: string): string => `${kind}.${randomUUID().slice(0, 13)}`;

/** Turns of one session at a time, of several kinds. Every tenth begins another session. */
function turnsOf(service: LedgerService, work: Work): (index: number) => Promise<void> {
  let session = '';
  return async (index) => {
    const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      service.now().call(method, path, body, headers);
    if (index % 10 === 0) session = (await accepted(service, () => call('POST', '/v1/sessions', { agent }), 201)).json.id;
    const tag = tagOf('turn');
    const { get, post, broken, note, look, set } = scripts(work, tag);
    const kinds: (() => Reply[])[] = [
      () => [{ calls: [get(), post()] }, done],
      () => [{ calls: [post(), broken()] }, done],
      () => [{ calls: [note(), look()] }, done],
      () => [{ calls: [post('one')] }, { calls: [post('two')] }, { calls: [get()] }, done],
    ];
    set(kinds[index % kinds.length]?.() ?? [done]);
    const headers = { prefer: 'respond-async', 'idempotency-key': tag };
    const { json } = await accepted(
      service,
      () => call('POST', `/v1/sessions/${session}/turns`, { input: `Do it. #${tag}#` }, headers),
      202,
    );
    work.turns.push({ tag, session, turn: json.turn, at: performance.now() });
    for (const end = performance.now() + 8_000; performance.now() < end; await sleep(200)) {
      const state = await call('GET', `/v1/sessions/${session}`).catch(() => null);
      if (state?.json?.turn?.status === 'completed') return;
    }
  };
}

async function chat(service: LedgerService, work: Work): Promise<void> {
  const tag = tagOf('chat');
  const { post, set } = scripts(work, tag);
  set([{ calls: [post()] }, done]);
  const at = performance.now();
  const body = { model: 'agent/talker', stream: true, messages: [{ role: 'user', content: `Do it. #${tag}#` }] };
  const answer = await service
    .now()
    .call('POST', '/v1/chat/completions', body)
    .catch(() => null);
  work.chats.push({
    tag,
    at,
    isAnswered: answer?.status === 200 && answer.text.includes('data: [DONE]') && !answer.text.includes('"error"'),
  });
}

async function deliver(service: LedgerService, work: Work, index: number): Promise<void> {
  const tag = tagOf('hook');
  const { post, set } = scripts(work, tag);
  set([{ calls: [post()] }, done]);
  const body = JSON.stringify({ tag: `#${tag}#`, lane: index % 3 });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push', 'x-github-delivery': tag };
  await accepted(service, () => service.now().call('POST', '/hooks/default/hook', body, headers), 202);
  work.deliveries.push(tag);
}

async function callOverMcp(service: LedgerService, work: Work): Promise<void> {
  const tag = tagOf('mcp');
  const { post, set } = scripts(work, tag);
  set([]);
  const at = performance.now();
  const rpc = (id: number | null, method: string, params: object, headers: Record<string, string> = {}) =>
    service.now().call(
      'POST',
      '/mcp/effects',
      { jsonrpc: '2.0', ...(id !== null && { id }), method, params },
      {
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    );
  try {
    const clientInfo = { name: 'ledger', version: '1' };
    const welcome = await rpc(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    const session = { 'mcp-session-id': welcome.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-06-18' };
    await rpc(null, 'notifications/initialized', {}, session);
    const { arguments: given } = post();
    const { text } = await rpc(2, 'tools/call', { name: 'send', arguments: given }, session);
    work.calls.push({ tag, at, isAnswered: text.includes(`effect of ${tag}/post`) });
  } catch (error) {
    if (String(error).includes('differs from the OpenAPI document')) throw error;
    work.calls.push({ tag, at, isAnswered: false });
  }
}

async function runSchedule(service: LedgerService): Promise<void> {
  await service
    .now()
    .call('POST', '/v1/schedules/often/run')
    .catch(() => undefined);
}

/** Reads on after what it has, as a reader that reconnects does. */
async function readSome(service: LedgerService, work: Work, index: number): Promise<void> {
  const sessions = [...new Set(work.turns.map(({ session }) => session))].slice(-4);
  const session = sessions[index % sessions.length];
  if (session === undefined) return;
  const before = work.read.get(session) ?? [];
  const more = await eventsOf(service, session, before.at(-1)?.id ?? 0).catch(() => []);
  work.read.set(session, [...before, ...more]);
}

export function eventsOf(service: LedgerService, session: string, after = 0): Promise<StreamEvent[]> {
  const { url, key } = service.now();
  const request = (method: string, path: string, _body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url + path, { method, headers: { authorization: `Bearer ${key}`, ...headers }, ...(signal && { signal }) });
  return readEvents(request, session, after);
}
