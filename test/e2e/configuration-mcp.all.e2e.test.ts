/**
 * The configuration tools at `/mcp`, used with the SDK's client in both eras, which checks every result against the declared output
 * schema. The equipped toolset decides which tools can be called. The tools come from the reference server `server-everything`.
 */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configurationTools } from '../../src/core/names/reserved-names.ts';
import { startEverything, type EverythingServer } from './everything-server.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
let everything: EverythingServer;

beforeAll(async () => {
  everything = await startEverything();
  const stored = await service.call('PUT', '/v1/servers/everything', { kind: 'mcp', url: everything.url, trusted: true });
  expect(stored.json).toMatchObject({ health: { status: 'ok' } });
});
afterAll(() => everything.stop());

describe.each(['legacy', 'pinned'] as const)("the SDK's client, %s", (era) => {
  const name = `kit-${era}`;
  let key = '';
  let client: Client;
  const connect = async () => {
    client = await connectClient(`${service.url}/mcp`, key, era);
  };
  const call = async (tool: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name: tool, arguments: args });
    // Tools without an output schema return no structured content.
    return { ...result, json: result.structuredContent as Answer['json'] };
  };
  const listed = async () => (await client.listTools()).tools.map((tool) => tool.name);

  beforeAll(async () => {
    const rights = { name: era, scopes: ['tools', 'toolsets'] };
    key = (await service.call('POST', '/v1/keys', rights)).json.key;
    await connect();
  });
  afterAll(() => client.close());

  it('lists the configuration tools first, each with an output schema', async () => {
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([...configurationTools]);
    for (const tool of tools) expect(tool.outputSchema, tool.name).toMatchObject({ type: 'object' });
  });

  it('receives the error of each alias in the declared schema', async () => {
    for (const alias of ['Echo', 'get-sum', 'everything_get-sum']) {
      const tools = [{ namespacedName: 'everything.get-sum' }, { namespacedName: 'everything.echo', alias }];
      const { isError, json, content } = await call('build-toolset', { name, tools });
      expect([isError, json.meta.success], alias).toEqual([true, false]);
      expect(json.meta.error).toMatch(/^tools\[1\]\.alias: /);
      expect(textOf({ content })).toContain(json.meta.error);
    }
    expect(await call('build-toolset', { name: 'Bad Name', tools: [] })).toMatchObject({
      isError: true,
      json: { meta: { success: false } },
    });
  });

  it('builds a toolset, equips it, and then has its tools only', async () => {
    const tools = [{ namespacedName: 'everything.echo', alias: 'say', aliases: ['repeat'] }];
    expect((await call('build-toolset', { name, tools })).json).toMatchObject({ meta: { success: true, toolsetName: name } });
    expect((await call('equip-toolset', { name })).json).toMatchObject({ success: true });
    expect(await listed()).toEqual(['say', 'enter-configuration-mode']);
    for (const called of ['say', 'repeat', 'everything.echo'])
      expect(textOf(await call(called, { message: 'hello' })), called).toContain('hello');
    for (const refused of ['everything.get-sum', 'get-sum', 'build-toolset']) {
      const outcome = await call(refused, { a: 1, b: 2 }).then(
        (result) => result.isError,
        () => true,
      );
      expect(outcome, refused).toBe(true);
    }
  });

  it('sees what another client of the same key equipped, and returns to configuring', async () => {
    await client.close();
    await connect();
    expect(await listed()).toEqual(['say', 'enter-configuration-mode']);
    expect((await call('enter-configuration-mode')).json).toMatchObject({ success: true, currentMode: 'configuration' });
    expect(await listed()).toEqual([...configurationTools]);
    expect((await call('get-active-toolset')).json).toMatchObject({
      equipped: true,
      mode: 'configuration',
      toolset: { name },
      toolSummary: { currentlyExposed: 1 },
      exposedTools: [{ server: 'everything', tools: [{ wireName: 'say', aliases: ['say', 'repeat'] }] }],
    });
    expect((await call('exit-configuration-mode')).json).toMatchObject({ success: true, currentMode: 'normal' });
    expect(await listed()).toEqual(['say', 'enter-configuration-mode']);
  });

  it('lists notes in the third list exactly as in the first', async () => {
    await call('enter-configuration-mode');
    const notes = [{ name: 'when', note: 'When asked to.' }];
    expect((await call('add-tool-annotation', { toolRef: { namespacedName: 'everything.echo' }, notes })).json).toMatchObject({
      successCount: 1,
    });
    await call('exit-configuration-mode');
    for (let times = 0; times < 3; times += 1) {
      const { tools } = await client.listTools();
      expect(tools[0]?.description?.split('When asked to.')).toHaveLength(2);
    }
  });

  it('returns results of every tool in the declared schema', async () => {
    await call('enter-configuration-mode');
    const calls: [string, Record<string, unknown>][] = [
      ['list-available-tools', { server: 'everything' }],
      ['list-saved-toolsets', {}],
      ['update-toolset', { name, add: [{ namespacedName: 'everything.get-sum', alias: 'add' }] }],
      ['rename-toolset', { name, newName: `${name}-2` }],
      ['remove-tool-annotation', { toolset: `${name}-2`, toolRef: { namespacedName: 'everything.echo' }, names: ['when'] }],
      ['unequip-toolset', {}],
      ['delete-toolset', { name: `${name}-2`, confirm: true }],
    ];
    for (const [tool, args] of calls) expect((await call(tool, args)).json, tool).toMatchObject({ success: true });
    expect((await call('list-available-tools', { server: 'everything' })).json.toolsByServer[0]).toMatchObject({
      serverName: 'everything',
      status: 'ok',
    });
  });
});

it('keeps the equipped toolset of a key across a power failure', async () => {
  const { json } = await service.call('POST', '/v1/keys', { name: 'cut', scopes: ['tools', 'toolsets'] });
  const before = await connectClient(`${service.url}/mcp`, json.key, 'pinned');
  const tools = [{ namespacedName: 'everything.echo', alias: 'say' }];
  await before.callTool({ name: 'build-toolset', arguments: { name: 'kept', tools, autoEquip: true } });
  await before.close();
  await service.restart();
  const after = await connectClient(`${service.url}/mcp`, json.key, 'pinned');
  expect((await after.listTools()).tools.map((tool) => tool.name)).toEqual(['say', 'enter-configuration-mode']);
  expect(textOf(await after.callTool({ name: 'say', arguments: { message: 'still here' } }))).toContain('still here');
  await after.close();
});
