/** A call of a known server of 2026-07-28, without the SDK's client, compared with the same call through it. */
import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import { type FakeMcpServer, type FakeTool, listenMcpServer } from '../../fakes/mcp-server.ts';
import type { UpstreamCall, UpstreamContext, UpstreamHooks } from '../../../src/ports/upstream.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const open: FakeMcpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const known = { connection: { era: 'modern', protocolVersion: '2026-07-28' } as never };
const tool = (name: string, answer?: NonNullable<FakeTool['answer']>): FakeTool => ({
  name,
  inputSchema: { type: 'object' },
  ...(answer && { answer }),
});
const tools = [
  tool('echo'),
  tool('picture', () => ({
    content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    structuredContent: { a: 1 },
    _meta: { own: 1 },
  })),
  tool('failing', () => ({ isError: true, content: [{ type: 'text', text: 'no' }] })),
  tool('throwing', () => {
    throw new Error('broken');
  }),
  tool('talking', async (_args, { mcpReq }) => {
    await mcpReq.log('info', 'working');
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1 } });
    return { content: [{ type: 'text', text: 'done' }] };
  }),
];

/** Arguments that a header repeats: such calls are made by the SDK's client. */
const viaSdk = { inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } };

async function bothAnswers(
  call: UpstreamCall,
  hooks: UpstreamHooks = {},
  context: Partial<UpstreamContext> = {},
  gate?: (request: Request) => Response | null,
) {
  const server = await listenMcpServer({ tools, eras: 'modern', ...(gate && { gate }) });
  open.push(server);
  const answers = [];
  for (const more of [{}, viaSdk]) {
    const events: unknown[] = [];
    const own: UpstreamHooks = {
      ...hooks,
      progress: (update) => void events.push(update),
      ...(hooks.notice && { notice: (line) => void events.push(line) }),
    };
    const answer = await createMcpUpstream()
      .callTool(accessTo(server.url, { ...known, headers: { 'x-own': 'words' } }), { ...call, ...more }, own, contextWith(context))
      .catch((error: unknown) => ({ error: String(error), extra: (error as { extra?: unknown }).extra }));
    answers.push({ answer, events });
  }
  return { answers, heard: server.heard };
}

describe('a call of a known server of 2026-07-28', () => {
  it('sends what the client of the SDK sends', async () => {
    const hooks: UpstreamHooks = { askable: { elicitation: { form: {} } }, meta: { traceparent: '00-1' }, notice: () => undefined };
    const { heard } = await bothAnswers(callOf('echo', { a: 'ü' }), hooks);
    const [plain, sdk] = heard.map(({ body, headers }) => {
      const { id, params, ...message } = body as { id: number; params: { _meta: Record<string, unknown> } };
      expect(params._meta.progressToken).toBe(id);
      const { 'content-length': _length, ...others } = headers;
      return { headers: others, message: { ...message, params: { ...params, _meta: { ...params._meta, progressToken: 0 } } } };
    });
    expect(heard).toHaveLength(2);
    expect(plain).toEqual(sdk);
  });

  it.each(['echo', 'picture', 'failing', 'throwing', 'talking', 'missing'])('returns what it returns: %s', async (name) => {
    const { answers, heard } = await bothAnswers(callOf(name, { a: 1 }), { notice: () => undefined });
    expect(answers[0]).toEqual(answers[1]);
    expect(heard.map(({ method }) => method)).toEqual(['tools/call', 'tools/call']);
  });

  const json = { headers: { 'content-type': 'application/json' } };
  it.each<[string, () => Response]>([
    ['401', () => new Response('no', { status: 401 })],
    ['403', () => new Response('no', { status: 403 })],
    ['500', () => new Response('no', { status: 500 })],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: 'https://other.test/' } })],
    ['202', () => new Response(null, { status: 202 })],
    ['HTML', () => new Response('<p>', { headers: { 'content-type': 'text/html' } })],
    ['broken JSON', () => new Response('{', json)],
    ['another message', () => new Response('{"jsonrpc":"2.0","id":7}', json)],
    ['an invalid session id', () => new Response('{}', { headers: { ...json.headers, 'mcp-session-id': 'a b' } })],
    ['too many bytes', () => new Response(`"${'a'.repeat(limits.maxToolReplyBytes)}"`, json)],
    ['an empty stream', () => new Response('', { headers: { 'content-type': 'text/event-stream' } })],
  ])('reports the same fault, after one request: %s', async (_what, gate) => {
    const { answers, heard } = await bothAnswers(callOf('echo'), {}, {}, gate);
    expect(answers[0]).toEqual(answers[1]);
    expect(heard.length).toBeLessThanOrEqual(2);
  });

  it('reports the same fault if the server cannot be reached', async () => {
    const { answers } = await bothAnswers(callOf('echo'), {}, { fetch: () => Promise.reject(new TypeError('refused')) });
    expect(answers[0]).toEqual(answers[1]);
    expect(JSON.stringify(answers[0])).toContain('could not be reached');
  });

  it('connects again if the server no longer supports the revision', async () => {
    const server = await listenMcpServer({ tools, eras: 'legacy' });
    open.push(server);
    const answer = await createMcpUpstream().callTool(accessTo(server.url, known), callOf('echo'), {}, contextWith());
    expect(answer).toMatchObject({ kind: 'result', result: { isError: false } });
    // The refused one, and the one after the handshake.
    expect(server.calls()).toHaveLength(2);
  });
});
