/**
 * The audit of a workspace over its logs: sends rows to the shards, merges the logs into one list, and checks one log after the other. A
 * shard is chosen by a hash of the session, or of the outermost call without one, so that a turn and a call with its nested calls use one
 * shard each. Readers ask every shard that ever had rows, so the number of shards may change.
 */
import type { AuditRow } from '../../../core/records/audit.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { limits } from '../../../core/limits/limits.ts';
import { byName, type MethodTable, objectClient } from '../../shared/object-client.ts';
import type { AuditShardPort, LogCheck, LogCheckRequest, LogHead, LogPage, LogRequest } from '../../../ports/audit-log.ts';
import type { Remote } from '../../../ports/remote.ts';
import type { AuditPort } from '../../../ports/audit.ts';
import type { CatalogPort } from '../../../ports/catalog.ts';
import { listLogs, whyUnreadable } from './audit-list.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { isCount } from '../../../core/json/wire-value.ts';
import { badCursor, decodeCursor, encodeCursor } from '../../../core/json/cursor.ts';
import { objectPlace } from '../../shared/object-place.ts';

/** Which shard an object is. */
export type ShardName = { workspace: string; shard: number };

/** The RPC interface of a shard's object: it belongs to one name and refuses others. */
export type AuditShardRpc = Remote<AuditShardPort, [name: ShardName]>;

/** One log: `changes` or the number of a shard. `head`: as the Catalog received it. */
export type AuditLogReader = {
  name: string;
  read(request: LogRequest): Promise<LogPage>;
  check(request: LogCheckRequest): Promise<LogCheck>;
  head?: LogHead;
};

const maxRowsPerAppend = 200;
const maxRowsPerCheck = 5_000;
const verifyList = 'audit-verify';

type Needs = {
  catalog: Pick<CatalogPort, 'auditHeads' | 'readAudit' | 'checkAudit'>;
  shards: number;
  shard(index: number): AuditShardPort;
};

/** `shards`: the number of shards for new rows. */
export function createAudit({ catalog, shards, shard }: Needs): AuditPort {
  const logs = async (): Promise<AuditLogReader[]> => {
    const heads = new Map(await catalog.auditHeads());
    const count = Math.max(shards, ...[...heads.keys()].map((index) => index + 1));
    return [
      { name: 'changes', read: (request) => catalog.readAudit(request), check: (request) => catalog.checkAudit(request) },
      ...Array.from({ length: count }, (_, index): AuditLogReader => {
        const head = heads.get(index);
        const port = shard(index);
        return { name: String(index), read: port.read, check: port.check, ...(head !== undefined && { head }) };
      }),
    ];
  };
  return {
    async append(rows) {
      if (rows.length > maxRowsPerAppend) throw invalidRequest([{ path: '', message: `at most ${maxRowsPerAppend} audit rows at a time` }]);
      const byShard = Map.groupBy(rows, (row) => shardOf(row, shards));
      await Promise.all(Array.from(byShard, ([index, own]) => shard(index).append(own)));
    },
    list: async (query) => await listLogs(await logs(), query),
    async verify(cursor) {
      const chains = await logs();
      const [startName, startNumber] = decodeCursor(verifyList, cursor, isPosition) ?? [null, 0];
      const answer: Awaited<ReturnType<AuditPort['verify']>> = { ok: true, checked: 0, logs: [], broken: null, nextCursor: null };
      const first = startName === null ? 0 : chains.findIndex(({ name }) => name === startName);
      if (first === -1) throw badCursor();
      for (const [index, { name, check, head }] of chains.entries()) {
        if (index < first) continue;
        const limit = maxRowsPerCheck - answer.checked;
        if (limit <= 0) return { ...answer, nextCursor: encodeCursor(verifyList, [name, 0]) };
        const after = index === first ? startNumber : 0;
        const request = { after, limit, ...(head !== undefined && { head }) };
        const { from, through, signed, retentionFault, isDone, ...found } = await check(request).catch(unreadable(request));
        const fault = found.fault === null ? null : { id: `${name}.${found.fault.number}`, log: name, ...found.fault };
        answer.logs.push({ log: name, from, through, signed, retentionFault, fault });
        answer.checked += Math.max(0, through - from + 1);
        answer.broken ??= fault;
        answer.ok &&= fault === null;
        // Later rows of a broken log prove nothing.
        if (!isDone && fault === null) return { ...answer, nextCursor: encodeCursor(verifyList, [name, through]) };
      }
      return answer;
    },
  };
}

/** What a check reports of a log that cannot be read. */
function unreadable({ after = 0, head }: LogCheckRequest): (error: unknown) => LogCheck {
  return (error) => {
    const number = after + 1;
    const fault = { number, through: Math.max(number, head?.number ?? 0), reason: 'unreadable', detail: whyUnreadable(error) } as const;
    return { from: number, through: after, signed: head?.number ?? 0, retentionFault: null, isDone: true, fault };
  };
}

/** The log and its last row that was checked. */
function isPosition(value: unknown): value is [name: string, number: number] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && isCount(value[1]);
}

/** FNV-1a. */
function shardOf({ session, callId }: AuditRow, shards: number): number {
  let hash = 0x811c9dc5;
  for (const character of session ?? callId.split('.', 1).join(''))
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash % shards;
}

/** Returns the audit of each workspace. `shards`: the number of shards for new rows. */
export function createAudits(
  bindings: Bindings,
  shards: number,
  catalog: (workspace: string) => CatalogPort,
): (workspace: string) => AuditPort {
  return (workspace) =>
    createAudit({ catalog: catalog(workspace), shards, shard: (shard) => createShardClient(bindings, { workspace, shard }) });
}

/** Rows that were stored by a lost attempt are not stored again. */
const shardMethods: MethodTable<AuditShardPort> = {
  append: { retry: true },
  read: { retry: true },
  check: { retry: true },
  renewSignatures: { retry: true },
};

/** Returns a shard's object as a port, with the timeout of the storage. */
export function createShardClient({ AUDIT_SHARD }: Pick<Bindings, 'AUDIT_SHARD'>, name: ShardName): AuditShardPort {
  const place = objectPlace(AUDIT_SHARD, name.workspace, 'audit-shard', String(name.shard));
  const binding = {
    ...place,
    what: `The audit shard ${name.shard}`,
    timeoutMs: limits.catalogTimeoutMs,
    send: byName<AuditShardPort, [ShardName]>(name),
  };
  return objectClient(binding, shardMethods);
}
