/**
 * Runs the steps of a Dockerfile without Docker: each stage is a folder with the system of this machine (`/usr`, read-only), and its `RUN` steps run
 * there by `chroot` in a mount namespace, which requires root. Two things differ: `apt-get` installs nothing, and `npm install` of the project
 * is the `node_modules` of this checkout, which the same command has made.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, matchesGlob } from 'node:path';
import { root as checkout } from '../e2e/service.ts';

export type Image = {
  /** The folder with its files. */
  root: string;
  environment: Record<string, string>;
  user: string;
  workdir: string;
  /** Of the last `ENTRYPOINT`, `CMD` and `HEALTHCHECK`. */
  entrypoint: string[];
  command: string[];
  healthcheck: string[];
  volumes: string[];
};

type Step = { instruction: string; text: string };

/** One line for each step; comments are left out. */
export function readSteps(dockerfile: string): Step[] {
  const lines = dockerfile.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, ' ');
  return lines.split('\n').flatMap((line) => {
    const [, instruction, text] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    return instruction === undefined || text === undefined ? [] : [{ instruction, text }];
  });
}

const ofSystem = [
  'alternatives',
  'default',
  'group',
  'gshadow',
  'hosts',
  'ld.so.cache',
  'login.defs',
  'nsswitch.conf',
  'passwd',
  'resolv.conf',
  'shadow',
  'ssl',
];

/** A new stage. What `/usr` has instead of `/bin` is linked, as on this machine. */
function makeStage(stage: string): void {
  for (const name of ['dev', 'etc', 'npm-cache', 'proc', 'root', 'steps', 'tmp', 'usr', 'var'])
    mkdirSync(join(stage, name), { recursive: true });
  chmodSync(join(stage, 'tmp'), 0o1777);
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) if (existsSync(`/usr/${name}`)) symlinkSync(`usr/${name}`, join(stage, name));
  for (const name of ofSystem.filter((file) => existsSync(`/etc/${file}`)))
    cpSync(`/etc/${name}`, join(stage, 'etc', name), { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(stage, 'steps/apt-get'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
}

/** Proxies and certificates, which npm needs to reach its registry; Docker passes on the former, too. */
const passed = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(?:(?:HTTPS?|NO|ALL)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_.*)$/i.test(name)),
);

export type ChrootOptions = {
  environment: Readonly<Record<string, string>>;
  workdir: string;
  /** Folders that are mounted into it: place → folder of this machine. */
  mounts?: Readonly<Record<string, string>>;
  /** Writable folders of a root that is otherwise read-only, under a user without rights. */
  as?: { uid: number; writable: readonly string[] };
};

/** The command that runs another one in the folder, for `spawn`. */
export function inChroot(folder: string, command: readonly string[], { environment, workdir, mounts = {}, as }: ChrootOptions): string[] {
  const bind = (from: string, to: string): string => `mkdir -p "$0${to}" && mount --rbind "${from}" "$0${to}"`;
  const script = [
    'set -e',
    'mount --bind "$0" "$0"',
    ...['usr', 'proc', 'dev'].map((name) => bind(`/${name}`, `/${name}`)),
    ...Object.entries(mounts).map(([to, from]) => bind(from, to)),
    ...(as?.writable ?? []).map((place) => bind(`$0${place}`, place)),
    // Images have no Node in `/usr`: only that of their package may be found.
    ...(as === undefined
      ? []
      : ['for name in node npm npx; do [ ! -e /usr/bin/$name ] || mount --bind /dev/null "$0/usr/bin/$name"; done']),
    'mount -o remount,bind,ro "$0/usr"',
    ...(as === undefined ? [] : ['mount -o remount,bind,ro "$0"']),
    'exec chroot "$0" "$@"',
  ];
  const user = [
    'setpriv',
    '--reuid',
    String(as?.uid),
    '--regid',
    String(as?.uid),
    '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--bounding-set=-all',
  ];
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  // The shell of the launcher must not find the PATH of this machine.
  const inFolder = ['/usr/bin/env', '-i', ...variables, '/bin/sh', '-c', 'cd "$0" && exec "$@"', workdir, ...command];
  return ['unshare', '-m', 'sh', '-c', script.join('\n'), folder, ...(as === undefined ? [] : user), ...inFolder];
}

/** Whether this process may do that. */
export const canChroot =
  process.platform === 'linux' &&
  existsSync('/usr/bin/sh') &&
  spawnSync('unshare', ['-m', 'chroot', '/', 'setpriv', '--reuid', '10001', '--bounding-set=-all', 'true']).status === 0;

/** Builds the last stage in a folder of `folder`. Throws with the output of a step that fails. `ran`: the steps that were run. */
export function buildImage(dockerfile: string, folder: string): Image & { ran: string[] } {
  const ignored = readFileSync(join(checkout, `${dockerfile}.dockerignore`), 'utf8')
    .split('\n')
    .filter(Boolean);
  const cache = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim();
  mkdirSync(cache, { recursive: true });
  const stages = new Map<string, string>();
  const ran: string[] = [];
  let image: Image | undefined;
  for (const { instruction, text } of readSteps(readFileSync(join(checkout, dockerfile), 'utf8'))) {
    if (instruction === 'FROM') {
      const name = / AS (\S+)$/.exec(text)?.[1] ?? String(stages.size);
      const stage = join(folder, name);
      makeStage(stage);
      stages.set(name, stage);
      image = { root: stage, environment: {}, user: '0', workdir: '/', entrypoint: [], command: [], healthcheck: [], volumes: [] };
      continue;
    }
    if (image === undefined) throw new Error(`${instruction} comes before FROM.`);
    if (instruction === 'RUN') {
      ran.push(text);
      runStep(image, text, cache);
    } else if (instruction === 'COPY') copy(image, text, stages, ignored);
    else configure(image, instruction, text);
  }
  if (image === undefined) throw new Error('There is no FROM.');
  return { ...image, ran };
}

function runStep(image: Image, text: string, cache: string): void {
  const modules = join(image.root, image.workdir, 'node_modules');
  if (/^npm install(?: --\S+)*$/.test(text)) {
    mkdirSync(modules);
    return;
  }
  const isProject = existsSync(modules) && existsSync(join(image.root, image.workdir, 'package-lock.json'));
  const environment = { HOME: '/root', NPM_CONFIG_CACHE: '/npm-cache', NPM_CONFIG_PREFER_OFFLINE: 'true', ...passed, ...image.environment };
  const path = `/steps:${image.environment.PATH ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'}`;
  const mounts = { '/npm-cache': cache, ...(isProject && { [join(image.workdir, 'node_modules')]: join(checkout, 'node_modules') }) };
  const [command = '', ...args] = inChroot(image.root, ['/bin/sh', '-c', text], {
    environment: { ...environment, PATH: path },
    workdir: image.workdir,
    mounts,
  });
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 400_000 });
  if (status !== 0) throw new Error(`RUN ${text}: ${status}\n${stdout}\n${stderr}`);
}

function copy(image: Image, text: string, stages: ReadonlyMap<string, string>, ignored: readonly string[]): void {
  const words = text.split(/\s+/);
  const from = /^--from=(.+)$/.exec(words[0] ?? '')?.[1];
  const sources = words.slice(from === undefined ? 0 : 1, -1);
  const to = join(image.root, image.workdir, words.at(-1) ?? '');
  const place = (words.at(-1) ?? '').startsWith('/') ? join(image.root, words.at(-1) ?? '') : to;
  const base = from === undefined ? checkout : stages.get(from);
  if (base === undefined) throw new Error(`COPY ${text}: there is no stage ${from}.`);
  for (const source of sources) {
    const path = join(base, source);
    const target = sources.length > 1 || place.endsWith('/') ? join(place, basename(source)) : place;
    mkdirSync(dirname(target), { recursive: true });
    const isWanted = (file: string): boolean =>
      from !== undefined || !ignored.some((pattern) => matchesGlob(file.slice(checkout.length + 1), pattern));
    cpSync(path, source === '.' ? place : target, { recursive: true, verbatimSymlinks: true, filter: isWanted });
  }
}

function configure(image: Image, instruction: string, text: string): void {
  const list = (): string[] => JSON.parse(text) as string[];
  if (instruction === 'ENV') for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) image.environment[name] = value;
  else if (instruction === 'WORKDIR') {
    image.workdir = text;
    mkdirSync(join(image.root, text), { recursive: true });
  } else if (instruction === 'USER') image.user = text;
  else if (instruction === 'VOLUME') image.volumes.push(text);
  else if (instruction === 'ENTRYPOINT') image.entrypoint = list();
  else if (instruction === 'CMD') image.command = list();
  else if (instruction === 'HEALTHCHECK') image.healthcheck = JSON.parse(/\[.*\]$/.exec(text)?.[0] ?? '[]') as string[];
  else if (!['EXPOSE', 'STOPSIGNAL'].includes(instruction)) throw new Error(`${instruction} is not known here.`);
}
