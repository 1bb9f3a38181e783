/** The rows of API keys: how they are found, and what is shown of them. */
import type { KeyRequest, Scope } from '../../../core/people/principal.ts';
import type { CachePolicy } from '../../../core/model/cache/cache-policy.ts';
import { areIpsWithin } from '../../../core/ip-address.ts';
import { coversPattern } from '../../../core/model/model-name.ts';
import { areHostsWithin } from '../../../core/secrets/secret.ts';
import type { UsageLimits } from '../../../core/usage-limits.ts';
import { Problem, quoted } from '../../../core/problem.ts';
import type { KeyRecord } from '../../../core/people/key-view.ts';
import { isoTime } from '../documents/documents.ts';

export type KeyRow = {
  number: number;
  id: string;
  name: string;
  hash: string;
  scopes: string;
  toolsets: string | null;
  agents: string | null;
  caller: string | null;
  limits: string | null;
  models: string | null;
  egress_hosts: string | null;
  ips: string | null;
  cache: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  cancelled_at: number | null;
  rotated_at: number | null;
  previous: string | null;
};

/** A secret that was replaced and still works. */
export type PreviousSecret = { hash: string; expiresAt: number; usedAt: number | null };

export function findKey(sql: SqlStorage, id: string): KeyRow | null {
  return sql.exec<KeyRow>('SELECT * FROM keys WHERE id = ?', id).toArray()[0] ?? null;
}

export function requireKey(sql: SqlStorage, id: string): KeyRow {
  const row = findKey(sql, id);
  if (row === null) throw new Problem('not_found', `The key ${quoted(id)} does not exist.`);
  return row;
}

/** The lists were parsed by the schema when the key was written. */
export function rightsOf({ scopes, toolsets, agents }: KeyRow): Pick<KeyRecord, 'scopes' | 'toolsets' | 'agents'> {
  return {
    scopes: JSON.parse(scopes) as Scope[],
    ...(toolsets !== null && { toolsets: JSON.parse(toolsets) as string[] }),
    ...(agents !== null && { agents: JSON.parse(agents) as string[] }),
  };
}

export function callerOf({ caller }: KeyRow): Pick<KeyRecord, 'caller'> {
  return caller === null ? {} : { caller: JSON.parse(caller) as Record<string, string> };
}

export function limitsOf({ limits }: KeyRow): Pick<KeyRecord, 'limits'> {
  return limits === null ? {} : { limits: JSON.parse(limits) as UsageLimits };
}

export function cacheOf({ cache }: KeyRow): Pick<KeyRecord, 'cache'> {
  return cache === null ? {} : { cache: JSON.parse(cache) as CachePolicy };
}

/** Which models the key may use, what tools called with it may reach, and where requests with it may come from. */
export function restrictionsOf({ models, egress_hosts: hosts, ips }: KeyRow): Pick<KeyRecord, 'models' | 'egressHosts' | 'ips'> {
  return {
    ...(models !== null && { models: JSON.parse(models) as string[] }),
    ...(hosts !== null && { egressHosts: JSON.parse(hosts) as string[] }),
    ...(ips !== null && { ips: JSON.parse(ips) as string[] }),
  };
}

/** Throws `forbidden` if `wanted` is less restricted than the key that asks for it. `by`: the id of that key, or another actor. */
export function requireNoWider(sql: SqlStorage, by: string, wanted: Pick<KeyRequest, 'models' | 'egressHosts' | 'ips'>): void {
  const { models, egressHosts, ips } = restrictionsOfActor(sql, by);
  const rule = (field: string): string => `It creates, changes and rotates only keys whose \`${field}\` are within these.`;
  if (models !== undefined && wanted.models?.every((pattern) => coversPattern(models, pattern)) !== true)
    throw limited('models', models, rule('models'));
  if (ips !== undefined && (wanted.ips === undefined || !areIpsWithin(ips, wanted.ips))) throw limited('ips', ips, rule('ips'));
  if (egressHosts !== undefined && !areHostsWithin(egressHosts, wanted.egressHosts))
    throw limited('egressHosts', egressHosts, rule('egressHosts'));
}

/**
 * Throws `forbidden` if the key is restricted: what it writes or starts runs later, for others, and without its restrictions. `by`: as above.
 */
export function requireUnlimited(sql: SqlStorage, by: string): void {
  const rule =
    'It neither writes nor starts what runs without this limit: webhooks, schedules, callbacks, subscriptions and members. Use a key without `egressHosts`, `ips` and `models`.';
  for (const [field, own] of Object.entries(restrictionsOfActor(sql, by))) if (own !== undefined) throw limited(field, own, rule);
}

/** The restrictions of a key by its id; other actors have none. */
export function restrictionsOfActor(sql: SqlStorage, by: string): Pick<KeyRecord, 'models' | 'egressHosts' | 'ips'> {
  const row = findKey(sql, by);
  return row === null ? {} : restrictionsOf(row);
}

function limited(field: string, own: readonly string[], rule: string): Problem {
  return new Problem('forbidden', `This key is limited by its \`${field}\` (${own.join(', ') || 'none'}). ${rule}`);
}

/**
 * Returns the columns of what a request says, in the order `name, scopes, toolsets, agents, models, caller, limits, egressHosts, ips, cache`.
 */
export function columnsOf(request: KeyRequest): (string | null)[] {
  const { name, scopes, toolsets, agents, models, caller, limits, egressHosts, ips, cache } = request;
  const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
  const bindings = [json([...new Set(scopes)]), json(toolsets), json(agents), json(models)];
  return [name, ...bindings, json(caller), json(limits), json(egressHosts), json(ips), json(cache)];
}

/** Returns the key as a request would write it, for merge patches. */
export function requestOf(row: KeyRow): KeyRequest {
  return {
    name: row.name,
    ...rightsOf(row),
    ...callerOf(row),
    ...limitsOf(row),
    ...restrictionsOf(row),
    ...cacheOf(row),
    ...(row.expires_at !== null && { expiresAt: isoTime(row.expires_at) }),
  };
}

/** Returns the earlier secrets that still work, newest first. */
export function previousSecrets({ previous }: KeyRow, now: number): PreviousSecret[] {
  if (previous === null) return [];
  return (JSON.parse(previous) as PreviousSecret[]).filter(({ expiresAt }) => expiresAt > now);
}

export function toRecord(row: KeyRow, now: number): KeyRecord {
  const previous = previousSecrets(row, now);
  const latest = (times: readonly (number | null)[]): string | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : isoTime(Math.max(...known));
  };
  return {
    id: row.id,
    name: row.name,
    ...rightsOf(row),
    ...callerOf(row),
    ...limitsOf(row),
    ...restrictionsOf(row),
    ...cacheOf(row),
    createdAt: isoTime(row.created_at),
    expiresAt: latest([row.expires_at]),
    revokedAt: latest([row.revoked_at]),
    lastUsedAt: latest([row.last_used_at]),
    rotatedAt: latest([row.rotated_at]),
    previousExpiresAt: latest(previous.map(({ expiresAt }) => expiresAt)),
    previousUsedAt: latest(previous.map(({ usedAt }) => usedAt)),
  };
}
