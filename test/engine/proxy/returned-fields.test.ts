/**
 * Clients of Chat Completions that send back whole messages, as LiteLLM's clients do, without anything stored here; and LiteLLM as a
 * provider. The stand-ins reject a request without the signatures that they gave. The shapes of LiteLLM are those of docs.litellm.ai
 * `reasoning_content` and of BerriAI/litellm#29428, whose streams have pieces of blocks.
 */
import { describe, expect, it } from 'vitest';
import type { ApiDialectName } from '../../../src/core/text/reference.ts';
import { loadDialect } from '../../../src/dialects/dialects.ts';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { translateChat } from '../../../src/engine/proxy/translate-chat.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import type { Say } from '../../fakes/upstreams/upstream.ts';
import { anthropic, cohere, deepseek, gemini, type Participant, responses } from '../switching-speakers.ts';

type Json = Record<string, unknown>;
type Call = { index: number; id: string; function: { name: string; arguments: string } };
type Message = { content: string; tool_calls: Call[]; [field: string]: unknown };

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const functionTool = { type: 'function', function: { name: 'weather', parameters } };

function translator({ access, model }: Pick<Participant, 'access' | 'model'>, http: OutboundHttp) {
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  return async (body: Json, dialect: ApiDialectName = 'openai-chat'): Promise<Response> => {
    const chat = { access, model, dialect: await loadDialect(dialect), body: { ...body, model: 'alias' }, ref: 'alias' };
    return await translateChat(deps, chat, () => new AbortController().signal);
  };
}

/** Joins the chunks of a stream: texts and lists grow, calls are joined by their index. */
async function readMessage(response: Response): Promise<Message> {
  if (response.headers.get('content-type')?.includes('json')) {
    const { choices } = (await response.json()) as { choices: { message: Message }[] };
    return choices[0]?.message ?? { content: '', tool_calls: [] };
  }
  const message: Message = { content: '', tool_calls: [] };
  for (const line of (await response.text()).split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: Json }[] };
    for (const [name, value] of Object.entries(choices[0]?.delta ?? {})) {
      if (name === 'tool_calls') for (const call of value as Call[]) joinCall(message.tool_calls, call);
      else if (Array.isArray(value)) message[name] = [...((message[name] as unknown[] | undefined) ?? []), ...value];
      else message[name] = typeof message[name] === 'string' ? message[name] + String(value) : value;
    }
  }
  return message;
}

function joinCall(calls: Call[], call: Call): void {
  const known = calls[call.index];
  if (known === undefined) calls[call.index] = call;
  else
    calls[call.index] = {
      ...known,
      ...call,
      function: { ...known.function, arguments: known.function.arguments + (call.function?.arguments ?? '') },
    };
}

const says: Say[] = [
  { reasoning: 'One city.', calls: [{ name: 'weather', arguments: { city: 'Bern' } }] },
  { reasoning: 'One more.', calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
  { text: 'All fine.' },
];

describe.each(Object.entries({ deepseek, responses, anthropic, gemini, cohere }))(
  'a client of Chat Completions that sends back whole messages, over %s',
  (_name, participant: Participant) => {
    it.each([true, false])('gives the model back what it requires, over several steps (streamed: %s)', async (stream) => {
      const replies: string[] = [];
      const upstream = participant.create((_heard, index) => says[index] ?? {});
      const ask = translator(participant, async (request) => {
        const response = await upstream.handle(request);
        replies.push(await response.clone().text());
        return response;
      });
      const messages: Json[] = [{ role: 'user', content: 'How is it?' }];
      const step = async (): Promise<Message> => {
        const message = await readMessage(await ask({ messages, tools: [functionTool], reasoning_effort: 'high', stream }));
        messages.push({ ...message, role: 'assistant' });
        for (const { id } of message.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: 'fine' });
        return message;
      };
      await step();
      await step();
      expect((await step()).content).toBe('All fine.');
      expect(upstream.refused).toEqual([]);
      for (const at of [0, 1]) {
        const said = upstream.understood[at + 1]?.messages.findLast(({ role }) => role === 'assistant');
        const calls = (says[at]?.calls ?? []).map((call) => ({ ...call, canonical: null }));
        const spoken = { role: 'assistant' as const, by: participant, says: { text: '', ...says[at], calls }, reply: replies[at] ?? '' };
        const all = participant.returns(spoken, true, true).filter((value) => value !== '');
        // Summaries of Gemini's thoughts only go back to a model that the history names.
        const expected = participant === gemini ? all.filter((value) => value !== says[at]?.reasoning) : all;
        expect(said?.role === 'assistant' ? said.returned : null).toEqual(expected);
      }
    });
  },
);

const blocks = [
  { type: 'thinking', thinking: 'Where is it?', signature: 'EqoBsig' },
  { type: 'redacted_thinking', data: 'hidden' },
];
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } };
const signedCall = { ...call, provider_specific_fields: { thought_signature: 'c2ln' } };

function liteLlm(stream: boolean): Response {
  const head = { id: 'c', created: 1, model: 'm' };
  const fields = { provider_specific_fields: { citations: [], thinking_blocks: blocks } };
  if (!stream) {
    const message = {
      role: 'assistant',
      content: null,
      reasoning_content: 'Where is it?',
      thinking_blocks: blocks,
      tool_calls: [signedCall],
    };
    return Response.json({ ...head, choices: [{ index: 0, message: { ...message, ...fields }, finish_reason: 'tool_calls' }] });
  }
  const piece = (thinking: string, signature = '') => ({
    reasoning_content: thinking,
    thinking_blocks: [{ type: 'thinking', thinking, signature }],
    provider_specific_fields: { thinking_blocks: [{ type: 'thinking', thinking, signature }] },
  });
  const deltas = [piece('Where '), piece('is it?'), piece('', 'EqoBsig'), { thinking_blocks: [blocks[1]] }];
  const chunks = [...deltas, { ...fields, tool_calls: [{ index: 0, ...signedCall }] }].map((delta) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
  const text = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  return new Response(`${text}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}

const liteLlmAccess = { ...deepseek.access, name: 'proxy', baseUrl: 'http://127.0.0.1:4000/v1', profile: {} };

describe.each([true, false])('LiteLLM as a provider of Claude and Gemini (streamed: %s)', (stream) => {
  const sent: Json[] = [];
  const ask = translator({ access: liteLlmAccess, model: 'claude-sonnet-4-5' }, async (request) => {
    sent.push((await request.json()) as Json);
    return liteLlm(stream);
  });
  const returned = (): unknown => (sent.at(-1)?.messages as Json[] | undefined)?.find(({ role }) => role === 'assistant');
  const expected = {
    role: 'assistant',
    content: null,
    thinking_blocks: blocks,
    provider_specific_fields: { citations: [] },
    tool_calls: [signedCall],
  };

  it('gets its blocks and fields back from a client of Chat Completions', async () => {
    const asked = { messages: [{ role: 'user', content: 'Hi' }], tools: [functionTool], stream };
    const message = await readMessage(await ask(asked));
    expect(message).toMatchObject({ reasoning_content: 'Where is it?', thinking_blocks: blocks });
    const result = { role: 'tool', tool_call_id: message.tool_calls[0]?.id, content: 'fine' };
    await ask({ ...asked, messages: [...asked.messages, { ...message, role: 'assistant' }, result] });
    expect(returned()).toEqual(expected);
  });

  it('gets them back from a client of Messages, whose own blocks are not sent to it', async () => {
    const tools = [{ name: 'weather', input_schema: parameters }];
    const asked = { messages: [{ role: 'user', content: 'Hi' }], tools, max_tokens: 99 };
    const reply = await ask(asked, 'anthropic-messages');
    const { content } = (await reply.json()) as { content: Json[] };
    const use = content.find(({ type }) => type === 'tool_use');
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: use?.id, content: 'fine' }] };
    await ask({ ...asked, messages: [...asked.messages, { role: 'assistant', content }, result] }, 'anthropic-messages');
    expect(returned()).toEqual(expected);
    const own = content.map((block) => (block.type === 'thinking' ? { ...block, signature: 'Eqo' } : block));
    const named = await ask({ ...asked, messages: [...asked.messages, { role: 'assistant', content: own }, result] }, 'anthropic-messages');
    expect((returned() as Json).thinking_blocks).toEqual([blocks[1]]);
    expect(named.status).toBe(200);
  });
});

describe('the history of a client of Chat Completions', () => {
  const sentTo = async ({ access, model }: Participant, assistant: Json): Promise<{ body: string; dropped: string | null }> => {
    let body = '';
    const ask = translator({ access, model }, async (request) => {
      body = await request.text();
      return new Response('no', { status: 418 });
    });
    const result = { role: 'tool', tool_call_id: 'call_1', content: 'fine' };
    const messages = [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: '', ...assistant }, result];
    const failed = await ask({ messages, tools: [functionTool] }).catch(() => null);
    return { body, dropped: failed?.headers.get('x-moniker-dropped') ?? null };
  };

  it('may have the pieces of a stream of LiteLLM, which are joined for Claude', async () => {
    const pieces = [
      { type: 'thinking', thinking: 'Where ', signature: '' },
      { type: 'thinking', thinking: 'is it?', signature: '' },
      { type: 'thinking', thinking: '', signature: 'EqoBsig' },
    ];
    const { body } = await sentTo(anthropic, { thinking_blocks: pieces, tool_calls: [call] });
    expect(JSON.parse(body).messages[1].content.slice(0, 2)).toEqual([
      { type: 'thinking', thinking: 'Where is it?', signature: 'EqoBsig' },
      { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } },
    ]);
  });

  it('loses what a server of the same API rejects, which is named', async () => {
    const groq = { access: { ...liteLlmAccess, baseUrl: 'https://api.groq.com/openai/v1' }, model: 'llama-3.3-70b-versatile' };
    let body = '';
    const ask = translator(groq, async (request) => {
      body = await request.text();
      return Response.json({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
    });
    const said = { role: 'assistant', content: 'x', reasoning_details: [{ type: 'reasoning.encrypted', data: 'sealed', index: 0 }] };
    const reply = await ask({ messages: [{ role: 'user', content: 'Hi' }, said, { role: 'user', content: 'And?' }] });
    expect(reply.headers.get('x-moniker-dropped')).toBe('messages[].reasoning_details');
    expect(body).not.toContain('sealed');
  });

  it.each([
    { extra_content: { google: { thought_signature: 'c2ln' } } },
    { provider_specific_fields: { thought_signature: 'c2ln' } },
    { function: { ...call.function, provider_specific_fields: { thought_signatures: ['c2ln'] } } },
  ])('may have a signature of Gemini, which is sent to it: %o', async (fields) => {
    const { body } = await sentTo(gemini, { tool_calls: [{ ...call, ...fields }] });
    expect(JSON.parse(body).contents[1].parts).toEqual([expect.objectContaining({ thoughtSignature: 'c2ln' })]);
  });
});

it('a request that is passed on loses the tokens of other providers, and keeps all else', () => {
  const token = `moniker.${Buffer.from('{"provider":"x","data":1}').toString('base64url')}`;
  const own = { type: 'thinking', thinking: 'Hm.', signature: 'EqoB' };
  const plain = { ...call, provider_specific_fields: { thought_signature: 'c2ln' } };
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: 'x',
      thinking_blocks: [{ ...own, signature: token }, own],
      tool_calls: [{ ...call, provider_specific_fields: { thought_signature: token } }, plain],
    },
    { role: 'assistant', content: 'y', thinking_blocks: [{ type: 'redacted_thinking', data: token }] },
  ];
  const body = { model: 'm', messages };
  expect(openAiChat.withoutTokens?.(body)).toEqual({
    model: 'm',
    messages: [
      messages[0],
      { role: 'assistant', content: 'x', thinking_blocks: [own], tool_calls: [call, plain] },
      { role: 'assistant', content: 'y' },
    ],
  });
  const other = { model: 'm', messages: [{ role: 'assistant', content: 'x', thinking_blocks: [own], tool_calls: [plain] }] };
  expect(openAiChat.withoutTokens?.(other)).toBe(other);
});
