/** The page docs/local-servers.md as a reader follows it, with the installed packages instead of `npx`; then the toolsets with the SDK's client. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import { makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

const dataDir = makeDataDir();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'moniker-local-')));
let service: RunningService;

beforeAll(async () => {
  service = await startService(dataDir);
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
  rmSync(folder, { recursive: true, force: true });
});

const page = readFileSync(join(root, 'docs/local-servers.md'), 'utf8');
const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code = '']) => code);

function run(code: string): string {
  const installed = code.replaceAll(/npx -y @modelcontextprotocol\/server-(\w+)/g, (_all, name: string) => {
    const script = join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
    return `"${process.execPath}" "${script}"${name === 'everything' ? ' stdio' : ''}`;
  });
  const moniker = `moniker() { "${process.execPath}" "${join(root, 'src/cli/main.ts')}" "$@"; }`;
  const { stdout, stderr, status } = spawnSync('bash', ['-euo', 'pipefail', '-c', `${moniker}\n${installed}`], {
    ...{ cwd: folder, encoding: 'utf8', timeout: 120_000 },
    env: { PATH: process.env.PATH ?? '', HOME: folder, MONIKER_DATA_DIR: dataDir },
  });
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

/** The processes of the three servers. */
function processes(): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'stat=,pid=,args='], { encoding: 'utf8' });
  const ours = stdout.split('\n').filter((line) => line.includes(folder) || line.includes('server-everything/dist/index.js stdio'));
  return ours.filter((line) => !line.trim().startsWith('Z') && !line.includes('/bin/sh'));
}

describe('three servers, two toolsets', () => {
  it('are added and called with the commands of the page', () => {
    const [servers = '', toolsets = ''] = blocks;
    const added = run(servers);
    expect(added).toMatch(/Server files with \d+ tools.*Server memory with 9 tools.*Server every with \d+ tools/s);
    expect(run(toolsets)).toContain('Buy milk.');
  });

  it('are two MCP servers for the client of the SDK', async () => {
    const [notes, knowledge] = await Promise.all(
      ['notes', 'knowledge'].map((name) => connectClient(`${service.url}/mcp/${name}`, service.key, 'legacy')),
    );
    expect((await notes?.listTools())?.tools.map(({ name }) => name).sort()).toEqual(['list_notes', 'read_note', 'write_note']);
    const note = await notes?.callTool({ name: 'read_note', arguments: { path: join(folder, 'notes/today.md') } });
    expect(textOf(note as Parameters<typeof textOf>[0])).toContain('Buy milk.');
    const said = await knowledge?.callTool({ name: 'say', arguments: { message: 'hello' } });
    expect(textOf(said as Parameters<typeof textOf>[0])).toContain('Echo: hello');
    await Promise.all([notes?.close(), knowledge?.close()]);
  });

  it('leave no process after kill -9', async () => {
    expect(processes().length).toBeGreaterThan(0);
    await service.stop('SIGKILL');
    await eventually('all have ended', () => (processes().length === 0 ? true : undefined));
    service = await startService(dataDir);
  });
});
