/** `npx wrangler dev` in a clone, as docs/wrangler-dev.md describes it: without an account and without Cloudflare's network. */
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { connectClient, textOf } from '../e2e/mcp-clients.ts';
import { eventually } from '../e2e/eventually.ts';
import { parseEvents, root } from '../e2e/service.ts';
import { waitUntil } from '../wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-wrangler-'));
const clone = join(folder, 'moniker');
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:MONIKER_|CLOUDFLARE_|npm_|.*_API_KEY$)/.test(name))),
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  XDG_CONFIG_HOME: join(folder, 'config'),
};
const notInAClone = /^(?:node_modules|\.git|\.wrangler|\.moniker|\.dev\.vars|dist|coverage|\.bench|\.vitest)$/;

function run(command: string, args: string[]): SpawnSyncReturns<string> {
  return spawnSync(command, args, { cwd: clone, env: environment, encoding: 'utf8', timeout: 150_000 });
}

beforeAll(() => {
  cpSync(root, clone, { recursive: true, filter: (path) => !notInAClone.test(path.slice(root.length + 1)) });
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  expect(run('git', ['init', '--quiet']).status).toBe(0);
  expect(run('git', ['add', '--all']).status).toBe(0);
});

let stop = async (): Promise<void> => undefined;
afterEach(() => stop());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the URL under which wrangler serves the clone, when it does. */
async function startWrangler(port: number, ...options: string[]): Promise<string> {
  const args = ['wrangler', 'dev', '--port', String(port), '--show-interactive-dev-session=false', ...options];
  const child = spawn('npx', args, { cwd: clone, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const ended = new Promise((resolve) => child.once('close', resolve));
  stop = async () => {
    // npx does not pass on signals.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
    stop = async () => undefined;
  };
  await waitUntil(() => output.includes('Ready on') || child.exitCode !== null);
  const [, url] = /Ready on (\S+)/.exec(output) ?? [];
  if (url === undefined) throw new Error(`wrangler did not start:\n${output}`);
  return url;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // of a TCP server
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const variable = (file: string, name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(join(clone, file), 'utf8'))?.[1] ?? '';

function client(url: string) {
  const key = variable('.dev.vars', 'MONIKER_ROOT_KEY');
  return async (method: string, path: string, body?: unknown, accept = '*/*') => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept };
    const init = { method, headers, signal: AbortSignal.timeout(60_000), ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await fetch(url + path, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    // Responses of many shapes; the assertions check them.
    // biome-ignore lint/suspicious/noExplicitAny: see above
    return { status: response.status, text, json: (isJson ? JSON.parse(text) : null) as any };
  };
}

/** The certificate of wrangler is its own. */
function curl(url: string, ...options: string[]): string {
  const { status, stdout, stderr } = spawnSync('curl', ['-sSk', '--max-time', '30', ...options, url], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

it('names .dev.vars and the script that writes it while it has no keys', async () => {
  const url = await startWrangler(await freePort());
  expect(JSON.parse(curl(`${url}/readyz`)).checks).toEqual({ storage: 'ok', kv: 'ok', keys: 'fail', disk: 'ok' });
  const { code, detail } = JSON.parse(curl(`${url}/v1/models`, '-H', 'authorization: Bearer anything'));
  expect(code).toBe('not_configured');
  expect(detail).toContain('run `npm run keys`, which writes it to .dev.vars');
});

it('writes the keys of npm start to .dev.vars, for its owner only, and leaves those that are there', () => {
  const keys = run('npm', ['run', '--silent', 'keys']);
  expect(keys.status, keys.stderr).toBe(0);
  expect(keys.stdout).toContain('MONIKER_ROOT_KEY, MONIKER_MASTER_KEY, MONIKER_PUBLIC_URL');
  expect(statSync(join(clone, '.dev.vars')).mode & 0o777).toBe(0o600);
  for (const name of ['MONIKER_ROOT_KEY', 'MONIKER_MASTER_KEY']) {
    expect(variable('.dev.vars', name)).toHaveLength(name === 'MONIKER_ROOT_KEY' ? 56 : 64);
    expect(variable('.dev.vars', name)).toBe(variable('.moniker/keys', name));
    expect(keys.stdout).not.toContain(variable('.dev.vars', name));
  }
  const written = readFileSync(join(clone, '.dev.vars'), 'utf8');
  rmSync(join(clone, '.moniker'), { recursive: true });
  expect(run('npm', ['run', '--silent', 'keys']).stdout).toContain('has all of');
  expect(readFileSync(join(clone, '.dev.vars'), 'utf8')).toBe(written);
});

it('serves chats, sessions, webhooks, schedules, MCP and the console, and keeps the data for the next run, which has TLS', async () => {
  const port = await freePort();
  const url = await startWrangler(port, '--var', `MONIKER_PUBLIC_URL:http://localhost:${port}`);
  const call = client(url);
  expect((await call('GET', '/readyz')).json.checks).toEqual({ storage: 'ok', kv: 'ok', keys: 'ok', disk: 'ok' });
  const put = async (path: string, body: object) => expect((await call('PUT', path, body)).status, path).toBe(201);
  await put('/v1/toolsets/work', { tools: [{ tool: 'builtin.bash', name: 'terminalRun', aliases: ['shell'], approval: 'never' }] });
  await put('/v1/agents/helper', { model: 'rehearsal/default', toolset: 'work' });

  const messages = [{ role: 'user', content: '/shell echo chatted' }];
  const chat = await call('POST', '/v1/chat/completions', { model: 'agent/helper', messages });
  expect(chat.json.choices[0].message.content).toContain('chatted\nexit code: 0');
  const streamed = await call('POST', '/v1/chat/completions', { model: 'agent/helper', messages, stream: true });
  expect(streamed.text).toMatch(/data: \[DONE\]\n\n$/);

  const session = (await call('POST', '/v1/sessions', { agent: 'helper' })).json.id;
  const turn = await call('POST', `/v1/sessions/${session}/turns`, { input: '/shell echo kept > note' }, 'text/event-stream');
  const types = parseEvents(turn.text).map(({ type }) => type);
  expect([types[0], types.at(-1)]).toEqual(['turn-start', 'turn-end']);

  await put('/v1/webhooks/builds', { agent: 'helper', scheme: 'bearer', secret: 'a long random secret', input: '/shell echo {{number}}' });
  const delivered = curl(`${url}/hooks/default/builds`, '-H', 'authorization: Bearer a long random secret', '--json', '{"number": 12}');
  const { delivery } = JSON.parse(delivered);
  const statusOf = async (path: string) => (await call('GET', path)).json.status;
  await eventually('the delivery is completed', async () =>
    (await statusOf(`/v1/webhooks/builds/deliveries/${delivery}`)) === 'completed' ? true : undefined,
  );
  await put('/v1/schedules/tick', { agent: 'helper', interval: '1s', session: 'tick', input: 'hello' });
  const completed = async (ask = call) =>
    (await ask('GET', '/v1/schedules/tick/runs?limit=100')).json.items.filter((item: { status: string }) => item.status === 'completed')
      .length;
  const before = await eventually('two runs of the schedule', async () => ((await completed()) >= 2 ? await completed() : undefined));

  const mcp = await connectClient(`${url}/mcp/work`, variable('.dev.vars', 'MONIKER_ROOT_KEY'), 'auto');
  expect((await mcp.listTools()).tools.map(({ name }) => name)).toEqual(['terminalRun']);
  expect(textOf(await mcp.callTool({ name: 'shell', arguments: { command: 'echo over MCP' } }))).toContain('over MCP');
  await mcp.close();
  const page = (await call('GET', '/console/chat')).text;
  expect(page).toContain('<title>Moniker</title>');
  expect(curl(url + (/src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? ''), '-o', '/dev/null', '-w', '%{http_code}')).toBe('200');
  expect(curl(`${url}/readyz`, '-H', 'host: other.example')).toContain('Unknown host');
  const issuer = JSON.parse(curl(`${url}/.well-known/oauth-authorization-server`)).issuer;
  expect(issuer).toBe(`http://localhost:${port}`);

  await stop();
  const safe = await startWrangler(port, '--local-protocol', 'https', '--var', `MONIKER_PUBLIC_URL:http://localhost:${port}`);
  expect(safe).toBe(`https://localhost:${port}`);
  const metadata = JSON.parse(curl(`${safe}/.well-known/oauth-authorization-server`));
  expect([metadata.issuer, metadata.token_endpoint]).toEqual([safe, `${safe}/oauth/token`]);
  expect(JSON.parse(curl(`${safe}/.well-known/oauth-protected-resource/mcp/work`))).toMatchObject({
    resource: `${safe}/mcp/work`,
    authorization_servers: [safe],
  });
  const key = ['-H', `authorization: Bearer ${variable('.dev.vars', 'MONIKER_ROOT_KEY')}`];
  expect(curl(`${safe}/v1/sessions/${session}/messages`, ...key)).toContain('echo kept > note');
  const overTls = async (method: string, path: string) => ({
    json: JSON.parse(curl(safe + path, '-X', method, ...key)),
    status: 0,
    text: '',
  });
  await eventually('the schedule runs on', async () => ((await completed(overTls)) > before ? true : undefined));
}, 400_000);

it('leaves no file that git would commit, also after wrangler types', () => {
  const types = run('npx', ['wrangler', 'types']);
  expect(types.status, types.stderr).toBe(0);
  expect(existsSync(join(clone, 'worker-configuration.d.ts'))).toBe(true);
  expect(run('git', ['ls-files', '--others', '--modified', '--exclude-standard']).stdout).toBe('');
});
