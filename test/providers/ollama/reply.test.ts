/** Replies in the wire form of `docs/api.md` and `server/routes.go` of ollama/ollama. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { collect } from '../../contracts/chat-model.ts';
import { merge } from '../replies.ts';

const access: ProviderAccess = {
  name: 'home',
  kind: 'ollama',
  baseUrl: 'http://127.0.0.1:11434',
  headers: {},
  models: [],
  profile: {},
};
const clock = { now: () => 0, after: () => () => undefined, sleep: async () => undefined };

const line = (message: object, rest: object = { done: false }) =>
  `${JSON.stringify({
    model: 'qwen3:8b',
    created_at: '2025-07-07T20:22:19.184789Z',
    message: { role: 'assistant', content: '', ...message },
    ...rest,
  })}\n`;
const done = (rest: object = {}, message: object = {}) =>
  line(message, {
    done: true,
    done_reason: 'stop',
    total_duration: 182_242_375,
    load_duration: 41_295_167,
    prompt_eval_count: 169,
    prompt_eval_duration: 24_573_166,
    eval_count: 15,
    eval_duration: 115_959_084,
    ...rest,
  });
const call = (name: string, args: object, rest: object = {}) => ({ ...rest, function: { index: 0, name, arguments: args } });
const usage = { type: 'usage', usage: { inputTokens: 169, outputTokens: 15 } };

/** The body in pieces of `size` bytes, which cut characters, too. */
function inPieces(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

async function read(text: string, size = 10_000, fields: Partial<ChatRequest> = {}): Promise<ChatEvent[]> {
  const http: OutboundHttp = async () =>
    new Response(inPieces(text, size), { headers: { 'content-type': fields.whole ? 'application/json' : 'application/x-ndjson' } });
  const messages: ChatRequest['messages'] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }];
  const request: ChatRequest = { access, model: 'qwen3:8b', messages, tools: [], toolChoice: 'auto', settings: {}, ...fields };
  return merge(await collect(createChatModel({ http, clock, rehearsal: rehearsalHttp }), request));
}

const streams: [string, string, unknown[]][] = [
  [
    'text',
    line({ content: 'Grüße', images: null }) + line({ content: ' aus 東京 😀' }) + done(),
    [{ type: 'text', text: 'Grüße aus 東京 😀' }, usage, { type: 'finish', reason: 'stop', raw: 'stop' }],
  ],
  [
    'thoughts before the answer',
    line({ thinking: 'Is it' }) + line({ thinking: ' {42}?' }) + line({ content: 'It is "42".' }) + done(),
    [
      { type: 'reasoning', text: 'Is it {42}?' },
      { type: 'text', text: 'It is "42".' },
      usage,
      { type: 'finish', reason: 'stop', raw: 'stop' },
    ],
  ],
  [
    'a reply that reached its limit',
    line({ content: 'Once' }) + done({ done_reason: 'length' }),
    [{ type: 'text', text: 'Once' }, usage, { type: 'finish', reason: 'length', raw: 'length' }],
  ],
  [
    'an end without a reason and with a cached prompt, as of older servers',
    line({ content: 'Yes' }) + done({ done_reason: undefined, prompt_eval_count: undefined }),
    [
      { type: 'text', text: 'Yes' },
      { type: 'usage', usage: { inputTokens: 0, outputTokens: 15 } },
      { type: 'finish', reason: 'unknown', raw: null },
    ],
  ],
  [
    'text after which nothing ends with a line feed',
    line({ content: 'Yes' }) + done().trimEnd(),
    [{ type: 'text', text: 'Yes' }, usage, { type: 'finish', reason: 'stop', raw: 'stop' }],
  ],
];

describe('a stream of Ollama', () => {
  it.each(streams)('has %s, in any chunking', async (_what, text, expected) => {
    for (const size of [1, 2, 3, 7, 64, 10_000]) expect(await read(text, size), `by ${size}`).toEqual(expected);
  });

  it('has complete calls: all with index 0, with and without ids, in one line or several', async () => {
    const text =
      line({ thinking: 'Both.' }) +
      line({ tool_calls: [call('get_weather', { city: 'Zürich', days: [1, { n: 2 }] }, { id: 'call_a' })] }) +
      line({ tool_calls: [call('get_weather', { city: 'Tokyo' }), call('list_files', {})] }) +
      done();
    for (const size of [1, 5, 10_000]) {
      const events = await read(text, size);
      expect(events.filter(({ type }) => type === 'call-start')).toMatchObject([
        { name: 'get_weather', nativeId: 'call_a' },
        { name: 'get_weather' },
        { name: 'list_files' },
      ]);
      expect(events.filter(({ type }) => type === 'call-end')).toMatchObject([
        { state: 'ok', arguments: { city: 'Zürich', days: [1, { n: 2 }] } },
        { state: 'ok', arguments: { city: 'Tokyo' } },
        { state: 'ok', arguments: {} },
      ]);
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls', raw: 'stop' });
    }
  });

  it('ends with an error where the server reports one in the middle', async () => {
    const text = `${line({ content: 'Well' })}{"error":"an error was encountered while running the model: unexpected EOF"}\n`;
    for (const size of [1, 10_000]) {
      const events = await read(text, size);
      expect(events[0]).toEqual({ type: 'text', text: 'Well' });
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        retryable: true,
        problem: { code: 'upstream_error', detail: expect.stringContaining('an error was encountered while running the model') },
      });
    }
  });

  it.each([
    ['breaks off', line({ content: 'Well' })],
    ['breaks off in a line', line({ content: 'Well' }) + done().slice(0, 40)],
    ['continues with a page', `${line({ content: 'Well' })}<html>Bad gateway</html>\n`],
  ])('ends with an error where it %s', async (_what, text) => {
    const events = await read(text);
    expect(events.at(-1)).toMatchObject({ type: 'error', problem: { code: 'upstream_error' } });
  });

  it.each([
    ['an error alone', '{"error":"model runner has unexpectedly stopped"}\n'],
    ['the answer of a server that only loaded the model', done({ done_reason: 'load' })],
    ['nothing', ''],
  ])('is refused where it is %s', async (_what, text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'upstream_error' });
    await expect(read(text, 10_000, { whole: true })).rejects.toMatchObject({ code: 'upstream_error' });
  });
});

describe('an unstreamed reply of Ollama', () => {
  it('is one object with all, and is read also where a stream was requested, and the other way round', async () => {
    const message = { thinking: 'Hm.', content: 'I look.', tool_calls: [call('get_weather', { city: 'Toronto' })] };
    const whole = done({}, message);
    const streamed = line({ thinking: 'Hm.' }) + line({ content: 'I look.' }) + line({ tool_calls: message.tool_calls }) + done();
    for (const text of [whole, JSON.stringify(JSON.parse(whole), null, 2), streamed])
      for (const fields of [{}, { whole: true as const }])
        expect(await read(text, 10_000, fields)).toMatchObject([
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'I look.' },
          { type: 'call-start', name: 'get_weather' },
          { type: 'call-delta' },
          { type: 'call-end', state: 'ok', arguments: { city: 'Toronto' } },
          usage,
          { type: 'finish', reason: 'tool-calls' },
        ]);
  });
});

describe('error responses of Ollama', () => {
  it.each([
    [404, { error: "model 'nope' not found" }, 'model_not_found', "model 'nope' not found"],
    [400, { error: '"llama3.2:3b" does not support thinking' }, 'upstream_error', 'does not support thinking'],
    [503, { error: 'server busy, please try again. maximum pending requests exceeded' }, 'unavailable', 'server busy'],
    [401, { error: 'unauthorized', signin_url: 'https://ollama.com/connect' }, 'upstream_error', 'unauthorized'],
  ])('%i keeps its message', async (status, body, code, message) => {
    const http: OutboundHttp = async () => Response.json(body, { status });
    const messages: ChatRequest['messages'] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }];
    const request: ChatRequest = { access, model: 'nope', messages, tools: [], toolChoice: 'auto', settings: {} };
    const asked = collect(createChatModel({ http, clock, rehearsal: rehearsalHttp }), request);
    await expect(asked).rejects.toMatchObject({ code, detail: expect.stringContaining(message) });
  });
});
