/** The npm package as a user gets it: packed, installed into an empty folder, started, called, stopped, and ready to deploy. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitUntil } from '../wait-for.ts';

const root = resolve(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'moniker-package-'));
const app = join(directory, 'app');
const installed = join(app, 'node_modules/moniker-gateway');
/** Commands run with the Node of these tests, also where the machine has an older one. */
const environment = {
  ...process.env,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  XDG_STATE_HOME: join(directory, 'state'),
};
const maxInstallBytes = 250e6;
const maxPackageBytes = 4.7e6;

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: environment, encoding: 'utf8', timeout: 150_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

beforeAll(() => {
  run('npm', ['pack', '--silent', '--pack-destination', directory], root);
  const [filename = ''] = readdirSync(directory);
  expect(statSync(join(directory, filename)).size).toBeLessThan(maxPackageBytes);
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"private": true}');
  run('npm', ['install', join('..', filename), '--prefer-offline', '--no-audit', '--no-fund'], app);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('has no code that runs when it is installed, and one dependency', () => {
  const { scripts, dependencies, bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)$/.test(name))).toEqual([]);
  expect([Object.keys(dependencies), bin]).toEqual([['workerd'], { moniker: 'dist/cli/main.mjs' }]);
});

it('contains the build and the licenses, and no sources', () => {
  expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const licenses = readFileSync(join(installed, 'dist/LICENSES.txt'), 'utf8');
  for (const library of ['hono', 'zod', 'just-bash', 'preact', 'commander']) expect(licenses).toMatch(new RegExp(`^${library} \\d`, 'm'));
});

it('installs in less than 250 MB', () => {
  const files = readdirSync(join(app, 'node_modules'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const stats = files.map((entry) => statSync(join(entry.parentPath, entry.name)));
  // The binary of workerd has two names.
  const unique = new Map(stats.map(({ ino, size }) => [ino, size]));
  expect([...unique.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(maxInstallBytes);
});

it('starts for servers in an empty folder, answers calls by alias on all networks, prints no key, and leaves no process behind', async () => {
  const child = spawn(join(app, 'node_modules/.bin/moniker'), ['start', '--production', '--host', '0.0.0.0', '--port', '0'], {
    cwd: app,
    env: { ...environment, OLLAMA_HOST: '127.0.0.1:9' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const ended = new Promise<number | null>((resolveEnd) => child.once('close', resolveEnd));
  try {
    await waitUntil(() => output.includes('warning: other machines') || child.exitCode !== null);
    const url = /Moniker is ready at (\S+)/.exec(output)?.[1] ?? output;
    const key = /^MONIKER_ROOT_KEY=(.*)$/m.exec(readFileSync(join(app, '.moniker/keys'), 'utf8'))?.[1];
    expect(output).not.toContain(key);
    const send = async (method: string, path: string, body: unknown): Promise<string> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(url + path, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(60_000) });
      return await response.text();
    };
    await send('PUT', '/v1/toolsets/work', { tools: [{ tool: 'builtin.bash', name: 'run', aliases: ['shell'] }] });
    expect(await send('GET', '/v1/toolsets/demo', undefined)).toContain('not_found');
    expect(await send('POST', '/v1/toolsets/work/calls', { name: 'shell', arguments: { command: 'echo packed' } })).toContain('packed\\n');
    // The start has remembered the folder, so commands in it find the service.
    expect(run(join(app, 'node_modules/.bin/moniker'), ['resolve', 'shell', '--toolset', 'work'], app)).toContain('builtin.bash');
    // The configuration of a client that starts commands works in another folder, with nothing of this environment.
    const settings = join(directory, 'claude_desktop_config.json');
    run(join(app, 'node_modules/.bin/moniker'), ['install', 'claude-desktop', 'work', '--file', settings, '--yes'], app);
    const { command, args, env } = JSON.parse(readFileSync(settings, 'utf8')).mcpServers.work;
    expect(firstAnswer(command, args, env)).toContain('"serverInfo"');
    // As does the documented command, from the package alone; npm needs its own settings for the registry.
    const packed = readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? '';
    const npx = ['--yes', '--prefer-offline', `--package=${join(directory, packed)}`, '--', 'moniker', 'mcp', 'work'];
    expect(firstAnswer('npx', npx, { ...process.env, ...env, PATH: environment.PATH })).toContain('"serverInfo"');
    const foreign = spawnSync('curl', ['-s', '-H', 'Host: other.example', `${url}/readyz`], { encoding: 'utf8', timeout: 10_000 });
    expect(foreign.stdout).toContain('set MONIKER_PUBLIC_URL');
    // Not by `fetch`: the commands above block this process, and meanwhile the service closes connections that `fetch` would use again.
    const page = spawnSync('curl', ['-s', url], { encoding: 'utf8', timeout: 10_000 });
    expect(page.stdout).toContain('<title>Moniker</title>');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  } finally {
    child.kill('SIGKILL');
  }
});

/** What an MCP server on standard input and output answers first, started in an empty folder. */
function firstAnswer(command: string, args: string[], env: NodeJS.ProcessEnv): string {
  const empty = mkdtempSync(join(directory, 'empty-'));
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { stdout, stderr } = spawnSync(command, args, {
    cwd: empty,
    env: { PATH: environment.PATH, HOME: empty, ...env },
    input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    encoding: 'utf8',
    timeout: 120_000,
  });
  return stdout || stderr;
}

it('can be deployed', () => {
  const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');
  const output = run(process.execPath, [wrangler, 'deploy', '--dry-run', '--config', join(installed, 'dist/wrangler.json')], app);
  expect(output).toContain('env.CATALOG (Catalog)');
  expect(output).toContain('--dry-run: exiting now');
});
