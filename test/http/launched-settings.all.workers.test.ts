/**
 * What a program of this machine is given requires the launcher's proof, whichever request brings it: every member of a server's document,
 * and secrets that are bound to a command, by every way to write them.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { McpServer } from '../../src/core/servers/server.ts';
import { sample } from '../selection.ts';
import { bodyOf } from './harness.ts';
import { createLauncherService, proof } from './launcher-service.ts';

let service: Awaited<ReturnType<typeof createLauncherService>>;
beforeAll(async () => {
  service = await createLauncherService();
});
const send: (typeof service)['send'] = (...request) => service.send(...request);
const stored: (typeof service)['stored'] = (kind, name) => service.stored(kind, name);

const base = {
  kind: 'mcp',
  command: 'no-such-program',
  args: ['/srv/notes'],
  env: { LEVEL: 'info' },
  cwd: '/srv',
  roots: [{ uri: 'file:///srv/notes' }],
  timeoutMs: 5_000,
};

/**
 * Another value of each member of the schema. `seen`: the program is given it. `unseen`: it is not, so that every administrator may change
 * it. `invalid`: a server with a command has no such member.
 */
const changes: Readonly<Record<string, { to: unknown; is: 'seen' | 'unseen' | 'invalid' }>> = {
  command: { to: 'another-program', is: 'seen' },
  args: { to: ['/'], is: 'seen' },
  env: { to: { LEVEL: 'info', NODE_OPTIONS: '--import=/tmp/evil.mjs' }, is: 'seen' },
  cwd: { to: '/', is: 'seen' },
  instances: { to: 'shared', is: 'seen' },
  roots: { to: [{ uri: 'file:///' }], is: 'seen' },
  sampling: { to: true, is: 'seen' },
  trusted: { to: true, is: 'unseen' },
  updates: { to: 'review', is: 'unseen' },
  price: { to: 0.5, is: 'unseen' },
  instructions: { to: 'Read first.', is: 'unseen' },
  timeoutMs: { to: 6_000, is: 'unseen' },
  era: { to: 'legacy', is: 'unseen' },
  name: { to: null, is: 'unseen' },
  kind: { to: 'static', is: 'invalid' },
  url: { to: 'https://mcp.example.com/mcp', is: 'invalid' },
  headers: { to: { 'x-a': 'b' }, is: 'invalid' },
  query: { to: { a: 'b' }, is: 'invalid' },
  transport: { to: 'http', is: 'invalid' },
  oauth: { to: { grant: 'authorization_code' }, is: 'invalid' },
  ...Object.fromEntries(
    ['tools', 'health', 'connection', 'offers', 'authorization', 'warnings'].map((member) => [member, { to: [], is: 'unseen' as const }]),
  ),
};

/** Ways to give a server another document. Each returns whether the request was refused, or the document left out. */
type Door = (name: string, body: Record<string, unknown>, headers: Record<string, string>) => Promise<boolean>;
const isRefused = async (answer: Response): Promise<boolean> => {
  if (answer.status === 403) expect((await bodyOf(answer)).detail).toContain('MONIKER_ALLOW_STDIO=api');
  else expect(answer.status, await answer.clone().text()).toBeLessThan(300);
  return answer.status === 403;
};
const isSkipped = async (answer: Response, name: string): Promise<boolean> => {
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await bodyOf(answer)).skipped.some((one: { name: string }) => one.name === name);
};
const serverProject = (name: string, body: unknown) => ({ servers: { [name]: body } });
const doors: Readonly<Record<string, Door>> = {
  PUT: async (name, body, headers) => await isRefused(await send('PUT', `/v1/servers/${name}`, body, headers)),
  'PUT with the root key': async (name, body, headers) =>
    await isRefused(await send('PUT', `/v1/servers/${name}`, body, { ...service.root, ...headers })),
  PATCH: async (name, body, headers) => {
    const changed = Object.entries(body).filter(([member, value]) => JSON.stringify(value) !== JSON.stringify((base as never)[member]));
    return await isRefused(await send('PATCH', `/v1/servers/${name}`, Object.fromEntries(changed), headers));
  },
  'PUT ?dryRun': async (name, body, headers) => await isRefused(await send('PUT', `/v1/servers/${name}?dryRun=true`, body, headers)),
  test: async (name, body, headers) => await isRefused(await send('POST', `/v1/servers/${name}/test`, body, headers)),
  project: async (name, body, headers) =>
    await isSkipped(await send('PUT', `/v1/projects/p-${name}?force=true`, serverProject(name, body), headers), `servers.${name}`),
  'project ?dryRun': async (name, body, headers) =>
    await isSkipped(
      await send('PUT', `/v1/projects/p-${name}?force=true&dryRun=true`, serverProject(name, body), headers),
      `servers.${name}`,
    ),
  import: async (name, body, headers) =>
    await isSkipped(await send('POST', '/v1/import', serverProject(name, body), headers), `servers.${name}`),
  'import ?partial': async (name, body, headers) =>
    await isSkipped(await send('POST', '/v1/import?partial=true', serverProject(name, body), headers), `servers.${name}`),
};
const stores = ([door]: [string, Door]): boolean => !door.includes('dryRun') && door !== 'test';

let count = 0;
async function newServer(body: Record<string, unknown> = base): Promise<string> {
  count += 1;
  const name = `files-${count}`;
  expect((await send('PUT', `/v1/servers/${name}`, body, proof)).status).toBe(201);
  return name;
}

describe('a server with a command', () => {
  it('has a row here for every member of its document', () => {
    expect(Object.keys(changes).toSorted()).toEqual(Object.keys(McpServer.shape).toSorted());
  });

  const rows = Object.entries(changes).flatMap(([member, { to, is }]) =>
    is === 'invalid' ? [] : Object.entries(doors).map((door, place) => ({ member, to, is, door, place })),
  );
  const members = Object.keys(changes);
  // Each setting that the program sees by some ways, and each way with some settings.
  const chosen = sample('settings of a program by every way to write them', rows, ({ member, is, place }, index) =>
    is === 'seen' ? (members.indexOf(member) + place) % 3 === 0 : index % 5 === 0,
  );
  it.each(chosen.map((row) => ({ ...row, title: `${row.member} by ${row.door[0]}` })))(
    'without the proof: $title is refused if the program sees it',
    async ({ member, to, is, door }) => {
      const name = await newServer();
      const before = await stored('server', name);
      service.runs.length = 0;
      const body = { ...base, [member]: member === 'name' ? name : to };
      expect(await door[1](name, body, {})).toBe(is === 'seen');
      if (is === 'seen') expect([await stored('server', name), service.runs]).toEqual([before, []]);
      expect(await door[1](name, body, proof)).toBe(false);
      if (is === 'seen' && stores(door)) expect(await stored('server', name)).not.toEqual(before);
    },
  );

  it.each(Object.entries(doors))(
    'is added only with the proof, also in place of another kind or after a deletion: %s',
    async (door, write) => {
      const hosted = { kind: 'static', url: 'https://tools.example.com/call', tools: [{ name: 'a', inputSchema: { type: 'object' } }] };
      const name = await newServer(hosted);
      if (door !== 'PATCH') expect(await write(name, base, {})).toBe(true);
      expect(JSON.stringify(await stored('server', name))).not.toContain('no-such-program');
      const deleted = await newServer();
      expect((await send('DELETE', `/v1/servers/${deleted}`)).status).toBe(204);
      if (door !== 'PATCH') expect(await write(deleted, base, {})).toBe(true);
      expect(await stored('server', deleted)).toBeNull();
    },
  );

  it('says which members need the proof, and where they are set', async () => {
    const name = await newServer();
    const { detail } = await bodyOf(
      await send('PATCH', `/v1/servers/${name}`, { trusted: true, roots: [{ uri: 'file:///' }], sampling: true }),
    );
    expect(detail).toContain('`roots` and `sampling`');
    expect(detail).toContain('moniker add server');
  });

  it('can be replaced by a URL without the proof, which ends the program', async () => {
    const name = await newServer();
    expect((await send('PUT', `/v1/servers/${name}`, { kind: 'mcp', url: 'http://127.0.0.1:9/mcp', roots: 'client' })).status).toBe(200);
  });
});

describe('a secret that is bound to a command', () => {
  const doorsOfSecrets: Readonly<Record<string, Door>> = {
    PUT: async (name, body, headers) => await isRefused(await send('PUT', `/v1/secrets/${name}`, body, headers)),
    PATCH: async (name, body, headers) => await isRefused(await send('PATCH', `/v1/secrets/${name}`, body, headers)),
    project: async (name, body, headers) =>
      await isSkipped(
        await send('PUT', `/v1/projects/s-${name.replace('_', '-').toLowerCase()}?force=true`, { secrets: { [name]: body } }, headers),
        `secrets.${name}`,
      ),
    import: async (name, body, headers) =>
      await isSkipped(await send('POST', '/v1/import', { secrets: { [name]: body } }, headers), `secrets.${name}`),
    'import ?partial': async (name, body, headers) =>
      await isSkipped(await send('POST', '/v1/import?partial=true', { secrets: { [name]: body } }, headers), `secrets.${name}`),
  };
  const bound = { value: '/srv/notes', hosts: ['files-1.stdio'] };
  const attempts: Readonly<Record<string, { before: object | null; write: object }>> = {
    'is created': { before: null, write: bound },
    'is created for several hosts': { before: null, write: { ...bound, hosts: ['api.example.com', 'files-1.stdio'] } },
    'is created with a port': { before: null, write: { ...bound, hosts: ['files-1.stdio:443'] } },
    'gets another value': { before: bound, write: { ...bound, value: '/' } },
    'gets another host': { before: bound, write: { ...bound, hosts: ['files-1.stdio', 'files-2.stdio'] } },
    'gets tools': { before: bound, write: { ...bound, tools: ['files-1.read'] } },
    'is bound to a command, too': { before: { ...bound, hosts: ['api.example.com'] }, write: bound },
  };
  const rows = Object.entries(attempts).flatMap(([title, attempt]) =>
    Object.entries(doorsOfSecrets).flatMap(([door, write]) =>
      door === 'PATCH' && attempt.before === null ? [] : [{ title: `${title} by ${door}`, ...attempt, write: attempt.write, door: write }],
    ),
  );

  it.each(rows)('needs the proof: $title', async ({ before, write, door }) => {
    count += 1;
    const name = `DIR_${count}`;
    if (before !== null) expect((await send('PUT', `/v1/secrets/${name}`, before, proof)).status).toBe(201);
    const kept = await stored('secret', name);
    expect(await door(name, write as Record<string, unknown>, {})).toBe(true);
    expect(await stored('secret', name)).toEqual(kept);
    expect(await door(name, write as Record<string, unknown>, proof)).toBe(false);
    expect(await stored('secret', name)).not.toEqual(kept);
  });

  it('stays without the proof when it is written unchanged, is unbound, or deleted', async () => {
    expect((await send('PUT', '/v1/secrets/SAME', bound, proof)).status).toBe(201);
    expect((await send('PUT', '/v1/secrets/SAME', bound)).status).toBe(200);
    expect((await send('PUT', '/v1/secrets/SAME', { ...bound, hosts: ['api.example.com'] })).status).toBe(200);
    expect((await send('PUT', '/v1/secrets/SAME', bound)).status).toBe(403);
    expect((await send('DELETE', '/v1/secrets/SAME')).status).toBe(204);
    expect((await send('PUT', '/v1/secrets/SAME', bound)).status).toBe(403);
  });

  it('is left out of a project whose server gives it no hosts, with the server', async () => {
    const project = {
      secrets: { NEW_DIR: { value: '/' } },
      servers: { 'new-files': { kind: 'mcp', command: 'no-such-program', args: [{ secret: 'NEW_DIR' }] } },
    };
    const { skipped } = await bodyOf(await send('PUT', '/v1/projects/bound', project));
    expect(skipped.map(({ name }: { name: string }) => name)).toEqual(['secrets.NEW_DIR', 'servers.new-files']);
    expect((await bodyOf(await send('PUT', '/v1/projects/bound', project, proof))).created).toEqual([
      'secrets.NEW_DIR',
      'servers.new-files',
    ]);
  });
});
