import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../../src/dialects/anthropic/dialect.ts';
import { translateChat } from '../../../src/engine/proxy/translate-chat.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import type { FakeUpstream, Say } from '../../fakes/upstreams/upstream.ts';
import { anthropic, cohere, deepseek, gemini, openai, type Participant, responses, vertex } from '../switching-speakers.ts';

const says: Say[] = [
  {
    reasoning: 'Two cities.',
    text: 'I look.',
    calls: [
      { name: 'weather', arguments: { city: 'Bern' } },
      { name: 'weather', arguments: { city: 'Zürich "ZH"' } },
    ],
  },
  { reasoning: 'So.', text: 'Both are fine.' },
  { text: 'Bye.' },
];
const tools: Anthropic.Tool[] = [
  {
    name: 'weather',
    description: 'Of a city.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];

/** The stock client, whose every request is translated for one provider, with all traffic of the provider's wire. */
function talkTo({ access, model, create }: Participant) {
  const replies: string[] = [];
  const upstream: FakeUpstream = create((_heard, index) => says[index] ?? {});
  const http: OutboundHttp = async (request) => {
    const response = await upstream.handle(request);
    replies.push(await response.clone().text());
    return response;
  };
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  const client = new Anthropic({
    apiKey: 'unused',
    maxRetries: 0,
    fetch: async (_url, init) => {
      const body = JSON.parse(String(init?.body)) as Record<string, unknown> & { model: string };
      return await translateChat(
        deps,
        { access, model, dialect: anthropicMessages, body, ref: body.model },
        () => new AbortController().signal,
      );
    },
  });
  return { client, upstream, replies };
}

const participants: [string, Participant][] = Object.entries({ openai, deepseek, responses, anthropic, gemini, vertex, cohere });

describe.each(participants)('the stock Anthropic client, answered by %s', (name, participant) => {
  it.each([true, false])(
    'makes parallel calls, sends their results and continues, and sends back unchanged what it was given (streamed: %s)',
    async (streamed) => {
      const { client, upstream, replies } = talkTo(participant);
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How is it?' }];
      const ask = async (): Promise<Anthropic.Message> => {
        const request: Anthropic.MessageCreateParamsNonStreaming = {
          model: `${name}/${participant.model}`,
          max_tokens: 4096,
          system: 'Be brief.',
          thinking: { type: 'enabled', budget_tokens: 1024 },
          tools,
          messages,
        };
        const message = streamed ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
        messages.push({ role: 'assistant', content: message.content });
        return message;
      };

      const first = await ask();
      const calls = first.content.filter((block) => block.type === 'tool_use');
      expect(calls.map(({ name: tool, input }) => [tool, input])).toEqual(says[0]?.calls?.map((call) => [call.name, call.arguments]));
      expect([first.model, first.stop_reason]).toEqual([`${name}/${participant.model}`, 'tool_use']);
      expect(first.usage.output_tokens).toBeGreaterThan(0);
      messages.push({
        role: 'user',
        content: calls.map(({ id }, index) => ({ type: 'tool_result', tool_use_id: id, content: `fine ${index}` })),
      });

      const second = await ask();
      expect(second.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')).toBe('Both are fine.');
      expect(second.stop_reason).toBe('end_turn');
      messages.push({ role: 'user', content: 'Thanks.' });
      await ask();

      expect(upstream.refused).toEqual([]);
      const [, heard] = upstream.understood;
      expect(heard?.messages.at(-1)).toMatchObject({ role: 'tool', results: [{ text: 'fine 0' }, { text: 'fine 1' }] });
      const reply = heard?.messages.at(-2);
      expect(reply?.role === 'assistant' ? reply.calls.map((call) => call.arguments) : null).toEqual(
        says[0]?.calls?.map((call) => call.arguments),
      );
      const spoken = {
        reasoning: 'Two cities.',
        text: 'I look.',
        calls: (says[0]?.calls ?? []).map((call) => ({ ...call, canonical: null })),
      };
      const returned = participant.returns({ role: 'assistant', by: participant, says: spoken, reply: replies[0] ?? '' }, true, true);
      // Its thoughts are summaries, sent back only to the very model that made them, which a client's history does not name.
      const expected = participant.access.kind === 'gemini' ? returned.slice(1) : returned;
      expect(reply?.role === 'assistant' ? reply.returned : null).toEqual(expected);
    },
  );
});

describe('a translated request that a provider rejects', () => {
  const refusing = (status: number) => {
    const participant = {
      ...openai,
      create: () => ({ handle: async () => Response.json(tooLong, { status }), understood: [], refused: [] }),
    };
    return talkTo(participant).client;
  };
  const cause = (error: { cause?: unknown }): unknown => error.cause ?? error;
  const tooLong = { error: { message: 'the prompt is too long', type: 'invalid_request_error' } };
  const request: Anthropic.MessageCreateParamsNonStreaming = {
    model: 'openai/any',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hi' }],
  };

  it.each([400, 413, 422])('keeps its status, streamed or not: %i', async (status) => {
    const refused = {
      code: 'upstream_error',
      status,
      detail: expect.stringContaining('the prompt is too long'),
      extra: { upstreamStatus: status },
    };
    await expect(refusing(status).messages.create(request).catch(cause)).resolves.toMatchObject(refused);
    await expect(
      refusing(status)
        .messages.create({ ...request, stream: true })
        .catch(cause),
    ).resolves.toMatchObject(refused);
  });

  it('is forbidden, not unauthenticated, if the key of the provider is wrong', async () => {
    for (const [status, shown] of [
      [401, 403],
      [403, 403],
      [404, 404],
    ] as const)
      await expect(refusing(status).messages.create(request).catch(cause)).resolves.toMatchObject({
        code: 'upstream_error',
        status: shown,
      });
  });
});
