/** API keys: creates, lists, revokes and verifies them. Only hashes are stored. */
import { parseDocument } from '../../core/issues.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { isAllowed } from '../../core/authority.ts';
import { KeyRequest, rootKeyId, Scope } from '../../core/principal.ts';
import type { Trigger } from '../../core/triggers/delivery.ts';
import { triggerOfKey, triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { KeyRecord, KeyRights, Page, PageRequest } from '../../ports/catalog.ts';
import type { KeyVerdict } from '../../storage/catalog-methods.ts';
import { newestFirst } from '../../storage/cursor.ts';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { mintKey } from '../../storage/key-crypto.ts';
import { recordChange } from '../records/audit.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, isoTime } from '../documents/documents.ts';
import { enqueueCancellation } from './key-cancellations.ts';

export const keyUseIntervalMs = 60_000;

/** The key itself is returned here only and cannot be read again. */
export async function createKey(context: CatalogContext, body: unknown, by: string): Promise<{ key: string; record: KeyRecord }> {
  const request = parseDocument(KeyRequest, body);
  const now = context.now();
  const expiresAt = request.expiresAt === undefined ? null : Date.parse(request.expiresAt);
  if (expiresAt !== null && expiresAt <= now) throw invalidRequest([{ path: 'expiresAt', message: 'is in the past' }]);
  const { key, id, hash } = await mintKey(context.master, context.workspace);
  const { name, scopes, toolsets, agents, caller } = request;
  const texts = [[...new Set(scopes)], toolsets, agents, caller].map((value) => (value === undefined ? null : JSON.stringify(value)));
  const statement =
    'INSERT INTO keys (id, name, hash, scopes, toolsets, agents, caller, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
  context.record(() => {
    context.sql.exec(statement, id, name, hash, ...texts, now, expiresAt);
    recordChange(context, { by, action: 'create', resource: 'key', name: id });
  });
  return { key, record: toRecord(requireKey(context.sql, id)) };
}

/** Newest first. Revoked keys stay in the list while the audit names them (`catalog-sweep.ts`). */
export function listKeys({ sql }: CatalogContext, page: PageRequest): Page<KeyRecord> {
  const query = 'SELECT * FROM keys WHERE number < ? ORDER BY number DESC LIMIT ?';
  return newestFirst('keys', page, (before, count) => sql.exec<KeyRow>(query, before, count), toRecord);
}

/** Throws `not_found`. */
export function readKey({ sql }: CatalogContext, id: string): KeyRecord {
  return toRecord(requireKey(sql, id));
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
    }
    if (!cancel || cancelledAt !== null) return;
    context.sql.exec('UPDATE keys SET cancelled_at = ? WHERE id = ?', now, id);
    enqueueCancellation(context, id);
  });
}

/** Returns what a key may do. Records its use, at most once in `keyUseIntervalMs`. */
export function verifyKey(context: CatalogContext, id: string, hash: string): KeyVerdict {
  const row = findKey(context.sql, id);
  if (row === null || !equalInConstantTime(row.hash, hash)) return { refused: 'unknown' };
  if (row.revoked_at !== null) return { refused: 'revoked' };
  const now = context.now();
  if (row.expires_at !== null && row.expires_at <= now) return { refused: 'expired' };
  if (row.last_used_at === null || row.last_used_at + keyUseIntervalMs <= now) {
    context.sql.exec('UPDATE keys SET last_used_at = ? WHERE id = ?', now, id);
  }
  return { principal: { workspace: context.workspace, keyId: id, ...rightsOf(row), ...callerOf(row) }, expiresAt: row.expires_at };
}

/** Returns whether the key is still valid (not revoked, not expired) and has the scope. Does not record a use. */
export function isKeyActive(context: CatalogContext, id: string, scope: Scope): boolean {
  const rights = keyRights(context, id);
  return rights !== null && isAllowed(rights, { act: 'use-scope', scopes: [scope] });
}

/** Returns whether the turns of this key must end: it was revoked with `cancel`. */
export function isKeyCancelled({ sql }: CatalogContext, id: string): boolean {
  return (findKey(sql, id)?.cancelled_at ?? null) !== null;
}

/** Returns null if the key was revoked, has expired or never existed, or if its trigger was removed. Does not record a use. */
export function keyRights(context: CatalogContext, id: string): KeyRights | null {
  if (id === rootKeyId) return { scopes: Scope.options };
  const trigger = triggerOfKey(id);
  if (trigger !== null) return triggerRights(context, trigger);
  const row = findKey(context.sql, id);
  if (row === null || row.revoked_at !== null) return null;
  if (row.expires_at !== null && row.expires_at <= context.now()) return null;
  return rightsOf(row);
}

/** The rights of the trigger's turns (`triggerPrincipal`), with its current agent. */
function triggerRights({ sql, workspace }: CatalogContext, trigger: Trigger): KeyRights | null {
  const row = findRow(sql, trigger.kind, trigger.name);
  if (row === null) return null;
  // Bodies of both kinds were parsed by their schemas when they were written, and name an agent.
  const { scopes, agents } = triggerPrincipal(workspace, trigger, row.body.agent as string);
  return { scopes, ...(agents !== undefined && { agents }) };
}

type KeyRow = {
  number: number;
  id: string;
  name: string;
  hash: string;
  scopes: string;
  toolsets: string | null;
  agents: string | null;
  caller: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  cancelled_at: number | null;
};

function findKey(sql: SqlStorage, id: string): KeyRow | null {
  return sql.exec<KeyRow>('SELECT * FROM keys WHERE id = ?', id).toArray()[0] ?? null;
}

function requireKey(sql: SqlStorage, id: string): KeyRow {
  const row = findKey(sql, id);
  if (row === null) throw new Problem('not_found', `The key ${JSON.stringify(id.slice(0, 64))} does not exist.`);
  return row;
}

/** The lists were parsed by the schema when the key was created. */
function rightsOf({ scopes, toolsets, agents }: KeyRow): Pick<KeyRecord, 'scopes' | 'toolsets' | 'agents'> {
  return {
    scopes: JSON.parse(scopes) as Scope[],
    ...(toolsets !== null && { toolsets: JSON.parse(toolsets) as string[] }),
    ...(agents !== null && { agents: JSON.parse(agents) as string[] }),
  };
}

function callerOf({ caller }: KeyRow): Pick<KeyRecord, 'caller'> {
  return caller === null ? {} : { caller: JSON.parse(caller) as Record<string, string> };
}

function toRecord(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    ...rightsOf(row),
    ...callerOf(row),
    createdAt: isoTime(row.created_at),
    expiresAt: row.expires_at === null ? null : isoTime(row.expires_at),
    revokedAt: row.revoked_at === null ? null : isoTime(row.revoked_at),
    lastUsedAt: row.last_used_at === null ? null : isoTime(row.last_used_at),
  };
}
