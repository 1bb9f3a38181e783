/**
 * Finds the service that runs in a data folder, for commands that send it a key. The files of the folder are not believed by themselves: they
 * must be this user's, lead to this machine and to a process of this user, and the service must prove that it has the launcher's token.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { challengeHeader, proofHeader, proofOf } from '../../core/servers/service-proof.ts';
import type { DataFolder } from './environment.ts';
import { type Launcher, readSignedLauncherFile } from './launcher-file.ts';
import { readOwnFile, requireOwnFolder } from './own-file.ts';
import { isOwnProcess, isRunning, parseOwner } from './owner-file.ts';
import { isLoopbackAddress } from './port.ts';
import { StartFailure } from './start-failure.ts';
import { isTrustedDataFolder } from './trusted-folders.ts';

/** `fault`: why the service that the folder names is not used. */
export type FoundService = Launcher | { fault: string };

/** Returns null if none runs. Sends nothing. */
export function findRunningService(folder: DataFolder, environment: NodeJS.ProcessEnv): FoundService | null {
  const dataDir = folder.path;
  try {
    const file = join(dataDir, 'lock');
    const lock = readOwnFile(file);
    const owner = lock === null ? null : parseOwner(lock, file);
    if (owner === null || !isRunning(owner)) return null;
    requireOwnFolder(dataDir);
    if (!isTrustedDataFolder(folder, environment))
      return { fault: 'you have not started a service in it, so it may come from somebody else' };
    if (!isOwnProcess(owner)) return { fault: `${file} names process ${owner.pid}, which is not a service of this user` };
    const launcher = readSignedLauncherFile(dataDir);
    // It is starting, or stopping.
    if (launcher === null) return null;
    const url = localOrigin(launcher.url);
    return url === null ? { fault: `${launcher.url} is not an address of this machine only` } : { url, token: launcher.token };
  } catch (error) {
    if (error instanceof StartFailure) return { fault: error.message };
    throw error;
  }
}

/** Null: not a plain loopback address. */
function localOrigin(text: string): string | null {
  const url = URL.parse(text);
  const isPlain = url !== null && url.protocol === 'http:' && url.href === `${url.origin}/`;
  return isPlain && isLoopbackAddress(url.hostname) ? url.origin : null;
}

/**
 * Whether the service at the address has the token. Another program may have taken the port since the service ended. Rejects like `fetch` if
 * nothing responds.
 */
export async function hasToken({ url, token }: Launcher, signal: AbortSignal): Promise<boolean> {
  const challenge = randomBytes(32).toString('hex');
  const response = await fetch(`${url}/healthz`, { headers: { [challengeHeader]: challenge }, redirect: 'manual', signal });
  await response.body?.cancel();
  return equalInConstantTime(response.headers.get(proofHeader) ?? '', await proofOf(token, challenge));
}
