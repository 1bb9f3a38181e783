/** The programs of command servers end when their document, their secrets or their workspace no longer wants them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '@modelcontextprotocol/client';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { eventually } from './eventually.ts';
import { connectClient } from './mcp-clients.ts';
import { type Answer, makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';
import { printStatistics } from '../statistics.ts';

const script = join(root, 'test/local/stdio/fake-server.mjs');
const dataDir = makeDataDir();
let service: RunningService;
let proof: Record<string, string>;

beforeAll(async () => {
  service = await startService(dataDir);
  const { token } = JSON.parse(readFileSync(join(dataDir, 'launcher'), 'utf8')) as { token: string };
  proof = { [launcherHeader]: token };
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

/** Without zombies. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

const hosted = { kind: 'static', url: 'http://127.0.0.1:9/call', tools: [{ name: 'a', inputSchema: { type: 'object' } }] };
const secretOf = (value: string, hosts = ['files.stdio']) => ({ value, hosts });
/** `stubborn`: it ignores the end of its input, and SIGTERM. */
const documentOf = ({ env = { TOKEN: { secret: 'TOKEN' } } as object, mode = '' } = {}) => ({
  kind: 'mcp',
  command: process.execPath,
  args: [script, mode],
  env,
  trusted: true,
});

type Send = (method: string, path: string, body?: unknown) => Promise<Answer>;
let count = 0;

/** A new workspace, whose server `files` runs. */
async function running(
  prepare: (send: Send) => Promise<void> = async () => undefined,
  options: { mode?: string } = {},
): Promise<{ send: Send; pid: number; workspace: string }> {
  count += 1;
  const workspace = `programs-${count}`;
  const send: Send = async (method, path, body) => {
    const type: Record<string, string> = path.startsWith('/v1/restore') ? { 'content-type': 'application/jsonl' } : {};
    const answer = await service.call(method, path, body, { 'x-moniker-workspace': workspace, ...proof, ...type });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  await service.call('PUT', `/v1/workspaces/${workspace}`, {});
  await prepare(send);
  await send('PUT', '/v1/secrets/TOKEN', secretOf('first value of it'));
  await send('PUT', '/v1/servers/files', documentOf(options));
  await send('PUT', '/v1/toolsets/files', { tools: [{ tool: 'files.identity' }] });
  const { json } = await send('POST', '/v1/toolsets/files/calls', { name: 'identity', arguments: {} });
  return { send, pid: JSON.parse(json.content[0].text).pid, workspace };
}

const project = (servers: object) => ({ secrets: { TOKEN: { value: 'first value of it' } }, servers });
let archive = '';
type Way = { prepare?: (send: Send) => Promise<void>; mode?: string; change: (send: Send, workspace: string) => Promise<unknown> };
const ways: Readonly<Record<string, Way>> = {
  'its server is deleted': { change: (send) => send('DELETE', '/v1/servers/files') },
  'its server is deleted, although it ignores signals': { mode: 'stubborn', change: (send) => send('DELETE', '/v1/servers/files') },
  'a URL replaces its command': { change: (send) => send('PUT', '/v1/servers/files', { kind: 'mcp', url: 'http://127.0.0.1:9/mcp' }) },
  'its server gets another kind': { change: (send) => send('PUT', '/v1/servers/files', hosted) },
  'its roots are changed': { change: (send) => send('PATCH', '/v1/servers/files', { roots: [{ uri: 'file:///srv' }] }) },
  'its secret is deleted': { change: (send) => send('DELETE', '/v1/secrets/TOKEN') },
  'its secret gets another value': { change: (send) => send('PUT', '/v1/secrets/TOKEN', secretOf('second value of it')) },
  'its secret is bound to another host': {
    change: (send) => send('PUT', '/v1/secrets/TOKEN', secretOf('first value of it', ['api.example.com'])),
  },
  'its workspace is deleted': { change: (_send, workspace) => service.call('DELETE', `/v1/workspaces/${workspace}`) },
  'a project no longer has its server': {
    prepare: async (send) => void (await send('PUT', '/v1/projects/site', project({ files: documentOf() }))),
    change: (send) => send('PUT', '/v1/projects/site?prune=true&force=true', project({})),
  },
  'a project renames its server': {
    prepare: async (send) => void (await send('PUT', '/v1/projects/site', project({ files: documentOf() }))),
    change: (send) => send('PUT', '/v1/projects/site?prune=true&force=true', project({ disk: documentOf() })),
  },
  'an archive without it is restored': {
    prepare: async (send) => {
      archive = (await send('GET', '/v1/backup')).text;
    },
    change: (send) => send('POST', '/v1/restore?replace=true', archive),
  },
};

describe('the program of a server', () => {
  it.each(Object.entries(ways))('ends when %s', async (_title, { prepare, change, ...options }) => {
    const { send, pid, workspace } = await running(prepare, options);
    expect(isAlive(pid)).toBe(true);
    await change(send, workspace);
    const begun = performance.now();
    await eventually('the program ends', () => (isAlive(pid) ? undefined : true));
    printStatistics(`ended after ${Math.round(performance.now() - begun)} ms`);
  });

  it('keeps running while other members, servers and secrets are changed', async () => {
    const { send, pid } = await running();
    await send('PATCH', '/v1/servers/files', { timeoutMs: 20_000, instructions: 'Read first.' });
    await send('PUT', '/v1/secrets/OTHER', secretOf('another value'));
    await send('PUT', '/v1/secrets/TOKEN', secretOf('first value of it', ['files.stdio', 'api.example.com']));
    await send('PUT', '/v1/servers/other', documentOf({ env: {} }));
    await send('DELETE', '/v1/servers/other');
    const { json } = await send('POST', '/v1/toolsets/files/calls', { name: 'identity', arguments: {} });
    expect(JSON.parse(json.content[0].text).pid).toBe(pid);
  });

  it('ends also if the service is killed at once', async () => {
    const { send, pid } = await running();
    const deleted = send('DELETE', '/v1/servers/files').catch(() => null);
    const [workerd] = readFileSync(join(dataDir, 'state/workerd.pid'), 'utf8').split(' ');
    process.kill(Number(workerd), 'SIGKILL');
    await deleted;
    await eventually('the service runs again', async () =>
      (await service.call('GET', '/readyz').catch(() => null))?.status === 200 ? true : undefined,
    );
    await eventually('the server is deleted', async () => {
      const { status } = await service
        .call('DELETE', '/v1/servers/files', undefined, { 'x-moniker-workspace': `programs-${count}` })
        .catch(() => ({ status: 0 }));
      return status === 204 || status === 404 ? true : undefined;
    });
    await eventually('the program ends', () => (isAlive(pid) ? undefined : true));
  });
});

it('the filesystem server keeps to its folders, whatever an API key sends and whatever roots a client has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'moniker-folder-'));
  writeFileSync(join(folder, 'note.txt'), 'the note');
  const filesystem = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  const document = { kind: 'mcp', command: process.execPath, args: [filesystem, folder], trusted: true };
  expect((await service.call('PUT', '/v1/servers/disk', document, proof)).json.health).toMatchObject({ status: 'ok' });
  await service.call('PUT', '/v1/toolsets/disk', { tools: [{ tool: 'disk.read_text_file', name: 'read' }] });
  const { key } = (await service.call('POST', '/v1/keys', { name: 'administrator', scopes: ['admin', 'tools'] })).json;
  const admin = { authorization: `Bearer ${key}` };
  for (const change of [{ trusted: true, roots: [{ uri: 'file:///' }] }, { roots: 'client' }, { args: [filesystem, '/'] }])
    expect((await service.call('PATCH', '/v1/servers/disk', change, admin)).status).toBe(403);
  const everything = (client: Client): void => client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///' }] }));
  const client = await connectClient(`${service.url}/mcp/disk`, key, 'legacy', { roots: { listChanged: true } }, everything);
  const read = async (path: string): Promise<string> => JSON.stringify(await client.callTool({ name: 'read', arguments: { path } }));
  expect(await read(join(folder, 'note.txt'))).toContain('the note');
  for (const path of [join(dataDir, 'keys'), join(dataDir, 'launcher'), '/etc/passwd'])
    expect(await read(path)).toContain('outside allowed directories');
  await client.close();
  await service.call('DELETE', '/v1/servers/disk');
  rmSync(folder, { recursive: true });
});

it('returns which programs are to end to the root key only', async () => {
  const programs = [{ workspace: 'default', server: 'files', key: '0'.repeat(64) }];
  expect((await service.call('POST', '/v1/programs/check', { programs })).json).toEqual({ unwanted: ['0'.repeat(64)] });
  expect((await service.call('POST', '/v1/programs/check', { programs: [{ ...programs[0], key: 'x' }] })).status).toBe(422);
  const { key } = (await service.call('POST', '/v1/keys', { name: 'a', scopes: ['admin'] })).json;
  expect((await service.call('POST', '/v1/programs/check', { programs }, { authorization: `Bearer ${key}` })).status).toBe(403);
});
