/**
 * Every combination of MCP eras: a client of 2026-07-28 or 2025, with a server of 2026-07-28 or 2025. The same requests must have the
 * same results for each pair.
 */
import type { Client } from '@modelcontextprotocol/client';
import { inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer, type FakeMcpServer, type FakeTool, type HeardRequest } from '../fakes/mcp-server.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import { shareService } from './shared-service.ts';
import { waitFor } from '../wait-for.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const eras = ['legacy', 'modern'] as const;
const pairs = eras.flatMap((client) => eras.map((server) => ({ client, server })));
const said = (text: string) => ({ content: [{ type: 'text', text }] });
const plain = (name: string, more: Partial<FakeTool> = {}): FakeTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
  annotations: { readOnlyHint: true },
  ...more,
});

/** How many hanging calls were cancelled, by server. */
const stopped: Record<string, number> = { legacy: 0, modern: 0 };

function toolsOf(server: string): FakeTool[] {
  return [
    plain('echo', { answer: ({ word }) => said(`echo ${word}`) }),
    plain('work', {
      async answer(_args, { mcpReq }: ServerContext) {
        const progressToken = mcpReq._meta?.progressToken;
        for (const progress of [1, 2]) {
          if (progressToken !== undefined)
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } });
          await mcpReq.log('warning', { step: progress }, 'worker');
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
        return said('worked');
      },
    }),
    plain('ask', {
      // In the 2025 eras the SDK sends this as an elicitation during the call.
      answer(_args, { mcpReq }) {
        const { city } = (mcpReq.inputResponses ?? {}) as Record<string, { action: string; content?: { city?: string } }>;
        if (city === undefined) {
          const requestedSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };
          return inputRequired({ inputRequests: { city: inputRequired.elicit({ message: 'Which city?', requestedSchema }) } });
        }
        return said(`${city.action} ${city.content?.city ?? ''}`);
      },
    }),
    plain('wipe', { annotations: { destructiveHint: true }, answer: () => said('wiped') }),
    plain('hang', {
      answer: (_args, { mcpReq }) =>
        new Promise((_, reject) => {
          const stop = (): void => {
            stopped[server] = (stopped[server] ?? 0) + 1;
            reject(new Error('stopped'));
          };
          if (mcpReq.signal.aborted) stop();
          else mcpReq.signal.addEventListener('abort', stop);
        }),
    }),
  ];
}

/** Responds to the second call only. */
const secondTime = (): FakeTool['answer'] => {
  let count = 0;
  return () => {
    count += 1;
    return count === 1 ? new Promise(() => {}) : said('done at last');
  };
};

const servers = new Map<string, FakeMcpServer>();
beforeAll(async () => {
  for (const era of eras) {
    const server = await listenMcpServer({
      eras: era,
      tools: toolsOf(era),
      prompts: [{ name: 'review', arguments: [{ name: 'file' }] }],
      resources: [{ uri: `${era}://readme`, name: 'readme' }],
    });
    servers.set(era, server);
    const stored = await service.call('PUT', `/v1/servers/${era}`, { kind: 'mcp', url: server.url, trusted: true });
    expect(stored.json).toMatchObject({ health: { status: 'ok' }, connection: { era } });
    const tools = ['echo', 'work', 'ask', 'wipe', 'hang'].map((tool) => ({ tool: `${era}.${tool}`, name: tool }));
    expect((await service.call('PUT', `/v1/toolsets/of-${era}`, { tools })).status).toBe(201);
  }
});
afterAll(() => Promise.all([...servers.values()].map((server) => server.close())));

const codesOf = async (canonical: string): Promise<unknown[]> => {
  const { json } = await service.call('GET', '/v1/audit?limit=200');
  return json.items.filter((row: { canonical: string }) => row.canonical === canonical).map((row: { code: unknown }) => row.code);
};

describe.each(pairs)('a client of the $client era, a server of the $server era', ({ client: era, server }) => {
  let client: Client;
  const lines: unknown[] = [];
  const changes: unknown[] = [];
  const questions: string[] = [];
  let answer: Record<string, unknown> = {};
  beforeAll(async () => {
    client = await connectClient(
      `${service.url}/mcp/of-${server}`,
      service.key,
      era === 'legacy' ? 'legacy' : 'pinned',
      { elicitation: { form: {} } },
      (made) => {
        made.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(params.message);
          return answer as never;
        });
        made.setNotificationHandler('notifications/message', ({ params }) => void lines.push(params));
        made.setNotificationHandler('notifications/tools/list_changed', () => void changes.push(true));
      },
    );
    if (era === 'legacy') await client.setLoggingLevel('info');
  });
  afterAll(() => client.close());

  it('calls a tool', async () => {
    expect(textOf(await client.callTool({ name: 'echo', arguments: { word: 'hallo' } }))).toBe('echo hallo');
  });

  it('receives progress and log messages', async () => {
    const seen: number[] = [];
    const meta = era === 'modern' ? { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } : {};
    const result = await client.callTool({ name: 'work', arguments: {}, ...meta }, { onprogress: ({ progress }) => seen.push(progress) });
    expect(textOf(result)).toBe('worked');
    expect(seen.length).toBeGreaterThan(0);
    expect(lines).toContainEqual(expect.objectContaining({ level: 'warning', data: { step: 1 } }));
  });

  it('receives an elicitation of the server', async () => {
    answer = { action: 'accept', content: { city: 'Bern' } };
    questions.length = 0;
    const result = await client.callTool({ name: 'ask', arguments: {} });
    expect([result.isError ?? false, textOf(result)]).toEqual([false, 'accept Bern']);
    expect(questions).toEqual([`Server "${server}" asks: Which city?`]);
    answer = { action: 'decline' };
    expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toBe('decline ');
  });

  it('receives an approval request of Moniker', async () => {
    answer = { action: 'accept', content: { approve: true } };
    expect(textOf(await client.callTool({ name: 'wipe', arguments: {} }))).toBe('wiped');
    answer = { action: 'accept', content: { approve: false } };
    expect((await client.callTool({ name: 'wipe', arguments: {} }))._meta).toMatchObject({ code: 'denied' });
  });

  it('cancels a call: the server is notified, and the call is audited once', async () => {
    const [before, audited] = [stopped[server] ?? 0, await codesOf(`${server}.hang`)];
    const abort = new AbortController();
    const calling = client.callTool({ name: 'hang', arguments: {} }, { signal: abort.signal }).catch((error: unknown) => error);
    await waitFor(() => expect(servers.get(server)?.calls().at(-1)?.name).toBe('hang'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    abort.abort(new Error('never mind'));
    expect(await calling).toBeInstanceOf(Error);
    await waitFor(() => expect(stopped[server]).toBe(before + 1));
    await waitFor(async () => expect(await codesOf(`${server}.hang`)).toEqual(['aborted', ...audited]));
  });

  it('receives a change of the tool list', async () => {
    const listening = era === 'modern' ? await client.listen({ toolsListChanged: true }) : null;
    await new Promise((resolve) => setTimeout(resolve, 500));
    changes.length = 0;
    const fake = servers.get(server);
    fake?.setTools([...toolsOf(server), plain(`new_${era}`)]);
    await fake?.tellChanged();
    await service.call('PUT', `/v1/toolsets/of-${server}`, {
      tools: ['echo', 'work', 'ask', 'wipe', 'hang'].map((tool) => ({
        tool: `${server}.${tool}`,
        name: tool,
        description: `${era} ${tool}`,
      })),
    });
    await waitFor(() => expect(changes.length).toBeGreaterThan(0));
    expect((await client.listTools()).tools[0]?.description).toContain(era);
    await listening?.close();
  });

  it('reads a resource, a prompt and a completion', async () => {
    const { contents } = await client.readResource({ uri: `${server}://readme` });
    expect(contents).toMatchObject([{ text: `text of ${server}://readme` }]);
    const { messages } = await client.getPrompt({ name: 'review', arguments: { file: 'a.ts' } });
    expect(messages[0]?.content).toMatchObject({ text: 'review {"file":"a.ts"}' });
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'file', value: 'a' } });
    expect(completion.values).toEqual(['a1']);
  });
});

describe('an elicitation of a 2025 server, relayed to a 2026-07-28 client', () => {
  const capabilities = { elicitation: { form: {} } };
  const call = async (name: string, more: object = {}, key = service.key, toolset = 'of-legacy') => {
    const response = await fetch(`${service.url}/mcp/${toolset}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: {},
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': capabilities,
          },
          ...more,
        },
      }),
    });
    const text = await response.text();
    const data = text.split('\n').filter((line) => line.startsWith('data: {'));
    return JSON.parse(text.startsWith('{') ? text : (data.at(-1) ?? '').slice('data: '.length));
  };
  const asked = async () => {
    const { result } = await call('ask');
    expect(result).toMatchObject({ resultType: 'input_required' });
    const [key = ''] = Object.keys(result.inputRequests);
    const inputResponses = { [key]: { action: 'accept', content: { city: 'Bern' } } };
    return { inputResponses, requestState: String(result.requestState) };
  };
  const callsOf = (tool: string): number =>
    servers
      .get('legacy')
      ?.calls()
      .filter(({ name }) => name === tool).length ?? 0;

  it('is answered once, no matter how often the response is sent', async () => {
    const before = callsOf('ask');
    const retry = await asked();
    const answers = await Promise.all([call('ask', retry), call('ask', retry), call('ask', retry)]);
    answers.push(await call('ask', retry));
    for (const { result } of answers) expect(result).toMatchObject({ isError: false, content: [{ text: 'accept Bern' }] });
    expect(callsOf('ask')).toBe(before + 1);
    expect((await codesOf('legacy.ask')).filter((code) => code === 'aborted')).toEqual([]);
  });

  it('is still pending when the client sends no response to it', async () => {
    const { requestState } = await asked();
    expect((await call('ask', { inputResponses: {}, requestState })).result.content[0].text).toBe('cancel ');
  });

  it('is rejected from another key, on another toolset, for other arguments, and with a modified requestState', async () => {
    const before = callsOf('ask');
    const retry = await asked();
    const other = await service.call('POST', '/v1/keys', { name: 'other', scopes: ['tools'] });
    await service.call('PUT', '/v1/toolsets/beside', { tools: [{ tool: 'legacy.ask', name: 'ask' }] });
    const changed = `${retry.requestState.slice(0, -2)}${retry.requestState.endsWith('AA') ? 'BB' : 'AA'}`;
    const refused = await Promise.all([
      call('ask', retry, other.json.key),
      call('ask', retry, service.key, 'beside'),
      call('ask', { ...retry, arguments: { word: 'other' } }),
      call('ask', { ...retry, requestState: changed }),
    ]);
    for (const { error } of refused) expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('requestState') });
    expect((await call('ask', retry)).result.content[0].text).toBe('accept Bern');
    expect(callsOf('ask')).toBe(before + 1);
  });

  it('ends at a restart: the outcome of the call is unknown, and the call is not repeated', async () => {
    const before = callsOf('ask');
    const retry = await asked();
    const other = await asked();
    await service.restart();
    for (const _ of [1, 2]) {
      const { result } = await call('ask', retry);
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('may or may not have had its effect') }] });
    }
    expect(callsOf('ask')).toBe(before + 2);
    // The call whose client never returns ends as well.
    await waitFor(async () => expect((await codesOf('legacy.ask')).filter((code) => code === 'outcome_unknown')).toHaveLength(2));
    expect((await call('ask', other)).result.isError).toBe(true);
  });
});

describe('a call of an MCP session whose service is killed', () => {
  let fake: FakeMcpServer;
  beforeAll(async () => {
    fake = await listenMcpServer({
      eras: 'legacy',
      tools: [
        ...['look', 'see'].map((name) => plain(name, { answer: secondTime() })),
        ...['book', 'order'].map((name) =>
          plain(name, { annotations: { readOnlyHint: false, destructiveHint: false }, answer: secondTime() }),
        ),
      ],
    });
    await service.call('PUT', '/v1/servers/travel', { kind: 'mcp', url: fake.url, trusted: true });
    const tools = ['look', 'see', 'book', 'order'].map((name) => ({ tool: `travel.${name}` }));
    expect((await service.call('PUT', '/v1/toolsets/travel', { tools })).status).toBe(201);
  });
  afterAll(() => fake.close());

  const rpc = (message: object): object => ({ jsonrpc: '2.0', ...message });
  const send = (headers: Record<string, string>, message?: object): Promise<Response> =>
    fetch(`${service.url}/mcp/travel`, {
      method: message === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${service.key}`,
        accept: message === undefined ? 'text/event-stream' : 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      ...(message !== undefined && { body: JSON.stringify(Array.isArray(message) ? message.map(rpc) : rpc(message)) }),
    });

  it.each([
    ['book', 'may or may not have had its effect', true, 1],
    ['look', 'done at last', false, 2],
  ])('returns its result on the stream that the client resumes: %s', async (name, told, isError, times) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const begun = await send({}, { id: 0, method: 'initialize', params });
    await begun.text();
    const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    await send(headers, { method: 'notifications/initialized' });
    const calling = await send(headers, { id: 'seven', method: 'tools/call', params: { name, arguments: {} } });
    const first = await calling.body?.getReader().read();
    const [last = ''] = /(?<=^id: )\d+/m.exec(new TextDecoder().decode(first?.value)) ?? [];
    const made = (): number => fake.calls().filter((call) => call.name === name).length;
    await waitFor(() => expect(made()).toBe(1));
    await service.restart();
    const text = await (await send({ ...headers, 'last-event-id': last })).text();
    const answer = JSON.parse(
      text
        .split('\n')
        .findLast((line) => line.startsWith('data: {'))
        ?.slice('data: '.length) ?? '{}',
    );
    expect(answer).toMatchObject({ id: 'seven', result: { isError, content: [{ text: expect.stringContaining(told) }] } });
    expect(made()).toBe(times);
    expect(await codesOf(`travel.${name}`)).toEqual([isError ? 'outcome_unknown' : null]);
    // The pending call was removed.
    expect(await (await send(headers, { id: 'eight', method: 'tools/list' })).text()).toContain('"id":"eight"');
  });

  it('returns all results of a batch on the stream that the client resumes', async () => {
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const begun = await send({}, { id: 0, method: 'initialize', params });
    await begun.text();
    const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-03-26' };
    await send(headers, { method: 'notifications/initialized' });
    const made = (name: string): number => fake.calls().filter((call) => call.name === name).length;
    const before = { order: made('order'), see: made('see') };
    const call = (name: string) => ({ id: name, method: 'tools/call', params: { name, arguments: {} } });
    const calling = await send(headers, [call('order'), call('see'), { id: 'ping', method: 'ping' }]);
    const reader = calling.body?.getReader();
    let received = '';
    while (!received.includes('"id":"ping"')) received += new TextDecoder().decode((await reader?.read())?.value);
    const last = [...received.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? '';
    await waitFor(() => expect([made('order'), made('see')]).toEqual([before.order + 1, before.see + 1]));
    await service.restart();
    const text = await (await send({ ...headers, 'last-event-id': last })).text();
    const answers = text.split('\n').flatMap((line) => (line.startsWith('data: {"') ? [JSON.parse(line.slice('data: '.length))] : []));
    expect(answers.map(({ id, result }) => [id, result.isError]).sort()).toEqual([
      ['order', true],
      ['see', false],
    ]);
    expect([made('order'), made('see')]).toEqual([before.order + 1, before.see + 2]);
  });
});

it('a client that listens for tool list changes is notified of a removed tool without listing first', async () => {
  const hearing = pairs.map(async ({ client: era, server }) => {
    const name = `${era}-and-${server}`;
    // The list's TTL is an hour, so it is not refreshed for its age.
    const fake = await listenMcpServer({ eras: server, tools: [plain('stays'), plain('goes')], ttlMs: 3_600_000 });
    await service.call('PUT', `/v1/servers/${name}`, { kind: 'mcp', url: fake.url });
    await service.call('PUT', `/v1/toolsets/${name}`, { tools: [{ tool: `${name}.stays` }, { tool: `${name}.goes` }] });
    let changes = 0;
    const client = await connectClient(`${service.url}/mcp/${name}`, service.key, era === 'legacy' ? 'legacy' : 'pinned', {}, (made) => {
      made.setNotificationHandler('notifications/tools/list_changed', () => void changes++);
    });
    const listening = era === 'modern' ? await client.listen({ toolsListChanged: true }) : null;
    const isHeard = ({ method, httpMethod }: HeardRequest): boolean => method === 'subscriptions/listen' || httpMethod === 'GET';
    await waitFor(() => expect(fake.heard.some(isHeard)).toBe(true));
    fake.setTools([plain('stays')]);
    await fake.tellChanged();
    await waitFor(() => expect(changes).toBeGreaterThan(0));
    const { tools } = await client.listTools();
    await listening?.close();
    await client.close();
    await fake.close();
    return tools.map((tool) => [tool.name, tool._meta?.state ?? 'ready']);
  });
  const listed = [
    ['stays', 'ready'],
    ['goes', 'missing'],
  ];
  expect(await Promise.all(hearing)).toEqual(pairs.map(() => listed));
});
