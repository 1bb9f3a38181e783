import { describe, expect, it } from 'vitest';
import { Problem, problemCatalogue, quoted, type ProblemCode } from '../../src/core/problem.ts';
import { createApp } from '../../src/http/app.ts';
import { renderProblem, toProblem } from '../../src/http/problems.ts';
import { keptLog } from '../fakes/runtime.ts';
import { createHarness } from './harness.ts';
import { takeErrors } from '../service-errors.ts';

const native = { method: 'GET', path: '/v1/toolsets', requestId: 'req_1' };
const openAi = { method: 'POST', path: '/v1/chat/completions', requestId: 'req_1' };

describe('a problem', () => {
  it.each(Object.keys(problemCatalogue) as ProblemCode[])('%s has its status in both shapes', async (code) => {
    const problem = new Problem(code, 'Do this.', { hint: 1 });
    const body = await renderProblem(problem, native);
    expect([body.status, body.headers.get('content-type')]).toEqual([problemCatalogue[code].status, 'application/problem+json']);
    expect(await body.json()).toEqual({
      type: `/docs/errors#${code}`,
      title: problemCatalogue[code].title,
      status: problemCatalogue[code].status,
      detail: 'Do this.',
      code,
      hint: 1,
      requestId: 'req_1',
    });
    const foreign = await renderProblem(problem, openAi);
    expect([foreign.status, foreign.headers.get('content-type')]).toEqual([problemCatalogue[code].status, 'application/json']);
    expect(await foreign.json()).toMatchObject({ error: { message: 'Do this.', code } });
  });

  it('has the headers that HTTP requires', async () => {
    const header = async (name: string, code: ProblemCode, extra: Record<string, unknown>) =>
      (await renderProblem(new Problem(code, 'x', extra), native)).headers.get(name);
    expect(await header('retry-after', 'rate_limited', { retryAfterMs: 1200 })).toBe('2');
    expect(await header('retry-after', 'rate_limited', {})).toBe('5');
    expect(await header('allow', 'method_not_allowed', { allow: ['GET', 'HEAD'] })).toBe('GET, HEAD');
    expect(await header('www-authenticate', 'unauthenticated', { reason: 'missing' })).toBe('Bearer realm="moniker"');
    expect(await header('www-authenticate', 'unauthenticated', { reason: 'revoked' })).toBe(
      'Bearer realm="moniker", error="invalid_token"',
    );
    expect(await header('www-authenticate', 'forbidden', { scope: 'tools' })).toContain('scope="tools"');
    for (const code of ['unauthenticated', 'forbidden'] as const) expect(await header('x-should-retry', code, {})).toBe('false');
    expect(await header('x-should-retry', 'upstream_error', {})).toBeNull();
  });
});

describe('a media type', () => {
  it.each([
    ['application/json; charset=utf-8', 201],
    ['Application/JSON', 201],
    ['application/json;charset="utf-8"', 201],
    ['application/json ; charset=utf-8', 201],
    ['application/json; charset=latin1', 415],
    ['text/plain', 415],
    ['', 415],
  ])('%s of a JSON body gives %i', async (type, status) => {
    const response = await createHarness().send(
      'PUT',
      '/v1/toolsets/typed',
      { tools: [{ tool: 'builtin.bash' }] },
      { 'content-type': type },
    );
    expect([response.status, await response.text()]).toEqual([
      status,
      expect.stringContaining(status === 415 ? 'unsupported_media_type' : 'typed'),
    ]);
  });
});

describe('an unknown path', () => {
  const h = createHarness();
  const shapes = { problem: 'type', openAi: 'error', anthropic: 'request_id' };
  it.each([
    ['/v1/nothing', {}, 'problem'],
    ['/nothing', {}, 'problem'],
    ['/v1/assistants', {}, 'openAi'],
    ['/v1/embeddings/x', {}, 'openAi'],
    ['/v1/chat/nothing', {}, 'openAi'],
    ['/openai/nothing', {}, 'openAi'],
    ['/v1/responses/a/b', {}, 'openAi'],
    ['/v1/messages/batches/b/nothing', {}, 'anthropic'],
    ['/v1/complete', {}, 'anthropic'],
    ['/v1/organizations', {}, 'anthropic'],
  ] as const)('%s is answered in the format of the API that has it', async (path, headers, shape) => {
    const response = await h.send('POST', path, {}, headers);
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(404);
    expect(body[shapes[shape]], JSON.stringify(body)).toBeDefined();
    expect('code' in body).toBe(shape === 'problem');
    expect(JSON.stringify(body)).toContain('/docs lists every path');
  });
});

describe('a service with invalid settings', () => {
  it('names the setting on every path', async () => {
    const app = createApp(() => {
      throw new Problem('not_configured', 'MONIKER_ALLOW_PRIVATE_HOSTS: "x" is not host:port');
    });
    const answer = await app.request('/healthz');
    expect([answer.status, await answer.json()]).toEqual([
      503,
      expect.objectContaining({ detail: expect.stringContaining('is not host:port') }),
    ]);
    expect(takeErrors()).toMatchObject([{ message: 'request failed', path: '/healthz', code: 'not_configured' }]);
  });
});

describe('the log', () => {
  it('gets one line per error, with a level by its origin', () => {
    for (const [error, level] of [
      [new Error('inside'), 'error'],
      ['a text', 'error'],
      [undefined, 'error'],
      [new Problem('upstream_error', 'x', {}, { cause: new Error('inside') }), 'error'],
      [new Problem('unauthenticated', 'x'), 'info'],
      [new Problem('forbidden', 'x'), 'info'],
      [new Problem('not_found', 'x'), 'debug'],
    ] as const) {
      const log = keptLog();
      const problem = toProblem(error, native, log);
      expect(log.lines).toEqual([
        expect.objectContaining({ level, fields: expect.objectContaining({ requestId: 'req_1', code: problem.code }) }),
      ]);
      expect(JSON.stringify(problem.toBody())).not.toContain('inside');
    }
  });
});

it('a caller’s text is quoted short and on one line', () => {
  expect(quoted('a\r\nb')).toBe('"a\\r\\nb"');
  expect(quoted('x'.repeat(10_000)).length).toBeLessThan(110);
});
