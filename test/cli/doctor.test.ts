import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkMachine, checkNode, type DoctorFinding } from '../../src/cli/doctor-machine.ts';
import type { Address } from '../../src/cli/connection.ts';
import { checkClock, checkService, findCommand } from '../../src/cli/doctor-service.ts';
import { version } from '../../src/core/version.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('moniker doctor on this machine', () => {
  const check = async (environment: NodeJS.ProcessEnv = {}) =>
    (await checkMachine(folder, { PORT: '0', ...environment })).map(({ check, status }) => `${check} ${status}`);

  it('finds nothing wrong with a new folder', async () => {
    writeFileSync(join(folder, 'keys'), `MONIKER_ROOT_KEY=${'r'.repeat(32)}\n`, { mode: 0o600 });
    expect(await check()).toEqual(['node ok', 'data ok', 'keys ok', 'disk ok', 'port ok']);
  });

  it('names keys without a root key, wide permissions, a wrong port and unknown settings, each with what to do', async () => {
    writeFileSync(join(folder, 'keys'), 'nothing\n');
    chmodSync(folder, 0o755);
    const findings = await checkMachine(folder, { PORT: 'x', MONIKER_DATADIR: 'y' });
    const faults = findings.filter(({ status }) => status !== 'ok');
    expect(faults.map(({ check }) => check)).toEqual(['data', 'keys', 'port', 'settings']);
    for (const { advice } of faults) expect(advice).toMatch(/\w{3}/);
  });

  it('reports a folder that does not exist as a warning', async () => {
    rmSync(folder, { recursive: true });
    expect(await check()).toContain('data warning');
  });

  it('requires Node 22.18', () => {
    expect(checkNode('22.18.0').status).toBe('ok');
    expect(checkNode('24.1.0').status).toBe('ok');
    for (const old of ['22.17.9', '20.20.2', '18.0.0']) expect(checkNode(old).status).toBe('failure');
  });
});

describe('the clock', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it('is compared with that of the service, if it sends one', () => {
    expect(checkClock(null, now)).toEqual([]);
    expect(checkClock('nonsense', now)).toEqual([]);
    expect(checkClock('Thu, 01 Jan 2026 00:00:30 GMT', now)).toEqual([]);
    expect(checkClock('Thu, 01 Jan 2026 00:05:00 GMT', now)[0]?.message).toBe(
      'The clock of this machine is 300 s behind that of the service.',
    );
  });
});

describe.skipIf(process.platform === 'win32')('the command of a stdio server', () => {
  it('is looked up in PATH, and as a path', () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const file = join(bin, 'tool');
    writeFileSync(file, '#!/bin/sh\n');
    const environment = { PATH: ['/nowhere', bin].join(delimiter) };
    expect(findCommand('tool', environment)).toBeNull();
    chmodSync(file, 0o755);
    expect(findCommand('tool', environment)).toBe(file);
    expect(findCommand(file, {})).toBe(file);
    expect(findCommand(join(bin, 'other'), environment)).toBeNull();
    expect(findCommand('tool', {})).toBeNull();
  });
});

it.each([
  [0, 'ok', 'storage'],
  [3, 'warning', '3 toolsets are compiled with the tools of another build.'],
  [null, 'warning', 'The toolsets that are compiled with the tools of another build could not be counted.'],
])('%s toolsets of another build make the readiness %s', async (staleToolsets, status, message) => {
  const server = createServer(({ url }, response) => {
    const body = url === '/healthz' ? { status: 'ok', version } : { status: 'ok', checks: { storage: 'ok' }, staleToolsets };
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const missing = { check: 'key', what: 'No key.', advice: 'Set one.' } as const;
    const address: Address = { url, dataDir: folder, key: null, headers: {}, local: null, missing };
    const found: DoctorFinding[] = [];
    for await (const some of checkService(address)) found.push(...some);
    expect(found.find(({ check }) => check === 'ready')).toMatchObject({ status, message });
  } finally {
    server.close();
  }
});
