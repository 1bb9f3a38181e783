/** Replies of the client's own API whose label or form is another than was asked for: they are read by their content. */
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { openAiChat } from '../../src/dialects/openai-chat/dialect.ts';
import { proxyChat } from '../../src/providers/passed/forward-chat.ts';
import { countedIds, fakeClock } from '../fakes/runtime.ts';

const access: ProviderAccess = {
  name: 'host',
  kind: 'openai-compatible',
  baseUrl: 'https://host.example/v1',
  headers: {},
  models: [],
  profile: {},
};
const whole = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', created: 7, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
});
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', created: 7, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const stream = `${chunk({ role: 'assistant', content: 'hel' })}${chunk({ content: 'lo' })}${chunk({}, 'stop')}data: [DONE]\n\n`;

async function ask(sent: string, type: string | null, stream: boolean, tools: object[], declared: boolean): Promise<Response> {
  const bytes = new TextEncoder().encode(sent);
  const headers = { ...(type !== null && { 'content-type': type }), ...(declared && { 'content-length': String(bytes.byteLength) }) };
  const pieces = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.byteLength; at += 70) controller.enqueue(bytes.slice(at, at + 70));
        controller.close();
      },
    });
  const http = async () => new Response(declared ? bytes : pieces(), { headers });
  const body = { model: 'host/m', messages: [], stream, ...(tools.length > 0 && { tools }) };
  return await proxyChat({
    access,
    model: 'm',
    dialect: openAiChat,
    body,
    http,
    clock: { ...fakeClock(), sleep: async () => undefined },
    ids: countedIds(),
  });
}

const labels = ['application/json', 'text/event-stream', 'text/plain; charset=utf-8', 'text/html', 'application/octet-stream', null];
const tools = [{ type: 'function', function: { name: 'look' } }];

describe.each([
  ['without tools', []],
  ['with tools', tools],
])('a passed reply %s', (_what, offered) => {
  it.each(labels)('labelled %s is what was asked for', async (label) => {
    for (const sent of [whole, stream]) {
      for (const declared of [true, false]) {
        const read = await ask(sent, label, false, offered, declared);
        expect(read.headers.get('content-type')).toMatch(/^application\/json/);
        expect(await read.json()).toMatchObject({ choices: [{ message: { content: 'hello' }, finish_reason: 'stop' }] });
        const streamed = await ask(sent, label, true, offered, declared);
        expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/);
        const text = await streamed.text();
        const said = [...text.matchAll(/"content":"(\w*)"/g)].map(([, piece]) => piece).join('');
        expect([said, text.endsWith('data: [DONE]\n\n')]).toEqual(['hello', true]);
      }
    }
  });

  it('that is a page is a failure of the provider', async () => {
    for (const stream of [true, false])
      await expect(ask('<!doctype html><p>Bad gateway', 'text/html', stream, offered, true)).rejects.toMatchObject({
        code: 'upstream_error',
      });
  });
});
