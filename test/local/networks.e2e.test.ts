/** The network services of `npm start`, in workerd, with a Worker that sends any request without a guard. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimPort } from '../../src/local/launch/port.ts';
import { startRuntime, type Runtime } from '../../src/local/launch/runtime.ts';
import { mainModule, modulesFolder, workerConfigFile } from '../../src/local/launch/worker-config.ts';

const worker = `export default { async fetch(request, env) {
  const { via, url } = await request.json();
  try {
    const response = await (via === 'fetch' ? fetch(url) : env[via].fetch(url));
    return new Response('reached: ' + await response.text());
  } catch (error) {
    return new Response(error.message);
  }
} };`;
const config = {
  name: 'probe',
  compatibility_date: '2026-11-17',
  compatibility_flags: [],
  kv_namespaces: [],
  durable_objects: { bindings: [] },
};

const directory = mkdtempSync(join(tmpdir(), 'moniker-networks-'));
let runtime: Runtime;
let port = 0;
let upstream: Server;
let upstreamPort = 0;
/** Stands for the launcher, which is the only network of a Worker that names none. */
let refusals: Server;
let refusalAddress = '';

beforeAll(async () => {
  mkdirSync(join(directory, modulesFolder));
  writeFileSync(join(directory, modulesFolder, mainModule), worker);
  writeFileSync(join(directory, workerConfigFile), JSON.stringify(config));
  upstream = createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: `http://127.0.0.1:${upstreamPort}/inner` });
    response.end('inner');
  });
  refusals = createServer((_request, response) => response.writeHead(405).end('refused'));
  upstreamPort = await portOf(upstream);
  refusalAddress = `127.0.0.1:${await portOf(refusals, '127.0.0.1')}`;
  port = await claimPort(0);
  const stateDir = join(directory, 'state');
  runtime = await startRuntime({ bundle: directory, stateDir, port, variables: {}, refusalAddress, onLog: () => undefined });
});

/** Returns the port that the server then listens on. */
async function portOf(server: Server, host?: string): Promise<number> {
  return await new Promise((resolve) => {
    server.listen(0, host, () => resolve((server.address() as { port: number }).port)); // a TCP server has one
  });
}

afterAll(async () => {
  await runtime.dispose();
  upstream.close();
  refusals.close();
  rmSync(directory, { recursive: true });
});

async function send(via: string, host: string, path = '/', at = port): Promise<string> {
  const body = JSON.stringify({ via, url: `http://${host}:${upstreamPort}${path}` });
  return await (await fetch(`http://127.0.0.1:${at}/`, { method: 'POST', body, signal: AbortSignal.timeout(20_000) })).text();
}

const refused = (via: string): RegExp => (via === 'fetch' ? /^reached: refused$/ : /^internal error/);
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'));
const local = ['127.0.0.1', '127.255.255.254', '0.0.0.0', 'localhost', ...(hasIpv6 ? ['[::1]', '[::]', '[::ffff:127.0.0.1]'] : [])];

describe.each(['PUBLIC_NETWORK', 'fetch'])('%s', (via) => {
  it.each(local)('blocks %s, although a server listens', async (host) => {
    expect(await send('PRIVATE_NETWORK', host)).toBe('reached: inner');
    expect(await send(via, host)).toMatch(refused(via));
  });

  // The URL parser converts `2130706433` and similar forms to an address.
  it.each(
    [
      ['0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.2', '168.63.129.16', '169.254.169.254'],
      ['172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.255'],
      ['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
      ['[::2]', '[::ffff:10.0.0.1]', '[::ffff:169.254.169.254]', '[::ffff:0:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::127.0.0.1]'],
      ['[64:ff9b::169.254.169.254]', '[64:ff9b:1::1]', '[100::1]', '[2001::1]', '[2001:2::1]', '[2001:10::1]', '[2001:20::1]'],
      ['[2001:db8::1]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::]', '[3fff::1]', '[5f00::1]', '[fc00::1]', '[fd00:ec2::254]'],
      ['[fe80::1]', '[fec0::1]', '[ff02::1]', '[fdff:ffff::1]'],
    ].flat(),
  )('refuses %s', async (host) => {
    expect(await send(via, host)).toMatch(refused(via));
  });
});

it('blocks the target of a redirect from an allowed host', async () => {
  expect(await send('PRIVATE_NETWORK', '127.0.0.1', '/redirect')).toBe('reached: inner');
  expect(await send('PUBLIC_NETWORK', 'localhost', '/redirect')).toMatch(refused('PUBLIC_NETWORK'));
});

it('reaches nothing from the service of a plan', async () => {
  const at = await claimPort(0);
  const stateDir = join(directory, 'isolated');
  const options = { bundle: directory, stateDir, port: at, variables: {}, refusalAddress, onLog: () => undefined };
  const isolated = await startRuntime({ ...options, isIsolated: true });
  try {
    for (const via of ['PUBLIC_NETWORK', 'PRIVATE_NETWORK', 'fetch'])
      for (const host of [...local, '240.0.0.1', '8.8.8.8'])
        expect([via, host, await send(via, host, '/', at)]).toEqual([via, host, expect.stringMatching(refused(via))]);
  } finally {
    await isolated.dispose();
  }
});

it('distinguishes a blocked address from a failed connection', async () => {
  upstreamPort = await claimPort(0);
  expect(await send('PRIVATE_NETWORK', '127.0.0.1')).not.toMatch(refused('PRIVATE_NETWORK'));
});
