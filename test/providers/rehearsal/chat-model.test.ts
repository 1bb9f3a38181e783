import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { Problem } from '../../../src/core/problem.ts';
import { type ProviderAccess, rehearsalAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { chatModelContract, collect } from '../../contracts/chat-model.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { maxPlainReplyBytes, providerTailTimeoutMs } from '../../../src/providers/transport.ts';
import { maxProviderRetries, providerRetryMs } from '../../../src/providers/retry.ts';
import { maxForwardedRetryAfterMs } from '../../../src/core/model/retry-after.ts';
import { otherTasks } from '../../wait-for.ts';

const secret = 'sk-live-0123456789abcdef';
const access: ProviderAccess = {
  name: 'acme',
  kind: 'openai-compatible',
  baseUrl: 'https://acme.example/v1',
  headers: { authorization: `Bearer ${secret}` },
  models: [],
  profile: {},
};
const request = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  access,
  model: 'm',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: 'auto',
  settings: {},
  ...fields,
});

const chunk = (delta: unknown, finish: string | null = null, rest: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], ...rest })}\n\n`;
const usage = { prompt_tokens: 5, completion_tokens: 2 };
const done = 'data: [DONE]\n\n';
const sse = (...frames: string[]) => new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } });
const hello = () => sse(chunk({ content: 'Hello' }), chunk({}, 'stop', { usage }), done);

/** Responds with these in turn; the last one repeats. */
function scripted(...answers: ((request: Request, signal?: AbortSignal) => Response | Promise<Response>)[]) {
  const requests: Request[] = [];
  const http: OutboundHttp = async (sent, { signal }) => {
    requests.push(sent);
    return await (answers[Math.min(requests.length, answers.length) - 1] as (typeof answers)[number])(sent, signal);
  };
  return { http, requests };
}

/** A clock whose sleeps end immediately and are recorded. */
function hastyClock() {
  const slept: number[] = [];
  return {
    slept,
    now: () => 0,
    // Deadlines of an exchange are never reached here.
    after: () => () => undefined,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
}

const modelOver = (http: OutboundHttp, clock = hastyClock()) => createChatModel({ http, clock, rehearsal: rehearsalHttp });

chatModelContract('an OpenAI-compatible provider', () => {
  const http: OutboundHttp = async (sent) => {
    const { messages } = (await sent.json()) as { messages: { content: string }[] };
    if (messages[0]?.content === 'calls') {
      const calls = [0, 1].map((index) =>
        chunk({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'a', arguments: '{"n":1}' } }] }),
      );
      return sse(...calls, chunk({}, 'tool_calls'), done);
    }
    return messages[0]?.content === 'refuse' ? Response.json({ error: { message: 'no' } }, { status: 400 }) : hello();
  };
  const said = (text: string) => request({ messages: [{ role: 'user', parts: [{ type: 'text', text }] }] });
  return { model: modelOver(http), text: said('hi'), twoCalls: said('calls'), refused: said('refuse') };
});

chatModelContract('the rehearsal', () => {
  const ask = (text: string, model = 'default') =>
    request({ access: rehearsalAccess, model, messages: [{ role: 'user', parts: [{ type: 'text', text }] }] });
  return {
    model: modelOver(async () => Response.error()),
    text: ask('hello'),
    twoCalls: ask('/a {"n":1}\n/b x'),
    refused: ask('hello', 'other'),
  };
});

describe('error responses of providers', () => {
  const failing = async (answer: () => Response | Promise<Response>) => {
    const { http, requests } = scripted(answer);
    const clock = hastyClock();
    const error: unknown = await collect(modelOver(http, clock), request()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Problem);
    return { problem: error as Problem, attempts: requests.length, slept: clock.slept };
  };
  const json =
    (status: number, error: unknown, headers: Record<string, string> = {}) =>
    () =>
      Response.json({ error }, { status, headers });

  it('401: the provider rejected its key, which is neither shown nor retried', async () => {
    const { problem, attempts } = await failing(
      json(401, { message: `Incorrect API key provided: ${secret} or sk-test_abcdefgh`, code: 'invalid_api_key' }),
    );
    expect(problem).toMatchObject({
      code: 'upstream_error',
      status: 403,
      extra: { provider: 'acme', upstreamStatus: 401, retryable: false },
    });
    expect(problem.detail).toContain('invalid_api_key: Incorrect API key provided: [secret] or [redacted].');
    expect(JSON.stringify(problem.toBody())).not.toMatch(/sk-live|0123456789|sk-test/);
    expect(attempts).toBe(1);
  });

  it('404 for a model is model_not_found, any other is a wrong URL', async () => {
    expect((await failing(json(404, { message: 'The model `m` does not exist', code: 'model_not_found' }))).problem.code).toBe(
      'model_not_found',
    );
    expect((await failing(() => new Response('<html>nope</html>', { status: 404 }))).problem).toMatchObject({
      code: 'upstream_error',
      detail: expect.stringContaining('baseUrl'),
    });
  });

  it('429 is retried within the budget, then reported as rate_limited', async () => {
    const { problem, attempts, slept } = await failing(json(429, { message: 'slow down' }, { 'retry-after': '2' }));
    expect(problem).toMatchObject({ code: 'rate_limited', extra: { retryAfterMs: 2000, retryable: true } });
    expect(attempts).toBe(1 + maxProviderRetries);
    expect(slept).toEqual([2000, 2000]);
  });

  it('429 with a delay in the body, as Google sends it', async () => {
    const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo' };
    const exhausted = (retryDelay: unknown) =>
      json(429, { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota.', details: [{ '@type': 'other' }, { ...info, retryDelay }] });
    const { problem, slept } = await failing(exhausted('3.4s'));
    expect(problem).toMatchObject({ code: 'rate_limited', extra: { retryAfterMs: 3400 } });
    expect(slept).toEqual([3400, 3400]);
    for (const odd of ['soon', '-1s', '', 3, null])
      expect((await failing(exhausted(odd))).problem.extra).not.toHaveProperty('retryAfterMs');
  });

  it('end the call when a 429 names a long or unreadable delay', async () => {
    expect(await failing(json(429, {}, { 'retry-after': '86400' }))).toMatchObject({
      attempts: 1,
      problem: { extra: { retryAfterMs: 86_400_000 } },
    });
    for (const odd of ['9'.repeat(400), '99999999999', 'Wed, 21 Oct 2099 07:28:00 GMT']) {
      const { problem } = await failing(json(429, {}, { 'retry-after': odd }));
      expect(problem).toMatchObject({ extra: { retryAfterMs: maxForwardedRetryAfterMs } });
    }
    expect((await failing(json(429, {}, { 'retry-after': 'soon' }))).slept).toEqual([providerRetryMs, providerRetryMs * 2]);
    expect(await failing(json(429, { code: 'insufficient_quota' }))).toMatchObject({ attempts: 1 });
  });

  it.each([503, 529])('retries %i, and reports the overload', async (status) => {
    expect(await failing(json(status, { message: 'Busy' }))).toMatchObject({
      attempts: 1 + maxProviderRetries,
      problem: { code: 'unavailable', extra: { upstreamStatus: status } },
    });
  });

  it.each([
    ['an overload', { code: 'overloaded' }, 2, { code: 'unavailable' }],
    ['a rate limit', { type: 'rate_limit_error' }, 1, { code: 'rate_limited' }],
    ['a rate limit with a delay', { code: 429, details: [{ retryDelay: '1s' }] }, 2, { code: 'rate_limited' }],
    ['a conversation that is too long', { code: 'context_length_exceeded' }, 1, { extra: { upstreamStatus: 400 } }],
    ['an internal error', { code: 'server_error' }, 2, { code: 'upstream_error' }],
  ])('%s inside a reply of status 200 keeps its kind', async (_what, error, attempts, problem) => {
    const stream = () => sse(`data: ${JSON.stringify({ error: { message: 'No.', ...error } })}\n\n`);
    expect(await failing(stream)).toMatchObject({ attempts, problem });
    expect(await failing(() => Response.json({ error: { message: 'No.', ...error } }))).toMatchObject({ attempts, problem });
  });

  it.each([500, 502])('retries %i', async (status) => {
    expect(
      await failing(() => new Response('<html>stack trace of /srv/app</html>', { status, headers: { 'content-type': 'text/html' } })),
    ).toMatchObject({
      attempts: 1 + maxProviderRetries,
      problem: { code: 'upstream_error', detail: `The provider acme responded with status ${status}.` },
    });
  });

  it('retries a connection that breaks before the first byte', async () => {
    const { http, requests } = scripted(() => Promise.reject(new TypeError('socket hang up')), hello);
    expect((await collect(modelOver(http), request())).at(-1)).toMatchObject({ type: 'finish' });
    expect(requests).toHaveLength(2);
  });

  it.each([
    ['an error in a 200 body', () => Response.json({ error: { message: 'over capacity', code: 500 } })],
    ['an error as first event', () => sse('event: error\ndata: {"error":{"message":"over capacity","code":500}}\n\n')],
    ['an empty body', () => new Response('', { headers: { 'content-type': 'application/json' } })],
    ['no body at all', () => new Response(null)],
    ['HTML', () => new Response('<html><body>Sign in</body></html>', { headers: { 'content-type': 'text/html' } })],
    ['JSON that is no reply', () => Response.json({ hello: 'world' })],
    ['a garbage line', () => sse('data: {"choices": [oops\n\n')],
    ['a stream that ends before it began', () => sse(': processing\n\n')],
  ])('%s is an upstream error', async (_what, answer) => {
    expect((await failing(answer)).problem).toMatchObject({ code: 'upstream_error', extra: { provider: 'acme' } });
  });
});

describe('failures within a reply', () => {
  const after = async (...frames: string[]) => await collect(modelOver(scripted(() => sse(...frames)).http), request());

  it('a cut is a retryable error, never a finish', async () => {
    const events = await after(chunk({ content: 'Hel' }));
    expect(events).toMatchObject([
      { type: 'text', text: 'Hel' },
      { type: 'error', retryable: true, problem: { code: 'upstream_error' } },
    ]);
  });

  it('a cut call is truncated', async () => {
    const events = await after(chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'a', arguments: '{"x":"y"' } }] }));
    expect(events).toMatchObject([
      { type: 'call-start' },
      { type: 'call-delta' },
      { type: 'call-end', state: 'truncated' },
      { type: 'error' },
    ]);
  });

  it('an error event ends the reply, without the secret in it', async () => {
    const events = await after(
      chunk({ content: 'Hel' }),
      `event: error\ndata: ${JSON.stringify({ error: { message: `bad key ${secret}`, code: 'overloaded' } })}\n\n`,
      chunk({ content: 'more' }),
    );
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({ type: 'error', retryable: true });
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  it('an error as the first event closes the connection and is retried', async () => {
    let given = 0;
    const failing = () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('data: {"error":{"message":"x","code":503}}\n\n')),
        cancel: () => {
          given += 1;
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const { http, requests } = scripted(failing, hello);
    const outcome = await collect(modelOver(http), request()).catch((error: unknown) => error);
    expect(given).toBe(1);
    expect([requests.length, outcome]).toMatchObject([2, expect.anything()]);
  });

  it('usage of a broken reply is reported before its error', async () => {
    const { http } = scripted(() =>
      sse(chunk({ content: 'Hel' }, null, { usage }), `data: ${JSON.stringify({ error: { message: 'x' } })}\n\n`),
    );
    const events = (await collect(modelOver(http), request())).flat();
    expect(events.map(({ type }) => type)).toEqual(['text', 'usage', 'error']);
    expect(events[1]).toEqual({ type: 'usage', usage: { inputTokens: 5, outputTokens: 2 } });
  });

  it('nothing after [DONE] is read', async () => {
    expect(
      (await after(chunk({ content: 'a' }, 'stop'), done, chunk({ content: 'b' }))).filter((event) => event.type === 'text'),
    ).toHaveLength(1);
  });

  it('a finish reason is enough without [DONE], and [DONE] without a reason', async () => {
    expect((await after(chunk({ content: 'a' }, 'stop'))).at(-1)).toMatchObject({ type: 'finish', reason: 'stop', raw: 'stop' });
    expect((await after(chunk({ content: 'a' }), done)).at(-1)).toMatchObject({ type: 'finish', reason: 'unknown', raw: null });
  });

  it('too many calls end as an error', async () => {
    const calls = Array.from({ length: limits.maxCallsPerReply + 1 }, (_, index) => ({
      index,
      id: `c${index}`,
      function: { name: 'a', arguments: '{}' },
    }));
    expect((await after(chunk({ tool_calls: calls }, 'tool_calls'), done)).at(-1)).toMatchObject({ type: 'error' });
  });
});

describe('an unstreamed reply', () => {
  const whole = (fields: Partial<ChatRequest> = {}) => request({ whole: true, ...fields });
  const message = { role: 'assistant', content: 'Hello' };
  const reply = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage };

  it('is requested unstreamed, and arrives as one batch', async () => {
    const bodies: Record<string, unknown>[] = [];
    const { http } = scripted(async (sent) => {
      bodies.push((await sent.json()) as Record<string, unknown>);
      return Response.json(reply);
    });
    const batches: unknown[] = [];
    for await (const batch of modelOver(http).stream(whole(), new AbortController().signal)) batches.push(batch.map(({ type }) => type));
    expect(batches).toEqual([['text', 'usage', 'finish']]);
    expect(bodies).toEqual([expect.not.objectContaining({ stream_options: expect.anything() })]);
    expect(bodies[0]?.stream).toBe(false);
  });

  it('is read with and without a declared length, and compressed', async () => {
    for (const headers of [
      {} as Record<string, string>,
      { 'content-length': String(JSON.stringify(reply).length) },
      { 'content-encoding': 'identity' },
    ]) {
      const { http } = scripted(() => new Response(JSON.stringify(reply), { headers: { 'content-type': 'application/json', ...headers } }));
      expect((await collect(modelOver(http), whole())).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
    }
  });

  it('is retried like a stream, and reported as a problem if it is invalid', async () => {
    const { http, requests } = scripted(
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      () => Response.json({ error: { message: 'overloaded', code: 503 } }),
      () => Response.json(reply),
    );
    expect((await collect(modelOver(http), whole())).at(-1)).toMatchObject({ type: 'finish' });
    expect(requests).toHaveLength(3);
    const refused = scripted(() => Response.json({ error: { message: 'no' } }, { status: 400 }));
    await expect(collect(modelOver(refused.http), whole())).rejects.toMatchObject({ code: 'upstream_error' });
    expect(refused.requests).toHaveLength(1);
  });

  it('is rejected if it is too long', async () => {
    const long = scripted(() => new Response('x', { headers: { 'content-length': String(maxPlainReplyBytes + 1) } }));
    await expect(collect(modelOver(long.http), whole())).rejects.toMatchObject({ code: 'upstream_error' });
  });
});

describe('too many native parts', () => {
  const anthropic: ProviderAccess = { ...access, kind: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' };
  const block = (index: number) => ({ type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: {} });
  const blocks = (count: number) => Array.from({ length: count }, (_, index) => block(index));
  const whole = (count: number) => ({ type: 'message', role: 'assistant', content: blocks(count), stop_reason: 'end_turn', usage: {} });
  const frames = (count: number) => [
    { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1 } } },
    ...blocks(count).flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const reply = (count: number, isWhole: boolean) => async () =>
    isWhole ? Response.json(whole(count)) : sse(...frames(count).map((frame) => `data: ${JSON.stringify(frame)}\n\n`));
  const ask = (count: number, isWhole: boolean) =>
    collect(modelOver(reply(count, isWhole)), request({ access: anthropic, ...(isWhole && { whole: true as const }) }));

  it.each([
    ['streamed', false],
    ['whole', true],
  ])('end the reply as an error; the maximum does not: %s', async (_, isWhole) => {
    const events = await ask(limits.maxNativePartsPerReply - 10, isWhole);
    expect(events.at(-1)).toMatchObject({ type: 'finish' });
    expect(events.filter(({ type }) => type === 'native').length).toBeGreaterThan(limits.maxNativePartsPerReply / 2);
    const flooded = await ask(limits.maxNativePartsPerReply + 10, isWhole).catch((error: unknown) => error);
    if (isWhole) expect(flooded).toMatchObject({ code: 'upstream_error' });
    else expect(flooded instanceof Problem || (flooded as ChatEvent[]).at(-1)?.type === 'error').toBe(true);
  });
});

describe('waiting', () => {
  const silent = () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
  const begun = (text: string) => () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }), {
      headers: { 'content-type': 'text/event-stream' },
    });

  it('times out without a response', async () => {
    const clock = fakeClock();
    const seen: AbortSignal[] = [];
    const { http, requests } = scripted((_request, signal) => {
      if (signal) seen.push(signal);
      return new Promise<Response>(() => {});
    });
    const reply = collect(createChatModel({ http, clock, rehearsal: rehearsalHttp }), request());
    const failed = expect(reply).rejects.toMatchObject({ code: 'upstream_timeout', status: 504 });
    await clock.advance(0);
    await clock.advance(limits.providerFirstByteTimeoutMs);
    await failed;
    expect(requests).toHaveLength(1);
    expect(seen[0]?.aborted).toBe(true);
  });

  it('times out when the body never starts', async () => {
    const clock = fakeClock();
    const reply = collect(createChatModel({ http: scripted(silent).http, clock, rehearsal: rehearsalHttp }), request());
    const failed = expect(reply).rejects.toMatchObject({ code: 'upstream_timeout' });
    for (let turn = 0; turn < 4; turn++) await clock.advance(limits.providerIdleTimeoutMs / 2);
    await failed;
  });

  it('ends with an error when the body stalls', async () => {
    const clock = fakeClock();
    const reply = collect(
      createChatModel({ http: scripted(begun(chunk({ content: 'Hel' }))).http, clock, rehearsal: rehearsalHttp }),
      request(),
    );
    for (let turn = 0; turn < 6; turn++) await clock.advance(limits.providerIdleTimeoutMs / 2);
    expect(await reply).toMatchObject([{ type: 'text' }, { type: 'error', problem: { code: 'upstream_timeout' } }]);
  });

  it('does not wait long for a server that never closes after its finish reason', async () => {
    const clock = fakeClock();
    const reply = collect(
      createChatModel({ http: scripted(begun(chunk({ content: 'Hello' }, 'stop'))).http, clock, rehearsal: rehearsalHttp }),
      request(),
    );
    for (let turn = 0; turn < 4; turn++) await clock.advance(providerTailTimeoutMs / 2);
    expect(await reply).toMatchObject([{ type: 'text' }, { type: 'finish', reason: 'stop' }]);
  });

  it('aborts the request when the turn is cancelled', async () => {
    const abort = new AbortController();
    let signalOfRequest: AbortSignal | undefined;
    const { http } = scripted((_request, signal) => {
      signalOfRequest = signal;
      return begun(chunk({ content: 'Hel' }))();
    });
    const reply = collect(modelOver(http), request(), abort.signal);
    const failed = expect(reply).rejects.toThrow('cancelled');
    await otherTasks();
    abort.abort(new Error('cancelled'));
    await failed;
    expect(signalOfRequest?.aborted).toBe(true);
  });
});
