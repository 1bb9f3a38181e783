/**
 * Models whose servers leave their reasoning in the text: clients get it as reasoning, the model gets it back in the text while its tools run,
 * and other models do not get it as text. The replies have the shape of MiniMax's "OpenAI API" and of vLLM without a parser.
 */
import { describe, expect, it } from 'vitest';
import type { ApiDialectName } from '../../../src/core/text/reference.ts';
import { loadDialect } from '../../../src/dialects/dialects.ts';
import { translateChat } from '../../../src/engine/proxy/translate-chat.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { anthropic, type Participant, text } from '../switching-speakers.ts';

type Json = Record<string, unknown>;
type Sent = { messages: Json[] };

const minimax = { access: { ...text.access, name: 'minimax', profile: {} }, model: 'MiniMax-M2.1' };
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function reply(stream: boolean, content: string, calls: Json[]): Response {
  const head = { id: 'c', created: 1, model: 'm', usage };
  const finish = calls.length > 0 ? 'tool_calls' : 'stop';
  if (!stream) {
    const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
    return Response.json({ ...head, choices: [{ index: 0, message, finish_reason: finish }] });
  }
  const pieces = content.match(/[\s\S]{1,5}/g) ?? [];
  const deltas = [...pieces.map((piece) => ({ content: piece })), ...(calls.length > 0 ? [{ tool_calls: calls }] : [])];
  const chunks = deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] }));
  const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] };
  const lines = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  return new Response(`${lines}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}

/** Returns what asks a model for a reply with this content, and the bodies that it was sent. */
function asking(participant: Pick<Participant, 'access' | 'model'>, content: string, calls: Json[] = []) {
  const sent: Sent[] = [];
  const http = async (request: Request): Promise<Response> => {
    const body = (await request.json()) as Sent & { stream?: boolean };
    sent.push(body);
    return participant.access.kind === 'anthropic' ? new Response('no', { status: 418 }) : reply(body.stream === true, content, calls);
  };
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  const ask = async (dialect: ApiDialectName, body: Json): Promise<Response> => {
    const chat = { ...participant, dialect: await loadDialect(dialect), body: { ...body, model: 'a/b' }, ref: 'a/b' };
    return await translateChat(deps, chat, () => new AbortController().signal);
  };
  return { ask, sent };
}

const tools = [{ name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }];
const asked = { max_tokens: 99, tools, messages: [{ role: 'user', content: 'Hi' }] };
const contentOf = async (response: Response): Promise<Json[]> => ((await response.json()) as { content: Json[] }).content;

describe('reasoning in the text of a reply', () => {
  it('is a thinking block, and goes back in the text while the tools run', async () => {
    const { ask, sent } = asking(minimax, '<think>\nWhere?\n</think>\n\nI look.', [call]);
    const content = await contentOf(await ask('anthropic-messages', asked));
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'Where?' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', name: 'weather' },
    ]);
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: content[2]?.id, content: 'fine' }] };
    const messages = [...asked.messages, { role: 'assistant', content }, result];
    const answer = await ask('anthropic-messages', { ...asked, messages });
    expect(sent[1]?.messages[1]).toMatchObject({ content: '<think>\nWhere?\n</think>\n\nI look.', tool_calls: [{ id: 'call_1' }] });
    expect(answer.headers.get('x-moniker-dropped')).toBeNull();
  });

  it.each([true, false])('is reasoning for clients of Chat Completions and of Responses (streamed: %s)', async (stream) => {
    const { ask } = asking({ ...minimax, model: 'deepseek-r1-distill-qwen-7b' }, '<think>\nWhere?\n</think>\n\nHere: <b>.');
    const messages = [{ role: 'user', content: 'Hi' }];
    const chat = await (await ask('openai-chat', { messages, stream })).text();
    const responses = await (await ask('openai-responses', { input: 'Hi', stream })).text();
    expect(chat).not.toContain('think>');
    expect(responses).not.toContain('think>');
    const pieces = [...chat.matchAll(/"(reasoning_content|content)":"((?:[^"\\]|\\.)*)"/g)];
    const joined = (name: string): string => pieces.map(([, field, piece]) => (field === name ? piece : '')).join('');
    expect([joined('reasoning_content'), joined('content')]).toEqual(['Where?', 'Here: <b>.']);
    expect(responses).toContain('"summary":[{"type":"summary_text","text":"Where?"}]');
  });

  it('stays text for models that do not reason so, and where the server has a field for it', async () => {
    const other = asking({ ...minimax, model: 'house-model' }, '<think>a</think>b');
    expect(await contentOf(await other.ask('anthropic-messages', asked))).toEqual([{ type: 'text', text: '<think>a</think>b' }]);
  });

  it('is split by the setting of the provider, also where only its end is marked', async () => {
    const access = { ...minimax.access, profile: { thinkTags: 'opened' as const } };
    const opened = asking({ access, model: 'house-model' }, 'a\n</think>\n\nb');
    expect(await contentOf(await opened.ask('anthropic-messages', asked))).toMatchObject([{ thinking: 'a' }, { text: 'b' }]);
    const without = asking({ access, model: 'house-model' }, 'b');
    expect((await contentOf(await without.ask('anthropic-messages', asked))).at(-1)).toEqual({ type: 'text', text: 'b' });
  });

  it('is before a call that the server did not recognize, which is recovered', async () => {
    const written = '<tool_call>{"name": "weather", "arguments": {"city": "Bern"}}</tool_call>';
    const { ask } = asking({ ...minimax, model: 'Qwen/Qwen3-8B' }, `<think>Where?</think>\n${written}`);
    expect(await contentOf(await ask('anthropic-messages', asked))).toMatchObject([
      { type: 'thinking', thinking: 'Where?' },
      { type: 'tool_use', name: 'weather', input: { city: 'Bern' } },
    ]);
  });
});

describe('reasoning in the text of a client’s history', () => {
  const said = '<think>\nWhere?\n</think>\n\nI look.';
  const histories: [ApiDialectName, Json][] = [
    [
      'openai-chat',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: said },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    [
      'anthropic-messages',
      {
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: said },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    [
      'openai-responses',
      {
        input: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: said },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
  ];

  it.each(histories)('of %s is no text to another model', async (dialect, body) => {
    const { ask, sent } = asking(anthropic, '');
    await ask(dialect, body).catch(() => null);
    expect(sent[0]?.messages[1]).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'I look.' }] });
  });

  it('goes back in the text to a server of the same API while tools run, and is named where it does not', async () => {
    const { ask, sent } = asking(minimax, 'Fine.');
    const { index: _index, ...own } = call;
    const history = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: said, tool_calls: [own] },
      { role: 'tool', tool_call_id: 'call_1', content: 'fine' },
    ];
    await ask('openai-chat', { messages: history });
    expect(sent[0]?.messages[1]).toMatchObject({ content: said });
    const named = await ask('openai-chat', histories[0]?.[1] ?? {});
    expect(sent[1]?.messages[1]).toMatchObject({ content: 'I look.' });
    expect(named.headers.get('x-moniker-dropped')).toBe('messages[].content');
  });
});
