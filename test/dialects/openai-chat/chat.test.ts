import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { Problem } from '../../../src/core/problem.ts';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { openAiErrorBody } from '../../../src/dialects/openai-error.ts';
import { createReplyEncoder, toReplyDocument } from '../../../src/dialects/reply-encoder.ts';
import { deltas, type Chunk } from '../chunks.ts';
import { endCall, feedCall, finish, refuse, startCall, think } from '../events.ts';

const identity = { id: 'chatcmpl-1', model: 'agent/helper', created: 1_760_000_000 };
const usage = { inputTokens: 3, outputTokens: 2 };

function frames(events: readonly ChatEvent[], includeUsage = false): (Chunk | '[DONE]')[] {
  const encoder = createReplyEncoder(openAiChat, { ...identity, includeUsage });
  return events
    .map((event) => encoder.encode(event))
    .join('')
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => (frame === 'data: [DONE]' ? '[DONE]' : JSON.parse(frame.slice('data: '.length))));
}

describe('a proxied reply as chunks', () => {
  it('writes calls in one form: id, type and name once, then deltas, {} for no arguments', () => {
    const events: ChatEvent[] = [
      think('hm'),
      startCall(0, 'a', '0'),
      feedCall(0, '{"n":'),
      startCall(2, 'b', '0'),
      feedCall(0, '1}'),
      endCall(0, '{"n":1}'),
      endCall(2, 'null'),
      { type: 'usage', usage },
      finish('tool-calls'),
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
    expect(toReplyDocument(openAiChat, events, identity)).toMatchObject({
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
      refuse('No.'),
      { type: 'call-start', call: 0, name: 'sh', nativeId: 'c', custom: true },
      feedCall(0, 'ls'),
      { type: 'call-end', call: 0, state: 'ok', arguments: { input: 'ls' }, raw: 'ls' },
      finish('tool-calls'),
    ];
    expect(deltas(frames(events))).toContainEqual({ refusal: 'No.' });
    expect(deltas(frames(events))).toContainEqual({ tool_calls: [{ index: 0, custom: { input: 'ls' } }] });
    expect(toReplyDocument(openAiChat, events, identity)).toMatchObject({
      choices: [{ message: { refusal: 'No.', tool_calls: [{ type: 'custom', custom: { name: 'sh', input: 'ls' } }] } }],
    });
  });

  it('begins with the error if nothing came before it', () => {
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
  ] as const)('%s has type %s', (code, type) => {
    expect(openAiErrorBody(new Problem(code, 'So it is.').toBody())).toEqual({ error: { message: 'So it is.', type, param: null, code } });
  });

  it('names the first invalid field as param', () => {
    const problem = new Problem('invalid_request', 'x', { issues: [{ path: 'messages[0].role', message: 'is missing' }] });
    expect(openAiErrorBody(problem.toBody()).error.param).toBe('messages[0].role');
  });
});
