/** Servers that are commands of this machine, from adding one to the end of the service. The steps build on each other. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { eventually } from './eventually.ts';
import { type Answer, makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

const script = join(root, 'test/local/stdio/fake-server.mjs');
const dataDir = makeDataDir();
let service: RunningService;
let proof: Record<string, string>;

beforeAll(async () => {
  service = await startService(dataDir, { OPENAI_API_KEY: 'sk-not-for-servers' });
  const { token } = JSON.parse(readFileSync(join(dataDir, 'launcher'), 'utf8')) as { token: string };
  proof = { [launcherHeader]: token };
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

function serverOf(args: string[], more: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'mcp', command: process.execPath, args: [script, ...args], trusted: true, ...more };
}

function put(body: Record<string, unknown>, headers: Record<string, string> = proof): Promise<Answer> {
  return service.call('PUT', '/v1/servers/fake', body, headers);
}

/** The text of the result. */
async function call(name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { json } = await service.call('POST', '/v1/toolsets/local/calls', { name, arguments: args });
  return json.content?.[0]?.text ?? JSON.stringify(json);
}

/** Without zombies. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

it('is added only with the token of the launcher, and called by alias', async () => {
  expect(statSync(join(dataDir, 'launcher')).mode & 0o777).toBe(0o600);
  for (const given of ['', 'another token']) expect((await put(serverOf([]), { [launcherHeader]: given })).status).toBe(403);
  const tested = await service.call('POST', '/v1/servers/fake/test', serverOf([]));
  expect(tested.json).toMatchObject({ status: 403, detail: expect.stringContaining('MONIKER_ALLOW_STDIO=api') });
  await service.call('PUT', '/v1/secrets/FAKE_TOKEN', { value: 'value-of-the-token', hosts: ['fake.stdio'] }, proof);
  const added = await put(serverOf(['', 'first'], { env: { FAKE_TOKEN: { secret: 'FAKE_TOKEN' } } }));
  expect(added.json).toMatchObject({ health: { status: 'ok' }, connection: { server: { name: 'fake' } } });
  const names = ['echo', 'environment', 'identity', 'crash', 'fork', 'print'];
  const tools = names.map((name) => ({ tool: `fake.${name}`, ...(name === 'echo' && { aliases: ['say'] }) }));
  await service.call('PUT', '/v1/toolsets/local', { tools });
  expect(await call('say', { n: 1 })).toContain('{"n":1}');
  const stored = await service.call('GET', '/v1/servers/fake');
  expect((await service.call('POST', '/v1/servers/fake/test', { ...stored.json, timeoutMs: 10_000 })).json).toMatchObject({ ok: true });
});

it('receives its secrets, which results and logs do not show, and no keys of the service', async () => {
  const environment = await call('environment');
  expect(environment).toContain('FAKE_TOKEN');
  expect(environment).not.toMatch(/value-of-the-token|sk-not-for-servers|MONIKER_/);
  await call('print', { line: 'the token is value-of-the-token' });
  await eventually('the line is logged', () => (service.printed().includes('[fake] the token is [secret]') ? true : undefined));
});

it('is called again after it has crashed', async () => {
  expect(await call('crash')).toContain('exited with code 3');
  await eventually('it is started again', async () => ((await call('say', { n: 2 })).includes('{"n":2}') ? true : undefined));
});

it('is started with the new command after a change, and can be changed otherwise without the token', async () => {
  const env = { FAKE_TOKEN: { secret: 'FAKE_TOKEN' } };
  expect((await put(serverOf(['', 'second'], { env }))).json).toMatchObject({ health: { status: 'ok' } });
  expect(await call('identity')).toContain('second');
  const patched = await service.call('PATCH', '/v1/servers/fake', { timeoutMs: 20_000 });
  expect(patched.status).toBe(200);
  expect((await service.call('PATCH', '/v1/servers/fake', { args: ['-e', '1'] })).status).toBe(403);
  expect((await service.call('PATCH', '/v1/servers/fake', { trusted: true, roots: [{ uri: 'file:///' }] })).status).toBe(403);
  expect((await service.call('PUT', '/v1/secrets/FAKE_TOKEN', { value: '/', hosts: ['fake.stdio'] })).status).toBe(403);
});

it('is started with a new secret, and with a command of the maximum size', async () => {
  const { pid } = JSON.parse(await call('identity'));
  await service.call('PUT', '/v1/secrets/FAKE_TOKEN', { value: 'another-value-of-it', hosts: ['fake.stdio'] }, proof);
  await eventually('another process', async () => (JSON.parse(await call('identity')).pid === pid ? undefined : true));
  const env = { FAKE_TOKEN: { secret: 'FAKE_TOKEN' }, LONG: '%'.repeat(45_000) };
  expect((await put(serverOf(['', 'second'], { env }))).json).toMatchObject({ health: { status: 'ok' } });
  expect(await call('environment')).toContain('%%%%');
});

it('reports a command that does not work', async () => {
  const { json } = await service.call('PUT', '/v1/servers/broken', { kind: 'mcp', command: 'no-such-command' }, proof);
  expect(json.health).toMatchObject({ status: 'failing', reason: expect.stringContaining('does not exist in PATH') });
  await service.call('DELETE', '/v1/servers/broken');
});

it('ends with the launcher, even by SIGKILL, with the processes that it has started', async () => {
  const [pid = 0, child = 0] = [...(await call('fork')).matchAll(/"(?:pid|child)\\*":(\d+)/g)].map(([, id]) => Number(id));
  expect([isAlive(pid), isAlive(child)]).toEqual([true, true]);
  await service.stop('SIGKILL');
  await eventually('both have ended', () => (isAlive(pid) || isAlive(child) ? undefined : true));
  service = await startService(dataDir);
  expect(await call('identity')).toContain('second');
});
