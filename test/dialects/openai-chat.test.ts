import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/chat-event.ts';
import { Problem } from '../../src/core/problem.ts';
import type { SessionEvent, SessionEventBody } from '../../src/core/session-event.ts';
import { createChunkEncoder, openAiErrorBody, toCompletion } from '../../src/dialects/openai-chat.ts';

const identity = { id: 'chatcmpl-1', model: 'agent/helper', created: 1_760_000_000 };
const usage = { inputTokens: 3, outputTokens: 2 };

type Chunk = {
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
  error?: { code: string; message: string };
};

function frames(events: readonly (ChatEvent | SessionEvent)[], includeUsage = false): (Chunk | '[DONE]')[] {
  const encoder = createChunkEncoder({ ...identity, includeUsage });
  return events
    .map((event) => encoder.encode(event))
    .join('')
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => (frame === 'data: [DONE]' ? '[DONE]' : JSON.parse(frame.slice('data: '.length))));
}

const deltas = (list: (Chunk | '[DONE]')[]) =>
  list.flatMap((frame) =>
    frame === '[DONE]'
      ? ['[DONE]']
      : frame.error
        ? [frame.error.code]
        : frame.choices.map((choice) => choice.finish_reason ?? choice.delta),
  );

function session(...bodies: SessionEventBody[]): SessionEvent[] {
  return bodies.map((body, index) => ({ ...body, id: index + 1, at: 0 }));
}

const turn = 't1';
const start: SessionEventBody = { type: 'turn-start', turn, input: [{ type: 'text', text: 'hi' }], model: 'rehearsal/default' };
const step = (step: number): SessionEventBody => ({ type: 'step-start', turn, step });
const text = (step: number, said: string): SessionEventBody => ({ type: 'text-delta', turn, step, text: said });
const end = (
  status: 'completed' | 'failed' | 'cancelled' | 'interrupted',
  reason: 'stop' | 'length' | 'upstream_error' | 'cancelled' | 'restarted',
): SessionEventBody => ({ type: 'turn-end', turn, status, reason, usage });
const call: SessionEventBody[] = [
  { type: 'tool-input-start', turn, step: 1, callId: 'c1', name: 'shell', canonical: 'builtin.bash', via: 'alias' },
  { type: 'tool-input-delta', turn, step: 1, callId: 'c1', delta: '{}' },
  { type: 'tool-input-end', turn, step: 1, callId: 'c1', arguments: {}, repaired: false },
  { type: 'tool-result', turn, step: 1, callId: 'c1', name: 'shell', canonical: 'builtin.bash', via: 'alias', isError: false, content: [] },
];

describe('a session turn as chunks', () => {
  const events = session(
    start,
    step(1),
    text(1, 'Let me '),
    text(1, 'look.'),
    ...call,
    { type: 'usage', turn, step: 1, usage },
    { type: 'step-end', turn, step: 1, reason: 'tool-calls', model: 'm' },
    step(2),
    text(2, 'Done.'),
    { type: 'usage', turn, step: 2, usage },
    end('completed', 'stop'),
  );

  it('is one message: role first, steps joined by a blank line, no server calls, one finish reason', () => {
    expect(deltas(frames(events))).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Let me ' },
      { content: 'look.' },
      { content: '\n\nDone.' },
      'stop',
      '[DONE]',
    ]);
  });

  it('sums usage in a last chunk where it was asked for, and says null before', () => {
    const list = frames(events, true);
    expect(list.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 } });
    expect(list.slice(0, -2).every((frame) => frame !== '[DONE]' && frame.usage === null)).toBe(true);
  });

  it('is the same text as the plain document', () => {
    expect(toCompletion(events, identity)).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Let me look.\n\nDone.', refusal: null }, finish_reason: 'stop' }],
      usage: { total_tokens: 10 },
    });
  });

  it('encodes the same events to the same bytes', () => {
    const [a, b] = [createChunkEncoder(identity), createChunkEncoder(identity)];
    for (const event of events) expect(a.encode(event)).toBe(b.encode(event));
  });

  it('ends with an error and [DONE] when the turn fails, and says nothing more', () => {
    const problem = new Problem('upstream_error', 'The provider x fell silent.').toBody();
    const failing = session(start, step(1), text(1, 'He'), { type: 'error', turn, problem }, end('failed', 'upstream_error'));
    expect(deltas(frames(failing))).toEqual([{ role: 'assistant', content: '' }, { content: 'He' }, 'upstream_error', '[DONE]']);
    expect(() => toCompletion(failing, identity)).toThrow(/fell silent/);
  });

  it('cannot take back text when a step restarts; the plain document can', () => {
    const restart: SessionEventBody = { type: 'step-restart', turn, step: 1, from: 3 };
    const restarted = session(start, step(1), text(1, 'Hal'), restart, text(1, 'Hello'), end('completed', 'stop'));
    expect(deltas(frames(restarted))).toEqual([{ role: 'assistant', content: '' }, { content: 'Hal' }, 'upstream_error', '[DONE]']);
    expect(toCompletion(restarted, identity)).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
    expect(deltas(frames(session(start, step(1), restart, text(1, 'Hello'), end('completed', 'stop'))))).toContainEqual({
      content: 'Hello',
    });
  });

  it('leaves out what a dropped attempt had thought, in the plain document', () => {
    const think = (n: number, text: string): SessionEventBody => ({ type: 'reasoning-delta', turn, step: n, text });
    const restart: SessionEventBody = { type: 'step-restart', turn, step: 2, from: 5 };
    const events = session(
      start,
      step(1),
      think(1, 'a'),
      step(2),
      think(2, 'b'),
      restart,
      think(2, 'c'),
      text(2, 'x'),
      end('completed', 'stop'),
    );
    expect(toCompletion(events, identity)).toMatchObject({ choices: [{ message: { content: 'x', reasoning_content: 'ac' } }] });
  });

  it('calls a restart of ours ours', () => {
    expect(() => toCompletion(session(start, step(1), end('interrupted', 'restarted')), identity)).toThrow(
      expect.objectContaining({ code: 'internal', detail: expect.stringContaining('restarted') }),
    );
  });

  it.each([
    ['length', 'length'],
    ['cancelled', 'stop'],
  ] as const)('ends a turn of reason %s with %s', (reason, finish) => {
    const status = reason === 'cancelled' ? 'cancelled' : 'completed';
    expect(deltas(frames(session(start, end(status, reason))))).toEqual([{ role: 'assistant', content: '' }, finish, '[DONE]']);
  });
});

describe('a proxied reply as chunks', () => {
  it('shows calls in one form: id, type and name once, then deltas, {} for no arguments', () => {
    const events: ChatEvent[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'call-start', call: 0, name: 'a', nativeId: '0' },
      { type: 'call-delta', call: 0, text: '{"n":' },
      { type: 'call-start', call: 2, name: 'b', nativeId: '0' },
      { type: 'call-delta', call: 0, text: '1}' },
      { type: 'call-end', call: 0, state: 'ok', arguments: { n: 1 }, raw: '{"n":1}' },
      { type: 'call-end', call: 2, state: 'ok', arguments: {}, raw: 'null' },
      { type: 'usage', usage },
      { type: 'finish', reason: 'tool-calls', raw: 'tool_call' },
    ];
    expect(deltas(frames(events))).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { tool_calls: [{ index: 0, id: '0', type: 'function', function: { name: 'a', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"n":' } }] },
      { tool_calls: [{ index: 1, id: '0_1', type: 'function', function: { name: 'b', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '1}' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      'tool_calls',
      '[DONE]',
    ]);
    expect(toCompletion(events, identity)).toMatchObject({
      choices: [
        {
          message: {
            content: null,
            tool_calls: [{ id: '0', function: { name: 'a', arguments: '{"n":1}' } }, { function: { arguments: '{}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  it('keeps a refusal and a custom call in their own fields', () => {
    const events: ChatEvent[] = [
      { type: 'text', text: 'No.', refusal: true },
      { type: 'call-start', call: 0, name: 'sh', nativeId: 'c', custom: true },
      { type: 'call-delta', call: 0, text: 'ls' },
      { type: 'call-end', call: 0, state: 'ok', arguments: { input: 'ls' }, raw: 'ls' },
      { type: 'finish', reason: 'tool-calls', raw: 'tool_calls' },
    ];
    expect(deltas(frames(events))).toContainEqual({ refusal: 'No.' });
    expect(deltas(frames(events))).toContainEqual({ tool_calls: [{ index: 0, custom: { input: 'ls' } }] });
    expect(toCompletion(events, identity)).toMatchObject({
      choices: [{ message: { refusal: 'No.', tool_calls: [{ type: 'custom', custom: { name: 'sh', input: 'ls' } }] } }],
    });
  });

  it('begins with the error when nothing came before it', () => {
    const problem = new Problem('rate_limited', 'Wait.').toBody();
    expect(deltas(frames([{ type: 'error', problem, retryable: true }]))).toEqual(['rate_limited', '[DONE]']);
  });
});

describe('errors', () => {
  it.each([
    ['invalid_request', 'invalid_request_error'],
    ['unauthenticated', 'authentication_error'],
    ['forbidden', 'permission_error'],
    ['model_not_found', 'invalid_request_error'],
    ['rate_limited', 'rate_limit_error'],
    ['upstream_error', 'server_error'],
  ] as const)('%s is of type %s', (code, type) => {
    expect(openAiErrorBody(new Problem(code, 'So it is.'))).toEqual({ error: { message: 'So it is.', type, param: null, code } });
  });

  it('names the first faulty field as param', () => {
    const problem = new Problem('invalid_request', 'x', { issues: [{ path: 'messages[0].role', message: 'is missing' }] });
    expect(openAiErrorBody(problem).error.param).toBe('messages[0].role');
  });
});
