/** A service for one command: `moniker import file && moniker start` also works before the first start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningService } from '../local/data-lock.ts';
import { dataFolderOf } from '../local/environment.ts';
import { trustDataFolder } from '../local/trusted-folders.ts';
import { readLauncherFile, removeLauncherFile } from '../local/launcher-file.ts';
import type { ConnectionOptions } from './connection.ts';
import { CommandFailure } from './failure.ts';
import { dataFolderQuestion, rememberOr, requireAccepted, type TrustOptions } from './folder-trust.ts';

const startTimeoutMs = 120_000;
const stopTimeoutMs = 15_000;
const pollMs = 100;
const maxOutputLength = 4_000;

/** Starts the service of the data folder for the time of `run`, unless it runs already or an address was given. */
export async function withService<T>(options: ConnectionOptions & TrustOptions, run: () => Promise<T>): Promise<T> {
  const folder = dataFolderOf(process.env, options.data);
  const dataDir = folder.path;
  const isGiven = Boolean(options.url ?? process.env.MONIKER_URL?.trim());
  if (isGiven || runningService(dataDir) !== null) return run();
  const question = dataFolderQuestion(folder);
  await requireAccepted(question === null ? [] : [question], options);
  console.error(`No service is running in ${dataDir}: starting it for this command …`);
  // Of a service that was killed.
  removeLauncherFile(dataDir);
  const parameters = ['start', '--production', '--no-project', '--port', '0', '--data', dataDir];
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
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
    if (folder.isFound) rememberOr(() => trustDataFolder(dataDir, process.env), dataDir);
    return await run();
  } finally {
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(stopTimeoutMs, undefined, { ref: false })]);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }
}
