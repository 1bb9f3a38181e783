/** Plans while no service runs: they run no commands, contact nothing and leave the data folder as it is. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { selection } from '../selection.ts';
import { eventually } from './eventually.ts';
import { makeDataDir, removeDataDir, root, startService } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-plans-'));
const repository = join(folder, 'repository');
const canary = join(folder, 'canary');
const skills = join(folder, 'skills');
const dataDir = makeDataDir();

/** The host that stored and planned servers name. */
const contacted: string[] = [];
const host = createServer((request, response) => {
  contacted.push(request.url ?? '');
  response.writeHead(404).end();
});
let port = 0;

const server = (name: string): string => `{ kind: mcp, command: sh, args: ['-c', 'echo ${name} >> ${canary}; sleep 1'] }`;
const project = (more = ''): string => `
servers:
  stored: ${server('stored')}
  web: { kind: mcp, url: 'http://127.0.0.1:${port}/mcp' }
${more}
agents:
  helper: { model: rehearsal/default }
schedules:
  often: { agent: helper, interval: 1h, input: hello }
`;

beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  port = (host.address() as AddressInfo).port;
  mkdirSync(repository);
  mkdirSync(join(skills, 'hello'), { recursive: true });
  writeFileSync(join(skills, 'hello/SKILL.md'), '---\nname: hello\ndescription: Says hello.\n---\nHi');
  const file = join(repository, 'moniker.yaml');
  writeFileSync(file, project());
  const service = await startService(dataDir, { MONIKER_PROJECT: file, MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  await eventually('the project is applied', () => service.printed().includes('moniker.yaml is applied: 4 created') || undefined);
  await service.stop();
  // These work without a plan: the command ran, and the host was contacted.
  expect([readFileSync(canary, 'utf8'), contacted.length > 0]).toEqual(['stored\n', true]);
});
afterAll(() => {
  host.closeAllConnections();
  host.close();
  removeDataDir(dataDir);
  rmSync(folder, { recursive: true, force: true });
});

/** In the folder with the project file, without a terminal. */
function moniker(parameters: string[], data = dataDir): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), ...parameters], {
    cwd: repository,
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME: join(folder, 'state'), OLLAMA_HOST: '127.0.0.1:9' },
      ...{ MONIKER_DATA_DIR: data, MONIKER_SKILLS_DIR: skills, MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' },
    },
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, stdout, stderr };
}

/** Every file with its content. */
function contentsOf(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      createHash('sha256')
        .update(readFileSync(join(parentPath, name)))
        .digest('hex'),
    ]),
  );
}

it('shows what apply and import would change, and runs, writes and contacts nothing', () => {
  rmSync(canary);
  contacted.length = 0;
  writeFileSync(
    join(repository, 'moniker.yaml'),
    project(`  planned: ${server('planned')}\n  other: { kind: mcp, url: 'http://127.0.0.1:${port}/other' }`),
  );
  const imported = {
    mcpServers: { planned: { command: 'sh', args: ['-c', `echo import >> ${canary}`] }, web2: { url: `http://127.0.0.1:${port}/web2` } },
  };
  writeFileSync(join(repository, 'mcp.json'), JSON.stringify(imported));
  const before = contentsOf(dataDir);
  const applied = moniker(['apply', '--dry-run', '--project', 'repository']);
  expect(applied.status, applied.stderr).toBe(0);
  expect(applied.stdout).toContain('  + servers.planned\n  + servers.other\n');
  expect(applied.stdout).toContain('2 created, 4 unchanged. This is the plan; nothing was written.');
  const plan = moniker(['import', 'mcp.json', '--dry-run']);
  expect(plan.status, plan.stderr).toBe(0);
  expect(plan.stdout).toContain('  + servers.planned\n');
  expect(plan.stdout).toContain('nothing was written');
  expect(contentsOf(dataDir)).toEqual(before);
  expect([existsSync(canary), contacted]).toEqual([false, []]);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('moniker-plan-'))).toEqual([]);
});

it.runIf(selection === 'all')('plans for a folder that does not exist, and does not make it', () => {
  const unused = join(folder, 'unused');
  const { status, stdout, stderr } = moniker(['apply', '--dry-run'], unused);
  expect([status, stdout], stderr).toEqual([0, expect.stringContaining('6 created. This is the plan; nothing was written.')]);
  expect([existsSync(unused), existsSync(canary), contacted]).toEqual([false, false, []]);
});

it('a service for one command applies only what the command does: not the project of the folder, and no skills', async () => {
  const data = makeDataDir();
  writeFileSync(join(repository, 'other.json'), '{"agents": {"other": {"model": "rehearsal/default"}}}');
  expect(moniker(['apply', 'other.json', '--project', 'other'], data)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('1 created'),
  });
  expect(existsSync(canary)).toBe(false);
  const service = await startService(data);
  const names = async (path: string) => (await service.call('GET', path)).json.items.map(({ name }: { name: string }) => name);
  expect([await names('/v1/servers'), await names('/v1/skills'), await names('/v1/projects')]).toEqual([[], [], ['other']]);
  // A service that runs makes the plan without running commands, too.
  expect(moniker(['apply', '--dry-run'], data)).toMatchObject({ status: 0, stdout: expect.stringContaining('nothing was written') });
  expect(existsSync(canary)).toBe(false);
  await service.stop();
  removeDataDir(data);
});
