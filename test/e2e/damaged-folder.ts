/** Data folders with really damaged files: a folder with work in it is made once, and each test damages a copy. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitMs } from '../busy-machine.ts';
import { launch, makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

/** Test values. */
export const keys = {
  MONIKER_ROOT_KEY: 'moniker_root-key-of-the-damaged-folders',
  MONIKER_MASTER_KEY: 'master-key-of-the-damaged-folders-0123456789',
};

export type WorkedFolder = { dataDir: string; archive: string; sessions: string[] };

/** Two sessions with a turn, and one without; calls in several audit shards. `archive`: of all of it. */
export async function makeWorkedFolder(): Promise<WorkedFolder> {
  const dataDir = makeDataDir();
  const service = await startService(dataDir, keys);
  const must = async (status: number, ...request: Parameters<RunningService['call']>) => {
    const answer = await service.call(...request);
    if (answer.status !== status) throw new Error(`${request[1]}: ${answer.text}`);
    return answer.json;
  };
  await must(201, 'PUT', '/v1/toolsets/desk', { tools: [{ tool: 'builtin.bash', name: 'sh' }] });
  await must(201, 'PUT', '/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'desk' });
  await must(201, 'PUT', '/v1/schedules/daily', { agent: 'clerk', session: 'daily', input: 'hello', cron: '0 4 * * *' });
  const sessions: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { id } = await must(201, 'POST', '/v1/sessions', { agent: 'clerk' });
    // Long enough for several pages of the database.
    if (count < 2) await must(200, 'POST', `/v1/sessions/${id}/turns`, { input: `/sh {"command": "echo ${'x'.repeat(9_000)}${count}"}` });
    sessions.push(id);
  }
  for (let count = 0; count < 24; count += 1)
    await must(200, 'POST', '/v1/toolsets/desk/calls', { name: 'sh', arguments: { command: 'echo' } });
  const archive = join(mkdtempSync(join(tmpdir(), 'moniker-archive-')), 'archive.jsonl.gz');
  const { status, stderr } = moniker(['backup', archive, '--url', service.url, '--key', service.key]);
  if (status !== 0) throw new Error(stderr);
  await service.stop();
  return { dataDir, archive, sessions };
}

export function removeWorkedFolder({ dataDir, archive }: WorkedFolder): void {
  removeDataDir(dataDir);
  rmSync(join(archive, '..'), { recursive: true, force: true });
}

export function copyOf(dataDir: string): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'moniker-damaged-')), 'data');
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

/** Each returns nothing, and damages the file. `other`: a database of another class. */
export const damages: Readonly<Record<string, (file: string, other: string) => void>> = {
  'overwritten in the middle': (file) => overwrite(file, Math.floor(statSync(file).size / 4), Math.floor(statSync(file).size / 2)),
  'overwritten at its start': (file) => overwrite(file, 0, 200),
  'cut in half': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  'cut within its first page': (file) => truncateSync(file, 1_000),
  empty: (file) => truncateSync(file, 0),
  'with the content of another file': (file, other) => copyFileSync(other, file),
  'a text': (file) => writeFileSync(file, 'not a database\n'.repeat(1_000)),
};

function overwrite(file: string, at: number, length: number): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(length, 0xa5), 0, length, at);
  closeSync(handle);
}

/** The largest database of a class, or that of an object. */
export function databaseOf(dataDir: string, className: string, id?: string): string {
  const folder = join(dataDir, 'state/v3/do', `moniker-${className}`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.sqlite') && file !== 'metadata.sqlite');
  const largest = files.toSorted((one, other) => statSync(join(folder, other)).size - statSync(join(folder, one)).size)[0] ?? '';
  const file = join(folder, id === undefined ? largest : `${id}.sqlite`);
  if (!existsSync(file)) throw new Error(`There is no ${file}.`);
  return file;
}

export function metadataOf(dataDir: string, className: string): string {
  return join(dataDir, 'state/v3/do', `moniker-${className}`, 'metadata.sqlite');
}

/** Runs a command outside of every data folder. */
export function moniker(parameters: readonly string[]) {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:MONIKER_|OTEL_|npm_|PORT$|.*_API_KEY$)/.test(name)),
  );
  return spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), ...parameters], {
    ...{ cwd: tmpdir(), encoding: 'utf8', timeout: waitMs },
    env: { ...inherited, ...keys, PORT: '0' },
  });
}

/** A start that fails: its exit code and what it printed. */
export async function failedStart(dataDir: string): Promise<{ code: number | null; printed: string }> {
  const { child, printed, ended } = launch(dataDir, keys);
  const timer = setTimeout(() => child.kill('SIGTERM'), waitMs);
  const code = await ended;
  clearTimeout(timer);
  return { code, printed: printed() };
}
