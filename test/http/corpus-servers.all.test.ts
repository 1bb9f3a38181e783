/**
 * The public servers with their real names, imported over HTTP into one workspace: no tool is lost, and every conflict can be settled with
 * the suggestion.
 */
import { basename } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { NameConflict } from '../../src/core/toolset/name-claims.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';
import { printStatistics } from '../statistics.ts';

type Index = {
  servers: { server: string; file: string; tools: number }[];
  totalTools: number;
  collisions: { name: string; servers: string[] }[];
  nearCollisions: { normalised: string; names: Record<string, string[]> }[];
};

describeCorpus('mcp-tools/index.json', (path) => {
  const index = readJson<Index>(path);
  const lists = index.servers.map(({ server, file, tools }) => ({
    server,
    count: tools,
    tools: readJson<{ name: string }[]>(path.replace(basename(path), file)),
  }));
  /** A folder name may be an invalid server name (`12306-mcp`): the only name that is changed. */
  const serverName = (server: string): string => (/^[a-z]/.test(server) ? server : `s-${server}`);
  let h: Harness;

  beforeAll(async () => {
    h = createHarness();
    for (const { server, count, tools } of lists) {
      const body = { kind: 'static', url: 'https://tools.example.com/call', tools };
      if (serverName(server) !== server) {
        const refused = await h.send('PUT', `/v1/servers/${server}`, body);
        expect([refused.status, (await bodyOf(refused)).issues[0].path]).toEqual([422, 'server']);
      }
      const made = await h.send('PUT', `/v1/servers/${serverName(server)}`, body);
      const { toolCount, held } = await bodyOf(made);
      expect([server, made.status, toolCount, held]).toEqual([server, 201, count, 0]);
    }
  });

  it('are complete: none of their tools is rejected or held', async () => {
    const states = new Map<string, number>();
    for (const { server } of lists) {
      const { tools } = await bodyOf(await h.send('GET', `/v1/servers/${serverName(server)}`));
      for (const { state } of tools) states.set(state, (states.get(state) ?? 0) + 1);
    }
    printStatistics(`mcp-tools: ${lists.length} servers imported, ${JSON.stringify(Object.fromEntries(states))}`);
    expect([...states]).toEqual([['ready', index.totalTools]]);
  });

  it('have a toolset each, whose tools resolve by canonical and own names', async () => {
    let resolved = 0;
    for (const { server, tools } of lists) {
      const name = `own-${serverName(server)}`.slice(0, 50);
      const document = { tools: tools.map((tool) => ({ tool: `${serverName(server)}.${tool.name}` })) };
      const made = await h.send('PUT', `/v1/toolsets/${name}`, document);
      expect([server, made.status]).toEqual([server, 201]);
      for (const tool of tools) {
        const canonical = `${serverName(server)}.${tool.name}`;
        for (const called of [canonical, tool.name]) {
          const answer = await bodyOf(await h.send('GET', `/v1/toolsets/${name}/resolve?name=${encodeURIComponent(called)}`));
          expect([called, answer.canonical]).toEqual([called, canonical]);
        }
        resolved += 1;
      }
    }
    expect(resolved).toBe(index.totalTools);
  });

  it.each(index.collisions)('$name of $servers: each has a wire name with its server, and a warning says so', async ({ name, servers }) => {
    const tools = servers.map((server) => ({ tool: `${serverName(server)}.${name}` }));
    for (const entries of [tools, tools.toReversed()]) {
      const made = await h.send('PUT', '/v1/toolsets/shared', { tools: entries });
      const { warnings } = (await bodyOf(made)) as { warnings: { message: string }[] };
      expect([200, 201]).toContain(made.status);
      const listed = (await bodyOf(await h.send('GET', '/v1/toolsets/shared/tools'))).tools as { canonical: string; wireName: string }[];
      for (const { tool } of tools) {
        const wireName = listed.find(({ canonical }) => canonical === tool)?.wireName ?? '';
        expect([wireName === name, wireName.endsWith(name)], tool).toEqual([false, true]);
        expect(
          warnings.some(({ message }) => message.includes(wireName)),
          tool,
        ).toBe(true);
        expect(await bodyOf(await h.send('GET', `/v1/toolsets/shared/resolve?name=${wireName}`))).toMatchObject({
          canonical: tool,
          via: 'wire',
        });
      }
    }
    await h.send('DELETE', '/v1/toolsets/shared');
  });

  it.each(index.collisions)(
    'one name for $name of $servers: rejected with both names and a suggestion, which compiles',
    async ({ name, servers }) => {
      const given = 'one_name';
      const tools = servers.map((server) => ({ tool: `${serverName(server)}.${name}`, name: given }));
      for (const entries of [tools, tools.toReversed()]) {
        const refused = await h.send('PUT', '/v1/toolsets/clash', { tools: entries });
        const { code, conflicts } = (await bodyOf(refused)) as { code: string; conflicts: NameConflict[] };
        expect([refused.status, code, conflicts.length]).toEqual([409, 'name_conflict', tools.length - 1]);
        const moved = new Map<string, string>();
        for (const { name: claimed, tools: both, suggestion } of conflicts) {
          expect(claimed).toBe(given);
          for (const canonical of both) expect(tools.map(({ tool }) => tool)).toContain(canonical);
          moved.set(both[1], suggestion);
        }
        const settled = entries.map(({ tool }) => ({ tool, name: moved.get(tool) ?? given }));
        expect([200, 201]).toContain((await h.send('PUT', '/v1/toolsets/clash', { tools: settled })).status);
        for (const { tool, name: own } of settled) {
          const answer = await bodyOf(await h.send('GET', `/v1/toolsets/clash/resolve?name=${own}`));
          expect([own, answer.canonical, answer.via]).toEqual([own, tool, 'wire']);
        }
      }
      await h.send('DELETE', '/v1/toolsets/clash');
    },
  );

  it.each(index.nearCollisions)(
    '$normalised: compiles with a warning, goes by exact names, and other spellings are ambiguous',
    async ({ names }) => {
      const owned = Object.entries(names).map(([own, [server = '']]) => ({ own, tool: `${serverName(server)}.${own}` }));
      const made = await h.send('PUT', '/v1/toolsets/near', { tools: owned.map(({ tool }) => ({ tool })) });
      const { warnings } = await bodyOf(made);
      expect([made.status, warnings]).toEqual([
        201,
        expect.arrayContaining([{ path: expect.stringMatching(/^tools\[\d\]/), message: expect.stringContaining('in spelling only') }]),
      ]);
      const resolve = async (name: string) => {
        const answer = await h.send('GET', `/v1/toolsets/near/resolve?name=${encodeURIComponent(name)}`);
        return { status: answer.status, ...(await bodyOf(answer)) };
      };
      for (const { own, tool } of owned) expect(await resolve(own)).toMatchObject({ status: 200, canonical: tool, via: 'wire' });
      const words = (owned[0]?.own ?? '').replace(/[A-Z]/g, (letter) => `-${letter}`).split(/[-_]/);
      for (const other of [words.join(' ').toUpperCase(), words.join('.').toLowerCase(), `functions.${words.join('').toUpperCase()}`]) {
        const answer = await resolve(other);
        expect([other, answer.status, answer.code]).toEqual([other, 409, 'ambiguous_tool']);
        expect(answer.candidates.toSorted()).toEqual(owned.map(({ own }) => own).toSorted());
      }
      await h.send('DELETE', '/v1/toolsets/near');
    },
  );

  it('counts its clashes', () => {
    printStatistics(`mcp-tools: ${index.collisions.length} clashes, ${index.nearCollisions.length} near ones`);
    expect([index.collisions.length, index.nearCollisions.length, lists.length]).toEqual([26, 3, 102]);
  });
});
