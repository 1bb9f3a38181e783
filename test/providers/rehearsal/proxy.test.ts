import { countedIds } from '../../fakes/runtime.ts';
import OpenAI from 'openai';
import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { type ProviderAccess, rehearsalAccess } from '../../../src/core/model/provider.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { proxyChat, type ProxyRequest } from '../../../src/providers/passed/forward-chat.ts';
import { createForwardFilter } from '../../../src/providers/provider-secrets.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { otherTasks, waitFor } from '../../wait-for.ts';

const clock = {
  now: () => Date.now(),
  // Deadlines never pass here; delays are short.
  after: (ms: number, run: () => void) => {
    if (ms < 100) setTimeout(run, ms);
    return () => undefined;
  },
  sleep: async () => undefined,
};
const access: ProviderAccess = {
  name: 'acme',
  kind: 'openai-compatible',
  baseUrl: 'https://acme.example/v1',
  headers: { authorization: 'Bearer key-of-the-provider' },
  models: [],
  profile: {},
};
const body = { model: 'acme/m', messages: [{ role: 'user', content: 'hi' }], toolset: 'demo', store: true };

const proxied = (http: OutboundHttp, fields: Partial<ProxyRequest> = {}) =>
  proxyChat({ access, model: 'm', dialect: openAiChat, body, http, clock, ids: countedIds(), ...fields });
const streaming = { ...body, stream: true };
const normalizing = { ...access, profile: { normalize: true } };
const odd = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
  { choices: [{ index: 0, delta: { tool_calls: [{ id: '', function: { name: 'a', arguments: '' } }] } }] },
  { choices: [{ index: 0, delta: { tool_calls: [{ function: { name: 'a', arguments: 'null' } }] }, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
];
const hello = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] };
const frames = (events: unknown[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const sse = (text: string) =>
  new Response(text, {
    headers: { 'content-type': 'text/event-stream', 'set-cookie': 'a=b', connection: 'x', 'x-ratelimit-remaining': '5', server: 'nginx' },
  });

describe('a forwarded request', () => {
  it('is sent unchanged, with the provider’s model and key', async () => {
    let sent: Request | undefined;
    await proxied(async (request) => {
      sent = request;
      return Response.json(hello);
    });
    expect(sent?.url).toBe('https://acme.example/v1/chat/completions');
    expect(sent?.headers.get('authorization')).toBe('Bearer key-of-the-provider');
    expect(await sent?.json()).toEqual({ model: 'm', messages: body.messages, store: true });
    expect(body).toHaveProperty('toolset');
  });

  it('returns the reply byte for byte, without headers that are not for the client', async () => {
    const text = 'data: {"odd":  "spacing", "choices":[{"delta":{"content":"Hi"}}]}\n\n: comment\n\ndata: [DONE]\n\n';
    const answer = await proxied(async () => sse(text), { body: streaming });
    expect(await answer.text()).toBe(text);
    expect([...answer.headers.keys()].sort()).toEqual(['content-type', 'x-ratelimit-remaining']);
  });

  it.each([
    // A client would believe that its own key is wrong.
    [401, 'upstream_error', 403],
    [402, 'upstream_error', 402],
    [403, 'upstream_error', 403],
    [400, 'upstream_error', 400],
    [404, 'model_not_found', 404],
    [413, 'upstream_error', 413],
    [429, 'rate_limited', 429],
    [500, 'upstream_error', 500],
    [529, 'unavailable', 529],
    [302, 'upstream_error', 502],
  ])('%i of the provider is %s, with the status %i', async (status, code, ours) => {
    const http: OutboundHttp = async () =>
      Response.json({ error: { message: 'about the model', type: 'x' } }, { status, headers: { 'retry-after': '86400' } });
    await expect(proxied(http)).rejects.toMatchObject({ code, status: ours, extra: { upstreamStatus: status } });
  });

  it('a page instead of a reply is an error of the provider', async () => {
    await expect(proxied(async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }))).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });

  it('an empty reply is an error of the provider', async () => {
    for (const answer of [
      new Response(null),
      new Response('', { headers: { 'content-type': 'application/json', 'content-length': '0' } }),
    ]) {
      await expect(proxied(async () => answer)).rejects.toMatchObject({
        code: 'upstream_error',
        detail: 'The provider acme sent an empty reply.',
      });
    }
  });

  describe('whose provider returns its key', () => {
    const key = 'key-of-the/provider+1';
    const echoing = { ...access, headers: { authorization: `Bearer ${key}`, 'x-team': 'team-secret-42' }, secrets: ['team-secret-42'] };
    const spelt: [string, string][] = [
      ['plain', key],
      ['a header', `Bearer ${key}`],
      ['JSON of PHP', key.replaceAll('/', '\\/')],
      ['a URL', encodeURIComponent(key)],
      ['hex', Buffer.from(key).toString('hex')],
      ['base64', Buffer.from(key).toString('base64')],
      ['basic authorization', Buffer.from(`user:${key}`).toString('base64')],
      ['a secret in another header', 'team-secret-42'],
    ];
    /** Cut into pieces of this many bytes. */
    const inPieces = (text: string, size: number): ReadableStream<Uint8Array> => {
      const bytes = new TextEncoder().encode(text);
      return new ReadableStream({
        start(controller) {
          for (let at = 0; at < bytes.byteLength; at += size) controller.enqueue(bytes.subarray(at, at + size));
          controller.close();
        },
      });
    };
    const answers = (text: string, size: number, type: string, limit = '5'): OutboundHttp => {
      return async () => new Response(inPieces(text, size), { headers: { 'content-type': type, 'x-ratelimit-remaining': limit } });
    };

    it.each(spelt)('as %s: neither replies nor their headers contain it, however they are cut', async (_how, form) => {
      for (const size of [1, 2, 7, 16, 1_000]) {
        const frames = `data: {"choices":[{"index":0,"delta":{"content":"it is ${form}, yes"}}]}\n\ndata: [DONE]\n\n`;
        const streamed = await proxied(answers(frames, size, 'text/event-stream', form), {
          access: echoing,
          body: { ...body, stream: true },
        });
        const whole = await proxied(answers(`{"choices":[{"message":{"content":"it is ${form}, yes"}}]}`, size, 'application/json'), {
          access: echoing,
        });
        for (const answer of [streamed, whole]) {
          const text = (await answer.text()) + JSON.stringify([...answer.headers]);
          expect(text).toMatch(/it is .*\[secret\].*, yes/);
          expect(text).not.toContain(form);
          expect(text).not.toContain(key);
        }
      }
    });

    it.each(spelt)('as %s: neither do rewritten replies, nor problems', async (_how, form) => {
      const chunk = `{"choices":[{"index":0,"delta":{"role":"assistant","content":"it is ${form}"},"finish_reason":"stop"}]}`;
      const rewritten = { ...echoing, profile: { normalize: true } };
      const streamed = await proxied(answers(`data: ${chunk}\n\ndata: [DONE]\n\n`, 3, 'text/event-stream'), {
        access: rewritten,
        body: { ...body, stream: true },
      });
      const text = await streamed.text();
      expect(text).toContain('[secret]');
      expect(text).not.toContain(form);
      for (const status of [400, 401, 404, 429, 500]) {
        const failing: OutboundHttp = async () => Response.json({ error: { message: `refused ${form}`, code: form } }, { status });
        const problem = await proxied(failing, { access: echoing }).catch((error: unknown) => error);
        expect(problem).toMatchObject({ detail: expect.stringContaining('refused') });
        expect(JSON.stringify(problem) + String(problem)).not.toContain(form);
      }
    });

    it('leaves every other byte unchanged, and forwards a reply without the key in its original pieces', async () => {
      const text = `data: {"choices":[{"delta":{"content":  "é${key.slice(0, -1)}"}}]}\n\n: \u0000\n\ndata: [DONE]\n\n`;
      for (const size of [1, 5, 1_000]) {
        const answer = await proxied(answers(text, size, 'text/event-stream'), { access: echoing, body: streaming });
        expect(await answer.text()).toBe(text);
      }
    });

    it('leaves the stream to the runtime without a key, or at the default URL of the provider’s kind', () => {
      const openai = { ...echoing, kind: 'openai', baseUrl: 'https://api.openai.com/v1' } as const;
      for (const fast of [{ ...access, headers: {} }, rehearsalAccess, openai]) expect(createForwardFilter(fast)).toBeNull();
      for (const near of [
        echoing,
        { ...openai, baseUrl: 'https://api.openai.com.evil.example/v1' },
        { ...openai, kind: 'anthropic' } as const,
      ])
        expect(createForwardFilter(near)).not.toBeNull();
    });

    it('does not search for placeholders of a key', () => {
      for (const value of ['', 'none', 'ollama', 'Bearer anything', 'short-7'])
        expect(createForwardFilter({ ...echoing, headers: { authorization: value }, secrets: [] })).toBeNull();
    });

    it('ends the exchange when the client disconnects', async () => {
      const cancelled = vi.fn();
      const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10)), cancel: cancelled });
      const answer = await proxied(async () => new Response(endless, { headers: { 'content-type': 'text/event-stream' } }), {
        access: echoing,
        body: streaming,
      });
      await answer.body?.cancel();
      expect(cancelled).toHaveBeenCalledOnce();
    });
  });

  it('requests no signal: a disconnect drops the whole request', async () => {
    const answer = proxied(
      async (_request, options) => {
        expect(options.signal).toBeUndefined();
        return sse(frames(odd));
      },
      {
        body: streaming,
        signal: () => {
          throw new Error('a signal was asked for');
        },
      },
    );
    expect((await answer).status).toBe(200);
  });

  it('for an agent, names the agent and not its model', async () => {
    const answer = {
      id: 'x',
      model: 'm-2026',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    };
    const chunk = { id: 'x', model: 'm-2026', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] };
    const http: OutboundHttp = async (request) =>
      ((await request.json()) as { stream?: boolean }).stream
        ? new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
        : Response.json(answer);
    for (const stream of [false, true]) {
      const text = await (await proxied(http, { body: { ...body, stream }, agentRef: 'agent/helper' })).text();
      expect(text).toContain('"model":"agent/helper"');
      expect(text).toContain('"Hi"');
      expect(text).not.toContain('m-2026');
    }
  });

  it.each([
    ['a stream', true, limits.providerFirstByteTimeoutMs],
    ['an unstreamed reply', false, limits.providerWholeTimeoutMs],
  ])('times out when the provider does not respond: %s', async (_, stream, ms) => {
    vi.useFakeTimers();
    try {
      const answer = proxied(() => new Promise(() => undefined), { body: { ...body, stream } }).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(await Promise.race([answer, 'waiting'])).toBe('waiting');
      await vi.advanceTimersByTimeAsync(1);
      expect(await answer).toMatchObject({ code: 'upstream_timeout' });
    } finally {
      vi.useRealTimers();
    }
  });

  const sentFor = async (text: string): Promise<string> => {
    let sent = '';
    await proxied(
      async (request) => {
        sent = await request.text();
        return Response.json(hello);
      },
      { body: JSON.parse(text) as Record<string, unknown>, text },
    );
    return sent;
  };

  it('keeps the text unchanged if only the model differs', async () => {
    expect(await sentFor('{ "model" : "acme/m",  "n": 1.0, "big": 12345678901234567890 }')).toBe(
      '{ "model" : "m",  "n": 1.0, "big": 12345678901234567890 }',
    );
  });

  it.each([
    ['a second model inside', '{"x":{"model":"acme/m"},"model":"acme/m"}'],
    ['"model" in a text', '{"messages":[{"content":"model"}],"model":"acme/m"}'],
    ['the text of a field', '{"content":"\\"model\\": \\"acme/m\\"","model":"acme/m"}'],
    ['an escaped key', '{"\\u006dodel":"acme/m"}'],
    ['an escaped value', '{"model":"acme\\/m"}'],
    ['a key twice', '{"model":"other/m","model":"acme/m"}'],
    ['a toolset of null', '{"toolset":null,"model":"acme/m"}'],
  ])('changes the model and nothing else: %s', async (_what, text) => {
    const { toolset: _toolset, ...rest } = JSON.parse(text) as Record<string, unknown>;
    expect(JSON.parse(await sentFor(text))).toEqual({ ...rest, model: 'm' });
  });
});

describe('a provider whose frames are rewritten', () => {
  it('writes calls in one form', async () => {
    const answer = await proxied(async () => sse(frames(odd)), {
      access: normalizing,
      body: { ...body, stream: true, stream_options: { include_usage: true } },
    });
    const chunks = (await answer.text())
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)));
    expect(
      chunks.flatMap((chunk) =>
        chunk.choices.map((choice: { delta: unknown; finish_reason: unknown }) => choice.finish_reason ?? choice.delta),
      ),
    ).toEqual([
      { role: 'assistant', content: '' },
      { tool_calls: [{ index: 0, id: 'call_cmpl1_0', type: 'function', function: { name: 'a', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      'tool_calls',
    ]);
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 1, completion_tokens: 2 } });
  });

  it('rewrites an unstreamed reply too', async () => {
    const answer = await proxied(
      async () =>
        Response.json({
          id: 'theirs',
          created: 5,
          choices: [{ message: { content: 'hi', tool_calls: [{ function: { name: 'a' } }] }, finish_reason: '' }],
        }),
      { access: normalizing },
    );
    expect(await answer.json()).toMatchObject({
      id: 'theirs',
      created: 5,
      choices: [
        {
          message: { content: 'hi', tool_calls: [{ id: 'call_theirs_0', type: 'function', function: { name: 'a', arguments: '{}' } }] },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  it('keeps signatures and reasoning in the fields of the provider, streamed or not', async () => {
    const signed = { google: { thought_signature: 'abc' } };
    const called = { index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: '{}' }, extra_content: signed };
    const delta = { tool_calls: [called], reasoning_details: [{ type: 'reasoning.encrypted', data: 'xyz' }] };
    const choices = [{ index: 0, delta, finish_reason: 'tool_calls' }];
    const streamed = await proxied(async () => sse(`${frames([{ choices }])}data: [DONE]\n\n`), {
      access: normalizing,
      body: { ...body, stream: true },
    });
    const text = await streamed.text();
    expect(text).toContain('"extra_content":{"google":{"thought_signature":"abc"}}');
    expect(text).toContain('"reasoning_details":[{"type":"reasoning.encrypted","data":"xyz"}]');
    const whole = await proxied(async () => Response.json({ choices: [{ message: delta, finish_reason: 'tool_calls' }] }), {
      access: normalizing,
    });
    expect(await whole.json()).toMatchObject({
      choices: [{ message: { tool_calls: [{ id: 'c1', extra_content: signed }], reasoning_details: delta.reasoning_details } }],
    });
  });

  it('is an error status if the reply begins with an error, and an error frame if it comes later', async () => {
    const options = { access: normalizing, body: { ...body, stream: true } };
    await expect(proxied(async () => sse('data: {"error":{"message":"no","code":400}}\n\n'), options)).rejects.toMatchObject({
      status: 400,
    });
    const late = await (await proxied(async () => sse(frames([{ choices: [{ delta: { content: 'Hel' } }] }])), options)).text();
    expect(late).toContain('"content":"Hel"');
    expect(late).toMatch(/data: \{"error":.*ended its reply before it was complete.*\}\n\ndata: \[DONE\]\n\n$/);
  });

  it('stops reading the provider when the client disconnects, and does not read ahead of a slow client', async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode(frames([{ choices: [{ index: 0, delta: { content: 'x'.repeat(10_000) } }] }])));
      },
      cancel() {
        cancelled = true;
      },
    });
    const answer = await proxied(async () => new Response(endless, { headers: { 'content-type': 'text/event-stream' } }), {
      access: normalizing,
      body: { ...body, stream: true },
    });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await otherTasks(50);
    expect(pulled).toBeLessThan(200);
    await reader.cancel();
    await waitFor(() => expect(cancelled).toBe(true));
  });

  it('is read by the stock client', async () => {
    const client = new OpenAI({
      apiKey: 'k',
      baseURL: 'https://moniker.example/v1',
      fetch: async (_url, init) =>
        await proxied(rehearsalHttp, {
          access: { ...rehearsalAccess, profile: { normalize: true } },
          model: 'default',
          body: JSON.parse(String(init?.body)),
        }),
    });
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'shell', parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] } },
      },
    ];
    const stream = client.chat.completions.stream({
      model: 'default',
      messages: [{ role: 'user', content: '/shell ls\n/shell pwd' }],
      tools,
    });
    const calls = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls;
    expect(calls?.map((call) => call.type === 'function' && call.function.arguments)).toEqual(['{"command":"ls"}', '{"command":"pwd"}']);
  });
});
