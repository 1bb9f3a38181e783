/**
 * Agent frameworks over the running service: what they resend of an answer differs from what the SDKs return. `@openai/agents` and LangGraph in
 * their own wire shapes, written from openai/openai-agents-js `packages/agents-openai/src/openaiChatCompletionsConverter.ts`,
 * `openaiChatCompletionsModel.ts` and `openaiResponsesModel.ts`, and langchain-ai/langchainjs
 * `libs/providers/langchain-openai/src/converters/`; the AI SDK's default model for OpenAI, which only refers to the items of its answers.
 */
import { createOpenAI } from '@ai-sdk/openai';
import { isStepCount, type ModelMessage, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Say, Script, Understood } from '../fakes/upstreams/upstream.ts';
import { chat, type ClientReply, type DialectClient, responses } from './dialect-clients.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire, wires } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

// The SDK warns about model names that it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

type Framework = {
  name: string;
  base: DialectClient;
  fields: Record<string, unknown>;
  /** The items that the framework sends for an answer. */
  answer(reply: ClientReply, streamed: boolean): unknown[];
  result(call: ClientReply['calls'][number], text: string): unknown;
};

const toolCalls = ({ calls }: ClientReply) =>
  calls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));

const frameworks: Framework[] = [
  {
    name: '@openai/agents with Chat Completions',
    base: chat,
    fields: { store: undefined, parallel_tool_calls: true, frequency_penalty: undefined },
    answer(reply) {
      const { content, ...rest } = reply.items[0] as OpenAI.ChatCompletionMessage;
      // Each content part has the other fields of its message (`refusal: null`, the calls), and the calls are a message of their own.
      const said = content === null || (content === '' && reply.calls.length > 0) ? [] : [{ ...rest, type: 'text', text: content }];
      return [
        ...(said.length === 0 ? [] : [{ role: 'assistant', content: said }]),
        ...(reply.calls.length === 0 ? [] : [{ role: 'assistant', content: null, tool_calls: toolCalls(reply) }]),
      ];
    },
    result: ({ id }, text) => ({ role: 'tool', tool_call_id: id, content: text }),
  },
  {
    name: '@openai/agents with Responses',
    base: responses,
    fields: { store: undefined, include: [], parallel_tool_calls: true, text: { format: { type: 'text' } }, truncation: undefined },
    answer: ({ items }) => (items as OpenAI.Responses.ResponseOutputItem[]).map((item) => ({ ...item, status: 'completed' })),
    result: ({ id }, text) => ({ type: 'function_call_output', id: undefined, call_id: id, output: text, status: 'completed' }),
  },
  {
    name: 'LangGraph with Chat Completions',
    base: chat,
    fields: { n: 1, temperature: undefined, stop: undefined, logprobs: undefined },
    answer: (reply) => [{ role: 'assistant', content: reply.text, ...(reply.calls.length > 0 && { tool_calls: toolCalls(reply) }) }],
    result: ({ id, name }, text) => ({ role: 'tool', content: text, name, tool_call_id: id }),
  },
  {
    name: 'LangGraph with Responses',
    base: responses,
    fields: { store: undefined, include: undefined, text: {}, tool_choice: undefined, user: undefined },
    answer(reply, streamed) {
      if (!streamed) return [...reply.items];
      const items = reply.items as OpenAI.Responses.ResponseOutputItem[];
      const idOf = (type: string) => items.find((item) => item.type === type)?.id;
      const content = reply.text === '' ? [] : [{ type: 'output_text', text: reply.text, annotations: [] }];
      return [
        ...items.filter(({ type }) => type === 'reasoning'),
        ...(content.length === 0 ? [] : [{ type: 'message', role: 'assistant', id: idOf('message'), content }]),
        ...reply.calls.map(({ id, name, arguments: args }) => ({
          ...{ type: 'function_call', name, arguments: JSON.stringify(args), call_id: id },
          id: items.find((item) => item.type === 'function_call' && item.call_id === id)?.id,
        })),
      ];
    },
    result: ({ id }, text) => ({ type: 'function_call_output', call_id: id, id: undefined, output: text }),
  },
];

const weather = { name: 'get_weather', description: '', schema: { type: 'object' as const, properties: { city: { type: 'string' } } } };
const call = (city: string) => ({ name: 'get_weather', arguments: { city } });
const targets = [
  ['a provider', { refer: refOf, headers: false }],
  ['an agent with a tool', { refer: (wire: Wire) => `agent/at-${wire}`, headers: false }],
  ['a session', { refer: (wire: Wire) => `agent/at-${wire}`, headers: true }],
] as const;

/** Two calls at once, one more, an answer, and the answer to a second question; the tool of the agent runs beside the first calls. */
const scriptFor =
  (isAgent: boolean): Script =>
  ({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool').length;
    const asked = messages.filter(({ role }) => role === 'user').length;
    const own = isAgent ? [{ name: 'reckon', arguments: { expression: '6*7' } }] : [];
    const steps: Say[] = [
      { reasoning: 'Two cities.', text: 'I look.', calls: [call('Oslo'), call('Rome'), ...own] },
      { reasoning: 'One more.', calls: [call('Bern')] },
      { text: 'All fine.' },
    ];
    return asked > 1 ? { text: 'As before.' } : (steps[results] ?? { text: 'Too far.' });
  };
const results = ({ messages }: Understood): string[] =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ text }) => text) : []));
const said = ({ messages }: Understood): string[] =>
  messages.flatMap((message) => (message.role === 'assistant' && message.text !== '' ? [message.text] : []));

describe('agent frameworks', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;
  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate', aliases: ['reckon'] }] });
    for (const wire of wires) {
      const agent = { model: refOf(wire), instructions: 'Be brief.' };
      expect((await service.call('PUT', `/v1/agents/at-${wire}`, { ...agent, toolset: 'desk' })).status).toBe(201);
      expect((await service.call('PUT', `/v1/agents/bare-${wire}`, agent)).status).toBe(201);
    }
  });
  afterAll(() => fakes.close());

  describe.each(frameworks)('$name', ({ name, base, fields, answer, result }) => {
    describe.each(targets)('over %s', (target, { refer, headers: named }) => {
      it.each([
        ['plain', false],
        ['streamed', true],
      ])('runs a tool loop with parallel calls and asks again: %s', async (how, streamed) => {
        for (const wire of ['anthropic', 'gemini'] as const) {
          const story = fakes.start(`${name} ${target} ${wire} ${how}`, { say: scriptFor(target !== 'a provider') });
          const items: unknown[] = [base.user(`How is it? ${story.mark}`)];
          let session = named ? 'new' : '';
          const ask = async (): Promise<ClientReply> => {
            const headers: Record<string, string> = session === '' ? {} : { 'x-moniker-session': session };
            const asking = { model: refer(wire), system: 'Be kind.', items, tools: [weather], streamed, headers, fields };
            const reply = await base.ask(service, asking);
            if (named) session = reply.headers.get('x-moniker-session') ?? '';
            items.push(...answer(reply, streamed), ...reply.calls.map((one) => result(one, `${JSON.stringify(one.arguments)} is sunny`)));
            return reply;
          };
          const first = await ask();
          expect(first.calls.map(({ name: called, arguments: args }) => [called, args])).toEqual([
            ['get_weather', { city: 'Oslo' }],
            ['get_weather', { city: 'Rome' }],
          ]);
          expect((await ask()).calls).toMatchObject([{ arguments: { city: 'Bern' } }]);
          expect((await ask()).text).toBe('All fine.');
          items.push(base.user(`And again? ${story.mark}`));
          expect((await ask()).text).toBe('As before.');
          const last = story.understood.at(-1) as Understood;
          const shown = ['Oslo', 'Rome', 'Bern'].map((city) => `{"city":"${city}"} is sunny`);
          expect(results(last).filter((text) => shown.includes(text))).toEqual(shown);
          expect(results(last).filter((text) => text.includes('42'))).toHaveLength(target === 'a provider' ? 0 : 1);
          expect(said(last)).toEqual(['I look.', 'All fine.']);
          expect(story.understood).toHaveLength(4);
        }
        expect(fakes.refused()).toEqual([]);
      });
    });
  });

  describe('the AI SDK’s default model', () => {
    const tools = {
      get_weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `{"city":"${city}"} is sunny` }),
    };

    it.each([
      ...targets.map(([target, { refer, headers }]) => ({ target, refer, headers })),
      { target: 'an agent without tools', refer: (wire: Wire) => `agent/bare-${wire}`, headers: false },
    ])('refers to its items over $target', async ({ target, refer, headers: named }) => {
      const isAgent = target.includes('session') || target.includes('with a tool');
      // OpenAI stores the items that it issues itself; its stand-in does not.
      for (const wire of wires.filter((one) => one !== 'text' && (target !== 'a provider' || one !== 'openai-responses'))) {
        const story = fakes.start(`ai ${target} ${wire}`, { say: scriptFor(isAgent) });
        let session = named ? 'new' : '';
        const sent: string[] = [];
        const openai = createOpenAI({
          baseURL: `${service.url}/v1`,
          apiKey: service.key,
          fetch: async (url, init) => {
            const response = await fetch(url, {
              ...init,
              headers: { ...(init?.headers as Record<string, string>), ...(session !== '' && { 'x-moniker-session': session }) },
            });
            sent.push(String(init?.body));
            if (named) session = response.headers.get('x-moniker-session') ?? '';
            return response;
          },
        });
        const messages: ModelMessage[] = [{ role: 'user', content: `How is it? ${story.mark}` }];
        const ask = async (): Promise<string> => {
          const asking = { model: openai(refer(wire)), tools, messages, maxRetries: 0, stopWhen: isStepCount(6) };
          const answered = streamText(asking);
          const text = await answered.text;
          messages.push(...(await answered.responseMessages));
          return text;
        };
        expect(await ask(), wire).toBe('All fine.');
        messages.push({ role: 'user', content: `And again? ${story.mark}` });
        expect(await ask(), wire).toBe('As before.');
        expect(sent.at(-1)).toContain('item_reference');
        const last = story.understood.at(-1) as Understood;
        expect([said(last).at(-1), results(last).length], wire).toEqual(['All fine.', isAgent ? 4 : 3]);
        expect(story.understood).toHaveLength(4);
      }
      expect(fakes.refused()).toEqual([]);
    });

    it('is told what to do about items that are not stored', async () => {
      const input = [
        { role: 'user', content: 'Hi' },
        { type: 'item_reference', id: 'msg_gone_0' },
        { role: 'user', content: 'And?' },
      ];
      for (const [model, headers] of [
        ['agent/at-anthropic', {}],
        ['agent/at-anthropic', { 'x-moniker-session': 'new' }],
        [refOf('anthropic'), {}],
      ] as const) {
        const answered = await service.call('POST', '/v1/responses', { model, input }, headers);
        expect([answered.status, answered.json.error.param]).toEqual([422, 'input[1].id']);
        expect(answered.json.error.message).toContain('previous_response_id');
      }
    });

    it('does not read items of another key', async () => {
      const { json } = await service.call('POST', '/v1/responses', { model: 'agent/demo', input: '/shell echo secret' });
      const { key } = (await service.call('POST', '/v1/keys', { name: 'other', scopes: ['chat'] })).json;
      const input = [
        { type: 'item_reference', id: json.output[0].id },
        { role: 'user', content: 'And?' },
      ];
      const own = await service.call('POST', '/v1/responses', { model: 'agent/demo', input });
      expect([own.status, own.headers.get('x-moniker-session')]).toEqual([200, expect.any(String)]);
      const other = await service.call('POST', '/v1/responses', { model: 'agent/demo', input }, { authorization: `Bearer ${key}` });
      expect([other.status, other.json.error.param]).toEqual([422, 'input[0].id']);
    });
  });
});
