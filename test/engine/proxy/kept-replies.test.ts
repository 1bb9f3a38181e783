/**
 * Tool loops of stock OpenAI clients over translated providers. The client of Chat Completions resends only the standard fields, as LangGraph
 * does; the client of Responses refers to its items, as the AI SDK does. The stand-ins reject a request without the signatures they gave.
 */
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { openAiResponses } from '../../../src/dialects/openai-responses/dialect.ts';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { keepAnswer, type KeptReplies, withReferredItems } from '../../../src/engine/proxy/kept-replies.ts';
import { translateChat } from '../../../src/engine/proxy/translate-chat.ts';
import { toCompletionId } from '../../../src/core/text/reference.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { memoryReplies } from '../../fakes/kept-replies.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import type { FakeUpstream, Say } from '../../fakes/upstreams/upstream.ts';
import { anthropic, cohere, deepseek, gemini, openai, type Participant, responses, vertex } from '../switching-speakers.ts';

const weather = (city: string) => ({ name: 'weather', arguments: { city } });
const says: Say[] = [
  { reasoning: 'Two cities.', text: 'I look.', calls: [weather('Bern'), weather('Rome')] },
  { reasoning: 'One more.', calls: [weather('Oslo')] },
  { text: 'All fine.' },
];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** The stock client, whose every request is translated for one provider. */
function talkTo({ access, model, create }: Participant, dialect: Dialect, kept: KeptReplies) {
  const replies: string[] = [];
  const upstream: FakeUpstream = create((_heard, index) => says[index] ?? {});
  const http: OutboundHttp = async (request) => {
    const response = await upstream.handle(request);
    replies.push(await response.clone().text());
    return response;
  };
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    const body = JSON.parse(String(init?.body)) as Record<string, unknown> & { model: string };
    return await translateChat(deps, { access, model, dialect, body, ref: body.model, kept }, () => new AbortController().signal);
  };
  return { client: new OpenAI({ apiKey: 'unused', maxRetries: 0, fetch }), upstream, replies };
}

/** The provider's data in the message before the results of the last request. */
function returned(upstream: FakeUpstream, at: number): readonly string[] {
  const message = upstream.understood[at]?.messages.findLast(({ role }) => role === 'assistant');
  return message?.role === 'assistant' ? message.returned : [];
}

/** Without Gemini's summaries of thoughts, which go back only to a model that the history names. */
function toReturn(participant: Participant, at: number, reply = ''): readonly string[] {
  const said = { text: '', ...says[at], calls: (says[at]?.calls ?? []).map((call) => ({ ...call, canonical: null })) };
  const all = participant.returns({ role: 'assistant', by: participant, says: said, reply }, true, true);
  const own = participant.access.kind === 'gemini' ? all.slice(1) : all;
  return own.filter((value) => value !== '');
}

const chats: [string, Participant][] = Object.entries({ deepseek, responses, anthropic, gemini, vertex, cohere });

describe.each(chats)('a client of Chat Completions that resends the standard fields only, over %s', (_name, participant) => {
  it.each([true, false])('gives the model back what it requires in a tool loop (streamed: %s)', async (streamed) => {
    const kept = memoryReplies();
    const { client, upstream, replies } = talkTo(participant, openAiChat, kept);
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'How is it?' }];
    const ids: string[] = [];
    const ask = async (): Promise<OpenAI.ChatCompletionMessage> => {
      const request = {
        model: `x/${participant.model}`,
        reasoning_effort: 'high' as const,
        tools: [{ type: 'function' as const, function: { name: 'weather', parameters } }],
        messages,
      };
      const { message } = streamed
        ? ((await client.chat.completions.stream(request).finalChatCompletion()).choices[0] ?? {})
        : ((await client.chat.completions.create(request)).choices[0] ?? {});
      if (message === undefined) throw new Error('no choice');
      const calls = (message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
      ids.push(...calls.map(({ id }) => id));
      messages.push({
        role: 'assistant',
        content: message.content,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, function: { name, arguments: args } }) => ({
            id,
            type: 'function' as const,
            function: { name, arguments: args },
          })),
        }),
      });
      for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'fine' });
      return message;
    };
    await ask();
    await ask();
    expect((await ask()).content).toBe('All fine.');
    expect(upstream.refused).toEqual([]);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    for (const at of [0, 1]) expect(returned(upstream, at + 1)).toEqual(toReturn(participant, at, replies[at]));
  });
});

describe('stored parts', () => {
  const asked = (content: string) => ({
    model: 'x/m',
    tools: [{ type: 'function' as const, function: { name: 'weather', parameters } }],
    messages: [{ role: 'user' as const, content }],
  });

  it('are not used if the client changed the call', async () => {
    const kept = memoryReplies();
    const { client, upstream } = talkTo(anthropic, openAiChat, kept);
    const { choices } = await client.chat.completions.create({ ...asked('Hi'), reasoning_effort: 'high' });
    const calls = (choices[0]?.message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
    const changed = calls.map((call) => ({ ...call, function: { name: 'weather', arguments: '{"city":"Paris"}' } }));
    const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'fine' }));
    const message = { role: 'assistant' as const, content: 'I look.', tool_calls: changed };
    await client.chat.completions.create({ ...asked('Hi'), messages: [...asked('Hi').messages, message, ...results] });
    expect(kept.texts.size).toBeGreaterThan(0);
    expect(returned(upstream, 1)).toEqual([]);
  });

  it('are not stored with store: false, nor for an answer without calls', async () => {
    const kept = memoryReplies();
    await talkTo(anthropic, openAiChat, kept).client.chat.completions.create({ ...asked('Hi'), store: false });
    expect(kept.texts.size).toBe(0);
  });
});

describe.each(Object.entries({ openai, anthropic, gemini, cohere } as Record<string, Participant>))(
  'a client of Responses that refers to its items, over %s',
  (_name, participant) => {
    it.each([true, false])('continues with the stored items (streamed: %s)', async (streamed) => {
      const { client, upstream, replies } = talkTo(participant, openAiResponses, memoryReplies());
      const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'How is it?' }];
      const ask = async (): Promise<string> => {
        const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'weather', parameters, strict: false }];
        const request = { model: `x/${participant.model}`, tools, reasoning: { effort: 'high' as const }, input };
        const { output, output_text: text } = streamed
          ? await client.responses.stream(request).finalResponse()
          : await client.responses.create(request);
        for (const item of output) input.push({ type: 'item_reference', id: item.id ?? '' });
        for (const item of output)
          if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output: 'fine' });
        return text;
      };
      await ask();
      await ask();
      expect(await ask()).toBe('All fine.');
      expect(upstream.refused).toEqual([]);
      for (const at of [0, 1]) expect(returned(upstream, at + 1)).toEqual(toReturn(participant, at, replies[at]));
    });
  },
);

it('a reference to an item that is not stored is reported with its path', async () => {
  const { client } = talkTo(anthropic, openAiResponses, memoryReplies());
  const input: OpenAI.Responses.ResponseInputItem[] = [
    { role: 'user', content: 'Hi' },
    { type: 'item_reference', id: 'msg_gone_0' },
    { role: 'user', content: 'And?' },
  ];
  const failed = await client.responses
    .create({ model: 'x/m', input })
    .catch((error: unknown) => (error as { cause?: unknown }).cause ?? error);
  expect(failed).toMatchObject({ code: 'invalid_request', extra: { issues: [{ path: 'input[1].id' }] } });
});

describe('a reference to an item of a session', () => {
  const session = 'ab'.repeat(32);
  const id = toCompletionId('openai-responses', 'cmpl_x', session);
  const item = { type: 'message', id: 'msg_cmpl_x_0', role: 'assistant', content: [] };
  const body = { model: 'agent/x', input: [{ type: 'item_reference', id: item.id }] };
  const stored = () => {
    const kept = memoryReplies();
    kept.answers.set(id, JSON.stringify({ output: [item] }));
    return kept;
  };

  it('is found by the id that was kept, or in the session that the request names', async () => {
    const kept = stored();
    await expect(withReferredItems(kept, body, { unknown: 'refuse' })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await withReferredItems(kept, body, { session, unknown: 'refuse' })).toEqual({ ...body, input: [item] });
    keepAnswer(kept, openAiResponses, id);
    for (const named of [undefined, null, 'new', 'cd'.repeat(32)])
      expect(await withReferredItems(kept, body, { session: named, unknown: 'refuse' })).toEqual({ ...body, input: [item] });
  });

  it('is left to the provider if it is unknown and may be its own', async () => {
    const input = [{ type: 'item_reference', id: 'rs_theirs' }, ...body.input];
    expect(await withReferredItems(stored(), { input }, { session, unknown: 'leave' })).toEqual({ input: [input[0], item] });
  });

  it('is refused beyond the size of a request, and beyond a number of answers', async () => {
    const kept = stored();
    kept.answers.set(id, JSON.stringify({ output: [{ ...item, content: 'x'.repeat(11_000_000) }] }));
    await expect(withReferredItems(kept, body, { session, unknown: 'refuse' })).rejects.toMatchObject({ code: 'body_too_large' });
    const input = Array.from({ length: 257 }, (_, at) => ({ type: 'item_reference', id: `msg_${at}_0` }));
    await expect(withReferredItems(kept, { input }, { unknown: 'refuse' })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
