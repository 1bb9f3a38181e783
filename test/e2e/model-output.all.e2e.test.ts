/** Citations and images of a model in sessions, in every dialect and in the session's events; and in replies that are rewritten in their own dialect. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fieldsOf, readLog } from './session-log.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
let provider: Server;
const source = { url: 'https://a.example/x', title: 'A' };
const annotations = [{ type: 'url_citation', url_citation: { ...source, start_index: 4, end_index: 9 } }];

const data = Buffer.alloc(1_500_000, 7).toString('base64');
const images = [{ type: 'image_url', index: 0, image_url: { url: `data:image/png;base64,${data}` } }];

/** Calls the tool at first, then says a cited text. */
function chunksFor(body: string): object[] {
  const { messages } = JSON.parse(body) as { messages: { role: string }[] };
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'calculate', arguments: '{"expression":"6*7"}' } }];
  if (body.includes('"painter"')) return [toChunk({ content: 'Here.' }, null), toChunk({ images }, null), toChunk({}, 'stop')];
  const isLast = messages.some(({ role }) => role === 'tool') || !body.includes('"tools"');
  const deltas = isLast ? [{ content: 'It is 42 here.' }, { annotations }] : [{ content: 'I look.', tool_calls: calls }];
  return [...deltas.map((delta) => toChunk(delta, null)), toChunk({}, isLast ? 'stop' : 'tool_calls')];
}

function toChunk(delta: object, finish: string | null): object {
  return { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] };
}

beforeAll(async () => {
  provider = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const chunk of chunksFor(body)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  await service.call('PUT', '/v1/providers/searching', { kind: 'openai-compatible', baseUrl, models: ['m', 'painter'] });
  await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate' }] });
  expect((await service.call('PUT', '/v1/agents/painter', { model: 'searching/painter', toolset: 'desk' })).status).toBe(201);
  expect((await service.call('PUT', '/v1/agents/reader', { model: 'searching/m', toolset: 'desk' })).status).toBe(201);
});
afterAll(() => {
  provider.close();
});

const openai = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
// The text of the first step and a blank line come before the cited text.
const text = 'I look.\n\nIt is 42 here.';
const place = { start_index: 13, end_index: 18 };
const cited = [{ type: 'url_citation', url_citation: { ...source, ...place } }];
const messages = [{ role: 'user' as const, content: 'What is it?' }];

it('citations are annotations of Chat Completions, streamed and plain', async () => {
  const whole = await openai().chat.completions.create({ model: 'agent/reader', messages });
  expect(whole.choices[0]?.message).toMatchObject({ content: text, annotations: cited });
  const found: unknown[] = [];
  for await (const { choices } of await openai().chat.completions.create({ model: 'agent/reader', messages, stream: true }))
    found.push(...((choices[0]?.delta as { annotations?: unknown[] } | undefined)?.annotations ?? []));
  expect(found).toEqual(cited);
});

it('citations are annotations of Responses, streamed and plain', async () => {
  const asked = { model: 'agent/reader', input: 'What is it?' };
  for (const { output } of [await openai().responses.create(asked), await openai().responses.stream(asked).finalResponse()])
    expect(output).toMatchObject([{ content: [{ text, annotations: [{ type: 'url_citation', ...source, ...place }] }] }]);
});

it('citations are citations of Messages, and a conversation with them continues', async () => {
  const anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
  const asked = { model: 'agent/reader', max_tokens: 100, messages };
  const { content } = await anthropic.messages.create(asked);
  expect(content).toMatchObject([{ type: 'text', text, citations: [{ type: 'web_search_result_location', ...source }] }]);
  const history = [...messages, { role: 'assistant' as const, content }, { role: 'user' as const, content: 'Sure?' }];
  expect((await anthropic.messages.create({ ...asked, messages: history })).stop_reason).toBe('end_turn');
});

it('citations are events of the session', async () => {
  const { id } = (await service.call('POST', '/v1/sessions', { agent: 'reader' })).json;
  expect((await service.call('POST', `/v1/sessions/${id}/turns`, { input: 'What is it?' })).json).toMatchObject({
    status: 'completed',
  });
  const log = await readLog(service, id);
  expect(fieldsOf(log, 'citations', 'citations')).toEqual([[{ ...source, start: 4, end: 9 }]]);
});

it('citations are kept in a reply that is rewritten because its request offers tools', async () => {
  const tools = [{ type: 'function' as const, function: { name: 'calculate', parameters: { type: 'object', properties: {} } } }];
  const result = { role: 'tool' as const, tool_call_id: 'call_1', content: '42' };
  const call = { id: 'call_1', type: 'function' as const, function: { name: 'calculate', arguments: '{}' } };
  const history = [...messages, { role: 'assistant' as const, content: '', tool_calls: [call] }, result];
  const found: unknown[] = [];
  const asked = { model: 'searching/m', messages: history, tools, stream: true as const };
  for await (const { choices } of await openai().chat.completions.create(asked))
    found.push(...((choices[0]?.delta as { annotations?: unknown[] } | undefined)?.annotations ?? []));
  expect(found).toEqual(annotations);
});

it('images are in Chat Completions and Responses, and a conversation with them continues in its session', async () => {
  const asked = { model: 'agent/painter', messages };
  const { data: first, response } = await openai().chat.completions.create(asked).withResponse();
  const message = first.choices[0]?.message;
  expect(message).toMatchObject({ content: 'Here.', images });
  const found: unknown[] = [];
  const history = [
    ...messages,
    { role: 'assistant' as const, content: message?.content ?? '' },
    { role: 'user' as const, content: 'And?' },
  ];
  const again = await openai()
    .chat.completions.create({ ...asked, messages: history, stream: true })
    .withResponse();
  expect(again.response.headers.get('x-moniker-session')).toBe(response.headers.get('x-moniker-session'));
  for await (const { choices } of again.data) found.push(...((choices[0]?.delta as { images?: unknown[] } | undefined)?.images ?? []));
  expect(found).toEqual(images);
  const { output } = await openai().responses.create({ model: 'agent/painter', input: 'Draw.' });
  expect(output).toMatchObject([{ type: 'message' }, { type: 'image_generation_call', result: data }]);
  const references = output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' }));
  const input = [{ role: 'user' as const, content: 'Draw.' }, ...references, { role: 'user' as const, content: 'Again.' }];
  expect((await openai().responses.create({ model: 'agent/painter', input })).status).toBe('completed');
});

it('images are events of the session', async () => {
  const { id } = (await service.call('POST', '/v1/sessions', { agent: 'painter' })).json;
  expect((await service.call('POST', `/v1/sessions/${id}/turns`, { input: 'Draw.' })).json).toMatchObject({
    status: 'completed',
    text: 'Here.',
  });
  expect(fieldsOf(await readLog(service, id), 'image', 'data')).toEqual([data]);
});
