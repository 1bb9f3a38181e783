import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findService } from '../../src/cli/connection.ts';
import { lockDataDir } from '../../src/local/launch/data-lock.ts';
import { writeLauncherFile } from '../../src/local/launch/launcher-file.ts';

const rootKey = 'moniker_'.padEnd(40, 'r');
const launcher = { url: 'http://127.0.0.1:4321', token: 't'.repeat(64) };

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
  writeFileSync(join(folder, 'keys'), `MONIKER_ROOT_KEY=${rootKey}\n`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the service of a command', () => {
  it('is the one that runs in the data folder, with its root key and the token of its launcher, which it has to prove', () => {
    lockDataDir(folder);
    writeLauncherFile(folder, launcher);
    expect(findService({ data: folder }, {})).toEqual({
      url: launcher.url,
      dataDir: folder,
      key: rootKey,
      headers: { authorization: `Bearer ${rootKey}`, 'x-moniker-launcher': launcher.token },
      local: launcher,
      missing: null,
    });
    expect(findService({}, { MONIKER_DATA_DIR: folder }).url).toBe(launcher.url);
  });

  it('is the same one if its address is given, also as localhost', () => {
    lockDataDir(folder);
    writeLauncherFile(folder, launcher);
    for (const url of [launcher.url, `${launcher.url}/`, 'http://localhost:4321', 'http://[::1]:4321'])
      expect(findService({ url, data: folder }, {})).toMatchObject({ url: launcher.url, key: rootKey, local: launcher });
    for (const url of ['http://127.0.0.1:4322', 'https://127.0.0.1:4321', `${launcher.url}/other`, 'http://localhost.example:4321'])
      expect(findService({ url, data: folder }, {})).toMatchObject({ url, key: null, headers: {}, local: null });
  });

  it('is not the one of a launcher that was killed: then no key is sent to the usual address, where any program may listen', () => {
    writeLauncherFile(folder, launcher);
    const environment = { MONIKER_DATA_DIR: folder, MONIKER_KEY: 'mk_one', MONIKER_ROOT_KEY: rootKey };
    expect(findService({ key: 'mk_two' }, environment)).toMatchObject({
      url: 'http://127.0.0.1:8787',
      key: null,
      headers: {},
      missing: { check: 'service', what: `No service is running in ${folder}.` },
    });
    expect(findService({ data: folder }, { PORT: '9000' }).missing?.advice).toContain('--url http://127.0.0.1:9000');
  });

  it('is that of the option, then that of the environment', () => {
    const environment = { MONIKER_DATA_DIR: folder, MONIKER_URL: 'https://one.example/', MONIKER_KEY: 'mk_one' };
    expect(findService({}, environment)).toMatchObject({ url: 'https://one.example', key: 'mk_one' });
    expect(findService({ url: 'https://two.example/moniker/', key: 'mk_two' }, environment)).toMatchObject({
      url: 'https://two.example/moniker',
      key: 'mk_two',
    });
  });

  it.each(['https://other.example', 'http://192.168.1.2:8787', 'http://127.0.0.1.other.example', 'http://localhost.other.example'])(
    'gets neither the root key nor the token of this machine at %s',
    (url) => {
      lockDataDir(folder);
      writeLauncherFile(folder, launcher);
      expect(findService({ url, data: folder }, { MONIKER_ROOT_KEY: rootKey })).toMatchObject({ key: null, headers: {} });
      expect(findService({ url, key: 'mk_one', data: folder }, {}).headers).toEqual({ authorization: 'Bearer mk_one' });
    },
  );

  it('gets the root key of the environment if it runs on this machine', () => {
    const given = 'e'.repeat(32);
    expect(findService({ url: 'http://localhost:1', data: folder }, { MONIKER_ROOT_KEY: given }).key).toBe(given);
  });

  it.each(['moniker.example.com', 'ftp://moniker.example.com', 'https://user:pass@moniker.example.com', 'https://a.example/?x=1', ''])(
    'is not accepted as %s',
    (url) => {
      if (url === '') expect(findService({ url, data: folder }, {}).url).toBe('http://127.0.0.1:8787');
      else expect(() => findService({ url, data: folder }, {})).toThrow('is not an address of a service');
    },
  );
});
