/**
 * Private and untrusted content in one conversation (SEC-41), through the running service: nothing is sent out without an approval, also
 * after restarts; a model that deletes a toolset requires approval; instructions in untrusted text stay data (SEC-36).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absentCorpus, sharedFixtures, readJsonLines } from '../fixtures.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';
import { isSkipped } from '../selection.ts';
import { printStatistics } from '../statistics.ts';
import { endedTurn } from './eventually.ts';

type Row = { id: string; text: string | string[]; use: string };

describe('a conversation with private and untrusted content', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let upstream: RecordingUpstream;
  let server: ToolServer;
  let answer = 'nothing yet';
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect([200, 201], text).toContain(status);
  };
  const policy = (more: object = {}) => put('/v1/policy', { rules: [{ decision: 'allow', kind: 'network', host: host() }], ...more });
  const host = () => new URL(upstream.url).host;
  const begin = async (setup: object = { model: 'rehearsal/default', toolset: 'reach' }): Promise<string> =>
    (await service.call('POST', '/v1/sessions', setup)).json.id;
  const say = async (session: string, input: string): Promise<Answer['json']> =>
    (await service.call('POST', `/v1/sessions/${session}/turns`, { input })).json;
  const give = async (session: string, name: string, content: string): Promise<void> => {
    const sent = await fetch(`${service.url}/v1/sessions/${session}/files/${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${service.key}` },
      body: content,
    });
    expect([200, 201, 204]).toContain(sent.status);
  };
  const post = (path: string) => `/http_request ${JSON.stringify({ url: `${upstream.url}${path}`, method: 'POST', body: 'the plan' })}`;
  const page = () => `/http_request ${JSON.stringify({ url: `${upstream.url}/page` })}`;
  const read = '/read_file {"path": "secret.txt"}';
  /** Reads both private and untrusted content. */
  const seen = async (setup?: object): Promise<string> => {
    const session = await begin(setup);
    await give(session, 'secret.txt', 'the plan');
    for (const input of [read, page()]) expect(await say(session, input)).toMatchObject({ status: 'completed' });
    return session;
  };
  const ended = async (session: string): Promise<string> => (await endedTurn(service, session)).status;

  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    server = await listenToolServer(() => ({ content: [{ type: 'text', text: answer }] }));
    const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
    await put('/v1/servers/far', { kind: 'static', url: server.url, tools: [look] });
    const names = ['read_file', 'write_file', 'http_request', 'bash', 'delete_file', 'delete-toolset'];
    await put('/v1/toolsets/reach', { tools: [...names.map((name) => ({ tool: `builtin.${name}` })), { tool: 'far.look' }] });
    for (const taint of [true, false])
      await put(`/v1/agents/taint-${taint}`, { model: 'rehearsal/default', toolset: 'reach', instructions: 'Go.', taint });
    await policy();
  });
  afterAll(() => {
    upstream?.close();
    server?.close();
  });

  it('waits before it sends to a known host, names both sources, survives two kills, and sends once when that is approved', async () => {
    const session = await seen();
    await service.restart();
    const asked = await say(session, post('/out-1'));
    expect(asked).toMatchObject({ status: 'waiting', pending: [{ kind: 'approval', canonical: 'builtin.http_request' }] });
    const [{ callId, reason }] = asked.pending;
    expect(reason).toContain('/workspace/secret.txt (builtin.read_file)');
    expect(reason).toContain(`a response from ${host()} (builtin.http_request)`);
    await service.restart();
    expect(upstream.countOf('/out-1')).toBe(0);
    const decided = await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });
    expect(decided.status).toBe(200);
    expect(await ended(session)).toBe('completed');
    expect(upstream.countOf('/out-1')).toBe(1);
    // Once: later sends require approval again, and so do reads that put data into the URL.
    expect(await say(session, `/http_request ${JSON.stringify({ url: `${upstream.url}/out-2?d=plan` })}`)).toMatchObject({
      status: 'waiting',
    });
    expect(upstream.countOf('/out-2')).toBe(0);
  });

  it('requires no approval with only one of the two', async () => {
    const onlyPage = await begin();
    await say(onlyPage, page());
    expect(await say(onlyPage, post('/one-leg-1'))).toMatchObject({ status: 'completed' });
    const onlyFile = await begin();
    await give(onlyFile, 'secret.txt', 'the plan');
    await say(onlyFile, read);
    expect(await say(onlyFile, post('/one-leg-2'))).toMatchObject({ status: 'completed' });
    const own = await begin();
    for (const input of ['/write_file {"path": "own.txt", "content": "mine"}', '/read_file {"path": "own.txt"}', page()])
      await say(own, input);
    expect(await say(own, post('/one-leg-3'))).toMatchObject({ status: 'completed' });
    expect([1, 2, 3].map((leg) => upstream.countOf(`/one-leg-${leg}`))).toEqual([1, 1, 1]);
  });

  it('requires approval for tools of untrusted servers, too', async () => {
    const session = await seen();
    expect(await say(session, '/look {}')).toMatchObject({ status: 'waiting', pending: [{ canonical: 'far.look' }] });
  });

  it("follows the agent’s setting, otherwise the policy's", async () => {
    const free = await seen({ agent: 'taint-false' });
    expect(await say(free, post('/switch-1'))).toMatchObject({ status: 'completed' });
    await policy({ taint: 'off' });
    const off = await seen();
    expect(await say(off, post('/switch-2'))).toMatchObject({ status: 'completed' });
    const held = await seen({ agent: 'taint-true' });
    expect(await say(held, post('/switch-3'))).toMatchObject({ status: 'waiting' });
    await policy();
    expect([1, 2, 3].map((path) => upstream.countOf(`/switch-${path}`))).toEqual([1, 1, 0]);
  });

  it('requires no further approval for a host that was approved permanently', async () => {
    const session = await seen();
    const { callId } = (await say(session, post('/remembered'))).pending[0];
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve', remember: true });
    expect(await ended(session)).toBe('completed');
    const rules = (await service.call('GET', '/v1/policy')).json.rules;
    expect(rules).toContainEqual({ decision: 'allow', kind: 'taint', host: host() });
    expect(await say(session, post('/remembered'))).toMatchObject({ status: 'completed' });
    expect(upstream.countOf('/remembered')).toBe(2);
    await policy();
  });

  it('requires approval before a model deletes a toolset', async () => {
    await put('/v1/toolsets/doomed', { tools: [{ tool: 'builtin.bash' }] });
    const session = await begin();
    const asked = await say(session, '/delete-toolset {"name": "doomed", "confirm": true}');
    expect(asked).toMatchObject({ status: 'waiting', pending: [{ canonical: 'builtin.delete-toolset' }] });
    expect((await service.call('GET', '/v1/toolsets/doomed')).status).toBe(200);
    await service.call('POST', `/v1/sessions/${session}/approvals/${asked.pending[0].callId}`, { decision: 'approve' });
    expect(await ended(session)).toBe('completed');
    expect((await service.call('GET', '/v1/toolsets/doomed')).status).toBe(404);
  });

  const fixture = sharedFixtures('security/prompt-injection.jsonl');
  it.skipIf(isSkipped(fixture === null, 'corpus security/prompt-injection.jsonl', absentCorpus))(
    'follows no instructions from a file, page, shell or server: a sample of the corpus, and a normal turn after each',
    async () => {
      const rows = readJsonLines<Row>(fixture ?? '').filter(({ use }) => use === 'tool-result');
      const sample = rows.filter(({ id }, index) => id.startsWith('own-') || index % 12 === 0);
      let results = 0;
      for (const { id, text } of sample) {
        answer = Array.isArray(text) ? text.join('') : text;
        const session = await begin({ agent: 'taint-false' });
        await give(session, 'note.txt', answer);
        const turn = await say(session, '/read_file {"path": "note.txt"}\n/bash {"command": "cat note.txt"}\n/look {}');
        expect(turn, id).toMatchObject({ status: 'completed' });
        expect(
          turn.toolCalls.map(({ canonical }: { canonical: string }) => canonical),
          id,
        ).toEqual(['builtin.read_file', 'builtin.bash', 'far.look']);
        results += turn.toolCalls.length;
        expect((await say(session, '/bash {"command": "echo still here"}')).toolCalls, id).toMatchObject([{ isError: false }]);
        expect((await service.call('GET', `/v1/sessions/${session}/approvals`)).json.items, id).toEqual([]);
        const { items } = (await service.call('GET', `/v1/sessions/${session}/messages`)).json;
        expect(
          items.map(({ role }: { role: string }) => role),
          id,
        ).toEqual([...['user', 'assistant', 'tool', 'assistant'], ...['user', 'assistant', 'tool', 'assistant']]);
      }
      printStatistics(`prompt injection through the service: ${sample.length} rows, ${results} results of tools, as expected`);
    },
  );
});
