/** The proof that a request comes from this machine: the token of the launcher, which is in a file of the data folder. */
import { equalInConstantTime } from '../core/constant-time.ts';
import type { Settings } from '../core/people/settings.ts';
import { launcherHeader } from '../core/servers/stdio.ts';
import type { AppContext } from './middleware/request-context.ts';

/** Options of a write that may set what programs are given: only with the proof, or if the operator allows it (`MONIKER_ALLOW_STDIO`). */
export function commandPermission(c: AppContext, settings: Settings): { mayRunCommands?: true } {
  const { launcher, allowStdio } = settings;
  return isFromLauncher(c, settings) || (launcher !== null && allowStdio) ? { mayRunCommands: true } : {};
}

export function isFromLauncher(c: AppContext, { launcher }: Pick<Settings, 'launcher'>): boolean {
  const given = c.req.header(launcherHeader);
  return launcher !== null && given !== undefined && equalInConstantTime(given, launcher.token);
}
