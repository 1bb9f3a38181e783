/**
 * Known quirks of Chat Completions servers (reference §8.2–8.5) as small streams in their wire format. None needs a flag: the reply reader
 * and the assembler handle all.
 * The quirks of §8.6 (schemas, tool counts, forced choices) are flags that `tool-definitions.ts` reads. Those of §8.7 (history):
 * - results next to their calls, contiguous, in call order: `core/turn/transcript.ts`, and each adapter's golden request;
 * - thought signatures and their placeholder: `callSignatures`, in `gemini/request.test.ts` and `openai-chat/request.test.ts`;
 * - `reasoning_content` in a tool loop: `echoReasoning`; reasoning items with their calls: `openai-responses/request.test.ts`;
 * - `tool_plan` in the replayed message: `cohere/request.test.ts`;
 * - names on tool messages, an assistant after results: `toolResultName`, `assistantAfterToolResult`;
 * - history that mentions tools when none are offered: `anthropic/request.test.ts`;
 * - old names in old turns: they are renamed before an adapter sees them.
 */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { Message } from '../../src/core/model/message.ts';
import { createCallIds } from '../../src/providers/history-calls.ts';
import { chatCompletions } from '../../src/providers/openai-chat/reply.ts';
import { plainProfile } from '../../src/providers/profiles.ts';
import { access, gather, type Whole } from './replies.ts';

const chunk = (delta: object, rest: object = {}) => ({ choices: [{ index: 0, delta, ...rest }] });
/** A delta of calls. */
const calls = (...pieces: object[]) => chunk({ tool_calls: pieces });
const named = (name: string, args?: unknown) => ({ function: { name, ...(args !== undefined && { arguments: args }) } });
const args = (text: unknown) => ({ function: { arguments: text } });
const ended = (reason: string | null = 'tool_calls') => chunk({}, { finish_reason: reason });

function eventsOf(...chunks: unknown[]): ChatEvent[] {
  const reply = chatCompletions.createReply(access);
  const events = chunks.flatMap((value) => reply.take({ event: '', data: typeof value === 'string' ? value : JSON.stringify(value) }));
  return [...events, ...reply.end()];
}
const read = (...chunks: unknown[]): Whole => gather(eventsOf(...chunks));
const callsOf = (...chunks: unknown[]): [string, unknown, string][] =>
  read(...chunks).calls.map((call) => [call.name, call.arguments, call.state]);

const one = [['a', { n: 1 }, 'ok']];
const two = [
  ['a', { n: 1 }, 'ok'],
  ['b', { n: 2 }, 'ok'],
];

describe('ids of calls (§8.2)', () => {
  it.each<[string, unknown[]]>([
    [
      'repeated on every chunk (koog#2052)',
      [calls({ index: 0, id: 'x', ...named('a', '{"n"') }), calls({ index: 0, id: 'x', ...args(':1}') })],
    ],
    [
      'empty on later pieces (symfony/ai#2220, opencode#40969)',
      [calls({ index: 0, id: 'x', ...named('a', '{"n"') }), calls({ index: 0, id: '', ...args(':1}') })],
    ],
    [
      'null next to a name of null (sglang#35542)',
      [calls({ index: 0, id: 'x', ...named('a', '{"n"') }), calls({ index: 0, id: null, function: { name: null, arguments: ':1}' } })],
    ],
    ['missing (litellm#33223, langchainjs#8581)', [calls({ index: 0, ...named('a', '{"n"') }), calls({ index: 0, ...args(':1}') })]],
    [
      'apart from the name (pipecat#5023)',
      [calls({ index: 0, id: 'x' }), calls({ index: 0, ...named('a') }), calls({ index: 0, ...args('{"n":1}') })],
    ],
  ])('%s', (_name, chunks) => {
    expect(callsOf(...chunks, ended())).toEqual(one);
  });

  it('that restart with every turn (Bedrock Mantle) stay unique, and so do those of two vendors (llmgateway#3389)', () => {
    const said = (callId: string, model: string, nativeId: string): Message => ({
      role: 'assistant',
      model,
      parts: [{ type: 'tool-call', callId, requested: 'a', canonical: 'a', via: 'wire', arguments: {}, nativeId }],
    });
    const idOf = createCallIds([said('c1', 'p/m', 'call_0'), said('c2', 'p/m', 'call_0'), said('c3', 'q/m', 'toolu_7')], 'p', plainProfile);
    expect(idOf('c1')).toBe('call_0');
    expect(new Set(['c1', 'c2', 'c3'].map(idOf)).size).toBe(3);
    expect(idOf('c3')).not.toBe('toolu_7');
  });
});

describe('pieces of calls (§8.3)', () => {
  it.each<[string, unknown[]]>([
    [
      'without index (ollama#7881, openai-python#2806, vercel/ai#15879)',
      [calls({ id: 'x', ...named('a', '{"n":1}') }), calls({ id: 'y', ...named('b', '{"n":2}') })],
    ],
    [
      'all with index 0 (ollama#15457, vercel/ai#14277)',
      [calls({ index: 0, id: 'x', ...named('a', '{"n":1}') }), calls({ index: 0, id: 'y', ...named('b', '{"n":2}') })],
    ],
    [
      'all with index 0 and no id (hermes-agent#57939)',
      [calls({ index: 0, ...named('a', '{"n":1}') }), calls({ index: 0, ...named('b', '{"n":2}') })],
    ],
    ['several in one chunk, without index', [calls({ id: 'x', ...named('a', '{"n":1}') }, { id: 'y', ...named('b', '{"n":2}') })]],
    [
      'interleaved',
      [
        calls({ index: 0, id: 'x', ...named('a', '{"n"') }),
        calls({ index: 1, id: 'y', ...named('b', '{"n"') }),
        calls({ index: 0, ...args(':1}') }),
        calls({ index: 1, ...args(':2}') }),
      ],
    ],
    [
      'whose index begins at 1',
      [calls({ index: 1, id: 'x', ...named('a', '{"n":1}') }), calls({ index: 2, id: 'y', ...named('b', '{"n":2}') })],
    ],
  ])('%s', (_name, chunks) => {
    expect(callsOf(...chunks, ended())).toEqual(two);
  });

  it.each<[string, unknown[]]>([
    [
      'the full name on every chunk (hermes#12230)',
      [calls({ index: 0, id: 'x', ...named('a', '{"n"') }), calls({ index: 0, ...named('a', ':1}') })],
    ],
    [
      'the name empty at first (vmlx#244)',
      [calls({ index: 0, id: 'x', ...named('') }), calls({ index: 0, ...named('a') }), calls({ index: 0, ...args('{"n":1}') })],
    ],
    [
      'the type on every chunk (SillyTavern#5811)',
      [calls({ index: 0, id: 'x', type: 'function', ...named('a', '{"n"') }), calls({ index: 0, type: 'function', ...args(':1}') })],
    ],
    [
      'the arguments once more at the end (vllm#51697)',
      [calls({ index: 0, id: 'x', ...named('a', '{"n":1}') }), calls({ index: 0, id: 'x', ...named('a', '{"n":1}') })],
    ],
    [
      'chunks without choices or delta (Azure, Workers AI)',
      [
        { choices: [] },
        { choices: [{ index: 0 }] },
        calls({ index: 0, id: 'x', ...named('a', '{"n":1}') }),
        { choices: null },
        { choices: [{ index: 0, delta: null }] },
      ],
    ],
  ])('%s', (_name, chunks) => {
    expect(callsOf(...chunks, ended())).toEqual(one);
  });

  it('a name in pieces (continue#5849)', () => {
    const pieces = [
      calls({ index: 0, id: 'x', ...named('get_') }),
      calls({ index: 0, ...named('weather') }),
      calls({ index: 0, ...args('{}') }),
    ];
    expect(callsOf(...pieces, ended())).toEqual([['get_weather', {}, 'ok']]);
  });

  it('are read with text in the same chunk, text after calls, and reasoning between', () => {
    const whole = read(
      chunk({ reasoning_content: 'Hm.', content: 'I ', tool_calls: [{ index: 0, id: 'x', ...named('a', '{"n":1}') }] }),
      chunk({ reasoning_content: ' So.' }),
      chunk({ content: 'look.' }),
      ended(),
    );
    expect(whole).toMatchObject({ text: 'I look.', reasoning: 'Hm. So.', calls: [{ name: 'a', arguments: { n: 1 } }] });
  });

  it('a stream that breaks off runs no incomplete call (hermes#80498, #81017)', () => {
    const whole = read(calls({ index: 0, id: 'x', ...named('a', '{"n":') }));
    expect(whole).toMatchObject({
      calls: [{ state: 'truncated', arguments: null }],
      error: expect.stringContaining('ended its reply before it was complete'),
    });
    const empty = read(calls({ index: 0, id: 'x', ...named('a', '') }));
    expect(empty.calls).toMatchObject([{ state: 'truncated', arguments: null }]);
  });
});

describe('arguments (§8.4)', () => {
  it.each<[string, unknown, unknown]>([
    ['empty (litellm#5064, vllm#37098)', '', {}],
    ['null, as a text and as itself', 'null', {}],
    ['null', null, {}],
    ['an object (llama.cpp#20198)', { n: 1 }, { n: 1 }],
    ['encoded twice', '"{\\"n\\":1}"', { n: 1 }],
  ])('%s', (_name, text, value) => {
    expect(callsOf(calls({ index: 0, id: 'x', ...named('a', text) }), ended())).toEqual([['a', value, 'ok']]);
  });

  it.each([
    ['trailing commas', '{"n":1,}'],
    ['a fence', '```json\n{"n":1}\n```'],
    ['Python’s words', "{'n': 1, 'b': True}"],
  ])('repairs %s and marks them', (_name, text) => {
    const [call] = callsOf(calls({ index: 0, id: 'x', ...named('a', text) }), ended());
    expect(call).toMatchObject(['a', { n: 1 }, 'repaired']);
  });
});

describe('the end of a reply (§8.5)', () => {
  const call = calls({ index: 0, id: 'x', ...named('a', '{"n":1}') });

  it('with `stop` although there are calls (opencode#14972, #20719)', () => {
    expect(read(call, ended('stop'))).toMatchObject({ reason: 'tool-calls', finish: 'stop' });
  });

  it('with `tool_calls` although there are none (mastra#14187)', () => {
    expect(read(chunk({ content: 'Hi.' }), ended('tool_calls'))).toMatchObject({ reason: 'stop', calls: [] });
  });

  it('is found by the end marker alone, without a reason (openclaw#98575)', () => {
    expect(read(call, '[DONE]')).toMatchObject({ reason: 'tool-calls', finish: null, calls: [{ state: 'ok' }] });
  });

  it.each(['[DONE] ', ' [DONE]\t'])('with blanks around the end marker: %j', (marker) => {
    expect(read(chunk({ content: 'Hi' }), ended('stop'), marker)).toMatchObject({ text: 'Hi', reason: 'stop', error: undefined });
  });

  it('with `message` beside `delta`, as Perplexity sends both', () => {
    const both = (delta: object, text: string, rest: object = {}) => ({
      choices: [{ index: 0, delta, message: { role: 'assistant', content: text }, ...rest }],
    });
    const whole = chatCompletions.createReply(access);
    const document = both({ role: 'assistant', content: '' }, 'Hello there.', { finish_reason: 'stop' });
    expect(gather(whole.takeWhole(document))).toMatchObject({ text: 'Hello there.', reason: 'stop' });
    const pieces = [both({ content: 'Hello' }, 'Hello'), both({ content: ' there.' }, 'Hello there.')];
    const last = both({ role: 'assistant', content: '' }, 'Hello there.', { finish_reason: 'stop' });
    expect(read(...pieces, last)).toMatchObject({ text: 'Hello there.', reason: 'stop' });
    expect(read(last)).toMatchObject({ text: 'Hello there.', reason: 'stop' });
  });

  it('is an error that arrives in a stream of status 200 (OpenRouter, Groq `tool_use_failed`)', () => {
    const failed = { error: { message: 'Failed to call a function.', type: 'invalid_request_error', code: 'tool_use_failed' } };
    expect(read(chunk({ content: 'Hi' }), failed).error).toContain('Failed to call a function');
    expect(eventsOf(failed)).toMatchObject([{ type: 'error' }]);
  });

  it.each([
    [{ type: 'tokens', code: 'rate_limit_exceeded' }, 'rate_limited', 429],
    [{ type: 'insufficient_quota', code: null }, 'rate_limited', 429],
    [{ type: 'server_error', code: 'overloaded' }, 'unavailable', 529],
    [{ code: 'service_unavailable' }, 'unavailable', 503],
    [{ type: 'invalid_request_error', code: 'context_length_exceeded' }, 'upstream_error', 400],
    [{ type: 'authentication_error' }, 'upstream_error', 401],
    [{ code: 429 }, 'rate_limited', 429],
  ])('with the error %j keeps its kind: %s, %i', (fields, code, upstreamStatus) => {
    expect(eventsOf({ error: { message: 'No.', ...fields } })).toMatchObject([{ type: 'error', problem: { code, upstreamStatus } }]);
  });
});
