/** The checks of `moniker doctor` that need no service: Node, the data folder, its keys, disk space, the port. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runningService } from '../local/data-lock.ts';
import { readEnvironment } from '../local/environment.ts';
import { storedRootKey } from '../local/keys.ts';
import { claimPort } from '../local/port.ts';
import { describeFailure } from './failure.ts';

/** `advice`: what to do, for every status but `ok`. */
export type DoctorFinding = { check: string; status: 'ok' | 'warning' | 'failure'; message: string; advice?: string };

/** `engines` of the package. */
const minNode = [22, 18] as const;
const minFreeBytes = 200 * 1024 * 1024;

export async function checkMachine(dataDir: string, environment: NodeJS.ProcessEnv): Promise<DoctorFinding[]> {
  const running = runningService(dataDir);
  return [
    checkNode(process.versions.node),
    checkDataDir(dataDir),
    ...checkKeys(dataDir, environment),
    ...checkSpace(dataDir),
    ...(running === null ? [await checkPort(environment)] : []),
    ...checkSettings(environment),
  ];
}

export function checkNode(version: string): DoctorFinding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  if (isNew) return { check: 'node', status: 'ok', message: `Node ${version}` };
  return {
    check: 'node',
    status: 'failure',
    message: `Node ${version} is too old.`,
    advice: `Install Node ${minNode.join('.')} or newer, for example from https://nodejs.org.`,
  };
}

function checkDataDir(dataDir: string): DoctorFinding {
  const check = 'data';
  if (!existsSync(dataDir))
    return {
      check,
      status: 'warning',
      message: `${dataDir} does not exist.`,
      advice: '`moniker start` creates it. For another folder use --data or MONIKER_DATA_DIR.',
    };
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    // The error says no more than that.
    return {
      check,
      status: 'failure',
      message: `${dataDir} cannot be written by this user.`,
      advice: 'Change its owner, or use another folder with --data.',
    };
  }
  const isOpen = process.platform !== 'win32' && (statSync(dataDir).mode & 0o077) !== 0;
  if (isOpen)
    return {
      check,
      status: 'warning',
      message: `Other users of this machine can enter ${dataDir}.`,
      advice: `Run: chmod 700 ${dataDir}. \`moniker start\` does it, too.`,
    };
  return { check, status: 'ok', message: dataDir };
}

function checkKeys(dataDir: string, environment: NodeJS.ProcessEnv): DoctorFinding[] {
  const check = 'keys';
  if (environment.MONIKER_ROOT_KEY) return [{ check, status: 'ok', message: 'MONIKER_ROOT_KEY of the environment' }];
  const file = join(dataDir, 'keys');
  if (!existsSync(file)) return [];
  if (storedRootKey(dataDir) === null)
    return [
      {
        check,
        status: 'failure',
        message: `${file} has no MONIKER_ROOT_KEY, or cannot be read.`,
        advice: 'Restore the file from a backup. Without its MONIKER_MASTER_KEY stored secrets are lost.',
      },
    ];
  const isOpen = process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0;
  if (isOpen) return [{ check, status: 'warning', message: `Other users can read ${file}.`, advice: `Run: chmod 600 ${file}` }];
  return [{ check, status: 'ok', message: file }];
}

function checkSpace(dataDir: string): DoctorFinding[] {
  try {
    const { bavail, bsize } = statfsSync(existsSync(dataDir) ? dataDir : dirname(dataDir));
    const free = bavail * bsize;
    const message = `${(free / 1024 ** 3).toFixed(1)} GB free`;
    if (free >= minFreeBytes) return [{ check: 'disk', status: 'ok', message }];
    return [
      {
        check: 'disk',
        status: 'failure',
        message: `Only ${message}.`,
        advice: 'Free some space, or move the data folder: --data or MONIKER_DATA_DIR.',
      },
    ];
  } catch {
    // Not every system reports it, and the folder above may not exist either.
    return [];
  }
}

async function checkPort(environment: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  try {
    const { port } = readEnvironment(environment);
    await claimPort(port);
    return { check: 'port', status: 'ok', message: port === 0 ? 'any free port' : `port ${port} is free` };
  } catch (error) {
    const [message = '', ...advice] = describeFailure(error).message.split('\n');
    return { check: 'port', status: 'failure', message, advice: advice.join(' ') || 'Choose another port with --port.' };
  }
}

function checkSettings(environment: NodeJS.ProcessEnv): DoctorFinding[] {
  const { unknown, faults } = readEnvironment({ ...environment, PORT: undefined });
  return [
    ...faults.map((message) => ({ check: 'settings', status: 'failure' as const, message, advice: 'docs/configuration.md describes it.' })),
    ...unknown.map((name) => ({
      check: 'settings',
      status: 'warning' as const,
      message: `${name} is set, but is not a Moniker setting.`,
      advice: 'Check its spelling: `moniker start --help` lists the settings.',
    })),
  ];
}
