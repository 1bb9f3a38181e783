/** API keys: creates, lists, revokes and verifies them. Only hashes are stored. */
import { invalidRequest, Problem, parseInput } from '../../../core/problem.ts';
import { keyIdOfUser, KeyRequest, rootKeyId, Scope, userOfKeyId } from '../../../core/people/principal.ts';
import type { Agent } from '../../../core/turn/agent.ts';
import { type LimitedHolder, limitsAmong } from '../../../core/usage-limits.ts';
import type { Trigger } from '../../../core/turn/turn-trigger.ts';
import { triggerOfKey, triggerPrincipal } from '../../../core/triggers/trigger-principal.ts';
import type { KeyRecord } from '../../../core/people/key-view.ts';
import type { KeyRights, Page, PageRequest } from '../../../ports/catalog.ts';
import type { KeyVerdict } from '../client/catalog-methods.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import { equalInConstantTime } from '../../../core/constant-time.ts';
import { mintKey } from '../../../storage/keys/key-crypto.ts';
import { recordChange } from '../records/audit.ts';
import type { CatalogContext } from '../context.ts';
import { mergePatch } from '../../../core/json/merge-patch.ts';
import { callerLimits, readWorkspaceSettings } from '../documents/workspace-settings.ts';
import { findRow } from '../documents/documents.ts';
import { dropConnectionsOf } from '../servers/connections.ts';
import { memberRights } from '../documents/members.ts';
import { enqueueCancellation } from './key-cancellations.ts';
import {
  cacheOf,
  callerOf,
  columnsOf,
  limitsOf,
  requestOf,
  findKey,
  type KeyRow,
  previousSecrets,
  requireKey,
  requireNoWider,
  restrictionsOf,
  rightsOf,
  toRecord,
} from './key-rows.ts';

export const keyUseIntervalMs = 60_000;
const dayMs = 86_400_000;

/** The key itself is returned here only and cannot be read again. */
export async function createKey(context: CatalogContext, body: unknown, by: string): Promise<{ key: string; record: KeyRecord }> {
  const request = parseInput(KeyRequest, body);
  const now = context.now();
  const { expiryDays } = readWorkspaceSettings(context.sql).keys;
  const byDefault = expiryDays === null ? null : now + expiryDays * dayMs;
  const expiresAt = request.expiresAt === undefined ? byDefault : readExpiry(request, now);
  requireNoWider(context.sql, by, request);
  requireKeyCapacity(context.sql);
  const { key, id, hash } = await mintKey(context.master, context.workspace);
  const statement =
    'INSERT INTO keys (id, hash, created_at, expires_at, name, scopes, toolsets, agents, models, caller, limits, egress_hosts, ips, cache) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
  context.record(() => {
    context.sql.exec(statement, id, hash, now, expiresAt, ...columnsOf(request));
    recordChange(context, { by, action: 'create', resource: 'key', name: id });
  });
  return { key, record: toRecord(requireKey(context.sql, id), now) };
}

const maxKeys = 10_000;

function requireKeyCapacity(sql: SqlStorage): void {
  const { count } = sql.exec<{ count: number }>('SELECT count(*) AS count FROM keys WHERE revoked_at IS NULL').one();
  if (count >= maxKeys) throw new Problem('conflict', `The workspace already has ${count} keys (maximum: ${maxKeys}). Revoke one first.`);
}

/** A change applies to requests from then on, everywhere within `limits.principalTtlMs`; running turns keep their rights. */
export function patchKey(context: CatalogContext, id: string, patch: Readonly<Record<string, unknown>>, by: string): KeyRecord {
  if (id === rootKeyId) throw new Problem('conflict', 'The root key has every right, which cannot be changed.');
  const now = context.now();
  return context.record(() => {
    const row = requireKey(context.sql, id);
    if (row.revoked_at !== null) throw new Problem('conflict', 'The key was revoked. Create a new key.');
    const current = requestOf(row);
    requireNoWider(context.sql, by, current);
    const request = parseInput(KeyRequest, mergePatch(current, patch));
    requireNoWider(context.sql, by, request);
    const isKept = request.expiresAt === current.expiresAt;
    const expiresAt = isKept ? row.expires_at : readExpiry(request, now);
    const update =
      'UPDATE keys SET expires_at = ?, name = ?, scopes = ?, toolsets = ?, agents = ?, models = ?, caller = ?, limits = ?, egress_hosts = ?, ips = ?, cache = ? WHERE id = ?';
    context.sql.exec(update, expiresAt, ...columnsOf(request), id);
    recordChange(context, { by, action: 'update', resource: 'key', name: id });
    return toRecord(requireKey(context.sql, id), now);
  });
}

function readExpiry({ expiresAt }: KeyRequest, now: number): number | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  if (Date.parse(expiresAt) <= now) throw invalidRequest([{ path: 'expiresAt', message: 'is in the past' }]);
  return Date.parse(expiresAt);
}

/** Newest first. Revoked keys stay in the list while the audit names them (`catalog-sweep.ts`). */
export function listKeys({ sql, now }: CatalogContext, page: PageRequest): Page<KeyRecord> {
  const query = 'SELECT * FROM keys WHERE number < ? ORDER BY number DESC LIMIT ?';
  return newestFirst(
    'keys',
    page,
    (before, count) => sql.exec<KeyRow>(query, before, count),
    (row) => toRecord(row, now()),
  );
}

/** Throws `not_found`. */
export function readKey({ sql, now }: CatalogContext, id: string): KeyRecord {
  return toRecord(requireKey(sql, id), now());
}

/** Takes effect everywhere within `limits.principalTtlMs`. Revoking twice has no effect. `cancel`: its turns are ended, too. */
export function revokeKey(context: CatalogContext, id: string, { by, cancel }: { by: string; cancel: boolean }): void {
  if (id === rootKeyId) throw new Problem('conflict', 'The root key is set by MONIKER_ROOT_KEY. Change that setting to revoke it.');
  const { revoked_at: revokedAt, cancelled_at: cancelledAt } = requireKey(context.sql, id);
  const now = context.now();
  context.record(() => {
    if (revokedAt === null) {
      context.sql.exec('UPDATE keys SET revoked_at = ? WHERE id = ?', now, id);
      recordChange(context, { by, action: 'revoke', resource: 'key', name: id });
      dropConnectionsOf(context.sql, id);
    }
    if (!cancel || cancelledAt !== null) return;
    context.sql.exec('UPDATE keys SET cancelled_at = ? WHERE id = ?', now, id);
    enqueueCancellation(context, id);
  });
}

/** Returns what a key may do. Records its use, at most once in `keyUseIntervalMs`. */
export function verifyKey(context: CatalogContext, id: string, hash: string): KeyVerdict {
  const row = findKey(context.sql, id);
  if (row === null) return { refused: 'unknown' };
  const isCurrent = equalInConstantTime(row.hash, hash);
  const now = context.now();
  const previous = isCurrent ? [] : previousSecrets(row, now);
  const used = previous.find((secret) => equalInConstantTime(secret.hash, hash));
  if (!isCurrent && used === undefined) return { refused: row.rotated_at === null ? 'unknown' : 'rotated' };
  if (row.revoked_at !== null) return { refused: 'revoked' };
  if (row.expires_at !== null && row.expires_at <= now) return { refused: 'expired' };
  if (isDue(row.last_used_at, now)) context.sql.exec('UPDATE keys SET last_used_at = ? WHERE id = ?', now, id);
  if (used !== undefined && isDue(used.usedAt, now)) {
    used.usedAt = now;
    context.sql.exec('UPDATE keys SET previous = ? WHERE id = ?', JSON.stringify(previous), id);
  }
  const ends = [row.expires_at, used?.expiresAt ?? null].filter((end) => end !== null);
  return {
    principal: {
      workspace: context.workspace,
      keyId: id,
      ...rightsOf(row),
      ...callerOf(row),
      ...restrictionsOf(row),
      ...cacheOf(row),
      ...callerLimits(context.sql, limitsOf(row).limits),
    },
    expiresAt: ends.length === 0 ? null : Math.min(...ends),
  };
}

function isDue(usedAt: number | null, now: number): boolean {
  return usedAt === null || usedAt + keyUseIntervalMs <= now;
}

const maxLimitedHolders = 500;

/** Keys that are valid, newest first, and agents. */
export function limitedHoldersOf({ sql, workspace, now }: CatalogContext): LimitedHolder[] {
  const ofWorkspace = limitsAmong(readWorkspaceSettings(sql).limits);
  const keys = `SELECT * FROM keys WHERE limits IS NOT NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
    ORDER BY number DESC LIMIT ?`;
  const agents = `SELECT name, body FROM documents WHERE kind = 'agent' AND deleted = 0 AND body ->> '$.limits' IS NOT NULL ORDER BY name LIMIT ?`;
  return [
    ...(ofWorkspace === null ? [] : [{ of: 'workspace' as const, name: workspace, limits: ofWorkspace }]),
    ...[...sql.exec<KeyRow>(keys, now(), maxLimitedHolders)].map((row) => ({
      of: 'key' as const,
      name: row.id,
      limits: limitsOf(row).limits ?? {},
    })),
    ...[...sql.exec<{ name: string; body: string }>(agents, maxLimitedHolders)].flatMap(({ name, body }) => {
      // Agent bodies are written only by their writer.
      const limits = limitsAmong((JSON.parse(body) as Agent).limits);
      return limits === null ? [] : [{ of: 'agent' as const, name, limits }];
    }),
  ];
}

/** Returns whether the turns of this key must end: it was revoked with `cancel`. */
export function isKeyCancelled({ sql }: CatalogContext, id: string): boolean {
  return (findKey(sql, id)?.cancelled_at ?? null) !== null;
}

/** Returns null if the key was revoked, has expired or never existed, or if its trigger was removed. Does not record a use. */
export function keyRights(context: CatalogContext, id: string): KeyRights | null {
  // Also of an access token of the person who has the root key.
  if (id === rootKeyId || id === keyIdOfUser(rootKeyId)) return { scopes: Scope.options };
  const user = userOfKeyId(id);
  if (user !== null) return memberRights(context, user);
  const trigger = triggerOfKey(id);
  if (trigger !== null) return triggerRights(context, trigger);
  const row = findKey(context.sql, id);
  if (row === null || row.revoked_at !== null) return null;
  if (row.expires_at !== null && row.expires_at <= context.now()) return null;
  const { egressHosts } = restrictionsOf(row);
  return { ...rightsOf(row), ...(egressHosts !== undefined && { egressHosts }) };
}

/** The rights of the trigger's turns (`triggerPrincipal`), with its current agent. */
function triggerRights({ sql, workspace }: CatalogContext, trigger: Trigger): KeyRights | null {
  const row = findRow(sql, trigger.kind, trigger.name);
  if (row === null) return null;
  // Bodies of both kinds were parsed by their schemas when they were written, and name an agent.
  const { scopes, agents } = triggerPrincipal(workspace, trigger, row.body.agent as string);
  return { scopes, ...(agents !== undefined && { agents }) };
}
