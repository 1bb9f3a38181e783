/** Listing, equipping, renaming and deleting saved toolsets, and changing modes. */
import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { utf8Length } from '../../../src/core/text/utf8.ts';
import type { ToolDefinition } from '../../../src/core/tools/tool.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { configurationBench, type Bench } from './bench.ts';

let bench: Bench;
beforeEach(async () => {
  bench = configurationBench();
  await bench.catalog.put('toolset', 'dev', {
    description: 'For work.',
    tools: [{ tool: 'git.status', aliases: ['gs'] }, { tool: 'docker.ps' }],
  });
});

const equipment = () => bench.catalog.equipment('root');
const names = async () => (await bench.catalog.list('toolset', { limit: 50 })).items.map(({ name }) => name);

describe('list-available-tools', () => {
  const serverOf = (json: { toolsByServer: { serverName: string }[] }, name: string) =>
    json.toolsByServer.find(({ serverName }) => serverName === name);

  it('lists every tool by server, with its names and its tokens', async () => {
    const { json, text } = await bench.run('list-available-tools');
    expect(json.summary).toMatchObject({ totalServers: 4, leftOut: 0, shownTools: json.summary.totalTools });
    expect(serverOf(json, 'git')).toMatchObject({ toolCount: 2 });
    const status = {
      name: 'status',
      description: 'Shows the working tree.',
      namespacedName: 'git.status',
      serverName: 'git',
      refId: expect.stringMatching(/^[0-9a-f]{64}$/),
      wireName: 'status',
      aliases: [],
      state: 'ready',
      context: { tokens: expect.any(Number), percent: expect.any(Number) },
    };
    expect(serverOf(json, 'git')).toMatchObject({ tools: [{ namespacedName: 'git.log' }, status] });
    const bash = json.toolsByServer
      .flatMap(({ tools }: { tools: { namespacedName: string }[] }) => tools)
      .find(({ namespacedName }: { namespacedName: string }) => namespacedName === 'builtin.bash');
    expect(bash).toMatchObject({ alias: 'shell', aliases: ['shell', 'exec'], wireName: 'bash' });
    expect(text).toContain('- git.status');
    const percents = json.toolsByServer.map(({ context }: { context: { percent: number } }) => context.percent);
    expect(percents.reduce((sum: number, percent: number) => sum + percent, 0)).toBeCloseTo(100, 0);
  });

  it('filters by server and by words', async () => {
    const { json: docker } = await bench.run('list-available-tools', { server: 'docker' });
    expect(
      docker.toolsByServer.map(({ serverName, tools }: { serverName: string; tools: unknown[] }) => [serverName, tools.length]),
    ).toEqual([['docker', 2]]);
    const { json: words } = await bench.run('list-available-tools', { query: 'WORKING tree' });
    expect(words.summary).toMatchObject({ matchingTools: 1, shownTools: 1 });
    expect((await bench.run('list-available-tools', { query: 'nothing like it' })).json).toMatchObject({ toolsByServer: [] });
  });

  it('reports why a server that was not read yet has no tools', async () => {
    bench = configurationBench([toolOf('git', 'status')], (desk) => ({
      ...desk,
      servers: async () => new Map([['late', { status: 'unauthorized' as const, reason: 'It wants a token.' }]]),
    }));
    const { json, text } = await bench.run('list-available-tools');
    expect(serverOf(json, 'late')).toMatchObject({ toolCount: 0, status: 'unauthorized', reason: 'It wants a token.', tools: [] });
    expect(text).toContain('## late (0 tools, unauthorized: It wants a token.)');
    const { json: narrow } = await bench.run('list-available-tools', { server: 'git' });
    expect(serverOf(narrow, 'late')).toBeUndefined();
  });

  it('stays within its size limit for ten thousand tools, reports what is left out, and pages to the end', async () => {
    const many: ToolDefinition[] = Array.from({ length: 10_000 }, (_item, index) =>
      toolOf(`server-${index % 20}`, `tool_${index}`, {
        description: `Does number ${index}. ${'x'.repeat(300)}`,
        source: { state: 'ready', trusted: false, pin: `${index}`.padStart(64, '0') },
      }),
    ).sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
    bench = configurationBench([], (desk) => ({ ...desk, tools: async () => many }));
    const first = await bench.run('list-available-tools');
    expect(utf8Length(JSON.stringify(first.json))).toBeLessThan(limits.maxResultBytes);
    expect(utf8Length(first.text)).toBeLessThan(limits.maxResultBytes);
    const { totalTools, shownTools, leftOut, nextAfter } = first.json.summary;
    expect(shownTools).toBeGreaterThan(20);
    expect(shownTools + leftOut).toBe(totalTools);
    expect(first.text).toContain(`${leftOut} are left out`);
    expect(first.text).toContain(nextAfter);
    expect(first.json.toolsByServer).toHaveLength(20);
    const seen = new Set<string>();
    for (let after: string | undefined = 'server-7.'; after !== undefined; ) {
      const { json } = await bench.run('list-available-tools', { server: 'server-7', after });
      for (const { tools } of json.toolsByServer) for (const { namespacedName } of tools) seen.add(namespacedName);
      after = json.summary.nextAfter;
    }
    expect(seen.size).toBe(500);
  });

  it('reports the health of known servers, and which tools are held', async () => {
    bench = configurationBench([toolOf('git', 'status', { source: { state: 'held', trusted: false, pin: 'p' } })], (desk) => ({
      ...desk,
      servers: async () => new Map([['git', { status: 'failing' as const, reason: 'It answers 503.' }]]),
    }));
    const { json, text } = await bench.run('list-available-tools', { server: 'git' });
    expect(json.toolsByServer).toMatchObject([
      { serverName: 'git', status: 'failing', reason: 'It answers 503.', tools: [{ state: 'held' }] },
    ]);
    expect(text).toContain('failing: It answers 503.');
  });
});

describe('list-saved-toolsets', () => {
  it('lists each toolset with all names of its tools, and the equipped one', async () => {
    await bench.run('equip-toolset', { name: 'dev' });
    const { json, text } = await bench.run('list-saved-toolsets');
    expect(json).toMatchObject({
      success: true,
      toolsets: [
        {
          name: 'dev',
          active: true,
          version: 1,
          tools: [
            { alias: 'gs', aliases: ['gs'], wireName: 'gs' },
            { aliases: [], wireName: 'ps' },
          ],
        },
      ],
    });
    expect(text).toContain('gs = git.status');
  });

  it('reports that none are saved', async () => {
    await bench.catalog.remove('toolset', 'dev');
    expect(await bench.run('list-saved-toolsets')).toMatchObject({ isError: false, json: { success: true, toolsets: [] } });
  });

  it('stays within its size limit for many toolsets, and counts those left out', async () => {
    const tools = ['git.status', 'git.log', 'docker.ps', 'docker.run'].flatMap((tool) =>
      Array.from({ length: 50 }, (_item, index) => ({ tool, aliases: [`${tool.replace('.', '-')}-${index}-${'n'.repeat(30)}`] })),
    );
    for (let index = 0; index < 60; index += 1) await bench.catalog.put('toolset', `set-${100 + index}`, { tools });
    const { json, text } = await bench.run('list-saved-toolsets');
    expect(utf8Length(JSON.stringify(json))).toBeLessThan(limits.maxResultBytes);
    expect(utf8Length(text)).toBeLessThan(limits.maxResultBytes);
    expect(json.toolsets.length + json.leftOut).toBe(61);
    expect(json.toolsets[1]).toMatchObject({ toolCount: 200, toolsLeftOut: expect.any(Number) });
    const { json: rest } = await bench.run('list-saved-toolsets', { after: json.toolsets.at(-1).name });
    expect(rest.toolsets[0].name > json.toolsets.at(-1).name).toBe(true);
  });
});

describe('equipping', () => {
  it('leaves configuration mode, and belongs to the key', async () => {
    expect((await bench.run('equip-toolset', { name: 'dev' })).json).toMatchObject({
      success: true,
      toolset: { name: 'dev', active: true },
    });
    expect(await equipment()).toEqual({ toolset: 'dev', mode: 'normal' });
    const other = await bench.key({ scopes: ['toolsets'] });
    expect((await bench.run('get-active-toolset', {}, other)).json).toMatchObject({ equipped: false, mode: 'configuration' });
  });

  it('an unknown toolset changes nothing, and lists the saved ones', async () => {
    await bench.run('equip-toolset', { name: 'dev' });
    await bench.run('enter-configuration-mode');
    const { isError, json } = await bench.run('equip-toolset', { name: 'constructor' });
    expect([isError, json]).toEqual([true, { success: false, error: 'name: there is no toolset "constructor"; saved toolsets: dev' }]);
    expect(await equipment()).toEqual({ toolset: 'dev', mode: 'configuration' });
  });

  it('ends with unequip-toolset, which enters configuration mode', async () => {
    await bench.run('equip-toolset', { name: 'dev' });
    expect((await bench.run('unequip-toolset')).text).toContain('dev is no longer equipped');
    expect(await equipment()).toEqual({ toolset: null, mode: 'configuration' });
    expect((await bench.run('unequip-toolset')).isError).toBe(false);
  });

  it('is reported by get-active-toolset, with the tools that can and cannot be called', async () => {
    bench = configurationBench(
      [toolOf('git', 'status'), toolOf('git', 'log', { source: { state: 'held', trusted: false, pin: 'p' } }), toolOf('docker', 'ps')],
      (desk) => ({ ...desk, servers: async () => new Map([['docker', { status: 'unauthorized' as const, reason: 'It wants a token.' }]]) }),
    );
    await bench.catalog.put('toolset', 'dev', {
      tools: [{ tool: 'git.status', aliases: ['gs'] }, { tool: 'git.log' }, { tool: 'docker.ps' }],
    });
    await bench.run('equip-toolset', { name: 'dev' });
    const { json, text } = await bench.run('get-active-toolset');
    expect(json).toMatchObject({
      equipped: true,
      mode: 'normal',
      serverStatus: { totalConfigured: 2, enabled: 2, available: 1, unavailable: 1 },
      toolSummary: { currentlyExposed: 2 },
      exposedTools: [
        { server: 'git', tools: [{ wireName: 'gs', aliases: ['gs'] }] },
        { server: 'docker', tools: [{ wireName: 'ps' }] },
      ],
      unavailableServers: [{ name: 'docker', status: 'unauthorized', reason: 'It wants a token.' }],
      warnings: ['log (git.log) cannot be called: its definition has changed and an administrator has to accept it'],
    });
    const { currentlyExposed, totalDiscovered, filteredOut } = json.toolSummary;
    expect(currentlyExposed + filteredOut).toBe(totalDiscovered);
    for (const part of ['gs = git.status', 'held', 'unauthorized']) expect(text).toContain(part);
  });

  it('warns about a server that lists no tools, not about a healthy one with held tools', async () => {
    const source = { trusted: false, pin: 'p' };
    bench = configurationBench(
      [
        toolOf('git', 'status', { source: { ...source, state: 'held' } }),
        toolOf('gone', 'look', { source: { ...source, state: 'missing' } }),
        toolOf('docker', 'ps'),
      ],
      (desk) => ({
        ...desk,
        servers: async () => new Map(['git', 'gone', 'docker'].map((name) => [name, { status: 'ok' as const }])),
      }),
    );
    await bench.catalog.put('toolset', 'dev', { tools: ['git.status', 'gone.look', 'docker.ps'].map((tool) => ({ tool })) });
    await bench.run('equip-toolset', { name: 'dev' });
    const { json, text } = await bench.run('get-active-toolset');
    expect(json).toMatchObject({ serverStatus: { enabled: 1, available: 2, unavailable: 1 }, unavailableServers: [{ name: 'gone' }] });
    expect(text).toContain('the server gone is not listing its tools');
    expect(text).not.toContain('the server git');
    expect(text).toContain('1 tool can be called');
  });
});

describe('a toolset of a thousand tools, each of a different server, and all servers down', () => {
  it('stays within the size limit in the answer of every tool', async () => {
    const many = Array.from({ length: 1_000 }, (_item, index) =>
      toolOf(`server-with-a-long-name-${index}`, `tool_${index}`, {
        description: `Does number ${index} of its kind.`,
        source: { state: index % 2 === 0 ? 'ready' : 'held', trusted: false, pin: `${index}`.padStart(64, '0') },
      }),
    );
    const down = new Map(many.map(({ server }) => [server, { status: 'failing' as const, reason: 'It does not answer. '.repeat(50) }]));
    bench = configurationBench(many, (desk) => ({ ...desk, tools: async () => many, servers: async () => down }));
    const tools = many.map(({ canonical }, index) => ({ tool: canonical, aliases: [`alias-${index}-${'n'.repeat(40)}`] }));
    await bench.catalog.put('toolset', 'large', { tools });
    for (const [tool, args] of [
      ['equip-toolset', { name: 'large' }],
      ['get-active-toolset', {}],
      ['list-saved-toolsets', {}],
      ['list-available-tools', {}],
      ['update-toolset', { name: 'large', description: 'Large.' }],
    ] as const) {
      const { json, text, isError } = await bench.run(tool, args);
      expect(isError, tool).toBe(false);
      expect(utf8Length(JSON.stringify(json)), tool).toBeLessThan(limits.maxResultBytes);
      expect(utf8Length(text), tool).toBeLessThan(limits.maxResultBytes);
    }
    const { json } = await bench.run('get-active-toolset');
    expect(json).toMatchObject({
      toolset: { totalServers: 1_000 },
      serverStatus: { unavailable: 1_000 },
      toolSummary: { currentlyExposed: 500 },
    });
  });
});

describe('modes', () => {
  it('are set, not toggled', async () => {
    await bench.run('equip-toolset', { name: 'dev' });
    for (let times = 0; times < 2; times += 1) {
      expect((await bench.run('exit-configuration-mode')).json).toMatchObject({ success: true, currentMode: 'normal' });
      expect((await equipment()).mode).toBe('normal');
    }
    for (let times = 0; times < 2; times += 1) {
      const { json } = await bench.run('enter-configuration-mode');
      expect(json).toMatchObject({ success: true, currentMode: 'configuration' });
      expect(json.availableTools).toHaveLength(13);
      expect(await equipment()).toEqual({ toolset: 'dev', mode: 'configuration' });
    }
  });

  it('cannot be left while no toolset is equipped', async () => {
    const { isError, json } = await bench.run('exit-configuration-mode');
    expect([isError, json.success]).toEqual([true, false]);
    expect(json.message).toContain('equip-toolset');
    expect(await equipment()).toEqual({ toolset: null, mode: 'configuration' });
  });
});

describe('delete-toolset', () => {
  it('requires confirmation', async () => {
    for (const confirm of [undefined, false]) {
      const { isError, json } = await bench.run('delete-toolset', { name: 'dev', confirm });
      expect([isError, json.success]).toEqual([true, false]);
      expect(json.error).toContain('confirm: true');
    }
    expect(await names()).toEqual(['dev']);
  });

  it('names all users of the toolset, before and after', async () => {
    await bench.catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset: 'dev' });
    await bench.catalog.put('schedule', 'nightly', { agent: 'helper', cron: '0 3 * * *', input: 'Tidy up.' });
    const other = await bench.key({ scopes: ['toolsets'] });
    await bench.run('equip-toolset', { name: 'dev' }, other);
    await bench.run('equip-toolset', { name: 'dev' });
    const users = `agents helper; schedules nightly; keys that have it equipped test (${other})`;
    expect((await bench.run('delete-toolset', { name: 'dev' })).json.error).toContain(`used by ${users}, requires confirm: true`);
    expect((await bench.run('delete-toolset', { name: 'dev', confirm: true })).json.message).toBe(
      `Deleted dev. It was equipped; no toolset is equipped now. It was used by ${users}.`,
    );
  });

  it('unequips what it deletes', async () => {
    await bench.run('equip-toolset', { name: 'dev' });
    expect((await bench.run('delete-toolset', { name: 'dev', confirm: true })).json).toMatchObject({ success: true });
    expect([await names(), await equipment()]).toEqual([[], { toolset: null, mode: 'configuration' }]);
  });

  it('lists the saved toolsets for an unknown name', async () => {
    for (const name of ['nothing', 'constructor', '__proto__']) {
      const { json } = await bench.run('delete-toolset', { name, confirm: true });
      expect(json.error).toContain('saved toolsets: dev');
    }
  });
});

describe('rename-toolset', () => {
  it('keeps its content, and keeps it equipped', async () => {
    const settings = { tool: 'git.log', name: 'history', approval: 'always', arguments: { preset: { n: 1 } } };
    bench = configurationBench([toolOf('git', 'log', { inputSchema: { type: 'object', properties: { n: { type: 'number' } } } })]);
    await bench.catalog.put('toolset', 'old', { tools: [settings] });
    await bench.run('equip-toolset', { name: 'old' });
    const { json } = await bench.run('rename-toolset', { name: 'old', newName: 'new' });
    expect(json).toMatchObject({ success: true, toolset: { name: 'new', active: true } });
    expect((await bench.catalog.get('toolset', 'new')).body.tools).toEqual([settings]);
    expect([await names(), (await equipment()).toolset]).toEqual([['new'], 'new']);
  });

  it('names the agents and keys that use the old name, but not to a key that is bound to toolsets', async () => {
    await bench.catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset: 'dev' });
    await bench.catalog.put('agent', 'holder', { model: 'rehearsal/default', toolset: 'dev@1' });
    await bench.catalog.put('agent', 'stranger', { model: 'rehearsal/default' });
    const bound = await bench.key({ scopes: ['toolsets'], toolsets: ['dev', 'tools', 'more'] });
    await bench.catalog.revokeKey(await bench.key({ scopes: ['chat'], toolsets: ['dev'] }));
    expect((await bench.run('delete-toolset', { name: 'dev' })).json.error).toContain('agents helper, holder; keys test');
    const warning = (await bench.run('rename-toolset', { name: 'dev', newName: 'tools' })).json.warnings[0];
    expect(warning).toContain(`agents helper, holder; keys test (${bound}); MCP URLs (/mcp/dev)`);
    await bench.catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset: 'tools' });
    const { json } = await bench.run('rename-toolset', { name: 'tools', newName: 'more' }, bound);
    expect(json.warnings[0]).not.toMatch(/helper|test/);
  });

  it('rejects a name that is used, invalid or its own', async () => {
    await bench.catalog.put('toolset', 'other', { tools: [{ tool: 'git.log' }] });
    for (const newName of ['other', 'dev', 'Bad_Name', ' ']) {
      const { isError, json } = await bench.run('rename-toolset', { name: 'dev', newName });
      expect([isError, json.success], newName).toEqual([true, false]);
      expect(json.error, newName).toMatch(/^newName: /);
    }
    expect((await bench.run('rename-toolset', { name: 'gone', newName: 'x1' })).json.error).toMatch(/^name: there is no toolset/);
    expect(await names()).toEqual(['dev', 'other']);
  });
});
