/**
 * Callbacks over the running service: signed so that the reference library accepts them, retried until accepted, for receivers that are
 * down, slow, verbose, moved or gone.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { startCallbackReceiver, type CallbackReceiver } from './callback-receiver.ts';
import { eventually } from './eventually.ts';
import { shareService } from './shared-service.ts';
import { deliver, signGitHub } from './webhook-payloads.ts';
import { otherTasks } from '../wait-for.ts';

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const hookSecret = 'a secret that GitHub was given';

describe('callbacks', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  const closing: (() => void)[] = [];
  let receiver: CallbackReceiver;

  beforeAll(async () => {
    receiver = await listen();
    const tools = [{ tool: 'builtin.bash' }, { tool: 'builtin.write_file', approval: 'always' }];
    expect((await service.call('PUT', '/v1/toolsets/asking', { tools })).status).toBe(201);
    for (const name of ['doer', 'other'])
      expect((await service.call('PUT', `/v1/agents/${name}`, { model: 'rehearsal/default', toolset: 'asking' })).status).toBe(201);
  });
  afterAll(() => {
    for (const close of closing) close();
  });

  const listen = async (): Promise<CallbackReceiver> => {
    const made = await startCallbackReceiver(secret);
    closing.push(made.close);
    return made;
  };
  /** Responds to every request with `handle`. */
  const listenRaw = async (handle: (request: Request) => Promise<Response>): Promise<string> => {
    const { url, close } = await listenUpstream({ handle });
    closing.push(close);
    return url;
  };
  const put = async (path: string, body: object): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect(status, text).toBeLessThan(202);
  };
  const subscribe = (name: string, body: object) => put(`/v1/subscriptions/${name}`, { secret, ...body });
  const unsubscribe = async (name: string): Promise<void> =>
    expect((await service.call('DELETE', `/v1/subscriptions/${name}`)).status).toBe(204);
  const hook = (name: string, callbackUrl: string) =>
    put(`/v1/webhooks/${name}`, {
      agent: 'doer',
      scheme: 'github',
      secret: hookSecret,
      session: '{{subject}}',
      input: '/shell {"command": "echo done"}',
      callbackUrl,
      callbackSecret: secret,
    });
  const post = (name: string, id: string) => deliver(service, name, signGitHub(hookSecret, 'push', { subject: id }, id));
  const callbacks = async (query: string) => (await service.call('GET', `/v1/callbacks?${query}`)).json.items;
  const withStatus = (query: string, status: string) =>
    eventually(`${query} is ${status}`, async () => (await callbacks(query)).find((item: { status: string }) => item.status === status));
  const turn = async (agent: string, input = '/shell {"command": "echo done"}') => {
    const { json: session } = await service.call('POST', '/v1/sessions', { agent });
    const { json } = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input });
    return { session: session.id, ...json };
  };

  it('report that a turn has used its limit of cost, and the decision, also in the inbox', async () => {
    await put('/v1/toolsets/paid', { tools: [{ tool: 'builtin.bash', name: 'shell', price: 1 }] });
    await put('/v1/agents/thrifty', { model: 'rehearsal/default', toolset: 'paid', limits: { maxCost: 1, onLimit: 'ask' } });
    const own = await listen();
    await subscribe('budgets', { url: own.url, events: ['approval.required', 'turn.completed'], agents: ['thrifty'] });
    const { session, turn: id } = await turn('thrifty', '/shell echo one\n\n/shell echo two');
    const asked = await eventually('the question', () => own.received.find(({ type }) => type === 'approval.required'));
    const [question] = asked.data.pending;
    expect(question).toMatchObject({ kind: 'approval', canonical: 'builtin.budget', arguments: { used: 1, max: 1, more: 1 } });
    const inbox = async (state: string) => (await service.call('GET', `/v1/approvals?state=${state}&session=${session}`)).json.items;
    const listed = await eventually('the inbox has it', async () => (await inbox('pending'))[0]);
    expect(listed).toMatchObject({ kind: 'approval', canonical: 'builtin.budget', reason: question.reason, agent: 'thrifty', turn: id });
    const path = `/v1/sessions/${session}/approvals/${question.callId}`;
    expect((await service.call('POST', path, { decision: 'approve', reason: 'It is worth it' })).status).toBe(200);
    const ended = await eventually(
      'the second question or the end',
      () => own.received.find(({ type }) => type === 'turn.completed') ?? own.received[1],
    );
    // The second call has used what was approved.
    expect(ended).toMatchObject({ type: 'approval.required', data: { pending: [{ arguments: { used: 2, max: 2, more: 1 } }] } });
    const [{ callId }] = (await service.call('GET', `/v1/sessions/${session}/approvals`)).json.items;
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'deny' });
    const done = await eventually('the end', () => own.received.find(({ type }) => type === 'turn.completed'));
    expect(done.data).toMatchObject({ status: 'completed', reason: 'max_cost' });
    const states = async () => (await inbox('decided')).map(({ state }: { state: string }) => state);
    await eventually('both decisions are listed', async () => ((await states()).length === 2 ? true : undefined));
    expect((await states()).toSorted()).toEqual(['approved', 'denied']);
    await unsubscribe('budgets');
  });

  it("reports the end of a delivery's turn once, signed according to Standard Webhooks", async () => {
    await hook('plain', receiver.url);
    const { status, json } = await post('plain', 'd-1');
    expect(status).toBe(202);
    const kept = await withStatus('delivery=d-1', 'delivered');
    expect(receiver.received).toMatchObject([
      {
        id: kept.id,
        type: 'turn.completed',
        data: {
          trigger: { kind: 'webhook', name: 'plain', delivery: 'd-1', run: 1 },
          agent: 'doer',
          session: json.session,
          turn: json.turn,
          status: 'completed',
          usage: { inputTokens: expect.any(Number) },
        },
      },
    ]);
    expect(receiver.received[0]?.data.text).toContain('done');
    expect(kept).toMatchObject({
      target: { kind: 'webhook', name: 'plain' },
      attempts: [{ status: 204, error: null }],
      nextAttemptAt: null,
    });
    expect((await service.call('GET', `/v1/callbacks/${kept.id}`)).json.body).toMatchObject({
      type: 'turn.completed',
      data: { turn: json.turn },
    });
    expect([receiver.attempts.length, receiver.refused]).toEqual([1, []]);
  });

  it('is delivered on the fourth attempt under one id when the receiver fails three times; a kill in between loses nothing', async () => {
    const down = await listen();
    down.failNext(503, 500, 502);
    await hook('patient', down.url);
    await post('patient', 'd-2');
    await eventually('the second attempt', () => (down.attempts.length >= 2 ? true : undefined));
    await service.restart();
    const kept = await withStatus('delivery=d-2', 'delivered');
    expect(new Set(down.attempts)).toEqual(new Set([kept.id]));
    expect(down.received.map(({ id, type }) => [id, type])).toEqual([[kept.id, 'turn.completed']]);
    const [first, killed, ...others] = kept.attempts.map((attempt: { status: number | null }) => attempt.status);
    expect([first, ...others]).toEqual([503, 502, 204]);
    // The response to the second attempt may arrive when the process is already dead.
    expect([500, null]).toContain(killed);
    expect(kept.attempts[0].error).toBe('Responded with 503: not now');
    expect(down.refused).toEqual([]);
  });

  it('sends each subscriber the events that it subscribed to, regardless of who started the turn, and nothing to a paused one', async () => {
    const [all, some, paused] = [await listen(), await listen(), await listen()];
    await subscribe('all', { url: all.url });
    await subscribe('some', { url: some.url, agents: ['other'], events: ['turn.completed'] });
    await subscribe('paused', { url: paused.url, paused: true });
    const first = await turn('doer');
    const second = await turn('other');
    await eventually('three messages', () => (all.received.length === 2 && some.received.length === 1 ? true : undefined));
    expect(all.received.map(({ data }) => [data.turn, data.agent, data.trigger])).toEqual([
      [first.turn, 'doer', undefined],
      [second.turn, 'other', undefined],
    ]);
    expect(some.received.map(({ data }) => data.turn)).toEqual([second.turn]);
    expect(await callbacks('kind=subscription&name=paused')).toEqual([]);
    for (const name of ['all', 'some', 'paused']) await unsubscribe(name);
  });

  it('reports once that an approval is required, then how the turn ended', async () => {
    const listener = await listen();
    await subscribe('asked', { url: listener.url });
    const waiting = await turn('doer', '/write_file {"path": "a.txt", "content": "approved"}');
    const asked = await eventually('the question', () => listener.received[0]);
    expect([asked.type, asked.data.status]).toEqual(['approval.required', 'waiting']);
    expect(asked.data.pending).toMatchObject([
      { callId: waiting.pending[0].callId, kind: 'approval', arguments: { path: 'a.txt', content: 'approved' } },
    ]);
    await service.call('POST', `/v1/sessions/${waiting.session}/approvals/${waiting.pending[0].callId}`, { decision: 'approve' });
    await eventually('the end', () => listener.received[1]);
    expect(listener.received.map(({ type, data }) => [type, data.turn])).toEqual([
      ['approval.required', waiting.turn],
      ['turn.completed', waiting.turn],
    ]);
    await unsubscribe('asked');
  });

  it('reports how a turn of a deleted session ended, and that its queued turns will not run', async () => {
    const listener = await listen();
    await subscribe('deleted', { url: listener.url, events: ['turn.failed'] });
    const waiting = await turn('doer', '/write_file {"path": "a.txt", "content": "never"}');
    const queued = await service.call('POST', `/v1/sessions/${waiting.session}/turns`, { input: 'next' }, { prefer: 'respond-async' });
    expect((await service.call('DELETE', `/v1/sessions/${waiting.session}`)).status).toBe(204);
    await eventually('both', () => (listener.received.length === 2 ? true : undefined));
    expect(new Set(listener.received.map(({ data }) => `${data.turn} ${data.status}`))).toEqual(
      new Set([`${waiting.turn} cancelled`, `${queued.json.turn} cancelled`]),
    );
    await unsubscribe('deleted');
  });

  it('delivers to other receivers while one does not respond', async () => {
    const silent = await listenRaw(() => new Promise(() => undefined));
    const quick = await listen();
    await subscribe('silent', { url: silent });
    await subscribe('quick', { url: quick.url });
    const turns: string[] = [];
    for (let count = 0; count < 20; count += 1) turns.push((await turn('doer')).turn);
    await eventually('all of them', () => (quick.received.length === turns.length ? true : undefined));
    expect(new Set(quick.received.map(({ data }) => data.turn))).toEqual(new Set(turns));
    expect(await callbacks('kind=subscription&name=silent&status=delivered')).toEqual([]);
    await unsubscribe('silent');
    await unsubscribe('quick');
  });

  it('follows no redirect, and shows its target', async () => {
    let reached = 0;
    const elsewhere = await listenRaw(async () => {
      reached += 1;
      return new Response('here');
    });
    const moved = await listenRaw(async () => new Response(null, { status: 307, headers: { location: `${elsewhere}/new` } }));
    await hook('moved', moved);
    await post('moved', 'd-3');
    const kept = await eventually('an attempt', async () =>
      (await callbacks('delivery=d-3')).find((item: { attempts: object[] }) => item.attempts.length > 1),
    );
    expect(kept.attempts[0]).toMatchObject({
      status: null,
      error: expect.stringContaining(`redirects to ${new URL(elsewhere).host}; the redirect was not followed`),
    });
    expect(reached).toBe(0);
  });

  it.each([
    ['of fifty megabytes', () => endless(50_000_000)],
    ['without an end', () => endless(Number.POSITIVE_INFINITY)],
  ])('reads only the start of a response %s', async (_what, body) => {
    const talkative = await listenRaw(async (request) => {
      const { data } = (await request.json()) as { data: { trigger: { delivery: string } } };
      return new Response(body(), { status: data.trigger.delivery.startsWith('good') ? 200 : 500 });
    });
    const name = `talkative-${closing.length}`;
    await hook(name, talkative);
    await post(name, `good-${name}`);
    await post(name, `bad-${name}`);
    expect((await withStatus(`delivery=good-${name}`, 'delivered')).attempts).toMatchObject([{ status: 200, error: null }]);
    const failed = await eventually('an attempt', async () => {
      const [found] = await callbacks(`delivery=bad-${name}`);
      return found?.attempts[0]?.status === 500 ? found : undefined;
    });
    expect(failed.attempts[0].error).toMatch(/^Responded with 500: x{300,400}$/);
  });

  it('gives up when the receiver is gone, stores the callback as dead, and delivers it to the replacement URL', async () => {
    const gone = await listenRaw(async () => new Response('no more', { status: 410 }));
    await hook('gone', gone);
    await post('gone', 'd-4');
    const dead = await withStatus('delivery=d-4', 'dead');
    expect(dead).toMatchObject({ nextAttemptAt: null, attempts: [{ status: 410, error: 'Responded with 410: no more' }] });
    const right = await listen();
    await hook('gone', right.url);
    expect((await service.call('POST', `/v1/callbacks/${dead.id}/retry`)).status).toBe(202);
    await withStatus('delivery=d-4', 'delivered');
    expect(right.received.map(({ id }) => id)).toEqual([dead.id]);
    expect((await service.call('POST', `/v1/callbacks/${dead.id}/retry`)).json.code).toBe('conflict');
  });

  it('sends a test message to a subscription and reports the outcome', async () => {
    const tried = await listen();
    await subscribe('tried', { url: tried.url, paused: true });
    const { json } = await service.call('POST', '/v1/subscriptions/tried/test');
    expect(json).toMatchObject({ delivered: true, status: 204, error: null });
    expect(tried.received).toMatchObject([{ id: json.id, type: 'test' }]);
    tried.failNext(500);
    expect((await service.call('POST', '/v1/subscriptions/tried/test')).json).toMatchObject({
      delivered: false,
      status: 500,
      error: 'Responded with 500: not now',
    });
    expect(await callbacks('kind=subscription&name=tried')).toEqual([]);
    expect((await service.call('POST', '/v1/subscriptions/nobody/test')).status).toBe(404);
    await unsubscribe('tried');
  });
});

/** Writes in chunks until the connection is closed. */
function endless(bytes: number): ReadableStream<Uint8Array> {
  const piece = new TextEncoder().encode('x'.repeat(64_000));
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      // Lets the event loop notice a closed connection.
      await otherTasks();
      controller.enqueue(piece);
      sent += piece.byteLength;
      if (sent >= bytes) controller.close();
    },
  });
}
