/**
 * The audit of a workspace over its logs: sends rows to the shards, merges the logs into one list, and checks one log after the other. A
 * shard is chosen by a hash of the session, or of the outermost call without one, so that a turn and a call with its nested calls use one
 * shard each. Readers ask every shard that ever had rows, so the number of shards may change.
 */
import type { AuditRow } from '../core/audit.ts';
import { invalidRequest, unwrap, type Outcome } from '../core/problem.ts';
import { limits } from '../core/limits.ts';
import { getOrBuild, memoizeByObject } from '../core/memoize.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import type { AuditShardPort, LogCheck, LogCheckRequest, LogHead, LogPage, LogRequest, SignedAgain } from '../ports/audit-log.ts';
import type { AuditPort } from '../ports/audit.ts';
import type { CatalogPort } from '../ports/catalog.ts';
import { listLogs } from './audit-list.ts';
import type { Bindings } from './bindings.ts';
import { isRetryable } from './catalog-client.ts';
import { badCursor, decodeTextCursor, encodeCursor } from './cursor.ts';
import { objectName } from './keys.ts';

/** Which shard an object is. */
export type ShardName = { workspace: string; shard: number };

/** The RPC interface of a shard's object: it belongs to one name and refuses others. */
export interface AuditShardRpc {
  append(name: ShardName, rows: readonly AuditRow[]): Promise<Outcome<void>>;
  read(name: ShardName, request: LogRequest): Promise<Outcome<LogPage>>;
  check(name: ShardName, request: LogCheckRequest): Promise<Outcome<LogCheck>>;
  /** As `signHeadsAgain` in `audit-chain.ts`. */
  signAgain(name: ShardName, after: number): Promise<Outcome<SignedAgain>>;
}

/** One log: `changes`, `earlier` or the number of a shard. `head`: as the Catalog received it. */
export type AuditLogReader = {
  name: string;
  read(request: LogRequest): Promise<LogPage>;
  check: ((request: LogCheckRequest) => Promise<LogCheck>) | null;
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
      { name: 'changes', read: (request) => catalog.readAudit('changes', request), check: (request) => catalog.checkAudit(request) },
      ...Array.from({ length: count }, (_, index): AuditLogReader => {
        const head = heads.get(index);
        const port = shard(index);
        return { name: String(index), read: port.read, check: port.check, ...(head !== undefined && { head }) };
      }),
      { name: 'earlier', read: (request) => catalog.readAudit('earlier', request), check: null },
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
      const chains = (await logs()).filter(({ check }) => check !== null);
      const [startName, startNumber] = readPosition(cursor);
      const answer: Awaited<ReturnType<AuditPort['verify']>> = { ok: true, checked: 0, logs: [], broken: null, nextCursor: null };
      const first = startName === null ? 0 : chains.findIndex(({ name }) => name === startName);
      if (first === -1) throw badCursor();
      for (const [index, { name, check, head }] of chains.entries()) {
        if (index < first || check === null) continue;
        const limit = maxRowsPerCheck - answer.checked;
        if (limit <= 0) return { ...answer, nextCursor: encodeCursor(verifyList, `${name}:0`) };
        const after = index === first ? startNumber : 0;
        const { from, through, signed, retentionFault, fault, isDone } = await check({ after, limit, ...(head !== undefined && { head }) });
        answer.logs.push({ log: name, from, through, signed, retentionFault });
        answer.checked += Math.max(0, through - from + 1);
        if (fault !== null) return { ...answer, ok: false, broken: { id: `${name}.${fault.number}`, log: name, ...fault } };
        if (!isDone) return { ...answer, nextCursor: encodeCursor(verifyList, `${name}:${through}`) };
      }
      return answer;
    },
  };
}

/** Returns the log and the last checked row of a cursor of `verify`. */
function readPosition(cursor: string | undefined): [name: string | null, number: number] {
  const position = decodeTextCursor(verifyList, cursor);
  if (position === undefined) return [null, 0];
  const [, name, number] = /^(changes|\d{1,3}):(\d{1,15})$/.exec(position) ?? [];
  if (name === undefined) throw badCursor();
  return [name, Number(number)];
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

async function shardId(namespace: DurableObjectNamespace, { workspace, shard }: ShardName): Promise<DurableObjectId> {
  const ids = idsOf(namespace);
  const key = `${workspace} ${shard}`;
  const known = ids.get(key);
  if (known !== undefined) return known;
  const id = namespace.idFromName(await objectName(workspace, 'audit-shard', String(shard)));
  return getOrBuild(ids, key, limits.maxCachedNames, () => id);
}

const idsOf = memoizeByObject((_namespace: object) => new Map<string, DurableObjectId>());

/** Returns a shard's object as a port, with the timeout of the storage. */
export function createShardClient({ AUDIT_SHARD }: Pick<Bindings, 'AUDIT_SHARD'>, name: ShardName): AuditShardPort {
  const call = async <T>(work: (stub: AuditShardRpc) => Promise<Outcome<T>>): Promise<T> => {
    const id = await shardId(AUDIT_SHARD, name);
    const attempt = async (): Promise<Outcome<T>> => {
      // The class is on a higher floor, where `implements AuditShardRpc` is checked.
      const stub = AUDIT_SHARD.get(id) as unknown as AuditShardRpc;
      return await withTimeout(systemClock, work(stub), limits.catalogTimeoutMs, () => {
        throw new Error('the audit shard did not respond in time');
      });
    };
    // Rows that were stored by a lost attempt are not stored again.
    return unwrap(await attempt().catch((error: unknown) => (isRetryable(error) ? attempt() : Promise.reject(error))));
  };
  return {
    append: (rows) => call((stub) => stub.append(name, rows)),
    read: (request) => call((stub) => stub.read(name, request)),
    check: (request) => call((stub) => stub.check(name, request)),
    signAgain: (after) => call((stub) => stub.signAgain(name, after)),
  };
}
