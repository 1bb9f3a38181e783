/** Approvals of requests to new hosts, through the running service: asked once for the workspace, or once for a session. */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endedTurn, eventually } from './eventually.ts';
import { type ClientEra, connectClient } from './mcp-clients.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';

describe('a request to a host that is new to the workspace', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  const upstreams: RecordingUpstream[] = [];
  let member: Record<string, string>;
  const hostOf = (upstream?: RecordingUpstream) => new URL(upstream?.url ?? '').host;
  const begin = async (headers = {}): Promise<string> =>
    (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'reach' }, headers)).json.id;
  const request = async (session: string, upstream?: RecordingUpstream, headers = {}): Promise<Answer['json']> => {
    const input = `/http_request ${JSON.stringify({ url: `${upstream?.url}/x` })}`;
    return (await service.call('POST', `/v1/sessions/${session}/turns`, { input }, headers)).json;
  };
  const run = async (session: string, command: string): Promise<Answer['json']> =>
    (await service.call('POST', `/v1/sessions/${session}/turns`, { input: `/bash ${JSON.stringify({ command })}` })).json;
  const approve = async (session: string, { pending }: Answer['json'], more = {}, headers = {}): Promise<Answer> => {
    const { callId, round } = pending[0];
    return await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve', round, ...more }, headers);
  };

  beforeAll(async () => {
    upstreams.push(...(await Promise.all(Array.from({ length: 7 }, () => startRecordingUpstream()))));
    const tools = ['http_request', 'bash'].map((name) => ({ tool: `builtin.${name}` }));
    await service.call('PUT', '/v1/toolsets/reach', { tools });
    const { key } = (await service.call('POST', '/v1/keys', { name: 'member', scopes: ['chat', 'approve'] })).json;
    member = { authorization: `Bearer ${key}` };
  });
  afterAll(() => {
    for (const upstream of upstreams) upstream.close();
  });

  it('is asked about once when a key with the scope admin approves it, until the host is forgotten', async () => {
    const [upstream] = upstreams;
    const session = await begin();
    const asked = await request(session, upstream);
    expect(asked.pending[0].reason).toContain(`${hostOf(upstream)}, which is new to this workspace`);
    expect((await approve(session, asked)).json).toMatchObject({ knownHosts: [hostOf(upstream)] });
    await endedTurn(service, session);
    const others = [session, await begin(), await begin(member)];
    expect(await Promise.all(others.map((other) => request(other, upstream)))).toMatchObject(Array(3).fill({ status: 'completed' }));
    const shown = (await service.call('GET', '/v1/policy/hosts')).json.items;
    expect(shown).toEqual([{ host: hostOf(upstream), approvedBy: 'root', approvedAt: expect.any(String) }]);
    expect((await service.call('GET', '/v1/policy')).json).toEqual({ rules: [] });
    const changes = (await service.call('GET', '/v1/audit?kind=change')).json.items;
    expect(changes[0]).toMatchObject({ resource: 'known-host', name: hostOf(upstream), action: 'create', keyId: 'root' });
    expect((await service.call('GET', '/v1/policy/hosts', undefined, member)).status).toBe(403);
    const path = `/v1/policy/hosts/${encodeURIComponent(hostOf(upstream))}`;
    expect((await service.call('DELETE', path, undefined, member)).status).toBe(403);
    expect((await service.call('DELETE', path)).status).toBe(204);
    expect((await service.call('DELETE', path)).status).toBe(404);
    expect(await request(await begin(), upstream)).toMatchObject({ status: 'waiting' });
  });

  it('stays known through a restart, and when the policy is written', async () => {
    const upstream = upstreams[1];
    const session = await begin();
    await approve(session, await request(session, upstream));
    await service.call('PUT', '/v1/policy', { rules: [{ decision: 'deny', secret: 'NONE' }] });
    await service.restart();
    expect(await request(await begin(), upstream)).toMatchObject({ status: 'completed' });
    const { json } = await service.call('POST', '/v1/policy/test', { effect: { kind: 'network', host: hostOf(upstream) } });
    expect(json).toMatchObject({ verdict: 'allow', reason: expect.stringContaining('it is a known host') });
  });

  it('is asked about once in a session when a person without admin remembers it, and again in its fork', async () => {
    const upstream = upstreams[2];
    const session = await begin(member);
    const asked = await request(session, upstream, member);
    expect((await approve(session, asked, { remember: true }, member)).status).toBe(403);
    expect((await approve(session, asked, { remember: 'session' }, member)).json).not.toHaveProperty('knownHosts');
    await endedTurn(service, session);
    const done = await request(session, upstream, member);
    expect(done).toMatchObject({ status: 'completed' });
    const view = (await service.call('GET', `/v1/sessions/${session}`, undefined, member)).json;
    expect(view.remembered).toEqual([{ decision: 'allow', kind: 'network', host: hostOf(upstream) }]);
    const fork = (await service.call('POST', '/v1/sessions', { from: { session, turn: done.turn } }, member)).json;
    expect(fork).not.toHaveProperty('remembered');
    expect(await request(fork.id, upstream, member)).toMatchObject({ status: 'waiting' });
    expect(await request(await begin(member), upstream, member)).toMatchObject({ status: 'waiting' });
    // A call of another key in the session.
    const call = { name: 'http_request', arguments: { url: `${upstream?.url}/y` }, session };
    expect((await service.call('POST', '/v1/toolsets/reach/calls', call)).json).toMatchObject({ code: 'approval_required' });
    expect((await service.call('GET', '/v1/policy/hosts')).json.items.map(({ host }: { host: string }) => host)).not.toContain(
      hostOf(upstream),
    );
  });

  it('may be one of several of a script, which become known together', async () => {
    const [, , , one, two, three] = upstreams;
    const session = await begin();
    const script = `curl -s ${one?.url}/a && curl -s ${two?.url}/b`;
    const first = await run(session, script);
    expect(first.pending[0].reason).toContain(hostOf(one));
    await approve(session, first);
    await eventually('both hosts are approved and known', async () => {
      const { json } = await service.call('GET', `/v1/sessions/${session}/approvals`);
      for (const item of json.items) await approve(session, { pending: [item] });
      const hosts = (await service.call('GET', '/v1/policy/hosts')).json.items.map(({ host }: { host: string }) => host);
      return hosts.includes(hostOf(one)) && hosts.includes(hostOf(two)) ? true : undefined;
    });
    expect(await run(await begin(), script)).toMatchObject({ status: 'completed' });
    expect(await run(await begin(), `curl -s ${three?.url}/c`)).toMatchObject({ status: 'waiting' });
  });

  it('is asked about once in the session of an MCP client whose user remembers it, and in no other', async () => {
    const upstream = upstreams[6];
    const fields: string[][] = [];
    const connect = async (key: string, era: ClientEra) =>
      await connectClient(`${service.url}/mcp/reach`, key, era, { elicitation: { form: {} } }, (client) => {
        client.setRequestHandler('elicitation/create', ({ params }) => {
          fields.push(Object.keys((params as unknown as { requestedSchema: { properties: object } }).requestedSchema.properties));
          return { action: 'accept', content: { approve: true, remember: true } } as never;
        });
      });
    const send = (client: Client) => client.callTool({ name: 'http_request', arguments: { url: `${upstream?.url}/mcp` } });
    const { key } = (await service.call('POST', '/v1/keys', { name: 'mcp', scopes: ['tools', 'approve'] })).json;
    const client = await connect(key, 'legacy');
    for (let times = 0; times < 3; times += 1) expect((await send(client)).isError).not.toBe(true);
    expect(fields).toEqual([['approve', 'remember', 'reason']]);
    const others = [await connect(key, 'legacy'), await connect(key, 'pinned')];
    for (const other of others) for (let times = 0; times < 2; times += 1) await send(other);
    expect(fields.slice(1)).toEqual([
      ['approve', 'remember', 'reason'],
      ['approve', 'reason'],
      ['approve', 'reason'],
    ]);
    const admin = await connect(service.key, 'pinned');
    await send(admin);
    expect((await service.call('GET', '/v1/policy/hosts')).json.items.map(({ host }: { host: string }) => host)).toContain(
      hostOf(upstream),
    );
    for (const other of [...others, admin]) for (let times = 0; times < 2; times += 1) expect((await send(other)).isError).not.toBe(true);
    expect(fields).toHaveLength(5);
    expect(upstream?.countOf('/mcp')).toBe(14);
    await Promise.all([client, ...others, admin].map((one) => one.close()));
  });
});
