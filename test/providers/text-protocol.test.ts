/** The `text` protocol around a model: its requests, and the parsing of its text. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { SessionEventBody } from '../../src/core/turn/session-event.ts';
import { createTranscript } from '../../src/core/turn/transcript.ts';
import type { ChatModel, ChatRequest } from '../../src/ports/chat-model.ts';
import { toTextRequest, withTextProtocol } from '../../src/providers/text-protocol.ts';
import { toRequestBody } from '../../src/providers/chat-model.ts';
import { chatModelContract, collect } from '../contracts/chat-model.ts';
import { gather } from '../core/text-words.ts';
import { goldenRequest } from './golden-conversation.ts';
import { Problem } from '../../src/core/problem.ts';

const usage: ChatEvent = { type: 'usage', usage: { inputTokens: 5, outputTokens: 2 } };
const stop: ChatEvent = { type: 'finish', reason: 'stop', raw: 'stop' };

/** A model that returns these batches and records its requests. */
function scripted(...batches: ChatEvent[][]): ChatModel & { requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  return {
    requests,
    async *stream(request, signal) {
      requests.push(request);
      signal.throwIfAborted();
      yield* batches;
    },
  };
}

const words = (text: string): ChatEvent => ({ type: 'text', text });
const callText = (name: string, args: object): string => `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
const asText = (fields: Partial<ChatRequest> = {}): ChatRequest =>
  goldenRequest({ kind: 'openai-compatible' }, { protocol: 'text', ...fields });

describe('the requests that it applies to', () => {
  it('depends on the request, then on the profile of the model', async () => {
    const asked = async (request: ChatRequest): Promise<boolean> => {
      const model = scripted([words('hi'), stop]);
      await collect(withTextProtocol(model), request);
      return model.requests[0]?.tools.length === 0;
    };
    expect(await asked(asText())).toBe(true);
    expect(await asked(goldenRequest({ profile: { protocol: 'text' } }))).toBe(true);
    expect(await asked(goldenRequest({ profile: { protocol: 'text' } }, { protocol: 'native' }))).toBe(false);
    expect(await asked(goldenRequest({}))).toBe(false);
  });

  it('passes a conversation without tools unchanged, and its text too', async () => {
    const shown = `so: ${callText('get_weather', {})}`;
    const model = scripted([words(shown), stop]);
    const request = asText({ tools: [], messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] });
    expect(gather(await collect(withTextProtocol(model), request))).toMatchObject({ text: shown, calls: [] });
    expect(model.requests).toEqual([request]);
  });

  it('still translates a conversation with calls when there are no tools', async () => {
    const model = scripted([words(callText('get_weather', {})), stop]);
    const events = await collect(withTextProtocol(model), asText({ tools: [] }));
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain('tool-call');
    expect(gather(events).calls).toMatchObject([{ name: 'get_weather' }]);
  });
});

describe('the request to the model', () => {
  it('describes tools in the prompt only, and drops settings about tools', () => {
    const sent = toTextRequest(asText({ toolChoice: 'required', settings: { parallelToolCalls: false, temperature: 0.5 } }));
    expect(sent).toMatchObject({ tools: [], toolChoice: 'auto', settings: { temperature: 0.5 } });
    expect(sent.settings).not.toHaveProperty('parallelToolCalls');
    const [system] = sent.messages;
    const text = system?.parts.at(-1);
    expect(system?.parts).toHaveLength(2);
    expect(text?.type === 'text' && text.text.split('\n\n').slice(-2)).toEqual([
      'Call at most one tool per reply.',
      'In this reply you must call a tool.',
    ]);
  });

  it('creates a system text if there is none, and appends to the first of several', () => {
    const user = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] };
    const system = (text: string) => ({ role: 'system' as const, parts: [{ type: 'text' as const, text }] });
    expect(toTextRequest(asText({ messages: [user] })).messages.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['system', 1],
      ['user', 1],
    ]);
    const several = toTextRequest(asText({ messages: [system('a'), system('b'), user] })).messages;
    expect(several.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['system', 1],
      ['system', 2],
      ['user', 1],
    ]);
  });

  it('is valid for every API: roles alternate, and no tool fields are used', () => {
    const request = asText();
    for (const kind of ['openai', 'openai-compatible', 'openai-responses', 'anthropic', 'gemini', 'cohere'] as const) {
      const body = toRequestBody({ ...toTextRequest(request), access: { ...request.access, kind } });
      const sent = JSON.stringify(body);
      expect(sent, kind).not.toMatch(
        /"(?:tools|tool_calls|tool_call_id|tool_use|tool_result|functionCall|functionResponse|function_call)"/,
      );
      expect(sent, kind).toContain('\\"name\\": \\"get_weather\\", \\"arguments\\": {\\"city\\":\\"Paris\\"}');
    }
    expect(toTextRequest(request).messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'user']);
  });

  it('keeps all of a golden conversation: images of results next to their text, errors by their code', () => {
    const results = toTextRequest(asText()).messages[3];
    expect(results?.parts).toEqual([
      {
        type: 'text',
        text:
          '<tool_response>{"call_id":"call_01first","name":"get_weather","content":"18 °C, \\"fair\\" & \\u003cdry>\\n[image: image/gif]"}</tool_response>\n' +
          '<tool_response>{"call_id":"call_02second","name":"list_files","error":"tool_error","content":"The disk is gone."}</tool_response>',
      },
      { type: 'image', mediaType: 'image/gif', data: 'R0lGODlhAQABAAAAACw=' },
    ]);
  });
});

describe('the reply', () => {
  const reply = async (...batches: ChatEvent[][]): Promise<ChatEvent[]> => collect(withTextProtocol(scripted(...batches)), asText());

  it('contains calls as events, and calls are its finish reason', async () => {
    const text = `Looking.\n${callText('get_weather', { city: 'Rome' })}`;
    const events = await reply([words(text.slice(0, 20))], [words(text.slice(20))], [usage, stop]);
    expect(gather(events)).toMatchObject({ text: 'Looking.', calls: [{ name: 'get_weather', state: 'ok', arguments: { city: 'Rome' } }] });
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls', raw: 'stop' });
    expect(events.map(({ type }) => type)).toEqual(['text', 'call-start', 'call-delta', 'call-end', 'usage', 'finish']);
  });

  it('marks several calls to run in order, since later ones may depend on earlier ones', async () => {
    const text = ['Rome', 'Oslo'].map((city) => callText('get_weather', { city })).join('\n');
    expect((await reply([words(text), stop])).at(-1)).toEqual({ type: 'finish', reason: 'tool-calls', raw: 'stop', inOrder: true });
  });

  it('only parses calls of the request’s tools: other objects stay text', async () => {
    const events = await reply([words('{"name": "list_files", "arguments": {}}\n{"name": "Bob", "arguments": {}}'), stop]);
    expect(gather(events)).toMatchObject({ text: '{"name": "Bob", "arguments": {}}', calls: [{ name: 'list_files' }] });
  });

  it('keeps everything but text: reasoning, refusals, native parts and usage', async () => {
    const call = callText('list_files', {});
    const others: ChatEvent[] = [
      { type: 'reasoning', text: call },
      { type: 'native', provider: 'golden', data: { api: 'x' } },
      { type: 'text', text: call, refusal: true },
      usage,
    ];
    expect(await reply(others, [stop])).toEqual([...others, stop]);
  });

  it('never contains an empty batch', async () => {
    expect(await reply([words('<tool')], [words('_')], [words('box>')], [stop])).toEqual([words('<tool_box>'), stop]);
  });

  it('numbers native calls and parsed calls separately', async () => {
    const native = (call: number): ChatEvent[] => [
      { type: 'call-start', call, name: 'list_files', nativeId: `n${call}` },
      { type: 'call-end', call, state: 'ok', arguments: {}, raw: '' },
    ];
    const events = await reply(
      [words(callText('get_weather', {})), ...native(0)],
      [words(callText('get_weather', { city: 'x' })), ...native(1)],
      [{ type: 'finish', reason: 'tool-calls', raw: null }],
    );
    const starts = events.flatMap((event) => (event.type === 'call-start' ? [[event.call, event.name]] : []));
    expect(starts).toEqual([
      [0, 'get_weather'],
      [1, 'list_files'],
      [2, 'get_weather'],
      [3, 'list_files'],
    ]);
    expect(gather(events).calls.every(({ state }) => state === 'ok')).toBe(true);
  });

  it('reports a cut at its limit, and runs no incomplete call', async () => {
    const events = await reply(
      [words(`${callText('list_files', {})}<tool_call>{"name": "get_weather", "arguments": {"city": "Ro`)],
      [{ type: 'finish', reason: 'length', raw: 'length' }],
    );
    expect(gather(events).calls).toMatchObject([{ state: 'ok' }, { name: 'get_weather', state: 'truncated', arguments: null }]);
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
    const filtered = await reply([
      words("<tool_call>{'name': 'list_files'}</tool_call>"),
      { type: 'finish', reason: 'content-filter', raw: null },
    ]);
    expect(gather(filtered).calls).toMatchObject([{ state: 'truncated' }]);
    expect(filtered.at(-1)).toMatchObject({ reason: 'content-filter' });
  });

  it('closes what is open before an error', async () => {
    const error: ChatEvent = { type: 'error', problem: new Problem('upstream_error', 'cut').toBody(), retryable: true };
    const events = await reply([words('so <tool_call>{"name": "list_files"')], [error]);
    expect(gather(events)).toMatchObject({ text: 'so', calls: [{ state: 'truncated' }] });
    expect(events.at(-1)).toEqual(error);
  });

  it('is an error if it has too many calls', async () => {
    const events = await reply([words(callText('list_files', {}).repeat(limits.maxCallsPerReply + 1)), stop]);
    expect(events.at(-1)).toMatchObject({ type: 'error', problem: { code: 'upstream_error' } });
    expect(gather(events).calls).toHaveLength(limits.maxCallsPerReply);
  });

  it('is returned unchanged: the step in the log is what the model wrote', async () => {
    const text = `Looking.\n${callText('get_weather', { city: 'Rome' }).replace('{"name":', '{"name": ').replace(',"arguments":', ', "arguments": ')}`;
    const events = await reply([words(text), stop]);
    const said = createTranscript();
    const at = { turn: 't', step: 1 };
    const log: unknown[] = [
      { type: 'turn-start', turn: 't', input: [{ type: 'text', text: 'Go.' }] },
      { type: 'step-start', ...at },
      ...events.flatMap((event): unknown[] => {
        if (event.type === 'text') return [{ type: 'text-delta', ...at, text: event.text }];
        if (event.type === 'call-start')
          return [{ type: 'tool-input-start', ...at, callId: 'c', name: event.name, canonical: null, via: null }];
        return event.type === 'call-end'
          ? [{ type: 'tool-input-end', ...at, callId: 'c', arguments: event.arguments, repaired: false }]
          : [];
      }),
      { type: 'step-end', ...at, reason: 'tool-calls', model: 'golden/golden-1' },
      {
        type: 'tool-result',
        ...at,
        callId: 'c',
        name: 'get_weather',
        canonical: null,
        isError: false,
        content: [{ type: 'text', text: 'fair' }],
      },
    ];
    for (const event of log) said.apply(event as SessionEventBody);
    const [, , assistant, results] = toTextRequest(asText({ messages: said.messages() })).messages;
    expect(assistant?.parts).toEqual([{ type: 'text', text }]);
    expect(results).toMatchObject({ role: 'user', parts: [{ text: expect.stringContaining('"content":"fair"') }] });
  });
});

chatModelContract('the text protocol', () => {
  const call = callText('list_files', {});
  const replies: Readonly<Record<string, ChatEvent[][]>> = {
    text: [[words('Hello')], [usage, stop]],
    twoCalls: [[words(call.slice(0, 9))], [words(`${call.slice(9)}${call}`)], [usage, stop]],
  };
  return {
    model: withTextProtocol({
      async *stream(request, signal) {
        signal.throwIfAborted();
        await request.reserve?.({ inputTokens: 10_000, outputTokens: request.settings.maxOutputTokens ?? 0 });
        const batches = replies[request.model];
        if (batches === undefined) throw new Problem('upstream_error', 'refused');
        yield* batches;
      },
    }),
    text: asText({ model: 'text' }),
    twoCalls: asText({ model: 'twoCalls' }),
    refused: asText({ model: 'none' }),
  };
});
