/** Bodies are read by what they contain: servers label them with any type, and stream or not whatever was requested. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import { openAiChat } from '../../src/dialects/openai-chat/dialect.ts';
import type { ChatRequest } from '../../src/ports/chat-model.ts';
import type { OutboundHttp } from '../../src/ports/outbound.ts';
import { createChatModel } from '../../src/providers/chat-model.ts';
import { proxyChat } from '../../src/providers/passed/forward-chat.ts';
import { rehearsalHttp } from '../../src/providers/rehearsal/rehearsal.ts';
import { collect } from '../contracts/chat-model.ts';
import { countedIds } from '../fakes/runtime.ts';
import { access, merge } from './replies.ts';

const clock = { now: () => 0, after: () => () => undefined, sleep: async () => undefined };
const chunk = (delta: object, finish: string | null = null) => JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });
const chunks = [chunk({ role: 'assistant', content: 'Grüße ' }), chunk({ content: 'aus 東京' }), chunk({}, 'stop')];
const whole = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße aus 東京' }, finish_reason: 'stop' }],
});
const events = chunks.map((data) => `data: ${data}\n\n`).join('');

const bodies: [string, string][] = [
  ['one JSON object', whole],
  ['one JSON object behind the blank lines of a waiting server', `\n\n \r\n${whole}\n`],
  ['one JSON object of several lines', JSON.stringify(JSON.parse(whole), null, 2)],
  ['one JSON object behind a byte order mark', `\ufeff${whole}`],
  ['an event stream', `${events}data: [DONE]\n\n`],
  ['an event stream that begins with a comment', `: waiting\n\n${events}`],
  ['an event stream behind a byte order mark', `\ufeff${events}`],
  ['a line of JSON for each message', chunks.map((data) => `${data}\n`).join('')],
  ['a list of messages', `[${chunks.join(',\n')}]`],
];
const types = [undefined, 'application/json', 'text/event-stream', 'text/plain; charset=utf-8', 'application/octet-stream'];

/** The body in pieces of `size` bytes. */
function answer(text: string, type: string | undefined, size: number): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
  return new Response(body, { headers: type === undefined ? {} : { 'content-type': type } });
}

const request = (isWhole: boolean): ChatRequest => ({
  access,
  model: 'm',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: 'auto',
  settings: {},
  ...(isWhole && { whole: true as const }),
});

describe.each(bodies)('%s', (_what, text) => {
  it.each(types)('is read under the type %s, whether a stream was requested or not', async (type) => {
    for (const isWhole of [false, true])
      for (const size of [1, 7, 10_000]) {
        const http: OutboundHttp = async () => answer(text, type, size);
        const read = merge(await collect(createChatModel({ http, clock, rehearsal: rehearsalHttp }), request(isWhole)));
        expect(read.filter((event: ChatEvent) => event.type !== 'usage')).toEqual([
          { type: 'text', text: 'Grüße aus 東京' },
          { type: 'finish', reason: 'stop', raw: 'stop' },
        ]);
      }
  });

  it.each(types)('is passed on in the form that was requested, from the type %s', async (type) => {
    const proxied = async (stream: boolean) =>
      await proxyChat({
        access: { ...access, profile: { normalize: true } },
        model: 'm',
        dialect: openAiChat,
        body: { model: 'recorded/m', messages: [{ role: 'user', content: 'hi' }], stream },
        http: async () => answer(text, type, 9),
        clock,
        ids: countedIds(),
      });
    const plain = await proxied(false);
    expect(plain.headers.get('content-type')).toBe('application/json');
    expect(await plain.json()).toMatchObject({ choices: [{ message: { content: 'Grüße aus 東京' }, finish_reason: 'stop' }] });
    const streamed = await proxied(true);
    expect(streamed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const received = (await streamed.text()).matchAll(/"content":"([^"]*)"/g);
    expect([...received].map(([, piece]) => piece).join('')).toBe('Grüße aus 東京');
  });
});

it.each([
  ['nothing', ''],
  ['blank lines', '\n\n'],
  ['a text', 'Service is warming up'],
  ['a page', '<html>Bad gateway</html>'],
  ['JSON that breaks off', '{"choices":[{"ind'],
  ['a text that is not ASCII', '東京'],
])('a body of %s is an error', async (_what, text) => {
  for (const isWhole of [false, true]) {
    const http: OutboundHttp = async () => answer(text, 'application/json', 4);
    const read = collect(createChatModel({ http, clock, rehearsal: rehearsalHttp }), request(isWhole));
    await expect(read).rejects.toMatchObject({ code: 'upstream_error' });
  }
});

it('reads a whole reply that is larger than a message of a stream', async () => {
  const content = 'x'.repeat(5_000_000);
  const text = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] });
  const http: OutboundHttp = async () => answer(text, 'application/json', 1_000_000);
  const [first] = await collect(createChatModel({ http, clock, rehearsal: rehearsalHttp }), request(false));
  expect(first?.type === 'text' && first.text.length).toBe(content.length);
});
