/** The check of every write and test that gives something to a program of this machine (`core/servers/launched-settings.ts`). */
import { Problem } from '../../../core/problem.ts';
import { noLauncher, unprovenCommand } from '../../../core/servers/stdio.ts';
import type { WriteOptions } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';

/** `changed`: what a program would see; empty: nothing. Throws `forbidden` unless the request has the launcher's proof. */
export function requireLauncher(context: Pick<CatalogContext, 'settings'>, changed: readonly string[], options: WriteOptions): void {
  if (changed.length === 0 || options.mayRunCommands === true) return;
  const named = changed.map((member) => `\`${member}\``);
  const list = named.length === 1 ? named[0] : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
  throw new Problem('forbidden', `This changes ${list} of a program. ${whyRefused(context)}`);
}

export function whyRefused({ settings }: Pick<CatalogContext, 'settings'>): string {
  return settings.launcher === null ? noLauncher : unprovenCommand;
}
