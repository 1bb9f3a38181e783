/** The processes of one program: for each session, for each key, or for all. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  endedPath,
  launcherHeader,
  processesPath,
  runHeader,
  type ServerProcess,
  type StdioRequest,
} from '../../../src/core/servers/stdio.ts';
import { type Bridge, startBridge } from '../../../src/local/stdio/bridge.ts';
import { programEnvironment } from '../../../src/local/stdio/program-environment.ts';
import { maxOwners, type Surroundings } from '../../../src/local/stdio/running-servers.ts';

const token = 'token-of-this-launcher';
const script = join(import.meta.dirname, 'fake-server.mjs');
const opened: { close(): Promise<void> }[] = [];
const log: string[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
  log.length = 0;
});

async function newBridge(): Promise<Bridge> {
  const environment = programEnvironment(process.env, tmpdir());
  const host: Surroundings['host'] = () => ({ disk: { freeBytes: 1e9, totalBytes: 1e10, fault: null }, files: null, stopping: 'no' });
  const bridge = await startBridge(token, { onLog: (line) => log.push(line), unwanted: async () => [], environment, host });
  opened.push(bridge);
  return bridge;
}

type Caller = Partial<Pick<StdioRequest, 'owner' | 'conversation' | 'isListening' | 'instances' | 'args'>>;

function headersOf({ owner = null, conversation = owner ?? 'listing', ...more }: Caller): Record<string, string> {
  const run = { workspace: 'w', server: 'fake', version: 1, command: process.execPath, args: [script], env: {}, hidden: [] };
  const request: StdioRequest = {
    ...run,
    ...{ capabilities: { elicitation: {} }, roots: [], instances: 'session', owner, conversation, startMs: 20_000 },
    ...more,
  };
  return { [launcherHeader]: token, [runHeader]: encodeURIComponent(JSON.stringify(request)) };
}

const elicitation = { elicitation: { form: {} } };

/** `logs`: receives log messages of calls, and those outside calls. */
async function connect(bridge: Bridge, caller: Caller, logs: unknown[] = [], capabilities = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: 'legacy' } });
  client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params.data));
  await client.connect(new StreamableHTTPClientTransport(new URL(bridge.url), { requestInit: { headers: headersOf(caller) } }));
  opened.push(client);
  return client;
}

const session = (bridge: Bridge, owner: string, logs?: unknown[], capabilities?: object): Promise<Client> =>
  connect(bridge, { owner }, logs, capabilities);

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const [part] = content as { text: string }[];
  return part?.text ?? '';
}

async function pidOf(client: Client): Promise<number> {
  return (JSON.parse(await call(client, 'identity')) as { pid: number }).pid;
}

async function processes(bridge: Bridge): Promise<ServerProcess[]> {
  const response = await fetch(new URL(processesPath, bridge.url), { headers: headersOf({}) });
  return (await response.json()) as ServerProcess[];
}

const owners = async (bridge: Bridge): Promise<(string | null)[]> =>
  (await processes(bridge)).filter(({ state }) => state === 'ready').map(({ owner }) => owner);

function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

describe('sessions of a command', () => {
  it('remember nothing of each other', async () => {
    const bridge = await newBridge();
    const [alice, bob] = [await session(bridge, 'alice'), await session(bridge, 'bob')];
    await call(alice, 'remember', { thought: 'one' });
    expect(JSON.parse(await call(alice, 'remember', { thought: 'two' }))).toEqual(['one', 'two']);
    expect(JSON.parse(await call(bob, 'remember', { thought: 'three' }))).toEqual(['three']);
    // Another connection of the same session, as after a restart of the Worker.
    expect(JSON.parse(await call(await session(bridge, 'alice'), 'remember', { thought: 'four' }))).toEqual(['one', 'two', 'four']);
  });

  it('are asked and sent logs each for itself, at the same time, and logs outside calls reach their listeners', async () => {
    const bridge = await newBridge();
    const [aliceLogs, bobLogs]: unknown[][] = [[], []];
    const alice = await session(bridge, 'alice', aliceLogs, elicitation);
    const bob = await session(bridge, 'bob', bobLogs, elicitation);
    // Both questions are open before one is answered.
    const asked: string[] = [];
    const both = Promise.withResolvers<void>();
    for (const [client, name] of [
      [alice, 'Alice'],
      [bob, 'Bob'],
    ] as const)
      client.setRequestHandler('elicitation/create', async () => {
        asked.push(name);
        if (asked.length === 2) both.resolve();
        await both.promise;
        return { action: 'accept', content: { name } };
      });
    const answers = await Promise.all([call(alice, 'ask'), call(bob, 'ask')]);
    expect(answers.map((answer) => JSON.parse(answer))).toEqual(['Alice', 'Bob'].map((name) => ({ action: 'accept', content: { name } })));
    const hanging = bob.callTool({ name: 'hang' }).catch(() => null);
    await call(alice, 'log', { line: 'of Alice' });
    await call(alice, 'logLater', { line: 'later of Alice' });
    await expect.poll(() => aliceLogs).toEqual(['of Alice', 'later of Alice']);
    expect(bobLogs).toEqual([]);
    await bob.close();
    await hanging;
  });

  it('lose only their own process', async () => {
    const bridge = await newBridge();
    const [alice, bob] = [await session(bridge, 'alice'), await session(bridge, 'bob')];
    await call(bob, 'remember', { thought: 'kept' });
    const hanging = alice.callTool({ name: 'hang' }).then(() => 'done', String);
    process.kill(await pidOf(alice), 'SIGKILL');
    expect(await hanging).toContain('was ended by signal 9 before it responded');
    expect(JSON.parse(await call(bob, 'remember', { thought: 'more' }))).toEqual(['kept', 'more']);
    expect(JSON.parse(await call(await session(bridge, 'carol'), 'remember', { thought: 'new' }))).toEqual(['new']);
    await expect.poll(async () => await session(bridge, 'alice').then((again) => call(again, 'echo'), String)).toBe('{}');
  });

  it('get the spare process, in which nothing was called', async () => {
    const bridge = await newBridge();
    const listing = await connect(bridge, {});
    await listing.listTools();
    const first = await processes(bridge);
    expect(first).toMatchObject([{ server: 'fake', owner: null, state: 'ready', calls: 0 }]);
    const alice = await session(bridge, 'alice');
    // The listed process is hers, and the next one is started.
    await expect.poll(() => owners(bridge)).toEqual(['alice', null]);
    expect((await processes(bridge))[0]?.startedAt).toBe(first[0]?.startedAt);
    await call(alice, 'remember', { thought: 'of Alice' });
    expect(JSON.parse(await call(await session(bridge, 'bob'), 'remember', { thought: 'of Bob' }))).toEqual(['of Bob']);
    await expect.poll(() => owners(bridge)).toEqual(['alice', 'bob', null]);
  });

  it('that only listen have no process of their own', async () => {
    const bridge = await newBridge();
    await connect(bridge, { owner: 'alice', isListening: true });
    await connect(bridge, { owner: 'bob', isListening: true });
    expect(await owners(bridge)).toEqual([null]);
    await call(await session(bridge, 'alice'), 'echo');
    await expect.poll(() => owners(bridge)).toEqual(['alice', null]);
  });

  it('lose their process when they end, and no other session, key or workspace does', async () => {
    const bridge = await newBridge();
    const end = async (ended: { workspace: string; owner: string }): Promise<void> => {
      const headers = { [launcherHeader]: token, [runHeader]: encodeURIComponent(JSON.stringify(ended)) };
      const { status } = await fetch(new URL(endedPath, bridge.url), { method: 'POST', headers });
      expect(status).toBe(202);
    };
    const [alice, bob] = [await session(bridge, 'alice'), await session(bridge, 'bob')];
    const ofKey = await connect(bridge, {
      instances: 'key',
      owner: 'alice',
      conversation: 'session-1',
      ...({ server: 'other' } as object),
    });
    const pids = await Promise.all([alice, bob, ofKey].map(pidOf));
    const hanging = alice.callTool({ name: 'hang' }).then(() => 'done', String);
    await expect.poll(async () => (await processes(bridge)).find(({ owner }) => owner === 'alice')?.calls).toBe(1);
    await end({ workspace: 'other', owner: 'alice' });
    await end({ workspace: 'w', owner: '' });
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    await end({ workspace: 'w', owner: 'alice' });
    await expect.poll(() => pids.map(isAlive)).toEqual([false, true, true]);
    expect(await hanging).toContain('its session ended');
    // The spare process of nobody was not ended.
    await expect.poll(async () => (await owners(bridge)).toSorted()).toEqual(['alice', 'bob', null, null]);
  });

  it('take the process of the one that was unused for longest, if there are too many, and never one with a call', async () => {
    const bridge = await newBridge();
    const clients: Client[] = [];
    for (let index = 0; index < maxOwners; index += 1) {
      const client = await session(bridge, `session-${index}`);
      await call(client, 'remember', { thought: 'first' });
      clients.push(client);
    }
    const [busy, unused, used] = clients as [Client, Client, Client];
    const pids = await Promise.all([pidOf(busy), pidOf(unused)]);
    const hanging = busy.callTool({ name: 'hang' }).catch(() => null);
    await expect.poll(async () => (await processes(bridge)).find(({ owner }) => owner === 'session-0')?.calls).toBe(1);
    for (const client of clients.slice(2)) await call(client, 'echo');
    await call(await session(bridge, 'one more'), 'echo');
    await expect.poll(() => pids.map(isAlive)).toEqual([true, false]);
    expect(JSON.parse(await call(used, 'remember', { thought: 'second' }))).toEqual(['first', 'second']);
    expect(log.join()).toContain('a process was ended for that of another session');
    await busy.close();
    await hanging;
  });

  it('are refused with what to do if all processes have calls in progress', async () => {
    const bridge = await newBridge();
    const hanging: Promise<unknown>[] = [];
    for (let index = 0; index < maxOwners; index += 1)
      hanging.push((await session(bridge, `session-${index}`)).callTool({ name: 'hang' }).catch(() => null));
    await expect.poll(async () => (await processes(bridge)).filter(({ calls }) => calls === 1).length).toBe(maxOwners);
    await expect(session(bridge, 'one more')).rejects.toThrow(/its 16 processes, which is the limit, have calls in progress/);
    for (const one of opened.splice(1)) await one.close();
    await Promise.all(hanging);
  });
});

describe('a program', () => {
  it('has one process for the sessions of a key, which are not asked for each other', async () => {
    const bridge = await newBridge();
    const ofKey = (conversation: string): Promise<Client> =>
      connect(bridge, { instances: 'key', owner: 'key-1', conversation }, [], elicitation);
    const [one, two] = [await ofKey('session-1'), await ofKey('session-2')];
    expect(await pidOf(one)).toBe(await pidOf(two));
    const other = await connect(bridge, { instances: 'key', owner: 'key-2', conversation: 'session-3' });
    expect(await pidOf(other)).not.toBe(await pidOf(one));
    one.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Ada' } }));
    expect(await call(one, 'ask')).toContain('Ada');
    const hanging = two.callTool({ name: 'hang' }).catch(() => null);
    await expect.poll(async () => await call(one, 'ask')).toContain('not certain which client');
    await two.close();
    await hanging;
  });

  it('that is shared writes logs of uncertain calls to the log of the launcher', async () => {
    const bridge = await newBridge();
    const logs: unknown[] = [];
    const shared = { instances: 'shared', owner: null } as const;
    const alice = await connect(bridge, { ...shared, conversation: 'alice' }, logs);
    const bob = await connect(bridge, { ...shared, conversation: 'bob' }, logs);
    expect(await pidOf(alice)).toBe(await pidOf(bob));
    await call(alice, 'log', { line: 'certain' });
    expect(logs).toEqual(['certain']);
    const hanging = bob.callTool({ name: 'hang' }).catch(() => null);
    await expect.poll(async () => (await processes(bridge))[0]?.calls).toBe(1);
    await call(alice, 'log', { line: 'uncertain' });
    expect(logs).toEqual(['certain']);
    expect(log.join('\n')).toContain('(notifications/message, not certain for whom) {"level":"info","data":"uncertain"}');
    await bob.close();
    await hanging;
  });

  it('is ended with all of its processes when it was changed', async () => {
    const bridge = await newBridge();
    const pids = await Promise.all(['alice', 'bob'].map(async (owner) => await pidOf(await session(bridge, owner))));
    await connect(bridge, { owner: 'alice', args: [script, '', 'new'], ...({ version: 2 } as object) });
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
  });
});
