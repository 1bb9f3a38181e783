/** A service for one command: `moniker import file && moniker start` also works before the first start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isInUse } from '../local/launch/data-lock.ts';
import { dataFolderOf } from '../local/launch/environment.ts';
import { keyFault } from '../local/launch/key-check.ts';
import { keyVariables } from '../local/launch/keys.ts';
import { printError } from '../local/printing.ts';
import { StartFailure } from '../local/launch/start-failure.ts';
import { trustDataFolder } from '../local/launch/trusted-folders.ts';
import { readLauncherFile, removeLauncherFile } from '../local/launch/launcher-file.ts';
import { copyForPlan } from '../local/launch/plan-copy.ts';
import type { ConnectionOptions } from './connection.ts';
import { CommandFailure } from './failure.ts';
import { dataFolderQuestion, rememberOrWarn, requireAccepted, type TrustOptions } from './folder-trust.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';

const startTimeoutMs = 120_000;
const stopTimeoutMs = 15_000;
const pollMs = 100;
const maxOutputLength = 4_000;

/**
 * Starts the service of the data folder for the time of `run`, unless it runs already or an address was given. It applies no project and loads no
 * skills. For a plan it has a copy of the documents, runs no commands and contacts nothing; the data folder stays as it is. `run` gets the
 * options with which it finds the service.
 */
export async function withService<T>(
  options: ConnectionOptions & TrustOptions & { dryRun?: boolean },
  run: (options: ConnectionOptions) => Promise<T>,
): Promise<T> {
  const folder = dataFolderOf(process.env, options.data);
  const isGiven = Boolean(options.url ?? process.env.MONIKER_URL?.trim());
  if (isGiven || isInUse(folder.path)) return run(options);
  const question = dataFolderQuestion(folder);
  await requireAccepted(question === null ? [] : [question], options);
  printError(`No service is running in ${folder.path}: starting it for this command …`);
  if (options.dryRun) return await withPlanService(options, folder.path, run);
  return await withStarted(folder.path, 'command', {}, () => {
    if (folder.isFound) rememberOrWarn(() => trustDataFolder(folder.path, process.env), folder.path);
    return run(options);
  });
}

/** The service gets the keys of the data folder, which are not copied. */
async function withPlanService<T>(
  options: ConnectionOptions,
  dataDir: string,
  run: (options: ConnectionOptions) => Promise<T>,
): Promise<T> {
  const fault = await keyFault(dataDir, process.env);
  if (fault !== null) throw new StartFailure(fault);
  const copy = copyForPlan(dataDir);
  try {
    const keys = keyVariables(dataDir, process.env);
    const key = options.key ?? (process.env.MONIKER_KEY?.trim() || keys.MONIKER_ROOT_KEY);
    const found = { ...options, data: copy.path, ...(key !== undefined && { key }) };
    return await withStarted(copy.path, 'plan', keys, () => run(found));
  } finally {
    copy.remove();
  }
}

/** Starts a service in a folder that no service uses. */
async function withStarted<T>(
  dataDir: string,
  purpose: 'command' | 'plan',
  environment: Record<string, string>,
  run: () => Promise<T>,
): Promise<T> {
  // Of a service that was killed.
  removeLauncherFile(dataDir);
  const parameters = ['start', '--production', '--purpose', purpose, '--port', '0', '--data', dataDir];
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...parameters], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-maxOutputLength);
    });
  const ended = once(child, 'close');
  try {
    const deadline = Date.now() + startTimeoutMs;
    while (readLauncherFile(dataDir) === null) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
        throw new CommandFailure(
          `The service did not start: ${output.trim().replace(/^error: /, '') || 'no output'}`,
          'Fix this, or start it with `moniker start` and run the command again.',
        );
      await sleep(pollMs);
    }
    return await run();
  } finally {
    child.kill('SIGTERM');
    await withTimeout(systemClock, ended, stopTimeoutMs, () => undefined);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }
}
