import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changedPath, launcherHeader, type Program, runHeader, type StdioRequest } from '../../../src/core/servers/stdio.ts';
import { programKey } from '../../../src/core/servers/stdio-run.ts';
import { type Bridge, startBridge } from '../../../src/local/stdio/bridge.ts';
import { programEnvironment, userPath } from '../../../src/local/stdio/program-environment.ts';
import type { FindUnwanted } from '../../../src/local/stdio/program-check.ts';
import { waitMs } from '../../busy-machine.ts';

const script = join(import.meta.dirname, 'fake-server.mjs');
const token = 'token-of-this-launcher';

const opened: { close(): Promise<void> }[] = [];
const log: string[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
  log.length = 0;
});

async function newBridge(unwanted: FindUnwanted = async () => []): Promise<Bridge> {
  const bridge = await startBridge(token, {
    onLog: (line) => log.push(line),
    unwanted,
    environment: programEnvironment(process.env, tmpdir()),
    host: () => ({ disk: { freeBytes: 1e9, totalBytes: 1e10, fault: null }, files: null, stopping: 'no' }),
  });
  opened.push(bridge);
  return bridge;
}

/** Its process is shared, unless `owner` is given. */
function runOf(args: string[] = [], more: Partial<StdioRequest> = {}): StdioRequest {
  const base = { workspace: 'w', server: 'fake', version: 1, command: process.execPath, env: {}, capabilities: {}, roots: [], hidden: [] };
  const caller = { owner: null, conversation: '', startMs: 20_000 };
  return { ...base, ...caller, instances: more.owner == null ? 'shared' : 'session', args: [script, ...args], ...more };
}

async function connectTo(bridge: Bridge, given: StdioRequest, capabilities: Record<string, unknown> = {}): Promise<Client> {
  // Each connection is a conversation, unless it is of a session.
  const run = given.owner === null ? { ...given, conversation: crypto.randomUUID() } : given;
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: 'legacy' } });
  const headers = { [launcherHeader]: token, [runHeader]: encodeURIComponent(JSON.stringify(run)) };
  await client.connect(new StreamableHTTPClientTransport(new URL(bridge.url), { requestInit: { headers } }));
  opened.push(client);
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const [part] = content as { text: string }[];
  return part?.text ?? '';
}

async function callJson(client: Client, name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await call(client, name)) as Record<string, unknown>;
}

/** A killed process that its parent has not waited for is still listed. */
function isAlive(pid: unknown): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

describe('a server behind the bridge', () => {
  it('runs once for several sessions, whose ids, progress and cancellations do not mix', async () => {
    const bridge = await newBridge();
    const [one, two] = [await connectTo(bridge, runOf()), await connectTo(bridge, runOf())];
    expect((await one.listTools()).tools.map(({ name }) => name)).toContain('echo');
    const pids = await Promise.all([callJson(one, 'identity'), callJson(two, 'identity')]);
    expect(pids[0]?.pid).toBe(pids[1]?.pid);
    const texts = await Promise.all([1, 2, 3].flatMap((n) => [one, two].map((client, which) => call(client, 'echo', { n, which }))));
    expect(texts).toEqual([1, 2, 3].flatMap((n) => [0, 1].map((which) => JSON.stringify({ n, which }))));
    const seen: number[] = [];
    await two.callTool({ name: 'progress' }, { onprogress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2]);
    const stop = new AbortController();
    const hanging = two.callTool({ name: 'hang' }, { signal: stop.signal });
    await expect.poll(() => log.length).toBeGreaterThan(0);
    stop.abort();
    await expect(hanging).rejects.toThrow();
    await expect.poll(() => log.join()).toContain('notifications/cancelled');
    expect(await call(one, 'echo')).toBe('{}');
  });

  it('has a minimal environment, its own variables, and its working folder', async () => {
    process.env.MONIKER_ROOT_KEY = 'not for servers';
    process.env.OPENAI_API_KEY = 'not for servers';
    const bridge = await newBridge();
    const client = await connectTo(bridge, runOf([], { env: { TOKEN: 'v1' }, cwd: import.meta.dirname }));
    delete process.env.MONIKER_ROOT_KEY;
    delete process.env.OPENAI_API_KEY;
    const environment = await callJson(client, 'environment');
    expect(environment).toMatchObject({ TOKEN: 'v1', PATH: userPath(process.env.PATH ?? '') });
    expect(Object.keys(environment).filter((name) => /MONIKER|API_KEY|VITEST|^npm_(?!config_)/.test(name))).toEqual([]);
    expect(await call(client, 'folder')).toBe(import.meta.dirname);
  });

  it('sends a question to the caller, and refuses it if it is not certain who that is', async () => {
    const bridge = await newBridge();
    const run = runOf([], { capabilities: { elicitation: {}, roots: {} }, roots: [{ uri: 'file:///data' }] });
    const [able, other] = [await connectTo(bridge, run, { elicitation: { form: {} } }), await connectTo(bridge, run)];
    able.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Ada' } }));
    expect(await callJson(able, 'ask')).toEqual({ action: 'accept', content: { name: 'Ada' } });
    expect(await call(other, 'ask')).toContain('does not support elicitation');
    able.setRequestHandler('elicitation/create', () => new Promise(() => undefined));
    expect(await call(able, 'askMany', { times: 101 })).toContain('100 requests of this server have no response yet');
    const hanging = other.callTool({ name: 'hang' }).catch(() => null);
    await expect.poll(async () => await call(able, 'ask')).toContain('not certain which client');
    expect(await callJson(able, 'roots')).toEqual({ roots: [{ uri: 'file:///data' }] });
    await other.close();
    await hanging;
  });

  it('gets the roots of the calling client if its document says so, and never those of another one', async () => {
    const bridge = await newBridge();
    const run = runOf([], { capabilities: { roots: {} }, roots: 'client' });
    const [ada, bob] = [await connectTo(bridge, run, { roots: {} }), await connectTo(bridge, run, { roots: {} })];
    const without = await connectTo(bridge, run);
    for (const [client, uri] of [
      [ada, 'file:///ada'],
      [bob, 'file:///bob'],
    ] as const)
      client.setRequestHandler('roots/list', () => ({ roots: [{ uri }] }));
    expect(await callJson(ada, 'roots')).toEqual({ roots: [{ uri: 'file:///ada' }] });
    expect(await callJson(bob, 'roots')).toEqual({ roots: [{ uri: 'file:///bob' }] });
    expect(await call(without, 'roots')).toContain('the client of this call does not support roots');
    const hanging = bob.callTool({ name: 'hang' }).catch(() => null);
    await expect.poll(async () => await call(ada, 'roots')).toContain('not certain which client');
    await bob.close();
    await hanging;
  });

  it('may print other text than messages, and results that are too large', async () => {
    const bridge = await newBridge();
    const client = await connectTo(bridge, runOf(['garbage-first']));
    expect(await call(client, 'garbage')).toBe('after garbage');
    expect(log).toContain('[fake] (not MCP, on standard output) Welcome to the server!');
    expect(log).toContain('[fake] (not MCP, on standard output) red');
    await expect(client.callTool({ name: 'flood', arguments: { bytes: 30_000_000 } })).rejects.toThrow('larger than 20 MB');
    expect(await call(client, 'echo')).toBe('{}');
  });

  it('fails the call during which it exits, then pauses before it is started again', async () => {
    const bridge = await newBridge();
    const client = await connectTo(bridge, runOf());
    await expect(client.callTool({ name: 'crash' })).rejects.toThrow('The server exited with code 3 before it responded.');
    await expect(client.callTool({ name: 'echo' })).rejects.toThrow('session does not exist');
    await expect(connectTo(bridge, runOf())).rejects.toThrow(/exited with code 3\. It is not started again for \d+ s/);
    // The first pause is a second.
    await expect.poll(async () => await connectTo(bridge, runOf()).then((again) => call(again, 'echo'), String)).toBe('{}');
  });

  it('is started anew for a changed document, and the old process ends', async () => {
    const bridge = await newBridge();
    const old = await callJson(await connectTo(bridge, runOf(['', 'old'])), 'identity');
    const client = await connectTo(bridge, runOf(['', 'new'], { version: 2 }));
    expect(await callJson(client, 'identity')).toMatchObject({ detail: 'new' });
    await expect.poll(() => isAlive(old.pid)).toBe(false);
  });

  it('ends with the bridge, with the processes that it has started, even if it ignores signals', async () => {
    const bridge = await newBridge();
    const { pid, child } = await callJson(await connectTo(bridge, runOf(['stubborn'])), 'fork');
    expect([isAlive(pid), isAlive(child)]).toEqual([true, true]);
    await bridge.close();
    expect([isAlive(pid), isAlive(child)]).toEqual([false, false]);
  });
});

describe('a program that is no longer wanted', () => {
  /** What the service answers; each call is recorded. */
  function service(): { find: FindUnwanted; asked: Program[][]; unwanted: Set<string>; fail(times: number): void } {
    const asked: Program[][] = [];
    const unwanted = new Set<string>();
    let failures = 0;
    const find: FindUnwanted = async (programs) => {
      asked.push([...programs]);
      failures -= 1;
      if (failures >= 0) throw new Error('the service restarts');
      return programs.map(({ key }) => key).filter((key) => unwanted.has(key));
    };
    return { find, asked, unwanted, fail: (times) => (failures = times) };
  }
  const notice = (bridge: Bridge, given = token): Promise<Response> =>
    fetch(new URL(changedPath, bridge.url), { method: 'POST', headers: { [launcherHeader]: given } });
  const keyOf = ({ owner: _owner, conversation: _conversation, startMs: _startMs, ...run }: StdioRequest): string => programKey(run, token);

  it('ends after a notice, with calls in progress, while others keep running', async () => {
    const { find, asked, unwanted } = service();
    const bridge = await newBridge(find);
    const [old, kept] = [runOf(['', 'old']), runOf(['', 'kept'], { server: 'other' })];
    const [client, other] = [await connectTo(bridge, old), await connectTo(bridge, kept)];
    const [{ pid }, { pid: keptPid }] = [await callJson(client, 'identity'), await callJson(other, 'identity')];
    const hanging = client.callTool({ name: 'hang' }).then(() => 'done', String);
    unwanted.add(keyOf(old));
    expect((await notice(bridge, 'another token')).status).toBe(403);
    expect((await notice(bridge)).status).toBe(202);
    expect(await hanging).toContain('was ended, because it was changed or deleted');
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect([isAlive(keptPid), await call(other, 'echo')]).toEqual([true, '{}']);
    expect(
      asked
        .at(-1)
        ?.map(({ server }) => server)
        .toSorted(),
    ).toEqual(['fake', 'other']);
    expect(JSON.stringify(asked)).not.toContain('old');
  });

  it('ends after its start if the request that started it was older than the change', async () => {
    const { find, unwanted } = service();
    const bridge = await newBridge(find);
    const run = runOf(['', 'stale']);
    unwanted.add(keyOf(run));
    const pids = new Set<unknown>();
    const started = await connectTo(bridge, run).then(
      async (client) => await callJson(client, 'identity'),
      () => null,
    );
    if (started !== null) pids.add(started.pid);
    for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await notice(bridge).then(({ status }) => status)).toBe(202);
  });

  it('is ended by a later check if the service did not respond', async () => {
    const { find, asked, unwanted, fail } = service();
    const bridge = await newBridge(find);
    const run = runOf();
    const { pid } = await callJson(await connectTo(bridge, run), 'identity');
    await expect.poll(() => asked.length).toBe(1);
    fail(2);
    unwanted.add(keyOf(run));
    await notice(bridge);
    await expect.poll(() => isAlive(pid), { timeout: waitMs }).toBe(false);
    expect(asked).toHaveLength(4);
    expect(log.filter((line) => line.includes('could not be checked'))).toHaveLength(1);
  });

  it('causes two requests for many notices, and none while nothing runs', async () => {
    const { find, asked } = service();
    let release = (): void => undefined;
    let held: Promise<void> = Promise.resolve();
    const bridge = await newBridge(async (programs) => {
      const answer = await find(programs);
      await held;
      return answer;
    });
    await notice(bridge);
    expect(asked).toEqual([]);
    await callJson(await connectTo(bridge, runOf()), 'identity');
    await expect.poll(() => asked.length).toBe(1);
    held = new Promise((resolve) => (release = resolve));
    await Promise.all(Array.from({ length: 50 }, () => notice(bridge)));
    release();
    await expect.poll(() => asked.length).toBe(3);
  });

  it('ends with the notice of any change if a test has left it, but not while the test uses it', async () => {
    const { find, asked } = service();
    const bridge = await newBridge(find);
    const used = await connectTo(bridge, runOf(['', 'test'], { version: 0 }));
    const { pid } = await callJson(used, 'identity');
    const mark = `left-${process.pid}`;
    const isLeft = (): boolean => spawnSync('pgrep', ['-f', mark], { encoding: 'utf8' }).stdout.trim() !== '';
    await expect(connectTo(bridge, runOf(['', mark], { version: 0, startMs: 1 }))).rejects.toThrow('still starting');
    expect(isLeft()).toBe(true);
    await expect.poll(async () => await notice(bridge).then(isLeft), { timeout: waitMs }).toBe(false);
    expect(await call(used, 'echo')).toBe('{}');
    expect([isAlive(pid), asked]).toEqual([true, []]);
  });
});

describe('a command that does not work', () => {
  const refusalOf = async (run: StdioRequest): Promise<string> => await connectTo(await newBridge(), run).then(() => 'no error', String);

  it('is reported with what to do', async () => {
    expect(await refusalOf(runOf([], { command: 'no-such-command' }))).toContain(
      'cannot be started: the command \\"no-such-command\\" does not exist in PATH. Install it, or give its full path as `command`.',
    );
    expect(await refusalOf(runOf([], { command: script }))).toContain('is not executable. Try: chmod +x');
    expect(await refusalOf(runOf([], { cwd: '/no/such/folder' }))).toContain('its working folder /no/such/folder does not exist');
  });

  it('is reported with what it printed, without its secrets', async () => {
    const text = await refusalOf(runOf(['exit'], { hidden: ['s3cret-value'] }));
    expect(text).toContain('exited with code 7 before it was ready. It printed: the token is [secret], and a file is missing');
    expect(log.join()).not.toContain('s3cret');
  });

  it('is reported as still starting if it does not respond in time', async () => {
    expect(await refusalOf(runOf(['silent'], { startMs: 300 }))).toContain('is still starting after');
  });
});

describe('requests that are not from the Worker', () => {
  it('are refused', async () => {
    const { url } = await newBridge();
    const run = { [runHeader]: encodeURIComponent(JSON.stringify(runOf())) };
    const send = async (headers: Record<string, string>): Promise<number> => (await fetch(url, { headers: { ...run, ...headers } })).status;
    expect(await send({})).toBe(403);
    expect(await send({ [launcherHeader]: 'another-token-of-a-launch' })).toBe(403);
    expect(await send({ [launcherHeader]: token, origin: 'https://evil.example' })).toBe(403);
    // Without a session.
    expect(await send({ [launcherHeader]: token })).toBe(404);
  });
});
