/** `moniker doctor` on data folders in broken states, each made for real. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { writeOwnerFile } from '../../src/local/launch/owner-file.ts';
import { isSkipped } from '../selection.ts';
import { cleanups, type DoctorOptions, expectFinding, runDoctor } from './doctor-run.ts';
import { makeDataDir, removeDataDir, startService } from './service.ts';

const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

describe('a data folder without a service', () => {
  const made = makeDataDir();
  beforeAll(async () => {
    const service = await startService(made);
    await service.stop();
  });
  afterAll(() => removeDataDir(made));
  /** A copy with keys, data and no service. */
  const folder = (): string => {
    const copy = join(mkdtempSync(join(tmpdir(), 'moniker-doctor-')), 'data');
    cleanups.push(() => rmSync(join(copy, '..'), { recursive: true, force: true }));
    cpSync(made, copy, { recursive: true, filter: (path) => !path.endsWith('/bundle') });
    chmodSync(copy, 0o700);
    return copy;
  };

  it.each<[string, 'warning' | 'failure', string, RegExp, (dataDir: string) => DoctorOptions | undefined | Promise<DoctorOptions>]>([
    [
      'does not exist',
      'warning',
      'data',
      /does not exist/,
      (dataDir) => {
        rmSync(dataDir, { recursive: true });
      },
    ],
    [
      'is a file',
      'failure',
      'data',
      /is not a folder/,
      (dataDir) => {
        rmSync(dataDir, { recursive: true });
        writeFileSync(dataDir, '');
      },
    ],
    [
      'can be entered by others',
      'warning',
      'data',
      /Other users of this machine can enter/,
      (dataDir) => {
        chmodSync(dataDir, 0o755);
      },
    ],
    [
      'has lost its keys',
      'failure',
      'keys',
      /keys does not exist, but .* has data/,
      (dataDir) => {
        rmSync(join(dataDir, 'keys'));
      },
    ],
    [
      'has half of its keys',
      'failure',
      'keys',
      /has no MONIKER_MASTER_KEY, but/,
      (dataDir) => {
        truncateSync(join(dataDir, 'keys'), readFileSync(join(dataDir, 'keys'), 'utf8').indexOf('\n') + 1);
      },
    ],
    [
      'has other keys',
      'failure',
      'keys',
      /\(fingerprint [0-9a-f]{8}\) is not the key of the data/,
      (dataDir) => {
        writeFileSync(join(dataDir, 'keys'), `MONIKER_ROOT_KEY=${'r'.repeat(40)}\nMONIKER_MASTER_KEY=${'m'.repeat(40)}\n`);
      },
    ],
    [
      'has keys that others can read',
      'warning',
      'keys',
      /Other users can read/,
      (dataDir) => {
        chmodSync(join(dataDir, 'keys'), 0o644);
      },
    ],
    [
      'is of a newer release',
      'failure',
      'format',
      /newer release.*format 99/,
      (dataDir) => {
        writeFileSync(join(dataDir, 'format'), '99\n');
      },
    ],
    [
      'was written in the future',
      'warning',
      'clock',
      /behind: .* was written \d+ s from now/,
      (dataDir) => {
        utimesSync(join(dataDir, 'format'), new Date(), Date.now() / 1_000 + 3_600);
      },
    ],
    [
      'has a runtime that a killed service left',
      'warning',
      'runtime',
      /workerd \(process \d+\) of a killed service still runs/,
      (dataDir) => {
        const left = spawn('sleep', ['60'], { argv0: 'workerd', stdio: 'ignore' });
        cleanups.push(() => left.kill('SIGKILL'));
        writeOwnerFile(join(dataDir, 'state', 'workerd.pid'), left.pid ?? 0);
      },
    ],
    ['may open few files', 'warning', 'descriptors', /Only 256 files/, () => ({ within: ['sh', '-c', 'ulimit -n 256; exec "$0" "$@"'] })],
    [
      'has a port that is taken',
      'failure',
      'port',
      /Port \d+ is already in use/,
      async () => {
        const server = createServer();
        await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
        cleanups.push(() => server.close());
        return { environment: { PORT: String((server.address() as AddressInfo).port) } };
      },
    ],
    ['has settings that cannot be used', 'failure', 'settings', /MONIKER_LOG is "loud"/, () => ({ environment: { MONIKER_LOG: 'loud' } })],
    ['has a misspelt setting', 'warning', 'settings', /MONIKER_ALIASSES is set/, () => ({ environment: { MONIKER_ALIASSES: 'off' } })],
    ['has no service', 'failure', 'service', /No service is running in/, () => undefined],
  ])('that %s is a %s of %s', async (_, status, check, message, make) => {
    const dataDir = folder();
    const options = await make(dataDir);
    // No service runs, which is a failure in itself.
    expectFinding(await runDoctor(dataDir, options), 1, status, check, message);
  });

  it.skipIf(isSkipped(!canMount, 'data folders on other disks', 'mounting is not permitted')).each<[string, string, string, RegExp]>([
    ['read-only', 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"', 'data', /cannot be written by this user \(EROFS\)/],
    ['nearly full', 'mount -t tmpfs -o size=20m tmpfs "$0"', 'disk', /Only 0\.0 GB free/],
  ])('on a disk that is %s is a failure of the check', async (_, mount, check, message) => {
    const dataDir = folder();
    const within = ['unshare', '-m', 'sh', '-c', `${mount} && exec "$@"`, dataDir];
    expectFinding(await runDoctor(dataDir, { within }), 1, 'failure', check, message);
  });
});
