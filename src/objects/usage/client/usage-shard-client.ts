/**
 * The usage shards of a workspace: their interface and their client. They store its usage, and note its objects that no list has
 * (`workspace-objects.ts`).
 */
import { limits } from '../../../core/limits/limits.ts';
import type { LoggedRequest, RequestEntry, UsageReport } from '../../../core/records/usage.ts';
import { type MethodTable, objectClient } from '../../shared/object-client.ts';
import type { RequestQuery, UsageQuery } from '../../../ports/usage.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { objectPlace } from '../../shared/object-place.ts';

/** Enough for thousands of requests a second; each read asks all of them. */
export const usageShardCount = 4;

export const firstCounts = [
  ...(['calls', 'failures', 'duration_ms', 'input', 'cached', 'cache_write', 'output', 'reasoning'] as const),
  ...(['cost', 'priced', 'unpriced', 'unreported'] as const),
] as const;
/** Of replies from the cache; earlier rows have none. */
export const savedCounts = ['cached_calls', 'saved_cost', 'saved_tokens'] as const;
export const countNames = [...firstCounts, ...savedCounts] as const;
/** `overcount` and `last`: of calls of tools. `toolCost`: what they cost, in sums of models. */
export type Sums = Record<(typeof countNames)[number], number> & { toolCost?: number; overcount?: number; last?: string };
/** `who`: see `UsageQuery`. */
export type SumRow = { group: string[]; sums: Sums; who?: { agents: string[]; keys: string[] } };

/** Rows of a list are ordered by time, then by id. */
export type Position = readonly [at: number, id: string];

/** `session`: by the id of the session; the others by the name of the object. */
export type ObjectKind = 'session' | 'mcp-session' | 'limits';
export type NotedObject = { kind: ObjectKind; id: string };

export interface UsageShardPort {
  record(workspace: string, reports: readonly UsageReport[]): Promise<void>;
  /** Returns the first `limit` groups after `after`, and the sums of all groups; null with `who`. */
  sums(query: Omit<UsageQuery, 'cursor'>, after: readonly string[] | null): Promise<{ rows: SumRow[]; totals: Sums | null }>;
  /** Returns rows before `before`, newest first. `readTo`: where reading ended; null: at the end of the list. */
  requests(query: Omit<RequestQuery, 'cursor'>, before: Position | null): Promise<{ items: RequestEntry[]; readTo: Position | null }>;
  request(id: string): Promise<LoggedRequest[]>;
  withBodies(ids: readonly string[]): Promise<string[]>;
  /** Returns false if the workspace does not exist, or is being deleted. */
  noteObject(workspace: string, object: NotedObject, until: number): Promise<boolean>;
  /** From now on, nothing is noted or recorded. Returns some of the noted objects, and how many there are. */
  closeWorkspace(workspace: string, limit: number): Promise<{ objects: NotedObject[]; count: number }>;
  forgetObjects(ids: readonly string[]): Promise<void>;
}

/** A report is counted once, and the same note replaces itself. */
const safe = { retry: true } as const;

const methods: MethodTable<UsageShardPort> = {
  ...{ record: safe, sums: safe, requests: safe, request: safe, withBodies: safe },
  ...{ noteObject: safe, closeWorkspace: safe, forgetObjects: safe },
};

export function usageShard({ USAGE }: Pick<Bindings, 'USAGE'>, workspace: string, shard: number): UsageShardPort {
  const place = objectPlace(USAGE, workspace, 'usage', String(shard));
  return objectClient({ ...place, what: `The usage shard ${shard}`, timeoutMs: limits.catalogTimeoutMs }, methods);
}
