import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCommand } from '../../src/cli/doctor/doctor-documents.ts';
import { checkMachine, checkNode } from '../../src/cli/doctor/doctor-machine.ts';
import type { DoctorFinding } from '../../src/cli/doctor/finding.ts';
import type { Address } from '../../src/cli/connection.ts';
import { checkClock, checkService } from '../../src/cli/doctor/doctor-service.ts';
import { groupSimilar, someNames } from '../../src/cli/output.ts';
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
    expect(faults.map(({ check }) => check)).toEqual(['data', 'keys', 'settings', 'settings']);
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

/** Answers as a service whose lists are these, until the test has ended. */
async function checkedLists(lists: Record<string, unknown>): Promise<DoctorFinding[]> {
  const published = { checked: 0, isPart: false, waiting: [], different: [] };
  const me = { name: 'root', scopes: ['tools', 'admin'], expiresAt: null };
  const fixed = {
    '/healthz': { status: 'ok', version },
    '/readyz': { status: 'ok', checks: { storage: 'ok' } },
    '/v1/me': me,
    '/v1/publications': published,
    ...lists,
  };
  const empty = { items: [], nextCursor: null };
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Object.entries(fixed).find(([path]) => path === new URL(url, 'http://x').pathname)?.[1] ?? empty));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const address: Address = { url, dataDir: folder, key: 'k', headers: {}, local: null, missing: null };
    const found: DoctorFinding[] = [];
    for await (const some of checkService(address)) found.push(...some);
    return found;
  } finally {
    server.close();
  }
}

const serverOf = (name: string, status: string, reason?: string, held = 0) => ({
  ...{ name, kind: 'mcp', toolCount: 3, held, updatedAt: '2026-01-01T00:00:00Z' },
  health: { status, ...(reason !== undefined && { reason }), checkedAt: null, listedAt: null, failures: 0 },
});

it.each([
  ['ok', undefined, 0, 'ok', /no faults/, undefined],
  ['failing', 'It exited with code 3.', 0, 'failure', /^fs: failing, 3 tools: It exited with code 3\.$/, /`moniker refresh fs`/],
  ['unauthorized', 'It requires credentials.', 0, 'failure', /^fs: unauthorized/, /Sign in.*`moniker refresh fs`/],
  ['degraded', '2 held: review and accept what changed.', 2, 'warning', /2 held/, /`moniker accept fs`/],
  ['degraded', 'A call failed at 12:00: It exited.', 0, 'warning', /A call failed/, /`moniker refresh fs`/],
  ['unknown', undefined, 0, 'warning', /not been contacted/, /moniker refresh fs/],
] as const)('reports a server that is %s (%s) with a command to run', async (status, reason, held, expected, message, advice) => {
  const items = [serverOf('fs', status, reason, held)];
  const found = (await checkedLists({ '/v1/servers': { items, nextCursor: null } })).filter(({ check }) => check === 'servers');
  expect(found).toEqual([expect.objectContaining({ status: expected, message: expect.stringMatching(message) })]);
  if (advice !== undefined) expect(found[0]?.advice).toMatch(advice);
});

it('names the lists that were checked in part', async () => {
  const items = [{ name: 'work' }];
  const found = await checkedLists({
    '/v1/toolsets': { items, nextCursor: 'more' },
    '/v1/toolsets/work/tools': { tools: [], warnings: [] },
  });
  expect(found).toContainEqual(
    expect.objectContaining({ check: 'toolsets', status: 'warning', message: 'There are more than were checked.' }),
  );
});

describe('findings that differ in names only', () => {
  it('are one group, in the order of their first members', () => {
    const messages = [
      'a, tools[0].tool: fs.read cannot be called: it is gone',
      'the key expires',
      'b, tools[12].tool: git.log cannot be called: it is gone',
    ];
    expect(groupSimilar(messages, (message) => message).map(({ first, others }) => [first, others.length])).toEqual([
      [messages[0], 0],
      [messages[1], 0],
      [messages[2], 0],
    ]);
    const plain = messages.map((message) => message.replace(/^[ab], /, ''));
    expect(groupSimilar(plain, (message) => message)).toEqual([
      { first: plain[0], others: [plain[2]] },
      { first: plain[1], others: [] },
    ]);
    expect(groupSimilar(plain, () => null)).toHaveLength(3);
  });

  it('are named up to a number', () => {
    expect(someNames(['a', 'b', 'a'])).toBe('a, b');
    expect(someNames(['a', 'b', 'c', 'd'], 2)).toBe('a, b and 2 more');
  });
});
