/** The checks of `moniker doctor` that need no service: Node, the data folder, its keys, disk space, the port. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInUse } from '../../local/launch/data-lock.ts';
import { readEnvironment } from '../../local/launch/environment.ts';
import { storedRootKey } from '../../local/launch/keys.ts';
import { claimPort } from '../../local/launch/port.ts';
import { describeFailure } from '../failure.ts';

/** `advice`: what to do, for every status but `ok`. `subject`: the document; findings that differ in names only are shown together. */
export type DoctorFinding = { check: string; status: 'ok' | 'warning' | 'failure'; message: string; advice?: string; subject?: string };

export function passed(check: string, message: string): DoctorFinding {
  return { check, status: 'ok', message };
}

export function warning(check: string, message: string, advice: string): DoctorFinding {
  return { check, status: 'warning', message, advice };
}

export function failure(check: string, message: string, advice: string): DoctorFinding {
  return { check, status: 'failure', message, advice };
}

/** `engines` of the package. */
const minNode = [22, 18] as const;
const minFreeBytes = 200 * 1024 * 1024;

export async function checkMachine(dataDir: string, environment: NodeJS.ProcessEnv): Promise<DoctorFinding[]> {
  return [
    checkNode(process.versions.node),
    checkDataDir(dataDir),
    ...checkKeys(dataDir, environment),
    ...checkSpace(dataDir),
    ...(!isInUse(dataDir) ? [await checkPort(environment)] : []),
    ...checkSettings(environment),
  ];
}

export function checkNode(version: string): DoctorFinding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  if (isNew) return passed('node', `Node ${version}`);
  const advice = `Install Node ${minNode.join('.')} or newer, for example from https://nodejs.org.`;
  return failure('node', `Node ${version} is too old.`, advice);
}

function checkDataDir(dataDir: string): DoctorFinding {
  const check = 'data';
  if (!existsSync(dataDir))
    return warning(check, `${dataDir} does not exist.`, '`moniker start` creates it. For another folder use --data or MONIKER_DATA_DIR.');
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    // The error says no more than that.
    return failure(check, `${dataDir} cannot be written by this user.`, 'Change its owner, or use another folder with --data.');
  }
  const isOpen = process.platform !== 'win32' && (statSync(dataDir).mode & 0o077) !== 0;
  if (isOpen)
    return warning(
      check,
      `Other users of this machine can enter ${dataDir}.`,
      `Run: chmod 700 ${dataDir}. \`moniker start\` does it, too.`,
    );
  return passed(check, dataDir);
}

function checkKeys(dataDir: string, environment: NodeJS.ProcessEnv): DoctorFinding[] {
  const check = 'keys';
  if (environment.MONIKER_ROOT_KEY) return [passed(check, 'MONIKER_ROOT_KEY of the environment')];
  const file = join(dataDir, 'keys');
  if (!existsSync(file)) return [];
  if (storedRootKey(dataDir) === null)
    return [
      failure(
        check,
        `${file} has no MONIKER_ROOT_KEY, or cannot be read.`,
        'Restore the file from a backup. Without its MONIKER_MASTER_KEY stored secrets are lost.',
      ),
    ];
  const isOpen = process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0;
  if (isOpen) return [warning(check, `Other users can read ${file}.`, `Run: chmod 600 ${file}`)];
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

async function checkPort(environment: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  try {
    const { port, host } = readEnvironment(environment);
    await claimPort(port, host);
    return passed('port', port === 0 ? 'any free port' : `port ${port} is free`);
  } catch (error) {
    const [message = '', ...advice] = describeFailure(error).message.split('\n');
    return failure('port', message, advice.join(' ') || 'Choose another port with --port.');
  }
}

function checkSettings(environment: NodeJS.ProcessEnv): DoctorFinding[] {
  const { unknown, faults } = readEnvironment(environment);
  return [
    ...faults.map((message) => failure('settings', message, '`moniker start --help` lists the settings; a start is refused until then.')),
    ...unknown.map((name) =>
      warning(
        'settings',
        `${name} is set, but is not a Moniker setting.`,
        'Check its spelling: `moniker start --help` lists the settings.',
      ),
    ),
  ];
}
