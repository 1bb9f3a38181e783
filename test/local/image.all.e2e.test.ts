/** The image and the unit of `examples/self-hosting`: their steps are run, then the service as they start it, with a server of `npx`. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { isInstalled } from '../e2e/installed.ts';
import { root } from '../e2e/service.ts';
import { isSkipped } from '../selection.ts';
import { waitUntil } from '../wait-for.ts';
import { buildImage, canChroot, type ChrootOptions, inChroot, type Image } from './chroot-image.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-image-'));
const hosting = join(root, 'examples/self-hosting');
const isLeftOut = isSkipped(!canChroot, 'the image and the unit', 'chroot, unshare -m and setpriv need root on Linux');
/** Nothing listens there: what a program is given must not be used. */
const given = { NPM_CONFIG_REGISTRY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', OLLAMA_HOST: '127.0.0.1:9', PORT: '0' };
let image: Image & { ran: string[] };
let archive = '';

beforeAll(() => {
  if (isLeftOut) return;
  image = buildImage('examples/self-hosting/Dockerfile', folder);
  archive = packServer();
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A package with a server, as a file: nothing is downloaded. */
function packServer(): string {
  const source = join(folder, 'package');
  mkdirSync(source);
  copyFileSync(join(root, 'test/local/stdio/fake-server.mjs'), join(source, 'server.mjs'));
  writeFileSync(join(source, 'run.sh'), '#!/bin/sh\nexec node "$(dirname "$(readlink -f "$0")")/server.mjs"\n', { mode: 0o755 });
  const description = { name: 'fake-npx-server', version: '1.0.0', bin: './run.sh', files: ['server.mjs', 'run.sh'] };
  writeFileSync(join(source, 'package.json'), JSON.stringify(description));
  const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: source, encoding: 'utf8' });
  expect(packed.status, packed.stderr).toBe(0);
  return join(folder, packed.stdout.trim());
}

/** The service in a root with its data folder `data`. Returns what a program of `npx` is given there, after the service has stopped. */
async function programIn(place: string, data: string, options: ChrootOptions, command: string[], during: () => void = () => undefined) {
  const [file = '', ...args] = inChroot(place, command, options);
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  try {
    await waitUntil(() => output.includes('Moniker is ready at') || child.exitCode !== null);
    const port = /Moniker is ready at http:\/\/\S+:(\d+)/.exec(output)?.[1];
    expect(port, output).toBeDefined();
    const { token } = JSON.parse(readFileSync(join(place, data, 'launcher'), 'utf8')) as { token: string };
    const key = /^MONIKER_ROOT_KEY=(.*)$/m.exec(readFileSync(join(place, data, 'keys'), 'utf8'))?.[1] ?? '';
    expect(output).not.toContain(key);
    const call = async (method: string, path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', [launcherHeader]: token };
      const init = { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(120_000) };
      // Responses of many shapes; the assertions check them.
      // biome-ignore lint/suspicious/noExplicitAny: see above
      return (await (await fetch(`http://127.0.0.1:${port}${path}`, init)).json()) as any;
    };
    const server = { kind: 'mcp', command: 'npx', args: ['-y', `--package=${data}/server.tgz`, 'fake-npx-server'], trusted: true };
    expect((await call('PUT', '/v1/servers/fake', server)).health, output).toMatchObject({ status: 'ok' });
    await call('PUT', '/v1/toolsets/local', { tools: [{ tool: 'fake.environment' }, { tool: 'fake.folder' }] });
    const text = async (name: string): Promise<string> =>
      (await call('POST', '/v1/toolsets/local/calls', { name, arguments: {} })).content[0].text;
    const program = { folder: await text('folder'), environment: JSON.parse(await text('environment')) as Record<string, string> };
    during();
    child.kill('SIGTERM');
    expect(await ended, output).toBe(0);
    return program;
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  }
}

it.skipIf(isLeftOut)('builds the image from the package, without what only the tests of the project need', () => {
  expect(image.ran.filter((step) => step.startsWith('npm '))).toHaveLength(3);
  expect(image).toMatchObject({
    user: '10001:10001',
    workdir: '/data',
    entrypoint: ['moniker'],
    command: ['start', '--production'],
    volumes: ['/data'],
  });
  const { uid, mode } = statSync(join(image.root, 'data'));
  expect([uid, mode & 0o777]).toEqual([10_001, 0o700]);
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(image.ran.at(-2)).toContain(` node@${devDependencies.node} `);
  for (const name of ['node', 'npx', 'moniker']) statSync(join(image.root, 'app/node_modules/.bin', name));
});

it.skipIf(isLeftOut)(
  'runs the image as uid 10001 with a read-only root: npx has its home and cache in the volume, with the settings of the operator',
  async () => {
    copyFileSync(archive, join(image.root, 'data/server.tgz'));
    chmodSync(join(image.root, 'data/server.tgz'), 0o644);
    const [uid = 0] = image.user.split(':').map(Number);
    // Docker takes HOME from /etc/passwd; the folder does not exist.
    const entry = new RegExp(`^.*:${uid}:.*$`, 'm').exec(readFileSync(join(image.root, 'etc/passwd'), 'utf8'))?.[0];
    const home = entry?.split(':')[5];
    // /tmp is a tmpfs in compose.yaml.
    const options = {
      environment: { ...image.environment, HOME: String(home), ...given },
      workdir: image.workdir,
      as: { uid, writable: ['/data', '/tmp'] },
    };
    const inside = (...command: string[]) => {
      const [file = '', ...args] = inChroot(image.root, command, options);
      return spawnSync(file, args, { encoding: 'utf8', timeout: 60_000 });
    };
    // Where the mounts of this test do not hold, the rest would prove nothing.
    for (const place of ['/app/x', '/etc/x', '/usr/x', '/home/x']) expect(inside('/usr/bin/touch', place).status, place).not.toBe(0);
    expect(home).toBe('/home/moniker');
    const program = await programIn(image.root, '/data', options, [...image.entrypoint, ...image.command], () => {
      expect(inside('cat', '/data/keys').stdout).toMatch(/^MONIKER_ROOT_KEY=/);
    });
    expect(program.folder).toBe('/data/home');
    expect(program.environment).toMatchObject({
      HOME: '/data/home',
      npm_config_cache: '/data/home/.npm',
      NPM_CONFIG_REGISTRY: given.NPM_CONFIG_REGISTRY,
    });
    expect(program.environment.HTTPS_PROXY).toBe(given.HTTPS_PROXY);
    expect(Object.keys(program.environment).filter((name) => name.startsWith('MONIKER_'))).toEqual([]);
    // Without a service it reports that, not that it cannot be run.
    const [node = '', ...check] = image.healthcheck;
    expect(inside(node, ...check).status).toBe(1);
  },
  400_000,
);

/** The values of a setting of the unit, which may be repeated. */
const unit = readFileSync(join(hosting, 'moniker.service'), 'utf8');
const valuesOf = (name: string): string[] => Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value);

it.skipIf(isLeftOut)('runs the unit as a user without name and home, with its state folder: npx has its home and cache in it', async () => {
  const uid = 61_234;
  const state = `/var/lib/${valuesOf('StateDirectory')[0]}`;
  const place = join(folder, 'machine');
  cpSync(image.root, place, { recursive: true, verbatimSymlinks: true, filter: (path) => path !== join(image.root, 'data') });
  mkdirSync(join(place, state), { recursive: true });
  chmodSync(join(place, state), 0o700);
  copyFileSync(archive, join(place, state, 'server.tgz'));
  for (const path of ['', 'server.tgz']) chownSync(join(place, state, path), uid, uid);
  mkdirSync(join(place, 'opt/moniker'), { recursive: true });
  const environment = Object.fromEntries(
    valuesOf('Environment').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  expect(environment.MONIKER_DATA_DIR).toBe(state);
  const options = {
    environment: { ...environment, HOME: '/', ...given },
    workdir: valuesOf('WorkingDirectory')[0] ?? '',
    mounts: { '/opt/moniker': join(place, 'app') },
    as: { uid, writable: [state, '/tmp'] },
  };
  const program = await programIn(place, state, options, (valuesOf('ExecStart')[0] ?? '').split(' '));
  expect(program.folder).toBe(`${state}/home`);
  expect(program.environment).toMatchObject({
    HOME: `${state}/home`,
    npm_config_cache: `${state}/home/.npm`,
    HTTPS_PROXY: given.HTTPS_PROXY,
  });
});

it.skipIf(isSkipped(!isInstalled('systemd-analyze'), 'the settings of the unit', 'systemd-analyze is not installed'))(
  'has only settings of the unit that systemd knows',
  () => {
    const file = join(folder, 'moniker.service');
    writeFileSync(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8', timeout: 60_000 });
    expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('moniker.service'))).toEqual([]);
  },
  400_000,
);
