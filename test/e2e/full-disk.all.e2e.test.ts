/**
 * A data folder on a real, small disk, which is filled and made read-only: every door says so, reads go on, nothing that was acknowledged is
 * lost, and work goes on when there is room again. Mounting requires root.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSkipped } from '../selection.ts';
import { waitUntil } from '../wait-for.ts';
import { builtBundles, type RunningService, startService } from './service.ts';

const disk = mkdtempSync(join(tmpdir(), 'moniker-disk-'));
const mounted = (...options: string[]): boolean => spawnSync('mount', [...options, disk]).status === 0;
const canMount = mounted('-t', 'tmpfs', '-o', 'size=64m', 'tmpfs');
const filler = join(disk, 'filler');

/** Leaves this many bytes. */
function fillTo(left: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left)));
}

describe.skipIf(isSkipped(!canMount, 'a full disk', 'mount needs root'))('a service on a small disk', () => {
  let service: RunningService;
  let session: string;
  let key: Record<string, string>;
  const isReady = async (status: number): Promise<string> =>
    await waitUntil(async () => {
      const answer = await service.call('GET', '/readyz');
      return answer.status === status && answer.text;
    });

  beforeAll(async () => {
    mkdirSync(join(disk, 'data'), { mode: 0o700 });
    symlinkSync(builtBundles, join(disk, 'data', 'bundle'));
    service = await startService(join(disk, 'data'), { MONIKER_METRICS: 'on' });
    session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' })).json.id;
    expect((await service.call('POST', `/v1/sessions/${session}/turns`, { input: 'one' })).status).toBe(200);
    const hook = { agent: 'a', scheme: 'bearer', secret: 'a-secret-of-a-webhook-that-is-long', input: 'x' };
    expect((await service.call('PUT', '/v1/agents/a', { model: 'rehearsal/default' })).status).toBe(201);
    expect((await service.call('PUT', '/v1/webhooks/w', hook)).status, JSON.stringify(hook)).toBe(201);
    expect((await service.call('PUT', '/v1/toolsets/t', { tools: [{ tool: 'builtin.bash' }] })).status).toBe(201);
    key = { authorization: `Bearer ${(await service.call('POST', '/v1/keys', { name: 'k', scopes: ['chat', 'tools'] })).json.key}` };
  });
  afterAll(async () => {
    await service?.stop();
  });

  const messages = [{ role: 'user', content: 'x' }];
  const mcp = { accept: 'application/json, text/event-stream' };
  const doors = async (): Promise<Record<string, [number, string]>> => {
    const asked: [string, string, string, unknown, Record<string, string>?][] = [
      ['document', 'PUT', '/v1/toolsets/t', { tools: [] }],
      ['session', 'POST', '/v1/sessions', { model: 'rehearsal/default' }],
      ['turn', 'POST', `/v1/sessions/${session}/turns`, { input: 'x' }],
      ['call', 'POST', '/v1/toolsets/t/calls', { name: 'bash', arguments: { command: 'echo x' } }, key],
      ['webhook', 'POST', '/hooks/default/w', { a: 1 }, { authorization: 'Bearer a-secret-of-a-webhook-that-is-long' }],
      ['chat', 'POST', '/v1/chat/completions', { model: 'agent/a', messages }, key],
      ['messages', 'POST', '/v1/messages', { model: 'agent/a', messages, max_tokens: 9 }, key],
      ['responses', 'POST', '/v1/responses', { model: 'agent/a', input: 'x' }, key],
      [
        'mcp',
        'POST',
        '/mcp/t',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'bash', arguments: {} } },
        { ...key, ...mcp },
      ],
    ];
    const answers: Record<string, [number, string]> = {};
    for (const [name, method, path, body, headers] of asked) {
      const { status, text } = await service.call(method, path, body, headers);
      answers[name] = [status, /insufficient_storage/.exec(text)?.[0] ?? text.slice(0, 300)];
    }
    return answers;
  };
  const refused = [507, 'insufficient_storage'];

  it('refuses what stores something at the reserve, at every door, and goes on when there is room', async () => {
    fillTo(1_000_000);
    expect(await isReady(503)).toContain('disk failed. The disk of the data folder is full');
    const answers = await doors();
    expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map((name) => [name, refused])));
    // Reads go on.
    expect((await service.call('GET', `/v1/sessions/${session}/messages`)).text).toContain('one');
    expect((await service.call('GET', '/v1/toolsets/t')).status).toBe(200);
    expect((await service.call('GET', '/metrics')).text).toMatch(
      /moniker_disk_bytes\{kind="free"\} \d+[\s\S]*moniker_storage_refused\{reason="full"\} 1/,
    );
    // Deletions make room.
    expect((await service.call('DELETE', '/v1/webhooks/w')).status).toBe(204);
    rmSync(filler);
    await isReady(200);
    expect((await service.call('POST', `/v1/sessions/${session}/turns`, { input: 'two' })).status).toBe(200);
    expect(service.printed()).toContain('nothing more is stored until there is room again');
  });

  it('explains a write that failed before the reserve was seen, and keeps what was acknowledged', async () => {
    fillTo(0);
    const { status, json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' });
    expect([status, json.code]).toEqual(refused);
    expect((await service.call('GET', `/v1/sessions/${session}/messages`)).text).toContain('two');
    // Otherwise the report of the full disk could come after the room.
    await isReady(503);
    rmSync(filler);
    await isReady(200);
    expect((await service.call('POST', `/v1/sessions/${session}/turns`, { input: 'three' })).status).toBe(200);
  });

  it('says that the disk is read-only, and starts again when it is not', async () => {
    expect(spawnSync('mount', ['--bind', disk, disk]).status).toBe(0);
    try {
      expect(spawnSync('mount', ['-o', 'remount,ro,bind', disk]).status).toBe(0);
      expect(await isReady(503)).toContain('The data folder cannot be written');
      const { status, json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' });
      expect([status, json.code, json.reason]).toEqual([507, 'insufficient_storage', 'read-only']);
      expect((await service.call('GET', `/v1/sessions/${session}/messages`)).text).toContain('three');
    } finally {
      spawnSync('umount', [disk]);
    }
    await isReady(200);
    expect((await service.call('POST', `/v1/sessions/${session}/turns`, { input: 'four' })).status).toBe(200);
  });
});

afterAll(() => {
  if (canMount) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
});
