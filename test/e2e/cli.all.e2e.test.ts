/** The commands of `moniker` against one service, as a user runs them. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInUse } from '../../src/local/launch/data-lock.ts';
import { waitFor } from '../wait-for.ts';
import { makeDataDir, removeDataDir, root, startService, type RunningService } from './service.ts';

const main = join(root, 'src/cli/main.ts');
const fakeServer = join(root, 'test/local/stdio/fake-server.mjs');
/** `script` of util-linux runs a command in a pseudo terminal. */
const canHaveTerminal = spawnSync('script', ['-qfec', 'true', '/dev/null'], { timeout: 30_000 }).status === 0;
const dataDir = makeDataDir();
let service: RunningService;
beforeAll(async () => {
  service = await startService(dataDir);
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

type Result = { code: number | null; stdout: string; stderr: string };

/** `input`: standard input, which is then closed. */
function moniker(parameters: readonly string[], { input = '', ...environment }: Record<string, string> = {}): Promise<Result> {
  const child = spawn(process.execPath, [main, ...parameters], { env: { ...environmentOf(), ...environment }, timeout: 120_000 });
  const result = { code: null as number | null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    result.stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    result.stderr += chunk.toString('utf8');
  });
  child.stdin.on('error', () => undefined); // A command that reads nothing has ended.
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ ...result, code })));
}

/** Runs a command in a pseudo terminal. `expectOnScreen` looks at what was printed since `type`. */
function openTerminal(parameters: string) {
  const command = `'${process.execPath}' '${main}' ${parameters}`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], { env: environmentOf(), timeout: 120_000 });
  let screen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    screen += stripVTControlCharacters(chunk.toString('utf8'));
  });
  return {
    ended: new Promise<number | null>((resolve) => child.once('close', resolve)),
    expectOnScreen: (text: string | RegExp) => waitFor(() => expect(screen).toMatch(text)),
    send: (keys: string) => void child.stdin.write(keys),
    type: (line: string): void => {
      screen = '';
      child.stdin.write(`${line}\r`);
    },
  };
}

/** Without settings of the machine that runs the tests. */
function environmentOf(): Record<string, string> {
  // Half of the time of a command is the compilation of its sources.
  const cache = join(root, 'node_modules/.cache/cli-compile');
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', MONIKER_DATA_DIR: dataDir, NODE_COMPILE_CACHE: cache };
}

describe('moniker, with the service of the data folder', () => {
  it('calls a tool by an alias, and resolves a name', async () => {
    expect(await moniker(['call', 'shell', '{"command": "echo hello"}'])).toEqual({ code: 0, stdout: 'hello\nexit code: 0\n', stderr: '' });
    expect((await moniker(['call', 'shell', '-', '--json'], { input: '{"command": "echo hi"}' })).stdout).toContain(
      '"canonical": "builtin.bash"',
    );
    expect((await moniker(['call', 'nothing'])).code).toBe(1);
    expect((await moniker(['resolve', 'Shell'])).stdout).toMatch(/^tool {7}builtin\.bash$/m);
  });

  it('has exit code 2 for wrong usage, and errors without a stack', async () => {
    for (const parameters of [['call', 'shell', '{'], ['nothing']]) {
      const { code, stdout, stderr } = await moniker(parameters);
      expect({ parameters, code, stdout }).toEqual({ parameters, code: 2, stdout: '' });
      expect(stderr).toMatch(/^error: .+\n.+/);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    const refused = await moniker(['call', 'shell'], { MONIKER_KEY: 'mk_default_wrong_wrong' });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--key')]);
    const down = await moniker(['resolve', 'shell', '--url', 'http://127.0.0.1:49151', '--key', 'x']);
    expect([down.code, down.stderr]).toEqual([1, expect.stringContaining('moniker start')]);
  });

  it('adds a toolset, an agent and a key, and uses them', async () => {
    expect(await moniker(['add', 'toolset', 'work', 'builtin.bash=run_script,sh', 'builtin.read_file'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    const again = await moniker(['add', 'toolset', 'work', 'builtin.bash']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('--replace')]);
    expect((await moniker(['add', 'agent', 'worker', '--model', 'rehearsal/default', '--toolset', 'work'])).code).toBe(0);

    const ofKey = ['--scope', 'tools', '--toolset', 'work', '--model', 'rehearsal/*', 'openai/gpt-5*', '--expires', '1d'];
    const { stdout } = await moniker(['add', 'key', 'ci', ...ofKey]);
    expect(stdout).toMatch(/^mk_default_\w+\n$/);
    const own = { MONIKER_KEY: stdout.trim() };
    const me = await fetch(`${service.url}/v1/me`, { headers: { authorization: `Bearer ${own.MONIKER_KEY}` } });
    expect(await me.json()).toMatchObject({ models: ['rehearsal/*', 'openai/gpt-5*'] });
    expect((await moniker(['call', 'sh', '{"command": "echo own"}'], own)).stdout).toContain('own');
    expect((await moniker(['call', 'shell', '--toolset', 'demo'], own)).code).toBe(1);
  });

  it('applies a project file: plan, diff, apply, remove what it made', async () => {
    const file = join(dataDir, 'moniker.yaml');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of a project file
    const agent = 'agents:\n  site: { model: "${MODEL}", toolset: site }\n';
    const toolset = (alias: string): string => `toolsets:\n  site: { tools: [{ tool: builtin.bash, aliases: [${alias}] }] }\n`;
    const apply = (...options: string[]) => moniker(['apply', file, '--project', 'site', ...options], { MODEL: 'rehearsal/default' });

    writeFileSync(file, toolset('sh') + agent);
    expect((await apply('--dry-run')).stdout).toContain('nothing was written');
    expect((await apply()).stdout).toBe('  + toolsets.site\n  + agents.site\nProject site: 2 created.\n');
    writeFileSync(file, toolset('script'));
    expect((await apply('--prune')).stdout).toContain('tools[0].aliases[0]: "sh" → "script"\n  - agents.site\n');
    writeFileSync(file, agent);
    const unset = await moniker(['apply', file]);
    expect([unset.code, unset.stderr]).toEqual([
      1,
      expect.stringContaining('agents.site.model: the environment variable MODEL is not set'),
    ]);
  });

  it('applies a project file with prices and limits of cost, and shows a changed price', async () => {
    const file = join(dataDir, 'prices.yaml');
    const project = (price: string): string => `servers:
  paid:
    kind: static
    url: http://127.0.0.1:9/
    price: { look: 0.25, "*": ${price} }
    tools: [{ name: look, description: Looks., inputSchema: { type: object } }]
toolsets:
  paying: { tools: [{ tool: paid.look, price: ${price} }, { tool: builtin.bash, price: 0 }] }
agents:
  payer: { model: rehearsal/default, toolset: paying, limits: { maxCost: 1, onLimit: ask } }
`;
    const apply = (...options: string[]) => moniker(['apply', file, '--project', 'prices', ...options]);
    writeFileSync(file, project('0.5'));
    expect((await apply()).stdout).toContain('Project prices: 3 created.');
    expect((await service.call('GET', '/v1/servers/paid')).json.price).toEqual({ look: 0.25, '*': 0.5 });
    const prices = async () => (await service.call('GET', '/v1/toolsets/paying')).json.tools.map(({ price }: { price: number }) => price);
    expect(await prices()).toEqual([0.5, 0]);
    expect((await service.call('GET', '/v1/agents/payer')).json.limits).toEqual({ maxCost: 1, onLimit: 'ask' });
    expect((await apply()).stdout).toContain('3 unchanged');
    writeFileSync(file, project('2'));
    expect((await apply('--dry-run')).stdout).toContain('tools[0].price: 0.5 → 2');
    expect(await prices()).toEqual([0.5, 0]);
    await apply();
    expect(await prices()).toEqual([2, 0]);
    writeFileSync(file, project('-1'));
    const wrong = await apply();
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('toolsets.paying.tools[0].price')]);
    expect(await prices()).toEqual([2, 0]);
  });

  it('stores a credential of a server as a secret, and takes it back if the server is refused', async () => {
    const header = ['--header', 'Authorization: Bearer secret-value'];
    expect((await moniker(['add', 'server', 'docs', 'http://127.0.0.1:9/mcp', ...header])).code).toBe(0);
    const { json } = await service.call('GET', '/v1/servers/docs');
    expect(json.headers).toEqual({ Authorization: { secret: 'DOCS_AUTHORIZATION' } });
    expect((await moniker(['add', 'server', 'Wrong_Name', 'http://127.0.0.1:9/mcp', ...header])).code).toBe(1);
    expect((await service.call('GET', '/v1/secrets')).json.items.map(({ name }: { name: string }) => name)).toEqual(['DOCS_AUTHORIZATION']);
  });

  it('imports the file of another system before the first start, with variables of the shell', async () => {
    const folder = makeDataDir();
    const file = join(folder, 'claude_desktop_config.json');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file
    const env = { FAKE_TOKEN: '${SHELL_TOKEN}', OTHER_TOKEN: '${UNSET_TOKEN}' };
    writeFileSync(file, JSON.stringify({ mcpServers: { fake: { command: process.execPath, args: [fakeServer], env } } }));
    try {
      const imported = await moniker(['import', file], { MONIKER_DATA_DIR: folder, SHELL_TOKEN: 'abcdefghij' });
      expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining('+ servers.fake')]);
      expect(imported.stderr).toContain('the environment variable UNSET_TOKEN is not set');
      // The service ended with the command.
      expect(isInUse(folder)).toBe(false);
      const missing = await moniker(['import', join(folder, 'missing.json')], { MONIKER_DATA_DIR: folder });
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('cannot be read')]);
      const unknown = await moniker(['import', '-'], { MONIKER_DATA_DIR: folder, input: '<html>' });
      expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('HTML')]);
    } finally {
      removeDataDir(folder);
    }
  });

  it('adds a command as a server, and calls its tool after an approval', async () => {
    const added = await moniker(['add', 'server', 'fake', '--env', 'FAKE_TOKEN=abcdefgh', '--', process.execPath, fakeServer]);
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('Server fake with')]);
    expect((await service.call('GET', '/v1/servers/fake')).json.env).toEqual({ FAKE_TOKEN: { secret: 'FAKE_FAKE_TOKEN' } });
    await moniker(['add', 'toolset', 'fakes', 'fake.*']);
    const call = ['call', 'echo', '{"text": "hello"}', '--toolset', 'fakes'];
    const refused = await moniker(call);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--approve')]);
    expect(await moniker([...call, '--approve'])).toMatchObject({ code: 0, stdout: expect.stringContaining('hello') });
    // Sessions for approvals are deleted.
    const { items } = (await service.call('GET', '/v1/sessions')).json as { items: { model?: string; agent?: string }[] };
    expect(items.filter(({ agent }) => agent === undefined)).toEqual([]);
  });

  it.skipIf(!canHaveTerminal)('chats in a terminal: shows calls, and asks for approval', async () => {
    const { type, send, expectOnScreen, ended } = openTerminal('chat --agent demo');
    await expectOnScreen('Ctrl-D leaves');
    type('/shell echo draft > notes.txt');
    await expectOnScreen(/> shell → builtin\.bash [\s\S]*gave:[\s\S]*> $/);
    type('/shell rm notes.txt');
    await expectOnScreen(/- delete \/workspace\/notes\.txt[\s\S]*Approve\? \[y\/N, s: for the rest of this session, or n and why\] $/);
    type('n, keep it');
    await expectOnScreen(/failed: Not run: the user denied the call, with the reason "keep it"[\s\S]*> $/);
    type('/shell rm notes.txt');
    await expectOnScreen(/Approve\? \[y\/N, s: for the rest of this session, or n and why\] $/);
    send('\u0003');
    await expectOnScreen(/Cancelling[\s\S]*\[cancelled: cancelled\][\s\S]*> $/);
    type('/exit');
    await expectOnScreen(/Continue later: moniker chat --session \w+/);
    expect(await ended).toBe(0);
  });

  it.skipIf(!canHaveTerminal)('chats in a terminal: asks whether a turn may use its limit of cost again', async () => {
    await service.call('PUT', '/v1/toolsets/paid', { tools: [{ tool: 'builtin.bash', name: 'shell', price: 1 }] });
    const limits = { maxCost: 1, onLimit: 'ask' };
    await service.call('PUT', '/v1/agents/thrifty', { model: 'rehearsal/default', toolset: 'paid', limits });
    const { type, expectOnScreen, ended } = openTerminal('chat --agent thrifty');
    await expectOnScreen('Ctrl-D leaves');
    type('/shell echo one');
    await expectOnScreen(/budget \(builtin\.budget\) requires approval[\s\S]*Used 1 of 1[\s\S]*Approve\? \[y\/N, or n and why\] $/);
    type('y');
    await expectOnScreen(/gave:\s+one[\s\S]*> $/);
    type('/shell echo two');
    await expectOnScreen(/Approve\? \[y\/N, or n and why\] $/);
    type('n, too much');
    await expectOnScreen(/\[no text: max_cost\][\s\S]*> $/);
    type('/exit');
    expect(await ended).toBe(0);
    const { items } = (await service.call('GET', '/v1/audit?verdict=denied&tool=builtin.budget')).json;
    expect(items).toMatchObject([{ canonical: 'builtin.budget', reason: 'too much' }]);
  });

  it('chats without a terminal: a message on stdin, the answer on stdout', async () => {
    const answer = await moniker(['chat', '--agent', 'demo'], { input: '/shell echo hello\n' });
    expect([answer.code, answer.stdout]).toEqual([0, expect.stringContaining('hello\nexit code: 0')]);
    expect((await moniker(['chat', '--agent', 'demo'])).code).toBe(2);
  });

  it('says what a turn waits for, and continues the session', async () => {
    const first = JSON.parse((await moniker(['chat', '--agent', 'demo', '--json'], { input: '/shell echo a > f.txt' })).stdout);
    const waiting = await moniker(['chat', '--session', first.session], { input: '/shell rm f.txt' });
    expect(waiting.code).toBe(1);
    expect(waiting.stderr).toContain('The turn waits: approval of builtin.bash.');
    if (!canHaveTerminal) return;
    const { type, expectOnScreen, ended } = openTerminal(`chat --session ${first.session}`);
    await expectOnScreen(/- delete \/workspace\/f\.txt[\s\S]*Approve\? \[y\/N, s: for the rest of this session, or n and why\] $/);
    type('y');
    await expectOnScreen(/exit code: 0[\s\S]*gave:[\s\S]*> $/);
    type('/exit');
    expect(await ended).toBe(0);
  });

  it('prints the log, and follows it', async () => {
    expect((await moniker(['logs', '-n', '1'])).stdout).toMatch(/^\{"level":.*\}\n$/);
    const child = spawn(process.execPath, [main, 'logs', '-n', '0', '--follow'], { env: environmentOf(), timeout: 120_000 });
    let followed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      followed += chunk.toString('utf8');
    });
    try {
      await waitFor(async () => {
        await service.call('POST', '/v1/toolsets/demo/calls', { name: 'followed_call' });
        expect(followed).toContain('followed_call');
      });
    } finally {
      child.kill();
    }
    expect(readFileSync(join(dataDir, 'log'), 'utf8')).not.toContain(service.key);
  });

  it('names faults with what to do, and has exit code 1 for them', async () => {
    const { code, stdout } = await moniker(['doctor', '--json']);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { check: string; status: string; advice?: string }[] };
    expect([code, ok]).toEqual([1, false]);
    const faults = findings.filter(({ status }) => status === 'failure');
    expect(faults.map(({ check }) => check)).toEqual(['servers']);
    for (const { advice } of faults) expect(advice).toBeTruthy();

    await service.call('DELETE', '/v1/servers/docs');
    expect((await moniker(['doctor'])).code).toBe(0);
    expect((await moniker(['doctor', '--url', service.url, '--key', service.key])).stdout).not.toContain('data ');
  });

  it('serves a toolset over stdio to the stock MCP client', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', 'demo'], env: environmentOf() }));
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('terminalRun');
      const result = await client.callTool({ name: 'shell', arguments: { command: 'echo over stdio' } });
      expect(JSON.stringify(result.content)).toContain('over stdio');
    } finally {
      await client.close();
    }
  });

  it('answers over stdio if the service is down, the key is wrong or a line is no message', async () => {
    const ping = '{"jsonrpc":"2.0","id":7,"method":"ping"}\n';
    const lines = `garbage\n{"id": 1}\n[]\n\n${ping}`;
    const down = await moniker(['mcp', 'demo', '--url', 'http://127.0.0.1:49151', '--key', 'x'], { input: lines });
    expect(JSON.parse(down.stdout)).toMatchObject({ id: 7, error: { message: expect.stringContaining('moniker start') } });
    expect([down.code, down.stderr.split('\n').length]).toEqual([0, 4]);
    const refused = await moniker(['mcp', 'demo', '--key', 'wrong'], { input: ping });
    expect(JSON.parse(refused.stdout)).toMatchObject({ id: 7, error: { data: { code: 'unauthenticated' } } });
  });
});
