/**
 * Who answers at a server's address. What a server calls itself is no proof of anything: it is known by its address, and by its name in
 * this workspace. But where another thing answers than did before, a person should look at it before its tools are called.
 */
import type { Finding } from '../listing/hold.ts';
import { quote } from '../names.ts';
import type { ServerConnection } from './server-state.ts';
import type { Warning } from '../warning.ts';

export const otherServer = 'other-server';

/**
 * null: the same as before, as far as it says, or nothing was known. Another name, or another first number of its version, which is how
 * releases that break things are told; the smaller ones come weekly, and holding all tools for each would teach people to accept unseen.
 */
export function strangerFinding(before: ServerConnection | null, after: ServerConnection | null): Finding | null {
  const [was, is] = [before?.server, after?.server];
  if (was === undefined || is === undefined) return null;
  if (was.name === is.name && majorOf(was.version) === majorOf(is.version)) return null;
  const message = `the server calls itself ${shown(is)} now, and was ${shown(was)} before`;
  return { finding: otherServer, path: '', message };
}

export function strangerWarning(stranger: Finding | null): Warning[] {
  return stranger === null ? [] : [{ path: 'url', message: `${stranger.message}: its tools are held until somebody accepts them` }];
}

/** As a text where there is no number. */
function majorOf(version: string): string {
  return /\d+/.exec(version)?.[0] ?? version;
}

function shown({ name, version }: { name: string; version: string }): string {
  return `${quote(name)} ${quote(version)}`;
}
