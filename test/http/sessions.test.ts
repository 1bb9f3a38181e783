import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/problem.ts';
import { openEventStream, resumePoint } from '../../src/http/event-stream.ts';
import type { SessionPort } from '../../src/ports/session.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { bodyOf, createHarness, demo, type Harness } from './harness.ts';
import { maxFileBodyBytes } from '../../src/http/routes/sessions/session-files.ts';

let h: Harness;
let id: string;
beforeEach(async () => {
  h = createHarness();
  await h.send('PUT', '/v1/toolsets/demo', demo);
  id = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo', instructions: 'Be brief.' }))).id;
});

describe('creating a session', () => {
  it('returns 201 with its location', async () => {
    const made = await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo@1' });
    const body = await bodyOf(made);
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/sessions/${body.id}`]);
    expect(body).toMatchObject({ model: 'rehearsal/default', toolset: 'demo@1', turn: null, queued: 0 });
  });

  it('with an agent shows the toolset that the agent has now', async () => {
    await h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default', toolset: 'demo' });
    const made = await bodyOf(await h.send('POST', '/v1/sessions', { agent: 'helper' }));
    expect(made).toMatchObject({ agent: 'helper', toolset: 'demo' });
    await h.send('DELETE', '/v1/agents/helper');
    expect(await bodyOf(await h.send('GET', `/v1/sessions/${made.id}`))).toMatchObject({ agent: 'helper', toolset: null });
  });

  it.each([
    [{}, 'agent'],
    [{ toolset: 'demo' }, 'agent'],
    [{ agent: 'a', model: 'rehearsal/default' }, 'model'],
    [{ agent: 'a', toolset: 'demo' }, 'toolset'],
    [{ agent: 'a', instructions: 'x' }, 'instructions'],
    [{ agent: 7 }, 'agent'],
    [{ model: '/rehearsal' }, 'model'],
    [{ model: 'rehearsal/default', toolset: 'Demo' }, 'toolset'],
    [{ model: 'rehearsal/default', toolset: 'demo@0' }, 'toolset'],
    [{ model: 'rehearsal/default', listed: false }, 'listed'],
  ])('is rejected with %j, naming %s', async (body, path) => {
    const answer = await h.send('POST', '/v1/sessions', body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });

  it.each([
    [{ agent: 'nobody' }, 'not_found'],
    [{ model: 'nobody/x' }, 'model_not_found'],
    [{ model: 'rehearsal/x' }, 'model_not_found'],
    [{ model: 'rehearsal/default', toolset: 'nobody' }, 'not_found'],
    [{ model: 'rehearsal/default', toolset: 'demo@9' }, 'not_found'],
  ])('is rejected with %j, which could run no turn', async (body, code) => {
    const answer = await h.send('POST', '/v1/sessions', body);
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([404, code]);
  });
});

describe('a turn', () => {
  const turn = (body: unknown, headers?: Record<string, string>) => h.send('POST', `/v1/sessions/${id}/turns`, body, headers);

  it('responds at its end, and names the edition', async () => {
    const answer = await turn({ input: 'hello' });
    expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'demo@1.1']);
    expect(await bodyOf(answer)).toMatchObject({
      turn: 'turn1',
      status: 'completed',
      reason: 'stop',
      text: 'You said: hello',
      toolCalls: [],
    });
    expect(h.sessions.submitted[0]?.plan).toMatchObject({
      model: 'rehearsal/default',
      instructions: 'Be brief.',
      edition: { toolset: 'demo', version: 1 },
    });
  });

  it('accepts parts', async () => {
    const input = [
      { type: 'text', text: 'see' },
      { type: 'image', url: 'https://pictures.example/a.png' },
    ];
    expect((await bodyOf(await turn({ input }))).text).toBe('You said: see [image]');
  });

  it('streams its events to clients that accept them', async () => {
    const answer = await turn({ input: 'hello' }, { accept: 'text/event-stream' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-moniker-edition': 'demo@1.1',
      'x-request-id': expect.any(String),
    });
    const text = await answer.text();
    expect(text.startsWith('id: 1\nevent: turn-start\ndata: {')).toBe(true);
    expect(text.match(/^event: .*$/gm)?.at(-1)).toBe('event: turn-end');
  });

  it('returns when it is stored with respond-async', async () => {
    const answer = await turn({ input: 'wait' }, { prefer: 'handling=lenient, respond-async; wait=5' });
    expect([answer.status, answer.headers.get('location'), answer.headers.get('preference-applied')]).toEqual([
      202,
      `/v1/sessions/${id}`,
      'respond-async',
    ]);
    expect(await bodyOf(answer)).toEqual({ turn: 'turn1', position: 0 });
    expect(await bodyOf(await h.send('POST', `/v1/sessions/${id}/cancel`))).toEqual({ turn: 'turn1', cancelled: true });
  });

  it('that failed is returned with its problem', async () => {
    const answer = await turn({ input: 'fail' });
    expect([answer.status, await bodyOf(answer)]).toEqual([
      200,
      expect.objectContaining({ status: 'failed', problem: expect.objectContaining({ code: 'upstream_error' }) }),
    ]);
  });

  it.each([
    [{}, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: 7 }, 'input'],
    [{ input: [{ type: 'audio' }] }, 'input'],
    [{ input: [{ type: 'text' }] }, 'input'],
    [{ input: [{ type: 'text', text: '' }] }, 'input'],
    [{ input: [{ type: 'image', data: 'not base64!' }] }, 'input\\[0\\].data'],
    [{ input: [{ type: 'image', data: 'AAA' }] }, 'input\\[0\\].data'],
    [{ input: [{ type: 'image', data: 'AAAA', mediaType: 'text/html' }] }, 'input\\[0\\].mediaType'],
    [{ input: [{ type: 'image', url: 'javascript:alert(1)' }] }, 'input\\[0\\].url'],
    [{ input: [{ type: 'image', data: 'AAAA', url: 'https://a.example/b.png' }] }, 'input\\[0\\]'],
    [{ input: 'x', model: 'other/model' }, 'model'],
  ])('is rejected with %j', async (body, path) => {
    const answer = await turn(body);
    const problem = await bodyOf(answer);
    expect(answer.status).toBe(422);
    expect(problem.issues[0].path).toMatch(new RegExp(`^${path}`));
    expect(h.sessions.submitted).toEqual([]);
  });

  it('is read back as messages', async () => {
    await turn({ input: 'hello' });
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}/messages`))).items.map((item: { role: string }) => item.role)).toEqual([
      'user',
      'assistant',
    ]);
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}`))).turn).toEqual({ id: 'turn1', status: 'completed', reason: 'stop' });
  });
});

describe('the event stream', () => {
  const caller = { workspace: 'default', keyId: 'root', scopes: ['admin' as const] };
  const numbers = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  const events = async (query: string, headers?: Record<string, string>) => {
    const answer = await h.send('GET', `/v1/sessions/${id}/events${query}`, undefined, headers);
    return { answer, text: answer.status === 200 ? await answer.text() : '' };
  };

  beforeEach(async () => {
    await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'hello' });
  });

  it('sends all events, heartbeats while idle, and a retry time at the end', async () => {
    const { answer, text } = await events('');
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(numbers(text)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(text.endsWith(': heartbeat\n\nretry: 1000\n\n')).toBe(true);
    const waits = h.sessions.reads.map((read) => read.waitMs);
    expect(waits[0]).toBe(0);
    expect(waits.slice(1).reduce((sum, wait) => sum + wait, 0)).toBe(limits.idleCloseMs);
  });

  it('continues after a number, from the query or Last-Event-ID', async () => {
    expect(numbers((await events('?after=4')).text)).toEqual([5, 6]);
    expect(numbers((await events('', { 'last-event-id': '4' })).text)).toEqual([5, 6]);
    expect(numbers((await events('?after=5', { 'last-event-id': '1' })).text)).toEqual([6]);
    expect(numbers((await events('?after=99')).text)).toEqual([]);
  });

  it.each(['-1', 'x', '', '1.5', '1e3', '0x1', '9999999999999999', '01', '٣'])('returns 422 for after=%s', async (after) => {
    const answer = await h.send('GET', `/v1/sessions/${id}/events?after=${encodeURIComponent(after)}`);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, 'after']);
  });

  it('is also read as pages of JSON: the newest events, those before a number, and those after one', async () => {
    const page = async (query: string) => await bodyOf(await h.send('GET', `/v1/sessions/${id}/events?follow=false${query}`));
    const ids = async (query: string) => (await page(query)).items.map((event: { id: number }) => event.id);
    expect(await page('&limit=2')).toMatchObject({ items: [{ id: 5 }, { id: 6, type: 'turn-end' }], lastEvent: 6 });
    expect(await ids('')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ids('&before=5&limit=2')).toEqual([3, 4]);
    expect(await ids('&after=1&limit=2')).toEqual([2, 3]);
    expect(await ids('&after=1&before=6&limit=2')).toEqual([4, 5]);
    for (const query of ['&before=1', '&before=0', '&after=6', '&after=999999999', '&after=5&before=2'])
      expect(await ids(query), query).toEqual([]);
    expect(await ids('&before=999999999999&limit=1')).toEqual([6]);
    // Only a stream is resumed by a browser.
    const answer = await h.send('GET', `/v1/sessions/${id}/events?follow=false&limit=1`, undefined, { 'last-event-id': '2' });
    expect((await bodyOf(answer)).items).toMatchObject([{ id: 6 }]);
  });

  it.each([
    ['follow=false&limit=0', 'limit'],
    ['follow=false&limit=501', 'limit'],
    ['follow=false&before=-1', 'before'],
    ['follow=false&before=1&before=2', 'before'],
    ['follow=no', 'follow'],
    ['before=3', 'before'],
    ['limit=3', 'limit'],
    ['follow=true&limit=3', 'limit'],
  ])('returns 422 for ?%s', async (query, path) => {
    const answer = await h.send('GET', `/v1/sessions/${id}/events?${query}`);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });

  it('ends with the problem if the session fails', async () => {
    const session = h.sessions.get(id);
    let reads = 0;
    const leaving: SessionPort = {
      ...session,
      eventsAfter: async (...args) =>
        reads++ === 0 ? await session.eventsAfter(...args) : Promise.reject(new Problem('not_found', 'It is gone.')),
    };
    const stream = await openEventStream(leaving, caller, 5, (error) => error as Problem);
    const text = await new Response(stream).text();
    expect(numbers(text)).toEqual([6]);
    expect(text).toMatch(/event: error\ndata: \{"type":"error","problem":\{.*"code":"not_found".*\}\}\n\nretry: 1000\n\n$/);
  });

  it('reads a page only when the previous one was consumed', async () => {
    h.sessions.reads.length = 0;
    const reader = (await openEventStream(h.sessions.get(id), caller, 0, (error) => error as Problem)).getReader();
    await reader.read();
    expect(h.sessions.reads.length).toBeLessThanOrEqual(2);
    await reader.cancel();
    expect(h.sessions.reads.length).toBeLessThanOrEqual(2);
  });

  describeCorpus('security/sse.jsonl', (path) => {
    const rows = readJsonLines<{ id: string; class: string; header: string; expect: string }>(path).filter(
      (row) => row.class === 'last-event-id',
    );
    it.each(rows.map((row) => [row.id, row] as const))('%s as Last-Event-ID never fails', (_id, row) => {
      const start = resumePoint(undefined, row.header);
      if (row.expect === 'resume-or-empty') expect(start).toBe(Number(row.header));
      else expect(start).toBe(0);
    });
  });
});

describe('files', () => {
  const filesOf = (session: string): string[] => {
    const files = h.sessions.all.get(session)?.files;
    return files?.paths().filter((path) => files.stat(path)?.kind === 'file') ?? [];
  };
  const file = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    h.send(method, `/v1/sessions/${id}/files/${path}`, body, headers);

  it('are written, read, listed and deleted as bytes', async () => {
    const bytes = new Uint8Array([0, 255, 60, 33]);
    const made = await file('PUT', 'workspace/a%20b.bin', bytes, { 'content-type': 'image/png' });
    expect([made.status, made.headers.get('location'), await bodyOf(made)]).toEqual([
      201,
      `/v1/sessions/${id}/files/workspace/a%20b.bin`,
      { path: '/workspace/a b.bin', size: 4 },
    ]);
    expect((await file('PUT', 'workspace/a%20b.bin', bytes)).status).toBe(200);
    const read = await file('GET', 'workspace/a%20b.bin');
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(read.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment',
    });
    expect((await bodyOf(await file('GET', 'workspace'))).entries).toEqual([expect.objectContaining({ name: 'a b.bin', size: 4 })]);
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}/files`))).path).toBe('/workspace');
    expect((await file('DELETE', 'workspace/a%20b.bin')).status).toBe(204);
    expect((await file('GET', 'workspace/a%20b.bin')).status).toBe(404);
  });

  it('have the paths that the tools use, from the working directory or absolute', async () => {
    await file('PUT', 'notes/a.txt', 'x');
    await file('PUT', '/tmp/b.txt', 'y');
    expect(filesOf(id)).toEqual(['/tmp/b.txt', '/workspace/notes/a.txt']);
    expect(await (await file('GET', 'workspace/notes/a.txt')).text()).toBe('x');
  });

  it('reach the session with any characters in the path, which it validates', async () => {
    const refused = await file('PUT', 'a%0Ab.txt', 'x');
    expect([refused.status, (await bodyOf(refused)).detail, filesOf(id)]).toEqual([422, expect.stringContaining('U+000A'), []]);
  });

  it('may be empty, and no larger than the limit', async () => {
    expect((await file('PUT', 'workspace/empty')).status).toBe(201);
    expect((await file('PUT', 'workspace/big', new Uint8Array(maxFileBodyBytes + 1))).status).toBe(413);
    expect((await file('GET', 'workspace/big')).status).toBe(404);
  });

  it('keep the sent name: nothing is decoded twice', async () => {
    await file('PUT', 'workspace/%2541', 'x');
    expect(filesOf(id)).toEqual(['/workspace/%41']);
  });
});

it('a session is listed for its key, and gone when deleted', async () => {
  expect((await h.send('GET', '/v1/sessions')).status).toBe(200);
  expect((await h.send('DELETE', `/v1/sessions/${id}`)).status).toBe(204);
  expect((await h.send('GET', `/v1/sessions/${id}`)).status).toBe(404);
  expect((await h.send('DELETE', `/v1/sessions/${id}`)).status).toBe(404);
});
