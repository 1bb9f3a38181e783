import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createClient, type MonikerClient } from '../../../client/src/index.ts';
import { prepareDemo } from '../../../src/local/launch/demo.ts';
import type { ToolDefinition } from '../../../src/core/tools/tool.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { createHarness, rootKey } from '../../http/harness.ts';

const baseUrl = 'http://localhost';

/** A service with these documents, by path, which creates sessions on request. */
function service(documents: Record<string, unknown>): MonikerClient {
  return createClient({
    baseUrl,
    fetch: async ({ method, url }) => {
      const { pathname } = new URL(url);
      if (method === 'POST') return Response.json({ id: 'made' }, { status: 201 });
      if (pathname === '/v1/toolsets') return Response.json({ items: [{}] });
      const document = documents[pathname];
      return document === undefined ? new Response(null, { status: 404 }) : Response.json(document);
    },
  });
}

/** A new workspace in which a user writes `documents` right after the launcher has listed no toolsets. */
function raced(documents: Record<string, object>, more: readonly ToolDefinition[] = []) {
  const h = createHarness({}, {}, more);
  const client = createClient({
    baseUrl,
    key: rootKey,
    fetch: async (request) => {
      const response = await h.app.fetch(request);
      if (request.method === 'GET' && new URL(request.url).pathname === '/v1/toolsets')
        for (const [path, body] of Object.entries(documents)) expect((await h.send('PUT', path, body)).ok).toBe(true);
      return response;
    },
  });
  return { client, h };
}

const folders = mkdtempSync(join(tmpdir(), 'moniker-demo-'));
afterAll(() => rmSync(folders, { recursive: true }));
const folder = (): string => mkdtempSync(join(folders, 'data-'));

it('creates a demo session while the demo agent and its toolset exist', async () => {
  const whole = { '/v1/agents/demo': { toolset: 'demo' }, '/v1/toolsets/demo': {} };
  expect(await prepareDemo(service(whole), folder())).toBe('made');
  expect(await prepareDemo(service({ '/v1/agents/demo': {} }), folder())).toBe('made');
});

it('creates no session if the agent or its toolset is missing', async () => {
  expect(await prepareDemo(service({ '/v1/toolsets/demo': {} }), folder())).toBeNull();
  expect(await prepareDemo(service({ '/v1/agents/demo': { toolset: 'demo' } }), folder())).toBeNull();
});

const usersToolset = { '/v1/toolsets/demo': { description: 'mine', tools: [{ tool: 'builtin.bash' }] } };
const usersAgent = { '/v1/agents/demo': { description: 'mine', model: 'rehearsal/default' } };

it.each([
  ['a toolset', usersToolset],
  ['an agent', usersAgent],
  ['both', { ...usersToolset, ...usersAgent }],
])('leaves %s that a user wrote during the first start unchanged', async (_what, documents) => {
  const { client, h } = raced(documents);
  await prepareDemo(client, folder());
  for (const path of Object.keys(documents)) expect(await (await h.send('GET', path)).json()).toMatchObject({ description: 'mine' });
});

it("creates no demo agent over a user's toolset", async () => {
  const { client, h } = raced(usersToolset);
  expect(await prepareDemo(client, folder())).toBeNull();
  expect((await h.send('GET', '/v1/agents/demo')).status).toBe(404);
});

it('gives the demo agent the skills of the folder, and none to an agent that a user described', async () => {
  const { client, h } = raced({});
  const write = (name: string) => h.send('PUT', `/v1/skills/${name}`, { content: `---\nname: ${name}\ndescription: d.\n---\nDo it.` });
  await Promise.all([write('one'), write('two')]);
  await prepareDemo(client, folder(), { names: ['one'], left: [] });
  await prepareDemo(client, folder(), { names: ['one', 'two'], left: [] });
  const agent = await (await h.send('GET', '/v1/agents/demo')).json();
  expect(agent).toMatchObject({ skills: ['one', 'two'], toolset: 'demo' });
  await prepareDemo(client, folder(), { names: ['one'], left: ['two'] });
  expect(await (await h.send('GET', '/v1/agents/demo')).json()).toMatchObject({ skills: ['one'] });
  await h.send('PUT', '/v1/agents/demo', { ...(agent as object), description: 'mine', skills: [] });
  await prepareDemo(client, folder(), { names: ['one', 'two'], left: [] });
  expect(await (await h.send('GET', '/v1/agents/demo')).json()).toMatchObject({ description: 'mine', skills: [] });
});

it('lists tools in code under their own names, also if the demo uses them for built-in tools', async () => {
  const terminal = toolOf('local', 'terminalRun', { kind: 'local', aliases: ['bash', 'shell', 'run'] });
  const { client, h } = raced({}, [terminal]);
  expect(await prepareDemo(client, folder())).not.toBeNull();
  const { tools } = (await (await h.send('GET', '/v1/toolsets/demo')).json()) as { tools: object[] };
  expect(tools).toContainEqual({ tool: 'builtin.bash', aliases: ['shell', 'bash'] });
  expect(tools).toContainEqual({ tool: 'local.terminalRun' });
});

it('creates the toolset, the agent and a session on a first start', async () => {
  const { client, h } = raced({});
  expect(await prepareDemo(client, folder())).not.toBeNull();
  expect(await (await h.send('GET', '/v1/agents/demo')).json()).toMatchObject({ toolset: 'demo', made: true });
});

it('completes a demo whose process ended between the toolset and the agent, and only then', async () => {
  const { client, h } = raced({});
  const dataDir = folder();
  expect(await prepareDemo(client, dataDir)).not.toBeNull();
  const remove = async () => expect((await h.send('DELETE', '/v1/agents/demo')).status).toBe(204);
  await remove();
  // As the user left it: the demo was complete once.
  expect(await prepareDemo(client, dataDir)).toBeNull();
  expect(await prepareDemo(client, folder())).not.toBeNull();
  expect((await h.send('GET', '/v1/agents/demo')).status).toBe(200);
});
