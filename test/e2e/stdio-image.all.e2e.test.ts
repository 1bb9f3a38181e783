/** `npx` servers as in the image of `examples/self-hosting`: uid 10001 without a home, a read-only root, and a data folder to write to. */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { isSkipped } from '../selection.ts';
import { canNameHosts, makeDataDir, removeDataDir, root, startService } from './service.ts';

const uid = 10_001;

/** The data folder is a mount of its own, which stays writable. */
const inImage = (dataDir: string): string[] => {
  const mounts = 'mount --bind "$0" "$0" && mount -o remount,bind,ro /';
  const user = `setpriv --reuid ${uid} --regid ${uid} --clear-groups --no-new-privs`;
  return ['unshare', '-m', 'sh', '-c', `${mounts} && exec ${user} "$@"`, dataDir];
};

/** A package with a server, as a file: nothing is downloaded. */
function packServer(folder: string): string {
  copyFileSync(join(root, 'test/local/stdio/fake-server.mjs'), join(folder, 'server.mjs'));
  const script = join(folder, 'run.sh');
  writeFileSync(script, '#!/bin/sh\nexec node "$(dirname "$(readlink -f "$0")")/server.mjs"\n');
  chmodSync(script, 0o755);
  const description = { name: 'fake-npx-server', version: '1.0.0', bin: './run.sh', files: ['server.mjs', 'run.sh'] };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(description));
  const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: folder, encoding: 'utf8' });
  expect(packed.status, packed.stderr).toBe(0);
  chmodSync(folder, 0o755);
  return join(folder, packed.stdout.trim());
}

const isPossible = canNameHosts && spawnSync('setpriv', ['--reuid', String(uid), 'true']).status === 0;

it.skipIf(isSkipped(!isPossible, 'npx servers in the environment of the image', 'unshare -m and setpriv need root'))(
  'runs a server with npx, whose cache and home are in the data folder, with the registry settings of the image',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'moniker-package-'));
    const archive = packServer(folder);
    const dataDir = makeDataDir();
    const temporary = join(dataDir, 'tmp');
    mkdirSync(temporary);
    expect(spawnSync('chown', ['-R', `${uid}:${uid}`, dataDir]).status).toBe(0);
    const registry = 'http://127.0.0.1:9';
    const image = { HOME: '/home/moniker', TMPDIR: temporary, NPM_CONFIG_REGISTRY: registry };
    const service = await startService(dataDir, image, inImage(dataDir));
    try {
      const { token } = JSON.parse(readFileSync(join(dataDir, 'launcher'), 'utf8')) as { token: string };
      const server = { kind: 'mcp', command: 'npx', args: ['-y', `--package=${archive}`, 'fake-npx-server'], trusted: true };
      const added = await service.call('PUT', '/v1/servers/fake', server, { [launcherHeader]: token });
      expect(added.json.health, service.printed()).toMatchObject({ status: 'ok' });
      await service.call('PUT', '/v1/toolsets/local', { tools: [{ tool: 'fake.environment' }, { tool: 'fake.folder' }] });
      const call = async (name: string): Promise<string> =>
        (await service.call('POST', '/v1/toolsets/local/calls', { name, arguments: {} })).json.content[0].text;
      const home = join(dataDir, 'home');
      expect(await call('folder')).toBe(home);
      expect(JSON.parse(await call('environment'))).toMatchObject({ HOME: home, npm_config_cache: join(home, '.npm') });
      expect(JSON.parse(await call('environment'))).toMatchObject({ NPM_CONFIG_REGISTRY: registry });
    } finally {
      await service.stop();
      removeDataDir(dataDir);
      rmSync(folder, { recursive: true });
    }
  },
);
