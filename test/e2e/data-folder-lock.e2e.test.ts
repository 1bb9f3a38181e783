/** One service per data folder, also across containers; a copy of a running folder is another folder. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSkipped } from '../selection.ts';
import { launch, makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

const container = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const cannotUnshare = spawnSync(container[0] ?? '', [...container.slice(1), 'true']).status !== 0;

describe('a data folder in use', () => {
  const dataDir = makeDataDir();
  const copyDir = makeDataDir();
  let original: RunningService;
  const runtimeOf = (folder: string) => readFileSync(join(folder, 'state', 'workerd.pid'), 'utf8');

  beforeAll(async () => {
    original = await startService(dataDir);
  });
  afterAll(async () => {
    await original.stop();
    for (const folder of [dataDir, copyDir]) removeDataDir(folder);
  });

  it.skipIf(isSkipped(cannotUnshare, 'a second service in another PID namespace', 'unshare is not permitted'))(
    'is refused to a service of another PID namespace, and the first one runs on',
    async () => {
      const second = launch(dataDir, {}, container);
      expect(await second.ended, second.printed()).toBe(1);
      expect(second.printed()).toContain(`Another Moniker (of another container or machine) is using ${dataDir}`);
      expect((await original.call('GET', '/v1/models')).status).toBe(200);
    },
  );

  it.skipIf(isSkipped(cannotUnshare, 'a first service in another PID namespace', 'unshare is not permitted'))(
    'is refused while a service of another PID namespace has it, and free after that one was killed',
    async () => {
      const folder = makeDataDir();
      const contained = await startService(folder, {}, container);
      const second = launch(folder);
      expect(await second.ended, second.printed()).toBe(1);
      expect(second.printed()).toContain('is using');
      await contained.stop('SIGKILL');
      const next = await startService(folder);
      expect((await next.call('GET', '/v1/models')).status).toBe(200);
      await next.stop();
      removeDataDir(folder);
    },
  );

  it('can be copied and the copy started: the processes of the original run on', async () => {
    const { json: session } = await original.call('POST', '/v1/sessions', { agent: 'demo' });
    await original.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/shell echo kept > kept.txt' });
    const before = runtimeOf(dataDir);
    rmSync(copyDir, { recursive: true, force: true });
    cpSync(dataDir, copyDir, { recursive: true });
    expect(runtimeOf(copyDir)).toBe(before);

    const copy = await startService(copyDir);
    expect(runtimeOf(dataDir)).toBe(before);
    expect(runtimeOf(copyDir)).not.toBe(before);
    expect(copy.url).not.toBe(original.url);
    for (const service of [original, copy]) {
      const file = await service.call('GET', `/v1/sessions/${session.id}/files/workspace/kept.txt`);
      expect([file.status, file.text]).toEqual([200, 'kept\n']);
      expect((await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: 'hello' })).json.status).toBe('completed');
    }
    expect(await copy.stop()).toBe(0);
    expect((await original.call('GET', '/readyz')).status).toBe(200);
    expect(original.printed()).not.toContain('The Workers runtime ended');
  });
});

describe('the keys of a data folder with data', () => {
  const dataDir = makeDataDir();
  const file = join(dataDir, 'keys');
  let stored = '';
  const refusal = async (environment: Record<string, string> = {}): Promise<string> => {
    const { ended, printed } = launch(dataDir, environment);
    expect(await ended, printed()).toBe(1);
    expect(printed()).not.toContain('    at ');
    expect(printed()).toContain(`Restore ${file} from a copy`);
    return printed();
  };

  beforeAll(async () => {
    const service = await startService(dataDir);
    await service.stop();
    stored = readFileSync(file, 'utf8');
  });
  afterAll(() => removeDataDir(dataDir));

  it('are required at start: lost, half-written and different ones are refused, and nothing is made instead', async () => {
    rmSync(file);
    expect(await refusal()).toContain(`${file} does not exist, but ${dataDir} has data`);
    expect(existsSync(file)).toBe(false);
    const [rootLine = '', master = ''] = stored.trim().split('\n');
    for (const half of ['', `${rootLine}\n`, `${rootLine}\nMONIKER_MASTER_KEY=\n`]) {
      writeFileSync(file, half);
      expect(await refusal()).toContain(`${file} has no MONIKER_MASTER_KEY`);
    }
    for (const other of [master.slice(0, -8), `MONIKER_MASTER_KEY=${'f'.repeat(64)}`]) {
      writeFileSync(file, `${rootLine}\n${other}\n`);
      expect(await refusal()).toMatch(/MONIKER_MASTER_KEY in \S+ \(fingerprint [0-9a-f]{8}\) is not the key of the data/);
    }
    writeFileSync(file, stored);
    expect(await refusal({ MONIKER_MASTER_KEY: 'e'.repeat(40) })).toContain('MONIKER_MASTER_KEY of the environment');
    const rotated = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'keys', 'rotate-master', '--data', dataDir], {
      encoding: 'utf8',
      env: { ...process.env, MONIKER_MASTER_KEY: 'e'.repeat(40) },
    });
    expect([rotated.status, rotated.stderr]).toEqual([1, expect.stringContaining('is not the key of the data')]);
  });

  it('are accepted from the environment without the file, and as a new key after the old one was given up', async () => {
    const keys = Object.fromEntries(
      stored
        .trim()
        .split('\n')
        .map((line) => line.split('=', 2)),
    );
    rmSync(file);
    const service = await startService(dataDir, keys);
    expect((await service.call('GET', '/v1/agents')).status).toBe(200);
    await service.stop();
    rmSync(join(dataDir, 'state', 'key-check'));
    const anew = await startService(dataDir, { ...keys, MONIKER_MASTER_KEY: 'd'.repeat(64) });
    expect((await anew.call('GET', '/v1/agents')).status).toBe(200);
    await anew.stop();
  });
});
