/** Clients of the Messages API with Claude on Bedrock and on Vertex AI: they get the replies of that API. */
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import { anthropicMessages } from '../../../src/dialects/anthropic/dialect.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { countTokens, ifKnown } from '../../../src/providers/passed/count-tokens.ts';
import { canForward, proxyChat } from '../../../src/providers/passed/forward-chat.ts';
import { wireAccess } from '../../../src/providers/wire-access.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { fakeAnthropic, signatureOf } from '../../fakes/upstreams/anthropic.ts';
import { awsKey, eventOf, eventStream, fakeBedrock } from '../../fakes/upstreams/clouds.ts';
import { calls, scriptOf } from '../sdk-script.ts';
import { accessOf } from './access.ts';

const script = scriptOf({ text: { text: 'Hello there.' }, calls: { reasoning: 'I look both up.', text: 'One moment.', calls } });
const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const bedrock = await accessOf({ kind: 'bedrock', region: 'us-east-1' }, awsKey);
const vertex = await accessOf({ kind: 'vertex', project: 'my-project' }, 'ya29.token');
const tools = calls.map(({ name }) => ({ name, input_schema: { type: 'object' } }));

const send = async (given: ProviderAccess, name: string, http: OutboundHttp, fields: object = {}, headers?: Record<string, string>) => {
  const access = wireAccess(given, name);
  expect(canForward(access, name, anthropicMessages, undefined)).toBe(true);
  const body = { model: `cloud/${name}`, max_tokens: 9, messages: [{ role: 'user', content: 'text' }], ...fields };
  return await proxyChat({ access, model: name, dialect: anthropicMessages, body, headers, http, clock: fakeClock(), ids: countedIds() });
};
const asked = { model: 'x', messages: [{ role: 'user', content: 'text' }] };
const count = async (given: ProviderAccess, name: string, http: OutboundHttp, body: object = asked, headers?: Record<string, string>) => {
  const request = {
    access: wireAccess(given, name),
    model: name,
    dialect: anthropicMessages,
    body: body as never,
    headers,
    http,
    clock: { ...fakeClock(), sleep: () => Promise.resolve() },
  };
  return await ifKnown(request.access, () => countTokens(request));
};
const eventsIn = (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Record<string, unknown>);

describe('a Messages request for Claude on Bedrock', () => {
  it('gets the events of the API as server-sent events', async () => {
    const fake = fakeBedrock(fakeAnthropic(script));
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const fields = { stream: true, tools, thinking, max_tokens: 2000, messages: [{ role: 'user', content: 'calls' }] };
    const response = await send(bedrock, model, (request) => fake.handle(request), fields);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = eventsIn(await response.text());
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['message_start', 'content_block_start', 'message_stop']));
    expect(JSON.stringify(events)).toContain(signatureOf('I look both up.'));
    expect(fake.refused).toEqual([]);
  });

  it('gets a whole message unchanged', async () => {
    const fake = fakeBedrock(fakeAnthropic(script));
    const response = await send(bedrock, model, (request) => fake.handle(request));
    expect(await response.json()).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'Hello there.' }],
      stop_reason: 'end_turn',
    });
  });

  it('has its beta features in the body, and no member that Bedrock does not have', async () => {
    let sent: Request | undefined;
    await send(
      bedrock,
      model,
      (request) => {
        sent = request;
        return Promise.resolve(Response.json({ type: 'message', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' }));
      },
      { stream: false },
      { 'anthropic-beta': 'one-2025-01-01, two-2025-01-01', 'anthropic-version': '2023-06-01' },
    );
    expect(new URL(sent?.url ?? '').pathname).toBe(`/model/${encodeURIComponent(model)}/invoke`);
    expect(sent?.headers.has('anthropic-beta') || sent?.headers.has('anthropic-version')).toBe(false);
    expect(await sent?.json()).toEqual({
      max_tokens: 9,
      messages: [{ role: 'user', content: 'text' }],
      anthropic_beta: ['one-2025-01-01', 'two-2025-01-01'],
      anthropic_version: 'bedrock-2023-05-31',
    });
  });

  it('gets an exception of the stream as an error event', async () => {
    const chunk = (event: object) => eventOf('chunk', { bytes: btoa(JSON.stringify(event)) });
    const start = chunk({
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1 } },
    });
    const delta = chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } });
    const cut = eventOf('chunk', { bytes: 'AAAA' }).subarray(0, 30);
    const response = await send(bedrock, model, () => Promise.resolve(eventStream([start, delta, cut])), { stream: true });
    expect(eventsIn(await response.text()).at(-1)).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('in the middle') },
    });
  });

  it.each([model, model.slice(3), `arn:aws:bedrock:us-east-1:1:inference-profile/${model}`])(
    'is counted by CountTokens: %s',
    async (name) => {
      const fake = fakeBedrock(fakeAnthropic(script));
      const body = { model: 'x', messages: [{ role: 'user', content: 'text' }], thinking: { type: 'enabled', budget_tokens: 1024 } };
      const counted = await count(bedrock, name, (request) => fake.handle(request), body);
      expect(await counted?.json()).toEqual({ input_tokens: JSON.stringify(body.messages).length });
    },
  );

  it.each([
    [400, 'ValidationException', "The provided model doesn't support counting tokens."],
    [403, 'AccessDeniedException', 'User is not authorized to perform: bedrock:CountTokens'],
    [404, 'UnknownOperationException', 'unknown'],
  ])('is counted by an estimate if Bedrock does not count (%s %s)', async (status, type, message) => {
    const refuses = () => Promise.resolve(Response.json({ message }, { status, headers: { 'x-amzn-errortype': type } }));
    expect(await count(bedrock, model, refuses)).toBeNull();
  });

  it('gets the error of a count that is refused for another reason, and of a reply without a count', async () => {
    const refuses = () => Promise.resolve(Response.json({ message: 'messages: Field required' }, { status: 400 }));
    await expect(count(bedrock, model, refuses)).rejects.toMatchObject({ status: 400 });
    await expect(count(bedrock, model, () => Promise.resolve(Response.json({ inputTokens: '3' })))).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });
});

describe('a Messages request for Claude on Vertex AI', () => {
  it('has the model in the path, the version in the body, and beta features in the header', async () => {
    let sent: Request | undefined;
    const stream = 'event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1}}}\n\n';
    await send(
      vertex,
      'anthropic/claude-sonnet-4-5',
      (request) => {
        sent = request;
        const text = `${stream}event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n`;
        return Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } }));
      },
      { stream: true },
      { 'anthropic-beta': 'one-2025-01-01', 'anthropic-version': '2023-06-01' },
    );
    expect(new URL(sent?.url ?? '').pathname).toBe(
      '/v1/projects/my-project/locations/global/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict',
    );
    expect([sent?.headers.get('anthropic-beta'), sent?.headers.get('anthropic-version')]).toEqual(['one-2025-01-01', null]);
    expect(await sent?.json()).toEqual({
      max_tokens: 9,
      messages: [{ role: 'user', content: 'text' }],
      stream: true,
      anthropic_version: 'vertex-2023-10-16',
    });
  });

  it('is counted by count-tokens:rawPredict, which has the model in its body', async () => {
    let sent: Request | undefined;
    const http: OutboundHttp = (request) => {
      sent = request;
      return Promise.resolve(Response.json({ input_tokens: 14 }));
    };
    const counted = await count(vertex, 'anthropic/claude-sonnet-4-5', http, undefined, { 'anthropic-beta': 'one-2025-01-01' });
    expect(await counted?.json()).toEqual({ input_tokens: 14 });
    expect(new URL(sent?.url ?? '').pathname).toBe(
      '/v1/projects/my-project/locations/global/publishers/anthropic/models/count-tokens:rawPredict',
    );
    expect([sent?.headers.get('authorization'), sent?.headers.get('anthropic-beta')]).toEqual(['Bearer ya29.token', 'one-2025-01-01']);
    const body = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'text' }], anthropic_version: 'vertex-2023-10-16' };
    expect(await sent?.json()).toEqual(body);
  });
});
