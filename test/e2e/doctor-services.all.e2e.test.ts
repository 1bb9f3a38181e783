/** `moniker doctor` on a running service in broken states, each made for real. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { waitMs } from '../busy-machine.ts';
import { cleanups, type DoctorOptions, expectFinding, runDoctor } from './doctor-run.ts';
import { makeDataDir, removeDataDir, type RunningService, startService } from './service.ts';

describe('a running service', () => {
  const dataDir = makeDataDir();
  const settings = { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' };
  let service: RunningService;
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await service.call(method, path, body, headers);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.json;
  };
  /** Removed after the test. */
  const put = async (path: string, body: unknown, headers?: Record<string, string>): Promise<void> => {
    await send('PUT', path, body, headers);
    cleanups.push(() => service.call('DELETE', path));
  };
  const tool = (description: string) => ({ name: 'find', description, inputSchema: { type: 'object' } });
  const shelf = (description = 'Finds.') => ({ kind: 'static', url: 'http://127.0.0.1:1', updates: 'review', tools: [tool(description)] });
  const agent = { model: 'rehearsal/default', instructions: 'Help.' };
  const webhook = { agent: 'gone', scheme: 'github', secret: 'a secret of the sender', input: '{{json payload}}' };
  const project = (text: string): DoctorOptions => {
    const file = join(mkdtempSync(join(tmpdir(), 'moniker-project-')), 'moniker.yaml');
    cleanups.push(() => rmSync(join(file, '..'), { recursive: true, force: true }));
    writeFileSync(file, text);
    return { environment: { MONIKER_PROJECT: file } };
  };
  const published = (key: string): string => {
    const values = join(dataDir, 'state', 'kv', 'values');
    const found = readdirSync(values).find((name) => decodeURIComponent(decodeURIComponent(name.slice(name.indexOf('.') + 1))) === key);
    return join(values, found ?? `no copy of ${key}`);
  };

  beforeAll(async () => {
    service = await startService(dataDir, settings);
  });
  afterAll(async () => {
    await service.stop();
    removeDataDir(dataDir);
  });

  it('in order is in order', async () => {
    await put('/v1/agents/gone', agent);
    await put('/v1/webhooks/triage', webhook);
    const { code, printed } = await runDoctor(dataDir);
    expect(code, printed).toBe(0);
    expect(printed).toContain('Everything is in order.');
    for (const check of ['keys', 'disk', 'descriptors', 'service', 'ready', 'published', 'webhooks', 'servers', 'project'])
      expect(printed, check).toMatch(new RegExp(`^ok +${check} `, 'm'));
  });

  it.each<[string, 'warning' | 'failure', string, RegExp, () => Promise<DoctorOptions | undefined>]>([
    [
      'a provider without a key',
      'failure',
      'providers',
      /lost has no key/,
      async () => {
        await put('/v1/providers/lost', { kind: 'openai', models: ['m'] });
      },
    ],
    [
      'a server whose command does not exist',
      'failure',
      'servers',
      /the command "\/nowhere\/tool" does not exist here/,
      async () => {
        const { token } = JSON.parse(readFileSync(join(dataDir, 'launcher'), 'utf8')) as { token: string };
        await put('/v1/servers/absent', { kind: 'mcp', command: '/nowhere/tool' }, { [launcherHeader]: token });
        await service.call('POST', '/v1/servers/absent/refresh');
      },
    ],
    [
      'a server that does not respond',
      'failure',
      'servers',
      /away: failing/,
      async () => {
        await put('/v1/servers/away', { kind: 'mcp', url: 'http://127.0.0.1:9/mcp' });
        await service.call('POST', '/v1/servers/away/refresh');
      },
    ],
    [
      'a definition that is held',
      'warning',
      'servers',
      /shelf: 1 tool, 1 held/,
      async () => {
        await put('/v1/servers/shelf', shelf());
        await send('PUT', '/v1/servers/shelf', shelf('Deletes everything.'));
      },
    ],
    [
      'a toolset whose tool is gone',
      'warning',
      'toolsets',
      /reading, tools\[0\]/,
      async () => {
        await put('/v1/servers/shelf', shelf());
        await put('/v1/toolsets/reading', { tools: [{ tool: 'shelf.find' }] });
        await send('DELETE', '/v1/servers/shelf');
      },
    ],
    [
      'an agent whose toolset is gone',
      'warning',
      'agents',
      /reader, toolset/,
      async () => {
        await put('/v1/toolsets/reading', { tools: [{ tool: 'builtin.bash' }] });
        await put('/v1/agents/reader', { ...agent, toolset: 'reading' });
        await send('DELETE', '/v1/toolsets/reading');
      },
    ],
    [
      'a webhook whose agent is gone',
      'failure',
      'webhooks',
      /triage: a signed delivery fails\. .*gone/,
      async () => {
        await put('/v1/agents/gone', agent);
        await put('/v1/webhooks/triage', webhook);
        await send('DELETE', '/v1/agents/gone');
      },
    ],
    [
      'a project that is not applied',
      'warning',
      'project',
      /is not applied: agents\.planned/,
      async () => project('agents:\n  planned:\n    model: rehearsal/default\n'),
    ],
    ['a project that cannot be read', 'failure', 'project', /is not a project file|cannot be/, async () => project('- one\n- two\n')],
    [
      'a project with an unset variable',
      'failure',
      'project',
      /NOT_SET_ANYWHERE/,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: of project files
      async () => project('agents:\n  planned:\n    model: ${NOT_SET_ANYWHERE}\n'),
    ],
    ['a wrong key', 'failure', 'key', /key/, async () => ({ parameters: ['--key', 'mk_default_wrong_wrong'] })],
  ])('with %s is a %s of %s', async (_, status, check, message, make) => {
    const options = await make();
    expectFinding(await runDoctor(dataDir, options), status === 'failure' ? 1 : 0, status, check, message);
  });

  it.each<[string, RegExp, (file: string, old: Buffer) => void]>([
    ['older', /its published copy has version 1, and the stored document version 2/, (file, old) => writeFileSync(file, old)],
    ['damaged', /its published copy is missing or damaged/, (file) => truncateSync(file, 30)],
    ['lost', /its published copy is missing or damaged/, (file) => rmSync(file)],
  ])('with a published copy that is %s is a warning, and publishes it again', async (name, message, spoil) => {
    const key = `agent:default:${name}`;
    const copy = (): { version: number; file: string } => {
      const file = published(key);
      return { ...(JSON.parse(readFileSync(file, 'utf8').slice(16)) as { version: number }), file };
    };
    await put(`/v1/agents/${name}`, agent);
    await vi.waitFor(copy, { timeout: waitMs });
    const first = readFileSync(published(key));
    await send('PUT', `/v1/agents/${name}`, { ...agent, instructions: 'Help more.' });
    await vi.waitFor(() => expect(copy().version).toBe(2), { timeout: waitMs });
    spoil(published(key), first);
    const found = await runDoctor(dataDir);
    expectFinding(found, 0, 'warning', 'published', message);
    expect(found.printed).toContain(`agent ${name}: `);
    await vi.waitFor(() => expect(copy().version).toBe(2), { timeout: waitMs });
    expect((await runDoctor(dataDir)).printed).toContain('Everything is in order.');
  });

  it('of which another keys file was put beside its data is a failure of keys', async () => {
    const stored = readFileSync(join(dataDir, 'keys'));
    cleanups.push(() => writeFileSync(join(dataDir, 'keys'), stored, { mode: 0o600 }));
    writeFileSync(join(dataDir, 'keys'), `MONIKER_ROOT_KEY=${'r'.repeat(40)}\nMONIKER_MASTER_KEY=${'m'.repeat(40)}\n`);
    const found = await runDoctor(dataDir);
    expectFinding(found, 1, 'failure', 'keys', /is not the key of the data/);
    expectFinding(found, 1, 'failure', 'service', /was not written by a service of this folder/);
  });

  it('that hangs is a failure of service', async () => {
    const pid = Number.parseInt(readFileSync(join(dataDir, 'state', 'workerd.pid'), 'utf8'), 10);
    process.kill(pid, 'SIGSTOP');
    cleanups.push(() => process.kill(pid, 'SIGCONT'));
    expectFinding(await runDoctor(dataDir), 1, 'failure', 'service', /does not respond/);
  });

  it('whose public URL leads nowhere, or to another program, is a warning of address', async () => {
    const other = createServer((_, response) => response.end('{"status":"ok","version":"0.1.0"}'));
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    cleanups.push(() => other.close());
    for (const [url, message] of [
      ['http://127.0.0.1:9', /the public URL, does not respond from here/],
      [`http://127.0.0.1:${(other.address() as AddressInfo).port}`, /the public URL, does not lead to this service/],
    ] as const) {
      await service.stop();
      service = await startService(dataDir, { ...settings, MONIKER_PUBLIC_URL: url });
      await send('PUT', '/v1/agents/gone', agent);
      await send('PUT', '/v1/webhooks/triage', webhook);
      expectFinding(await runDoctor(dataDir), 0, 'warning', 'address', message);
    }
  });
});
