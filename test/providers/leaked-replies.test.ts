/** Calls that a server leaves in the text of its reply, in chats that are rewritten and translated. */
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { anthropicMessages } from '../../src/dialects/anthropic/dialect.ts';
import { openAiChat } from '../../src/dialects/openai-chat/dialect.ts';
import { translateChat } from '../../src/engine/proxy/translate-chat.ts';
import type { OutboundHttp } from '../../src/ports/outbound.ts';
import { createChatModel } from '../../src/providers/chat-model.ts';
import { proxyChat } from '../../src/providers/passed/forward-chat.ts';
import { countedIds, fakeClock } from '../fakes/runtime.ts';

const access: ProviderAccess = {
  name: 'local',
  kind: 'openai-compatible',
  baseUrl: 'https://models.example/v1',
  headers: {},
  models: [],
  profile: { normalize: true },
};
const leak = '<tool_call>\n<function=look>\n<parameter=depth>\n3\n</parameter>\n</function>\n</tool_call>';
const parameters = { type: 'object', properties: { depth: { type: 'integer' } } };
const tools = [{ type: 'function', function: { name: 'look', parameters } }];

const plain = (content: string): OutboundHttp => {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return async () => Response.json({ id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices });
};
const streamed = (content: string): OutboundHttp => {
  const chunk = (delta: object, reason: string | null): string =>
    `data: ${JSON.stringify({ id: 'c1', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const parts = (content.match(/[\s\S]{1,5}/g) ?? []).map((text) => chunk({ content: text }, null));
  const body = `${parts.join('')}${chunk({}, 'stop')}data: [DONE]\n\n`;
  return async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

const send = async (http: OutboundHttp, fields: object = {}): Promise<Response> => {
  const body = { model: 'local/m', messages: [{ role: 'user', content: 'hi' }], tools, ...fields };
  return await proxyChat({ access, model: 'm', dialect: openAiChat, body, http, clock: fakeClock(), ids: countedIds() });
};
const ask = async (http: OutboundHttp, fields: object = {}): Promise<string> => await (await send(http, fields)).text();

/** The same, translated for a client of Messages. */
const translate = async (http: OutboundHttp, fields: object = {}): Promise<Response> => {
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  const own = [{ name: 'look', input_schema: parameters }];
  const body = { model: 'local/m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], tools: own, ...fields };
  const chat = { access, model: 'm', dialect: anthropicMessages, body, ref: 'local/m' };
  return await translateChat(deps, chat, () => new AbortController().signal);
};

describe.each([
  ['rewritten', send],
  ['translated', translate],
])('a recovered call of a %s chat', (_how, request) => {
  it('is named in a header of a plain reply', async () => {
    expect((await request(plain(leak))).headers.get('x-moniker-recovered')).toBe('look');
    expect((await request(plain('I look.'))).headers.get('x-moniker-recovered')).toBeNull();
  });

  it('is named in a comment of a stream, before the call', async () => {
    const stream = await (await request(streamed(leak), { stream: true })).text();
    expect(stream.split(': x-moniker-recovered: look\n\n')).toHaveLength(2);
    expect(stream.indexOf('x-moniker-recovered')).toBeLessThan(stream.indexOf('"name":"look"'));
    expect(await (await request(streamed('I look.'), { stream: true })).text()).not.toContain('recovered');
  });
});

describe('a rewritten chat', () => {
  it('gets the call, with arguments of the types of its schema', async () => {
    expect(JSON.parse(await ask(plain(leak)))).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { name: 'look', arguments: '{"depth":3}' } }] } }],
    });
    const stream = await ask(streamed(leak), { stream: true });
    expect(stream).toContain('"name":"look"');
    expect(stream).toContain('"finish_reason":"tool_calls"');
    expect(stream).not.toContain('<function');
  });

  it.each([
    ['the client wants no calls', leak, { tool_choice: 'none' }],
    ['the tool is not its own', leak.replace('look', 'other'), {}],
    ['it asked for JSON, and this is JSON', '{"name": "look", "arguments": {"depth": 3}}', { response_format: { type: 'json_object' } }],
  ])('gets the text if %s', async (_what, content, fields) => {
    const reply: unknown = JSON.parse(await ask(plain(content), fields));
    expect(reply).toMatchObject({ choices: [{ finish_reason: 'stop', message: { content } }] });
  });
});
