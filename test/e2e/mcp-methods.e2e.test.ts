/** The table of the requests that reach MCP servers: each one that a client causes is refused by everything that refuses a call of a tool. */
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { type offerMethods, upstreamMethods } from '../../src/core/tools/upstream-method.ts';
import type { FakeMcpServer, HeardRequest } from '../fakes/mcp-server.ts';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import { offered, offerSteps } from './offer-steps.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const { addServer, addToolset, keyFor, withPolicy, auditOf } = offerSteps(service);

type Caused = 'tools/call' | (typeof offerMethods)[number];

/** What a client sends to cause a request, and the name by which the audit knows it. */
const senders: Record<Caused, { send(client: Client): Promise<unknown>; audited: string }> = {
  'tools/call': {
    async send(client) {
      const refusal = await refusalOf(client.callTool({ name: 'look', arguments: {} }));
      if (refusal !== null) throw new Error(refusal);
    },
    audited: 'look',
  },
  'resources/read': { send: (client) => client.readResource({ uri: 'file:///readme' }), audited: 'resources/read' },
  'resources/subscribe': { send: (client) => client.subscribeResource({ uri: 'file:///readme' }), audited: 'resources/subscribe' },
  'prompts/get': { send: (client) => client.getPrompt({ name: 'review', arguments: { file: 'a' } }), audited: 'prompts/get' },
  'completion/complete': {
    send: (client) => client.complete({ ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'file', value: 'a' } }),
    audited: 'completion/complete',
  },
};
/** The text of a result that is an error; null for another one. */
async function refusalOf(result: ReturnType<Client['callTool']>): Promise<string | null> {
  const { isError, ...answer } = await result;
  return isError === true ? textOf(answer as Parameters<typeof textOf>[0]) : null;
}

const caused = Object.keys(senders) as Caused[];
const own = { tools: [{ tool: 'docs.look', name: 'look', aliases: [] }] };

/** A server with its toolset, both of these names, and a client of 2025-11-25: the one revision with a method for each request. */
async function connect(
  name: string,
  toolset: object,
  document: object = { trusted: true },
): Promise<{ server: FakeMcpServer; client: Client }> {
  const server = await addServer(name, document);
  const text = JSON.stringify(toolset).replaceAll('docs.', `${name}.`);
  await addToolset(name, JSON.parse(text) as object);
  return { server, client: await connectClient(`${service.url}/mcp/${name}`, await keyFor(name), 'legacy') };
}

function reached({ heard }: FakeMcpServer): string[] {
  return heard.map(({ method, body }) => (subscribes(body) ? 'resources/subscribe' : method)).filter((method) => method in senders);
}

/** The request of revision 2026-07-28 that listens to resources. */
function subscribes({ method, params }: HeardRequest['body']): boolean {
  const { notifications } = (params ?? {}) as { notifications?: { resourceSubscriptions?: string[] } };
  return method === 'subscriptions/listen' && notifications?.resourceSubscriptions !== undefined;
}

async function guarding(settings: object, decision: object, work: () => Promise<void>): Promise<void> {
  const guard = await listenUpstream({ handle: async () => await Promise.resolve(Response.json(decision)) });
  const guarded = { url: `${guard.url}/ask`, before: true, ...settings };
  const { status, text } = await service.call('PATCH', '/v1/workspaces/default', { settings: { guard: guarded } });
  expect(status, text).toBe(200);
  try {
    await work();
  } finally {
    await service.call('PATCH', '/v1/workspaces/default', { settings: { guard: null } });
    guard.close();
  }
}

it('has a row for each method that calls authorize', () => {
  const rows = Object.entries(upstreamMethods).flatMap(([method, authorizedBy]) => (authorizedBy === 'call' ? [method] : []));
  // One request of revision 2026-07-28 listens to what the older one subscribes to resource by resource.
  expect(rows.filter((method) => method !== 'subscriptions/listen').sort()).toEqual([...caused].sort());
});

describe('each request that a client causes at a server', () => {
  it('reaches it when it is allowed, and leaves a row in the audit', async () => {
    const { server, client } = await connect('open', own);
    for (const method of caused) {
      await senders[method].send(client);
      expect((await auditOf(`open.${senders[method].audited}`))[0], method).toMatchObject({ verdict: 'ran', toolset: 'open' });
    }
    await expect.poll(() => [...new Set(reached(server))].sort()).toEqual([...caused].sort());
    await client.close();
  });

  it('is refused by a rule that denies all of the server', async () => {
    const { server, client } = await connect('denied', own);
    await withPolicy([{ decision: 'deny', tool: 'denied.*' }], async () => {
      for (const method of caused) await expect(senders[method].send(client), method).rejects.toThrow(/forbids/);
    });
    expect(reached(server)).toEqual([]);
    for (const method of caused)
      expect((await auditOf(`denied.${senders[method].audited}`))[0], method).toMatchObject({ verdict: 'refused' });
    await client.close();
  });

  it('is refused where the toolset requires approval for it, and the client cannot ask', async () => {
    const approval = 'always';
    const toolset = {
      tools: [{ ...own.tools[0], approval }],
      resources: [{ resource: 'docs.*', approval }],
      prompts: [{ prompt: 'docs.*', approval }],
    };
    const { server, client } = await connect('asking', toolset);
    for (const method of caused) await expect(senders[method].send(client), method).rejects.toThrow(/requires approval/);
    expect(reached(server)).toEqual([]);
    await client.close();
  });

  it('is refused where the server is untrusted and nobody approves it', async () => {
    const toolset = { ...own, resources: ['docs.*'], prompts: ['docs.*'] };
    const { server, client } = await connect('wild', toolset, {});
    for (const method of caused) await expect(senders[method].send(client), method).rejects.toThrow(/approval/);
    expect(reached(server)).toEqual([]);
    await client.close();
  });

  it('is refused where the toolset does not name it', async () => {
    await addServer('other', { trusted: true }, { ...offered, tools: [{ name: 'find', inputSchema: { type: 'object' } }] });
    const { server, client } = await connect('named', { tools: [{ tool: 'other.find' }], resources: [], prompts: [] });
    for (const method of caused) await expect(senders[method].send(client), method).rejects.toThrow(/There is no|no tool/i);
    expect(reached(server)).toEqual([]);
    await client.close();
  });

  it.each([
    ['that denies', {}, { decision: 'deny', reason: 'closed' }, /closed/],
    ['that answers nonsense', { onFailure: 'deny' }, { verdict: 'yes' }, /guard/],
  ])('is refused by a guard %s', async (_what, settings, decision, message) => {
    const { server, client } = await connect(`guarded${'onFailure' in settings ? '-badly' : ''}`, own);
    await guarding(settings, decision, async () => {
      for (const method of caused) await expect(senders[method].send(client), method).rejects.toThrow(message);
    });
    expect(reached(server)).toEqual([]);
    await client.close();
  });

  it('counts as what a conversation has seen: private from a server with credentials, and untrusted', async () => {
    const outside = await listenUpstream({ handle: async () => await Promise.resolve(new Response('ok')) });
    await service.call('PUT', '/v1/secrets/VAULT', { value: 'vault-token-0123456789', hosts: ['127.0.0.1'] });
    await addServer('vault', { trusted: true, headers: { authorization: { secret: 'VAULT' } } });
    const toolset = { tools: [{ tool: 'builtin.http_request' }], resources: ['docs.*', 'vault.*'], prompts: ['docs.*'] };
    const { server, client } = await connect('seen', toolset, {});
    const post = async () =>
      await refusalOf(client.callTool({ name: 'http_request', arguments: { url: outside.url, method: 'POST', body: 'a' } }));
    const rules = [
      { decision: 'allow', kind: 'network', host: new URL(outside.url).host },
      { decision: 'allow', kind: 'untrusted', resource: 'seen.*' },
      { decision: 'allow', kind: 'untrusted', prompt: 'seen.*' },
    ];
    await withPolicy(rules, async () => {
      await client.readResource({ uri: 'file:///readme#moniker.seen' });
      expect(await post()).toBeNull();
      await client.readResource({ uri: 'file:///readme' });
      expect(await post()).toContain('approval');
      await expect(senders['prompts/get'].send(client)).rejects.toThrow(/approval/);
    });
    expect(reached(server)).toEqual(['resources/read']);
    outside.close();
    await client.close();
  });
});
