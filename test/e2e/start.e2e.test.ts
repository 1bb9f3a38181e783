import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, makeDataDir, parseEvents, removeDataDir, startService, type RunningService } from './service.ts';
import { waitMs } from '../busy-machine.ts';
import { isSkipped } from '../selection.ts';

describe('npm start', () => {
  const dataDir = makeDataDir({ isNew: true });
  let service: RunningService;

  beforeAll(async () => {
    service = await startService(dataDir);
  });

  afterAll(async () => {
    await service.stop();
    removeDataDir(dataDir);
  });

  it('prints the address, the key and the models, on one screen', () => {
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(service.key.length).toBeGreaterThanOrEqual(32);
    expect(service.printed()).toMatch(/models +.*rehearsal\/default/);
    expect(service.printed().split('\n').length).toBeLessThan(30);
  });

  it('prints an address at which an MCP client finds the tools of the demo', async () => {
    const address = /^ {2}The tools in any MCP client: (\S+),/m.exec(service.printed())?.[1] ?? '';
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const accept = { accept: 'application/json, text/event-stream' };
    const { status, text } = await service.call('POST', new URL(address).pathname, message, accept);
    expect([new URL(address).origin, status]).toEqual([service.url, 200]);
    expect(text).toContain('"name":"terminalRun"');
  });

  it('makes the keys file readable by its owner only', () => {
    expect(statSync(join(dataDir, 'keys')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(dataDir, 'keys'), 'utf8')).toContain(service.key);
  });

  it('prints the root key on the first start only', async () => {
    expect(service.printed()).toContain(`  key      ${service.key}\n`);
    expect(service.printed()).toContain(`${service.url}/#key=${service.key}`);
    await service.stop();
    service = await startService(dataDir, { MONIKER_LOG: 'debug' });
    await service.call('GET', '/v1/models');
    expect(service.printed()).not.toContain(service.key);
    expect(service.printed()).toContain(`  key      in ${join(dataDir, 'keys')}\n`);
  });

  it('never prints a root key from the environment', async () => {
    const otherDir = makeDataDir();
    const given = 'key-of-the-environment-0123456789abcdef';
    const other = await startService(otherDir, { MONIKER_ROOT_KEY: given });
    expect((await other.call('GET', '/v1/models')).status).toBe(200);
    await other.stop();
    expect(other.printed()).not.toContain(given);
    const stored = readFileSync(join(otherDir, 'keys'), 'utf8').trim().split('\n');
    for (const line of stored) expect(other.printed()).not.toContain(line.slice(line.indexOf('=') + 1));
    removeDataDir(otherDir);
  });

  it.skipIf(isSkipped(spawnSync('curl', ['--version']).status !== 0, 'the printed commands', 'curl is not installed'))(
    'prints commands that work when pasted, on the first start and later',
    async () => {
      checkCommands();
      await service.stop();
      service = await startService(dataDir);
      checkCommands();
    },
  );

  function checkCommands(): void {
    const definition = /^KEY=.*\n/m.exec(service.printed())?.[0] ?? '';
    const commands = service.printed().match(/^curl .*\\\n.*\\\n.*$/gm) ?? [];
    expect(commands).toHaveLength(2);
    const [turn = '', completion = ''] = commands.map(
      (command) => spawnSync('sh', ['-c', definition + command], { encoding: 'utf8', timeout: waitMs }).stdout,
    );
    const events = parseEvents(turn);
    const call = events.find((event) => event.type === 'tool-input-start');
    expect(call?.data).toMatchObject({ name: 'shell', canonical: 'builtin.bash', via: 'alias' });
    expect(events.find((event) => event.type === 'tool-result')?.data).toMatchObject({ isError: false });
    expect(turn).toContain('note.txt');
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', data: { status: 'completed' } });
    expect(completion).toContain('chat.completion.chunk');
    expect(completion.trimEnd().endsWith('data: [DONE]')).toBe(true);
  }

  it('refuses a second instance in the same folder', async () => {
    const second = launch(dataDir);
    expect(await second.ended).toBe(1);
    expect(second.printed()).toContain('is using');
  });

  it('restores everything after a stop: toolsets, session, files, history, and the event numbers', async () => {
    const { json: session } = await service.call('POST', '/v1/sessions', { agent: 'demo' });
    const turn = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/shell echo kept > kept.txt' });
    expect(turn.json).toMatchObject({ status: 'completed' });
    const before = await service.call('GET', `/v1/sessions/${session.id}/messages`);
    const key = service.key;

    expect(await service.stop('SIGINT')).toBe(0);
    service = await startService(dataDir);

    expect(service.key).toBe(key);
    expect((await service.call('GET', '/v1/toolsets/demo')).status).toBe(200);
    const after = await service.call('GET', `/v1/sessions/${session.id}/messages`);
    expect(after.json).toEqual(before.json);
    expect((await service.call('GET', `/v1/sessions/${session.id}/files/workspace/kept.txt`)).text).toBe('kept\n');
    const again = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/shell cat kept.txt' });
    expect(again.json.toolCalls[0].content[0].text).toContain('kept');

    const all = await readEvents(service, session.id, 0, 'turn-end', 2);
    expect(all.map((event) => event.id)).toEqual(all.map((_, index) => index + 1));
    const tail = await readEvents(service, session.id, 5, 'turn-end', 2);
    expect(tail[0]?.id).toBe(6);
    expect(tail).toEqual(all.slice(5));
  });
});

describe('npm start, when it refuses to start', () => {
  const dataDir = makeDataDir({ isNew: true });
  afterAll(() => removeDataDir(dataDir));

  it('names a port that is in use, and how to choose another', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const { ended, printed } = launch(dataDir, { PORT: String(port) });
    expect(await ended).toBe(1);
    server.close();
    expect(printed()).toContain(`Port ${port} is already in use`);
    expect(printed()).toContain('PORT=');
  });

  it.each([
    ['an invalid port', { PORT: '80a' }, 'PORT is "80a"'],
    ['a short root key', { MONIKER_ROOT_KEY: 'secret' }, 'at least 32'],
  ])('names %s', async (_, environment, message) => {
    const { ended, printed } = launch(dataDir, environment);
    expect(await ended).toBe(1);
    expect(printed()).toContain(message);
    expect(printed()).not.toContain('    at ');
  });

  it('rejects a damaged keys file instead of creating new keys over it', async () => {
    const damaged = join(dataDir, 'damaged');
    mkdirSync(damaged);
    writeFileSync(join(damaged, 'keys'), 'MONIKER_ROOT_KEY=\n');
    const { ended, printed } = launch(damaged);
    expect(await ended).toBe(1);
    expect(printed()).toContain('no valid MONIKER_ROOT_KEY');
  });
});

/** Reads `/events` until the `count`-th event of `type`. */
async function readEvents(service: RunningService, session: string, after: number, type: string, count: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('timed out waiting for events')), waitMs);
  const response = await fetch(`${service.url}/v1/sessions/${session}/events?after=${after}`, {
    headers: { authorization: `Bearer ${service.key}` },
    signal: controller.signal,
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.split(`event: ${type}\n`).length > count && text.endsWith('\n\n')) break;
  }
  clearTimeout(timer);
  return parseEvents(text);
}
