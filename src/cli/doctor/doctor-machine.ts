/** The checks of `moniker doctor` that need no service: Node, the installation, the settings, the data folder, the port. */
import { isInUse } from '../../local/launch/data-lock.ts';
import { readEnvironment } from '../../local/launch/environment.ts';
import { claimPort } from '../../local/launch/port.ts';
import { workerdBinary } from '../../local/workerd/process.ts';
import { describeFailure } from '../failure.ts';
import { checkData, refusalOf } from './doctor-data.ts';
import { type DoctorFinding, failure, passed, refusal, warning } from './finding.ts';

/** `engines` of the package. */
const minNode = [22, 18] as const;

export async function checkMachine(dataDir: string, environment: NodeJS.ProcessEnv): Promise<DoctorFinding[]> {
  return [
    checkNode(process.versions.node),
    ...refusalOf('install', workerdBinary),
    ...(await checkData(dataDir, environment)),
    ...(isInUse(dataDir) ? [] : [await checkPort(environment)]),
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

async function checkPort(environment: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  try {
    const { port, host } = readEnvironment(environment);
    await claimPort(port, host);
    return passed('port', port === 0 ? 'any free port' : `port ${port} is free`);
  } catch (error) {
    return refusal('port', describeFailure(error).message);
  }
}

function checkSettings(environment: NodeJS.ProcessEnv): DoctorFinding[] {
  const { unknown, faults } = readEnvironment(environment);
  return [
    ...faults.map((fault) => refusal('settings', fault)),
    ...unknown.map((name) =>
      warning(
        'settings',
        `${name} is set, but is not a Moniker setting.`,
        'Check its spelling: `moniker start --help` lists the settings.',
      ),
    ),
  ];
}
