/** The checks of `moniker doctor` on the data folder: its permissions, format and keys, the disk, and what a killed service left. Writes nothing. */
import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatFault } from '../../local/launch/data-format.ts';
import { isInUse } from '../../local/launch/data-lock.ts';
import { keyFault } from '../../local/launch/key-check.ts';
import { storedRootKey } from '../../local/launch/keys.ts';
import { isRunning, readOwnerFile } from '../../local/launch/owner-file.ts';
import { StartFailure } from '../../local/launch/start-failure.ts';
import { checkDatabases } from './databases.ts';
import { type DoctorFinding, failure, passed, refusal, warning } from './finding.ts';

const minFreeBytes = 512 * 1024 * 1024;
/** A stream uses up to 7 descriptors, and each open session two. */
const minDescriptors = 4_096;
const maxClockDifferenceMs = 60_000;

export async function checkData(dataDir: string, environment: NodeJS.ProcessEnv): Promise<DoctorFinding[]> {
  const folder = checkFolder(dataDir);
  // Nothing in it can be read.
  if (folder.status === 'failure') return [folder, ...checkSpace(dataDir)];
  const format = formatFault(dataDir);
  return [
    folder,
    ...(format === null ? [] : [refusal('format', format)]),
    ...(await checkKeys(dataDir, environment)),
    ...checkSpace(dataDir),
    ...checkTimes(dataDir),
    ...checkRuntime(dataDir),
    ...(format !== null || isInUse(dataDir) ? [] : await checkDatabases(dataDir)),
  ];
}

function checkFolder(dataDir: string): DoctorFinding {
  const check = 'data';
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined)
    return warning(check, `${dataDir} does not exist.`, '`moniker start` creates it. For another folder use --data or MONIKER_DATA_DIR.');
  if (!stats.isDirectory()) return failure(check, `${dataDir} is not a folder.`, 'Use another one: --data or MONIKER_DATA_DIR.');
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // fs errors carry a code
    const advice = code === 'EROFS' ? 'Mount it for writing, or use' : 'Change its owner, or use';
    return failure(check, `${dataDir} cannot be written by this user (${code}).`, `${advice} another folder with --data.`);
  }
  if (isOpen(dataDir))
    return warning(
      check,
      `Other users of this machine can enter ${dataDir}.`,
      `Run: chmod 700 ${dataDir}. \`moniker start\` does it, too.`,
    );
  return passed(check, dataDir);
}

function isOpen(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0;
}

async function checkKeys(dataDir: string, environment: NodeJS.ProcessEnv): Promise<DoctorFinding[]> {
  const check = 'keys';
  const file = join(dataDir, 'keys');
  try {
    const fault = await keyFault(dataDir, environment);
    if (fault !== null) return [refusal(check, fault)];
  } catch (error) {
    return [failure(check, `${file} cannot be read: ${String(error)}.`, 'Change its owner.')];
  }
  if (environment.MONIKER_ROOT_KEY) return [passed(check, 'MONIKER_ROOT_KEY of the environment')];
  if (!existsSync(file)) return [];
  if (storedRootKey(dataDir) === null)
    return [
      failure(
        check,
        `${file} has no MONIKER_ROOT_KEY, or others can change it.`,
        `Restore the file from a copy, and run: chmod 600 ${file}`,
      ),
    ];
  if (isOpen(file)) return [warning(check, `Other users can read ${file}.`, `Run: chmod 600 ${file}`)];
  return [passed(check, file)];
}

function checkSpace(dataDir: string): DoctorFinding[] {
  try {
    const { bavail, bsize } = statfsSync(existsSync(dataDir) ? dataDir : dirname(dataDir));
    const free = bavail * bsize;
    const message = `${(free / 1024 ** 3).toFixed(1)} GB free`;
    if (free >= minFreeBytes) return [passed('disk', message)];
    return [failure('disk', `Only ${message}.`, 'Free some space, or move the data folder: --data or MONIKER_DATA_DIR.')];
  } catch {
    // Not every system reports it, and the folder above may not exist either.
    return [];
  }
}

/** Due times are compared with the clock: one that was set back delays schedules and expiries. */
function checkTimes(dataDir: string): DoctorFinding[] {
  const written = ['log', 'format', 'state/workerd.capnp'].map(
    (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  const ahead = Math.max(...written) - Date.now();
  if (ahead < maxClockDifferenceMs) return [];
  const message = `The clock of this machine is behind: ${dataDir} was written ${Math.round(ahead / 1_000)} s from now.`;
  return [warning('clock', message, 'Turn on time synchronization (NTP).')];
}

/** The process that holds the databases: of the running service, or left by a killed one. Linux reports what it may open. */
function checkRuntime(dataDir: string): DoctorFinding[] {
  const owner = readOwnerFile(join(dataDir, 'state', 'workerd.pid'));
  const pid = owner !== null && isRunning(owner) ? owner.pid : null;
  if (pid !== null && !isInUse(dataDir))
    return [
      warning('runtime', `workerd (process ${pid}) of a killed service still runs.`, '`moniker start` ends it, if it is this folder’s.'),
    ];
  try {
    const own = `/proc/${pid ?? 'self'}`;
    const limit = Number(
      /^Max open files +(\d+|unlimited)/m.exec(readFileSync(`${own}/limits`, 'utf8'))?.[1]?.replace('unlimited', 'Infinity'),
    );
    const used = pid === null ? 0 : readdirSync(`${own}/fd`).length;
    const advice = 'Raise it before the start: `ulimit -n 65536`, `LimitNOFILE=` of systemd, `ulimits` of Docker.';
    if (limit < minDescriptors)
      return [warning('descriptors', `Only ${limit} files may be open: about ${Math.floor(limit / 7)} streams.`, advice)];
    if (used > limit * 0.8) return [failure('descriptors', `${used} of ${limit} files are open; at the limit the runtime ends.`, advice)];
    return pid === null ? [] : [passed('descriptors', `${used} open files of ${limit}`)];
  } catch {
    // No /proc, or another user's process.
    return [];
  }
}

/** Throws anything but a refusal. */
export function refusalOf(check: string, run: () => unknown): DoctorFinding[] {
  try {
    run();
    return [];
  } catch (error) {
    if (error instanceof StartFailure) return [refusal(check, error.message)];
    throw error;
  }
}
