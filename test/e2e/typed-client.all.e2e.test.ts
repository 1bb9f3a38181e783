/** The typed client against the running service: turns, approvals, tools of the caller, lists, and connections that break. */
import { beforeAll, describe, expect, it } from 'vitest';
import { streamChat } from '../../client/src/chat.ts';
import { createClient, type MonikerClient } from '../../client/src/client.ts';
import { followEvents, streamTurn, type SessionEvent } from '../../client/src/events.ts';
import { paginate } from '../../client/src/paginate.ts';
import { runTurn, type ApprovalRequired } from '../../client/src/run-turn.ts';
import { shareService } from './shared-service.ts';

const service = shareService();
const model = 'rehearsal/default';

/** Follows the service to its new address after a restart. `cuts`: after how many pieces the first event streams break. */
function connect(cuts: readonly number[] = []): MonikerClient {
  const left = [...cuts];
  return createClient({
    baseUrl: 'http://moniker.example',
    key: service.key,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const response = await fetch(new Request(service.url + pathname + search, request));
      return response.headers.get('content-type')?.startsWith('text/event-stream') ? cut(response, left.shift()) : response;
    },
  });
}

/** Passes on pieces of 100 bytes, so that lines and characters are cut, too; then fails like a connection that is reset. */
function cut({ body, status, headers }: Response, pieces = Number.POSITIVE_INFINITY): Response {
  const reader = body?.getReader();
  let left = pieces;
  let rest = new Uint8Array();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (rest.length === 0) rest = new Uint8Array((await reader?.read())?.value ?? []);
      left -= 1;
      if (rest.length === 0) controller.close();
      else if (left < 0) controller.error(new TypeError('terminated'));
      else controller.enqueue(rest.subarray(0, 100));
      rest = rest.subarray(100);
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  return new Response(stream, { status, headers });
}

let client: MonikerClient;
beforeAll(async () => {
  client = connect();
  const tools = [
    { tool: 'builtin.bash', name: 'shell' },
    { tool: 'builtin.write_file', name: 'save' },
  ];
  await client.put('/v1/toolsets/{toolset}', { params: { path: { toolset: 'typed' } }, body: { tools } });
  await client.put('/v1/agents/{agent}', { params: { path: { agent: 'typed' } }, body: { model, toolset: 'typed' } });
});

async function newSession(): Promise<string> {
  return (await client.post('/v1/sessions', { body: { agent: 'typed' } })).id;
}

async function collect<Item>(items: AsyncIterable<Item>, isLast: (item: Item) => boolean = () => false): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) {
    collected.push(item);
    if (isLast(item)) break;
  }
  return collected;
}
const isEnd = (event: SessionEvent) => event.type === 'turn-end';
const ids = (events: readonly SessionEvent[]) => events.map(({ id }) => id);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('a turn', () => {
  it('is streamed as typed events, and read again from the log', async () => {
    const session = await newSession();
    const streamed = await collect(streamTurn(client, session, '/save path=a.txt content=hello\n\n/shell cat a.txt'));
    expect(streamed.map(({ type }) => type)).toEqual(expect.arrayContaining(['turn-start', 'tool-start', 'tool-result', 'text-delta']));
    expect(streamed.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed' });
    expect(await collect(followEvents(client, session), isEnd)).toEqual(streamed);
    const roles = await collect(paginate(client, '/v1/sessions/{id}/messages', { path: { id: session }, query: { limit: 1 } }));
    expect(roles.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
    const listed = await collect(paginate(client, '/v1/sessions', { query: { limit: 1 } }));
    expect(listed.map(({ id }) => id)).toContain(session);
  });

  it('continues after the decision of a callback', async () => {
    const session = await newSession();
    await runTurn(client, session, '/save path=a.txt content=hello');
    const asked: ApprovalRequired[] = [];
    let text = '';
    const events: SessionEvent[] = [];
    const answer = await runTurn(client, session, '/shell rm a.txt', {
      onApproval: (request) => {
        asked.push(request);
        return 'approve';
      },
      onText: (part) => {
        text += part;
      },
      onEvent: (event) => {
        events.push(event);
      },
    });
    expect(asked).toMatchObject([{ canonical: 'builtin.bash', arguments: { command: 'rm a.txt' } }]);
    expect(answer).toMatchObject({ status: 'completed', reason: 'stop', toolCalls: [{ requested: 'shell', isError: false }] });
    expect(text).toContain(answer.text);
    expect(ids(events)).toEqual(ids(events).map((_, index) => (events[0]?.id ?? 0) + index));
  });

  it('is denied by a callback, and waits without one', async () => {
    const session = await newSession();
    await runTurn(client, session, '/save path=a.txt content=hello');
    const denied = await runTurn(client, session, '/shell rm a.txt', { onApproval: () => 'deny' });
    expect(denied).toMatchObject({ status: 'completed', toolCalls: [{ isError: true }] });
    const waiting = await runTurn(client, session, '/shell rm a.txt');
    expect(waiting).toMatchObject({ status: 'waiting', pending: [{ kind: 'approval' }] });
    // The next turn waits as well.
    expect(await runTurn(client, session, 'hello', { onApproval: () => 'approve' })).toMatchObject({ status: 'waiting' });
    expect(await client.post('/v1/sessions/{id}/cancel', { params: { path: { id: session } } })).toMatchObject({ cancelled: true });
  });

  it('gets the results of tools that the program runs, also failures', async () => {
    const session = await newSession();
    const description = 'Returns the position of the device.';
    const inputSchema = { type: 'object' };
    const tools = {
      get_position: { description, inputSchema, run: () => '47 N' },
      get_height: { description, inputSchema, run: () => Promise.reject(new Error('no sensor')) },
    };
    const answer = await runTurn(client, session, '/get_position\n\n/get_height', { tools });
    expect(answer).toMatchObject({
      status: 'completed',
      toolCalls: [
        { canonical: 'client.get_position', isError: false, content: [{ text: '47 N' }] },
        { canonical: 'client.get_height', isError: true, content: [{ text: 'no sensor' }] },
      ],
    });
  });

  it('rejects with the reason of the signal, and continues', async () => {
    const session = await newSession();
    const stop = new AbortController();
    const run = runTurn(client, session, '/shell sleep 1; echo done', {
      signal: stop.signal,
      onEvent: () => stop.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
    expect((await collect(followEvents(client, session), isEnd)).at(-1)).toMatchObject({ status: 'completed' });
  });
});

describe('a connection that breaks', () => {
  it('loses and repeats no event of a turn', async () => {
    const session = await newSession();
    const streamed = await collect(streamTurn(connect([0, 3, 20, 31]), session, '/save path=a.txt content="grüß 🎉"\n\n/shell cat a.txt'));
    expect(ids(streamed)).toEqual(upTo(streamed.length));
    expect(streamed.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed' });
    expect(await collect(followEvents(connect([0, 3, 7, 5]), session), isEnd)).toEqual(streamed);
  });

  it('is opened again after a restart of the service', async () => {
    const session = await newSession();
    await runTurn(client, session, 'one');
    const seen: SessionEvent[] = [];
    for await (const event of followEvents(client, session)) {
      seen.push(event);
      if (!isEnd(event)) continue;
      if (seen.filter(isEnd).length === 2) break;
      await service.restart();
      await client.post('/v1/sessions/{id}/turns', {
        params: { path: { id: session }, header: { prefer: 'respond-async' } },
        body: { input: 'two' },
      });
    }
    expect(ids(seen)).toEqual(upTo(seen.length));
  });

  it('ends without an error when the signal is aborted', async () => {
    const session = await newSession();
    await runTurn(client, session, 'one');
    const stop = new AbortController();
    const seen: SessionEvent[] = [];
    for await (const event of followEvents(client, session, { signal: stop.signal })) {
      seen.push(event);
      if (isEnd(event)) setImmediate(() => stop.abort());
    }
    expect(seen.filter(isEnd)).toHaveLength(1);
  });

  it('is not opened again for a session that does not exist', async () => {
    await expect(collect(followEvents(client, 'none'))).rejects.toMatchObject({ code: 'not_found', status: 404 });
  });
});

describe('a chat completion', () => {
  it('is streamed in chunks', async () => {
    const chunks = await collect(streamChat(client, { model, messages: [{ role: 'user', content: 'hello' }] }));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toContain('I am the rehearsal model');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it('fails with the code of the service', async () => {
    const stream = streamChat(client, { model: 'nobody/none', messages: [{ role: 'user', content: 'hello' }] });
    await expect(collect(stream)).rejects.toMatchObject({ code: 'model_not_found', status: 404 });
  });
});
