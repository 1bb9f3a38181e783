/** Failures that providers report with status 200, in all their forms, and what clients are told of them. */
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/core/problem.ts';
import { firstReply } from '../../src/engine/first-reply.ts';
import { renderProblem } from '../../src/http/problems.ts';
import { delayInHeaders, delayInText } from '../../src/core/model/retry-after.ts';
import { anthropic } from '../../src/providers/anthropic/reply.ts';
import { cohere } from '../../src/providers/cohere/reply.ts';
import { gemini } from '../../src/providers/gemini/reply.ts';
import { chatCompletions } from '../../src/providers/openai-chat/reply.ts';
import { openaiResponses } from '../../src/providers/openai-responses/reply.ts';
import { responseProblem } from '../../src/providers/provider-error.ts';
import { countedIds, fakeClock } from '../fakes/runtime.ts';
import { access } from './replies.ts';

const wires = { chatCompletions, openaiResponses, anthropic, gemini, cohere };

describe.each(Object.entries(wires))('a reply of %s', (_name, wire) => {
  it.each([
    ['vLLM', { object: 'error', message: 'too long', type: 'BadRequestError', param: null, code: 400 }],
    ['DashScope', { code: 'InvalidParameter', message: 'too long', request_id: 'r1' }],
    ['FastAPI', { detail: 'too long' }],
    ['a text', { error: 'too long' }],
    ['MiniMax', { base_resp: { status_code: 1008, status_msg: 'too long' } }],
    ['Cloudflare', { success: false, errors: [{ code: 7003, message: 'too long' }], result: null }],
    ['Baidu', { error_code: 17, error_msg: 'too long' }],
    ['Tencent', { Response: { Error: { Code: 'FailedOperation', Message: 'too long' }, RequestId: 'r' } }],
    ['AWS', { __type: 'ThrottlingException', message: 'too long' }],
    ['problem details', { type: 'about:blank', title: 'Bad', status: 503, detail: 'too long' }],
  ])('in the form of %s is an error, streamed or not', (_form, error) => {
    const isError = [{ type: 'error', problem: { detail: expect.stringContaining('too long') } }];
    expect(wire.createReply(access).take({ event: 'message', data: JSON.stringify(error) })).toMatchObject(isError);
    expect(wire.createReply(access).takeWhole(error)).toMatchObject(isError);
  });

  it('that says nothing at all is an error that may be retried', () => {
    const reply = wire.createReply(access);
    const events = [...reply.take({ event: 'message', data: '[DONE]' }), ...reply.end()];
    expect(events).toMatchObject([{ type: 'error', retryable: true }]);
    expect(wire.createReply(access).takeWhole({ unknown: true })).toMatchObject([{ type: 'error', retryable: true }]);
  });
});

it.each([
  [anthropic, { content: [], stop_reason: 'end_turn' }],
  [chatCompletions, { choices: [{ message: { content: '' }, finish_reason: 'stop' }], usage: { prompt_tokens: 9, completion_tokens: 0 } }],
  [chatCompletions, { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }], error: { message: '', code: null } }],
])('an empty answer with a reason, or with an empty error beside it, is an answer', (wire, body) => {
  expect(wire.createReply(access).takeWhole(body).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
});

describe('the error of a provider', () => {
  const shown = async (path: string, status: number, error: object, headers: Record<string, string> = {}): Promise<Response> => {
    const problem = await responseProblem(access, Response.json({ error }, { status, headers }), 0);
    return renderProblem(Problem.fromBody(problem.toBody()), { method: 'POST', path, requestId: 'req_1' });
  };
  const chat = '/v1/chat/completions';
  const overflow = {
    message: 'The maximum context length is 8 tokens.',
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  };
  const thrown = async (response: Response): Promise<unknown> => {
    const client = new OpenAI({ apiKey: 'k', baseURL: 'https://x.example/v1', maxRetries: 0, fetch: async () => response });
    return await client.chat.completions.create({ model: 'm', messages: [] }).catch((error: unknown) => error);
  };

  it('keeps status, code, type, param and text, so that stock clients know it', async () => {
    expect(await (await shown(chat, 400, overflow)).json()).toEqual({ error: overflow });
    const error = await thrown(await shown(chat, 400, overflow));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'messages' });
    const anthropicBody = await (await shown('/v1/messages', 400, overflow)).json();
    expect(anthropicBody).toMatchObject({
      error: { type: 'invalid_request_error', message: `prompt is too long: ${overflow.message}` },
    });
  });

  it.each([
    [402, 402, 'false'],
    [403, 403, 'false'],
    [401, 403, 'false'],
    [413, 413, 'false'],
    [529, 529, 'true'],
  ])('%i is %i with x-should-retry: %s', async (status, expected, retry) => {
    const response = await shown(chat, status, { message: 'No.' });
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([expected, retry]);
  });

  it('says when to come back, and what is left of the rate limits', async () => {
    const limited = await shown(chat, 429, { message: 'Please try again in 11.054s.' }, { 'x-ratelimit-remaining-tokens': '3' });
    expect([...limited.headers]).toEqual(
      expect.arrayContaining([
        ['retry-after', '12'],
        ['retry-after-ms', '11054'],
        ['x-ratelimit-remaining-tokens', '3'],
        ['x-should-retry', 'true'],
      ]),
    );
    const spent = await shown(chat, 429, { message: 'Pay.', code: 'insufficient_quota' });
    expect([spent.headers.get('x-should-retry'), spent.headers.get('retry-after')]).toEqual(['false', null]);
    expect(await thrown(spent)).toMatchObject({ status: 429, code: 'insufficient_quota' });
  });
});

it('delays are read in every form', () => {
  expect(['try again in 6m0s', 'retry after 26 seconds', 'try again in 20ms', 'try later'].map(delayInText)).toEqual([
    360_000,
    26_000,
    20,
    null,
  ]);
  expect(delayInHeaders(new Headers({ 'retry-after': '2', 'retry-after-ms': '1500' }), 0)).toBe(1_500);
  expect(delayInHeaders(new Headers({ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }), 0)).toBe(9_000);
});

it('a fallback that cannot be asked does not hide why the model failed', async () => {
  const ofProvider = new Problem('upstream_error', 'Down.', { provider: 'a' });
  const asked: string[] = [];
  const ask = async (model: string): Promise<never> => {
    asked.push(model);
    throw model === 'a/m' ? ofProvider : new Problem('invalid_request', 'Not possible.');
  };
  const routing = { clock: fakeClock(), ids: countedIds(), workspace: 'default', keyId: 'k', session: null };
  await expect(firstReply(['a/m', 'b/m'], routing, ask)).rejects.toBe(ofProvider);
  expect(asked).toEqual(['a/m', 'b/m']);
});
