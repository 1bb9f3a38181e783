/** What a key may do as a draft of its form, and the merge patch of a change. Pure but for the clock. */
import type { components } from '../../../../client/src/index.ts';
import { isJsonRecord } from '../../text/json.ts';

type Key = components['schemas']['Key'];
export type KeyDraft = components['schemas']['KeyRequest'];

const fields = ['name', 'scopes', 'toolsets', 'agents', 'models', 'caller', 'egressHosts', 'ips', 'limits', 'cache'] as const;

/** Without the expiry, which the form asks for in days. */
export function draftOf(key: Key): KeyDraft {
  const { name, scopes } = key;
  const set = fields.flatMap((field) => (key[field] === undefined ? [] : [[field, key[field]] as const]));
  return { name, scopes, ...Object.fromEntries(set) };
}

/** Returns what to send with PATCH (RFC 7396), so that a document like `before` becomes `after`: members that are missing there are removed. */
export function mergePatchOf(before: object, after: object): Record<string, unknown> {
  const old: Record<string, unknown> = { ...before };
  const next: Record<string, unknown> = { ...after };
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  const changed = names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(next[name]));
  return Object.fromEntries(changed.map((name) => [name, memberPatch(old[name], next[name])]));
}

function memberPatch(old: unknown, next: unknown): unknown {
  if (next === undefined) return null;
  return isJsonRecord(old) && isJsonRecord(next) ? mergePatchOf(old, next) : next;
}

const dayMs = 86_400_000;
const soonMs = 7 * dayMs;

/** A number of days from now, `never`, or what is not said: the default of the workspace, and no change of an existing key. */
export function expiryOf(choice: string): { expiresAt?: string | null } {
  if (choice === '') return {};
  return { expiresAt: choice === 'never' ? null : new Date(Date.now() + Number(choice) * dayMs).toISOString() };
}

export function keyState({ revokedAt, expiresAt }: Key): 'revoked' | 'expired' | 'active' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

/** In how many days an active key expires, if that is within a week; else null. */
export function daysLeft(key: Key): number | null {
  if (keyState(key) !== 'active' || key.expiresAt === null) return null;
  const left = Date.parse(key.expiresAt) - Date.now();
  return left <= soonMs ? Math.floor(left / dayMs) : null;
}

/** The agents and toolsets that a key or a member is bound to, as text. */
export function bindingsOf({ toolsets = [], agents = [] }: Pick<Key, 'toolsets' | 'agents'>, none = 'nothing'): string {
  const names = [...agents.map((name) => `agent ${name}`), ...toolsets.map((name) => `toolset ${name}`)];
  return names.length === 0 ? none : names.join(', ');
}
