/** Calls in both eras, against a server on the SDK: the requests on the wire, and the results. */
import { inputRequired, ProtocolError } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import type { InputRequest } from '../../../src/core/tools/mcp-input.ts';
import type { ToolResult } from '../../../src/core/tools/tool.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import { type FakeMcpServer, type FakeTool, listenMcpServer, type McpServerParts } from '../../fakes/mcp-server.ts';
import type { UpstreamAnswer } from '../../../src/ports/upstream.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const open: FakeMcpServer[] = [];
const listenTo = async (parts: McpServerParts): Promise<FakeMcpServer> => {
  const server = await listenMcpServer(parts);
  open.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const echo: FakeTool = { name: 'echo', inputSchema: { type: 'object' } };
const answering = (answer: NonNullable<FakeTool['answer']>): FakeTool => ({ ...echo, answer });
const text = (words: string): unknown => ({ content: [{ type: 'text', text: words }] });
const resultOf = (answer: UpstreamAnswer<ToolResult>): ToolResult => {
  if (answer.kind !== 'result') throw new Error('it asks for input');
  return answer.result;
};
const textOf = (answer: UpstreamAnswer<ToolResult>): string =>
  resultOf(answer)
    .content.map((block) => (block.type === 'text' ? block.text : block.type))
    .join('\n');
const form = { type: 'object', properties: { city: { type: 'string' } } } as const;
const methods = (server: FakeMcpServer): string[] =>
  server.heard.map(({ httpMethod, method }) => (httpMethod === 'POST' ? method : httpMethod));

describe.each(['modern', 'legacy'] as const)('a call of a %s server', (eras) => {
  it('returns the result of the tool, and is sent under its own name with the idempotency key', async () => {
    const server = await listenTo({ tools: [echo], eras });
    const upstream = createMcpUpstream();
    const answer = await upstream.callTool(accessTo(server.url), callOf('echo', { a: 1 }), {}, contextWith());
    expect(answer).toEqual({
      kind: 'result',
      result: { isError: false, content: [{ type: 'text', text: '{"name":"echo","arguments":{"a":1}}' }] },
    });
    expect(server.heard.at(-1)?.headers['idempotency-key']).toBe('key-1');
  });

  it('skips the handshake the second time', async () => {
    const server = await listenTo({ tools: [echo], eras });
    const upstream = createMcpUpstream();
    await upstream.callTool(accessTo(server.url), callOf('echo'), {}, contextWith());
    const before = server.heard.length;
    await upstream.callTool(accessTo(server.url), callOf('echo'), {}, contextWith());
    expect(methods(server).slice(before)).toEqual(['tools/call']);
  });

  it('sends the headers of the server document, with secrets only for its host, and the token if one exists', async () => {
    const server = await listenTo({ tools: [echo], eras });
    const asked: unknown[] = [];
    const context = contextWith({
      secret: async (...use) => {
        asked.push(use);
        return 'hush';
      },
      tokens: { token: async () => 'token-1', refreshAfterRejection: async () => false },
    });
    const access = accessTo(server.url, { headers: { 'x-plain': 'words', 'x-key': { secret: 'KEY' } } });
    await createMcpUpstream().callTool(access, callOf('echo'), {}, context);
    expect(asked).toEqual([['KEY', server.host]]);
    for (const { headers } of server.heard) {
      expect(headers).toMatchObject({ 'x-plain': 'words', 'x-key': 'hush', authorization: 'Bearer token-1', 'user-agent': 'moniker' });
    }
  });

  it('renews a rejected token once, and reports a missing sign-in', async () => {
    const good = 'Bearer token-2';
    const gate = (request: Request): Response | null =>
      request.headers.get('authorization') === good
        ? null
        : new Response('who are you', { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
    const server = await listenTo({ tools: [echo], eras, gate });
    let token = 'token-1';
    const renewed: unknown[] = [];
    const renew = async (...given: unknown[]): Promise<boolean> => {
      renewed.push(given);
      token = 'token-2';
      return true;
    };
    const answer = await createMcpUpstream().callTool(
      accessTo(server.url),
      callOf('echo'),
      {},
      contextWith({ tokens: { token: async () => token, refreshAfterRejection: renew } }),
    );
    expect(resultOf(answer).isError).toBe(false);
    expect(renewed).toEqual([['token-1', 'Bearer error="invalid_token"']]);

    for (const tokens of [undefined, { token: async () => null, refreshAfterRejection: async () => false }]) {
      const refused = createMcpUpstream().callTool(accessTo(server.url), callOf('echo'), {}, contextWith({ tokens }));
      await expect(refused).rejects.toMatchObject({ code: 'upstream_error', extra: { unauthorized: true, server: 'files' } });
    }
  });

  it('passes on progress and log messages', async () => {
    const tool = answering(async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) throw new Error('nobody wants to know');
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message: 'half' } });
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: 'a line' } });
      return text('done');
    });
    const server = await listenTo({ tools: [tool], eras });
    const told: unknown[] = [];
    const hooks = { progress: (update: unknown) => told.push(update), notice: (notice: unknown) => told.push(notice) };
    const answer = await createMcpUpstream().callTool(accessTo(server.url), callOf('echo'), hooks, contextWith());
    expect(textOf(answer)).toBe('done');
    expect(told).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { level: 'info', data: 'a line' },
    ]);
  });

  it('keeps every kind of content', async () => {
    const content = [
      { type: 'text', text: 'words', annotations: { audience: ['user'] } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///etc/passwd', name: 'passwd' },
      { type: 'resource', resource: { uri: 'test://a', mimeType: 'text/plain', text: 'inside' } },
    ];
    const tool = answering(() => ({ content, structuredContent: { a: 1 }, _meta: { mine: true } }));
    const server = await listenTo({ tools: [tool], eras });
    const answer = await createMcpUpstream().callTool(accessTo(server.url), callOf('echo'), {}, contextWith());
    expect(answer).toEqual({ kind: 'result', result: { isError: false, content, structuredContent: { a: 1 }, meta: { mine: true } } });
  });

  it('is an error result if the tool or JSON-RPC reports an error', async () => {
    const server = await listenTo({
      tools: [answering(() => ({ isError: true, content: [{ type: 'text', text: 'no such city' }] }))],
      eras,
    });
    const upstream = createMcpUpstream();
    expect(await upstream.callTool(accessTo(server.url), callOf('echo'), {}, contextWith())).toEqual({
      kind: 'result',
      result: { isError: true, code: 'tool_error', content: [{ type: 'text', text: 'no such city' }] },
    });
    const unknown = await upstream.callTool(accessTo(server.url), callOf('other'), {}, contextWith());
    expect(resultOf(unknown)).toMatchObject({ isError: true, code: 'tool_error' });
    expect(textOf(unknown)).toBe('other failed: its server returned error -32602: "there is no tool other".');
  });

  it('has the JSON-RPC error of the server, for MCP clients', async () => {
    const server = await listenTo({
      tools: [
        answering(() => {
          throw new ProtocolError(-32_055, 'Quota exceeded', { retryAfter: 30 });
        }),
      ],
      eras,
    });
    const { protocolError } = resultOf(await createMcpUpstream().callTool(accessTo(server.url), callOf('echo'), {}, contextWith()));
    expect(protocolError).toEqual({ code: -32_055, message: 'Quota exceeded', data: { retryAfter: 30 } });
  });

  it('sends a cancellation to the server, and ends with the reason', async () => {
    const cancelled = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const tool = answering(async (_args, { mcpReq }) => {
      mcpReq.signal.addEventListener('abort', () => cancelled.resolve());
      began.resolve();
      await cancelled.promise;
      return text('too late');
    });
    const server = await listenTo({ tools: [tool], eras });
    const controller = new AbortController();
    const call = createMcpUpstream().callTool(accessTo(server.url), callOf('echo'), {}, contextWith({ signal: controller.signal }));
    await began.promise;
    controller.abort(new Error('the turn is over'));
    await expect(call).rejects.toThrow('the turn is over');
    await cancelled.promise;
  });
});

describe('a call of a modern server', () => {
  it('names method and tool in headers, and the arguments that the schema requires there', async () => {
    const server = await listenTo({ tools: [echo], eras: 'modern' });
    const inputSchema = { type: 'object', properties: { owner: { type: 'string', 'x-mcp-header': 'owner' }, count: { type: 'integer' } } };
    await createMcpUpstream().callTool(
      accessTo(server.url),
      callOf('echo', { owner: 'Zoë', count: 2 }, { inputSchema }),
      {},
      contextWith(),
    );
    const headers = server.heard.at(-1)?.headers ?? {};
    expect(headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'mcp-param-owner': `=?base64?${Buffer.from('Zoë').toString('base64')}?=`,
    });
    expect(headers['mcp-param-count']).toBeUndefined();
  });

  it('skips the handshake if the connection data of the last listing is stored', async () => {
    const server = await listenTo({ tools: [echo], eras: 'modern' });
    const connection = { era: 'modern', protocolVersion: '2026-07-28', capabilities: { tools: {} } } as const;
    await createMcpUpstream().callTool(accessTo(server.url, { connection }), callOf('echo'), {}, contextWith());
    expect(methods(server)).toEqual(['tools/call']);
  });

  it('requests input, and continues with the answer', async () => {
    const tool = answering((_args, { mcpReq }) => {
      const given = mcpReq.inputResponses?.where;
      if (given === undefined) {
        return inputRequired({
          inputRequests: { where: inputRequired.elicit({ message: 'Where?', requestedSchema: form }) },
          requestState: 'step 1',
        });
      }
      return text(JSON.stringify([given, mcpReq.requestState()]));
    });
    const server = await listenTo({ tools: [tool], eras: 'modern' });
    const upstream = createMcpUpstream();
    const hooks = { askable: { elicitation: { form: {} } } };
    const asked = await upstream.callTool(accessTo(server.url), callOf('echo'), hooks, contextWith());
    expect(asked).toEqual({
      kind: 'input-required',
      input: {
        requests: {
          where: { method: 'elicitation/create', params: { mode: 'form', message: 'Server "files" asks: Where?', requestedSchema: form } },
        },
        state: 'step 1',
      },
    });
    const given = { responses: { where: { action: 'accept', content: { city: 'Rome' } } }, state: 'step 1' };
    const answer = await upstream.callTool(accessTo(server.url), callOf('echo', {}, { given }), hooks, contextWith());
    expect(JSON.parse(textOf(answer))).toEqual([{ action: 'accept', content: { city: 'Rome' } }, 'step 1']);
  });

  it('receives the roots of its document without user input', async () => {
    const tool = answering((_args, { mcpReq }) => {
      const given = mcpReq.inputResponses?.roots;
      return given === undefined ? inputRequired({ inputRequests: { roots: inputRequired.listRoots() } }) : text(JSON.stringify(given));
    });
    const server = await listenTo({ tools: [tool], eras: 'modern' });
    const roots = [{ uri: 'file:///srv/data', name: 'data' }];
    const answer = await createMcpUpstream().callTool(accessTo(server.url, { mcp: { roots } }), callOf('echo'), {}, contextWith());
    expect(JSON.parse(textOf(answer))).toEqual({ roots });
  });
});

describe('a call of a legacy server', () => {
  const asking = answering(async (_args, { mcpReq }) =>
    text(JSON.stringify(await mcpReq.elicitInput({ message: 'Where?', requestedSchema: form }))),
  );

  it('answers an input request while the call is open, prefixed with the server’s name', async () => {
    const server = await listenTo({ tools: [asking], eras: 'legacy' });
    const asked: InputRequest[] = [];
    const hooks = {
      askable: { elicitation: { form: {} } },
      ask: async (request: InputRequest) => {
        asked.push(request);
        return { action: 'accept', content: { city: 'Rome' } };
      },
    };
    const answer = await createMcpUpstream().callTool(accessTo(server.url), callOf('echo'), hooks, contextWith());
    expect(JSON.parse(textOf(answer))).toEqual({ action: 'accept', content: { city: 'Rome' } });
    expect(asked.map(({ params }) => params.message)).toEqual(['Server "files" asks: Where?']);
  });

  it('declares no elicitation if no user is available', async () => {
    const server = await listenTo({ tools: [asking], eras: 'legacy' });
    const hooks = { askable: { elicitation: { form: {} } } };
    const answer = await createMcpUpstream().callTool(accessTo(server.url), callOf('echo'), hooks, contextWith());
    expect(resultOf(answer).isError).toBe(true);
    expect(server.heard[1]?.body).toMatchObject({ method: 'initialize', params: { capabilities: {} } });
  });

  it('reconnects after an expired session and repeats the call once', async () => {
    const server = await listenTo({ tools: [echo], eras: 'legacy' });
    const upstream = createMcpUpstream();
    await upstream.callTool(accessTo(server.url), callOf('echo', { n: 1 }), {}, contextWith());
    await server.restart();
    const before = server.heard.length;
    const answer = await upstream.callTool(accessTo(server.url), callOf('echo', { n: 2 }), {}, contextWith());
    expect(resultOf(answer).isError).toBe(false);
    expect(methods(server).slice(before)).toEqual([
      'tools/call',
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/call',
    ]);
  });

  it('never shares a session with another conversation', async () => {
    const server = await listenTo({ tools: [echo], eras: 'legacy' });
    const upstream = createMcpUpstream();
    for (const conversation of ['one', 'two', 'one', 'two']) {
      await upstream.callTool(accessTo(server.url), callOf('echo', { conversation }), {}, contextWith({ conversation }));
    }
    const sessions = server.heard.filter(({ method }) => method === 'tools/call').map(({ session }) => session);
    expect(sessions[0]).toBe(sessions[2]);
    expect(sessions[1]).toBe(sessions[3]);
    expect(sessions[0]).not.toBe(sessions[1]);
  });

  it('is repeated once if its server no longer supports the modern revision', async () => {
    const server = await listenTo({ tools: [echo], eras: 'legacy' });
    const connection = { era: 'modern', protocolVersion: '2026-07-28', capabilities: { tools: {} } } as const;
    const answer = await createMcpUpstream().callTool(accessTo(server.url, { connection }), callOf('echo', { n: 1 }), {}, contextWith());
    expect(resultOf(answer).isError).toBe(false);
    expect(methods(server).filter((method) => method === 'initialize')).toHaveLength(1);
  });
});

describe('the era of a server', () => {
  it('is modern if it supports both, or the one in its document', async () => {
    const server = await listenTo({ tools: [echo] });
    const eraOf = async (era: 'auto' | 'modern' | 'legacy'): Promise<unknown> =>
      (await createMcpUpstream().discover(accessTo(server.url, { mcp: { era } }), contextWith())).connection?.era;
    expect(await eraOf('auto')).toBe('modern');
    expect(await eraOf('modern')).toBe('modern');
    expect(await eraOf('legacy')).toBe('legacy');
  });

  it('is a clear error if the document requires modern and the server is not', async () => {
    const server = await listenTo({ tools: [echo], eras: 'legacy' });
    const listing = createMcpUpstream().discover(accessTo(server.url, { mcp: { era: 'modern' } }), contextWith());
    await expect(listing).rejects.toMatchObject({
      code: 'upstream_error',
      detail: expect.stringContaining('does not support MCP revision 2026-07-28'),
    });
  });
});
