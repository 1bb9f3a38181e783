/**
 * Detects that a server changed its identity. A server is identified by its URL and its name in this workspace, and what it calls itself
 * proves nothing; but if a different server responds at the URL, an administrator should review it before its tools are called.
 */
import { canonicalJson } from '../hash.ts';
import { identityChanged, type Finding } from '../tools/hold.ts';
import { quote } from '../names/names.ts';
import type { McpServer } from './server.ts';
import { impliedOAuth } from './server-oauth.ts';
import type { ServerConnection } from './server-state.ts';
import type { Warning } from '../problem.ts';

/**
 * Returns a finding if the name or the major version changed; null: unchanged, or nothing was known before. Minor versions change weekly,
 * and holding all tools for each would train administrators to accept without review.
 */
export function identityFinding(before: ServerConnection | null, after: ServerConnection | null): Finding | null {
  const [was, is] = [before?.server, after?.server];
  if (was === undefined || is === undefined) return null;
  if (was.name === is.name && majorOf(was.version) === majorOf(is.version)) return null;
  const message = `the server identifies itself as ${shown(is)}; before it was ${shown(was)}`;
  return { finding: identityChanged, path: '', message };
}

export function identityWarning(identityChange: Finding | null): Warning[] {
  return identityChange === null
    ? []
    : [{ path: 'url', message: `${identityChange.message}: its tools are held until an administrator accepts them` }];
}

/** The text itself if it has no number. */
function majorOf(version: string): string {
  return /\d+/.exec(version)?.[0] ?? version;
}

function shown({ name, version }: { name: string; version: string }): string {
  return `${quote(name)} ${quote(version)}`;
}

/** Returns whether URL and client are equal: a grant is for one URL and one client. A command (no URL) has no grant. */
export function isSameClient(one: Pick<McpServer, 'url' | 'oauth'>, other: Pick<McpServer, 'url' | 'oauth'>): boolean {
  if (one.url === undefined || other.url === undefined) return one.url === other.url;
  return (
    new URL(one.url).origin === new URL(other.url).origin &&
    canonicalJson(one.oauth ?? impliedOAuth) === canonicalJson(other.oauth ?? impliedOAuth)
  );
}
