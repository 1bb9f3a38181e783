import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { anthropicMessages } from '../../src/dialects/anthropic/dialect.ts';
import type { OutboundHttp } from '../../src/ports/outbound.ts';
import { countTokens } from '../../src/providers/passed/count-tokens.ts';
import { canForward, proxyChat, type ProxyRequest } from '../../src/providers/passed/forward-chat.ts';
import { countedIds, fakeClock } from '../fakes/runtime.ts';
import { fakeAnthropic } from '../fakes/upstreams/anthropic.ts';

const access: ProviderAccess = {
  name: 'claude',
  kind: 'anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  headers: { 'x-api-key': 'of the provider' },
  models: [],
  profile: {},
};
const model = 'claude-sonnet-5';
const tools = [
  { name: 'look', input_schema: { type: 'object' } },
  { type: 'web_search_20250305', name: 'web_search' },
];
const body = { model: `claude/${model}`, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], tools, toolset: null };

const sentBy = async (send: (http: OutboundHttp) => Promise<unknown>): Promise<Request | undefined> => {
  let sent: Request | undefined;
  await send(async (request) => {
    sent = request;
    return Response.json({ content: [], stop_reason: 'end_turn', input_tokens: 3 });
  });
  return sent;
};
const request = (http: OutboundHttp, fields: Partial<ProxyRequest> = {}) => {
  return { access, model, dialect: anthropicMessages, body, http, clock: fakeClock(), ids: countedIds(), ...fields };
};

describe('a Messages request for a provider of kind anthropic', () => {
  it('is sent unchanged, including provider tools, with the provider’s key and the client’s beta header', async () => {
    const headers = { 'anthropic-version': '2099-01-01', 'anthropic-beta': 'new-thing' };
    const sent = await sentBy((http) => proxyChat(request(http, { headers })));
    expect(sent?.url).toBe('https://api.anthropic.com/v1/messages');
    expect([...(sent?.headers ?? [])]).toEqual(
      expect.arrayContaining([
        ['anthropic-beta', 'new-thing'],
        ['anthropic-version', '2099-01-01'],
        ['x-api-key', 'of the provider'],
      ]),
    );
    expect(await sent?.json()).toEqual({ model, max_tokens: 9, messages: body.messages, tools });
    expect((await sentBy((http) => proxyChat(request(http))))?.headers.get('anthropic-version')).toBe('2023-06-01');
  });

  it('returns the reply byte for byte, with the provider’s rate limits', async () => {
    const text = 'event: ping\ndata: {"type":  "ping"}\n\nevent: content_block_delta\ndata: {"delta":{"text":"Hi"}}\n\n';
    const headers = {
      'content-type': 'text/event-stream',
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-tokens-limit': '9',
      server: 'x',
    };
    const answer = await proxyChat(request(async () => new Response(text, { headers }), { body: { ...body, stream: true } }));
    expect(await answer.text()).toBe(text);
    expect([...answer.headers.keys()].sort()).toEqual([
      'anthropic-ratelimit-requests-limit',
      'anthropic-ratelimit-tokens-limit',
      'content-type',
    ]);
  });

  it('removes data of other models, and nothing else', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'moniker.unsigned' },
      { type: 'text', text: 'Yes.' },
    ];
    const messages = [...body.messages, { role: 'assistant', content }, { role: 'user', content: 'moniker.' }];
    const { toolset: _toolset, ...plain } = { ...body, messages };
    const cleaned = [messages[0], { role: 'assistant', content: content.slice(1) }, messages[2]];
    for (const text of [JSON.stringify(plain), undefined]) {
      const sent = await sentBy((http) => proxyChat(request(http, { body: plain, text })));
      expect(await sent?.json()).toEqual({ ...plain, model, messages: cleaned });
    }
  });

  it('is forwarded there, and translated everywhere else', () => {
    expect(canForward(access, model, anthropicMessages, undefined)).toBe(true);
    for (const kind of ['openai', 'openai-compatible', 'openai-responses', 'gemini', 'cohere', 'rehearsal'] as const)
      expect(canForward({ ...access, kind }, model, anthropicMessages, undefined)).toBe(false);
  });

  it('keeps provider data when the reply is rewritten: the stock client finds its thinking signed', async () => {
    const upstream = fakeAnthropic((_heard, index) =>
      index % 2 === 0 ? { reasoning: 'Hm.', text: 'I look.', calls: [{ name: 'look', arguments: { at: 'x' } }] } : { text: 'Done.' },
    );
    const client = new Anthropic({
      apiKey: 'unused',
      maxRetries: 0,
      fetch: async (_url, init) => {
        const asked = JSON.parse(String(init?.body)) as Record<string, unknown>;
        return await proxyChat(
          request((out) => upstream.handle(out), { body: asked, access: { ...access, profile: { normalize: true } } }),
        );
      },
    });
    for (const streamed of [true, false]) {
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'hi' }];
      const ask = async (): Promise<Anthropic.Message> => {
        const asked: Anthropic.MessageCreateParamsNonStreaming = {
          model,
          max_tokens: 2048,
          thinking: { type: 'enabled', budget_tokens: 1024 },
          tools: [{ name: 'look', input_schema: { type: 'object' } }],
          messages,
        };
        return streamed ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
      };
      const first = await ask();
      expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
      const call = first.content.find((block) => block.type === 'tool_use');
      messages.push({ role: 'assistant', content: first.content });
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'seen' }] });
      expect((await ask()).content).toEqual([{ type: 'text', text: 'Done.' }]);
    }
    expect(upstream.refused).toEqual([]);
  });
});

describe('a token count', () => {
  it('is requested from a provider that supports it', async () => {
    const headers = { 'anthropic-beta': 'new-thing' };
    let answer: Response | null = null;
    const sent = await sentBy(async (http) => {
      answer = await countTokens(request(http, { headers }));
    });
    expect([sent?.url, sent?.headers.get('anthropic-beta'), sent?.headers.get('x-api-key')]).toEqual([
      'https://api.anthropic.com/v1/messages/count_tokens',
      'new-thing',
      'of the provider',
    ]);
    expect(await sent?.json()).toEqual({ model, max_tokens: 9, messages: body.messages, tools });
    expect(await (answer as Response | null)?.json()).toMatchObject({ input_tokens: 3 });
  });

  it('is null for other providers, without a request', async () => {
    for (const kind of ['openai', 'openai-responses', 'gemini', 'cohere', 'rehearsal'] as const)
      expect(await countTokens(request(() => Promise.reject(new Error('asked')), { access: { ...access, kind } }))).toBeNull();
  });

  it('that the provider rejects keeps its status', async () => {
    const refusal = async () => Response.json({ type: 'error', error: { type: 'invalid_request_error', message: 'no' } }, { status: 400 });
    await expect(countTokens(request(refusal))).rejects.toMatchObject({ status: 400 });
  });
});
