/**
 * The publications of documents to KV (contract §4). A write adds a row in its transaction; publishing always writes the newest state of that name, so
 * that late retries never restore an old one. At most one publish per name at a time and one per second; failures are retried by the alarm,
 * with growing delays, until they succeed.
 */
import { limits } from '../../../core/limits/limits.ts';
import type { DocumentKind } from '../../../ports/catalog.ts';
import { isInternalToolset } from '../../../core/made/made-toolset.ts';
import { kvKeys } from '../../../storage/keys.ts';
import { builtinProvider } from '../../../storage/providers.ts';
import { publishedFormat } from '../../../storage/published-values.ts';
import type { PublishedKind, PublishedPointer, PublishedTombstone, PublishedValues } from '../../../storage/published-values.ts';
import { withTimeout } from '../../../engine/timeout.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { CatalogContext } from '../context.ts';
import { type DueJob, DueRows, dueTime } from '../../shared/due-job.ts';
import { readRow } from '../documents/documents.ts';
import { editionPublishedAt, markEditionPublished, readEditionText } from '../toolsets/editions.ts';
import { readStanding, versionRow } from '../toolsets/toolset-versions.ts';
import { backoffMs } from '../../../core/limits/backoff.ts';

export const publishTimeoutMs = 15_000;
/** KV may return an old value, or none, for about this long after a write. A miss later than that is a loss. */
const publishSettleMs = 5 * 60_000;
const maxPublishesPerAlarm = 50;
/** A tombstone saves readers of a deleted name a Catalog lookup; after it expires, a miss costs one. */
const tombstoneTtlSeconds = 86_400;

/** What is published together under one name. */
export type PublicationKind = 'toolset' | 'members' | PublishedKind;

/** The kinds that a write of a document changes. Toolsets are published by their compiler. */
const publishedBy: Partial<Record<DocumentKind, readonly (PublishedKind | 'members')[]>> = {
  agent: ['agent'],
  skill: ['skill'],
  webhook: ['hook'],
  provider: ['provider', 'providers'],
  secret: ['secret'],
  server: ['server', 'offers'],
  policy: ['rules'],
  'known-host': ['rules'],
  'model-alias': ['model-aliases'],
  subscription: ['subscriptions'],
  member: ['members'],
  workspace: ['settings', 'rules'],
};

/** The document that a published value belongs to. Absent: the workspace has one value, of all documents of a kind. */
export const documentKindOf: Partial<Record<PublicationKind, DocumentKind>> = {
  toolset: 'toolset',
  hook: 'webhook',
  agent: 'agent',
  skill: 'skill',
  provider: 'provider',
  secret: 'secret',
  server: 'server',
  offers: 'server',
};

/** What programs of the launcher are started from. */
const ofPrograms: ReadonlySet<PublicationKind> = new Set(['server', 'secret', 'workspace-status']);

/** Call in the transaction of a write to this document: enqueues what it changes. */
export function enqueueDocument(context: CatalogContext, kind: DocumentKind, name: string): void {
  for (const published of publishedBy[kind] ?? []) enqueuePublish(context, published, documentKindOf[published] === undefined ? '' : name);
}

/** Call in a write's transaction. */
export function enqueuePublish(context: CatalogContext, kind: PublicationKind, name: string): void {
  const statement = `INSERT INTO publications (kind, name, sequence, attempts, due_at) VALUES (?, ?, 1, 0, ?)
    ON CONFLICT (kind, name) DO UPDATE SET sequence = sequence + 1, attempts = 0, due_at = min(due_at, excluded.due_at)`;
  context.sql.exec(statement, kind, name, context.now());
}

/**
 * Writes a name again that is missing in KV, including the edition of a toolset. Skipped shortly after a write or publish, when KV may not
 * be consistent everywhere yet.
 */
export function enqueueRepublish(context: CatalogContext, kind: PublicationKind, name: string, settleMs = publishSettleMs): void {
  const settled = context.now() - settleMs;
  const document = documentKindOf[kind];
  const row = document === undefined ? null : readRow(context.sql, document, name);
  if ((row?.updatedAt ?? 0) > settled || (document !== undefined && row === null && !isReadWhenMissing(context, kind, name))) return;
  const hash = kind === 'toolset' && row !== null ? (versionRow(context.sql, name, row.version)?.hash ?? null) : null;
  if (hash !== null) {
    if ((editionPublishedAt(context.sql, hash) ?? 0) > settled) return;
    markEditionPublished(context.sql, hash, null);
  } else if (!isFirstSince(settled, context, `${kind}:${name}`)) return;
  enqueuePublish(context, kind, name);
}

/** Whether its absence is published too, because it is read often: a built-in provider, and the made tools of a key. */
function isReadWhenMissing({ settings }: CatalogContext, kind: PublicationKind, name: string): boolean {
  return kind === 'provider' ? builtinProvider(settings, name) !== null : kind === 'toolset' && isInternalToolset(name);
}

/** Times of publications that readers asked for. Lives as long as the object of the context. */
const republications = new WeakMap<CatalogContext, Map<string, number>>();

function isFirstSince(settled: number, context: CatalogContext, key: string): boolean {
  const times = republications.get(context) ?? new Map<string, number>();
  republications.set(context, times);
  for (const [known, at] of times) if (at <= settled || times.size >= limits.maxCachedNames) times.delete(known);
  if (times.has(key)) return false;
  times.set(key, context.now());
  return true;
}

/** Returns a value as it is now; null if it does not exist. */
type ReadValue = (context: CatalogContext, kind: PublishedKind, name: string) => PublishedValues[PublishedKind] | null;

type PublisherTargets = {
  kv(): KVNamespace;
  read: ReadValue;
  /** Notifies the launcher that programs may have to end. */
  programsChanged(): void;
  /** Tells the workspace `default` who the members of this workspace are. */
  publishMembers(): Promise<void>;
  wake(): Promise<void>;
};

/**
 * Publishes at most `maxPublishesPerAlarm` names at a time. `wake` is called when a row was added outside of a write and the alarm.
 */
export function createPublisher(context: CatalogContext, own: PublisherTargets): DueJob {
  const publishedAt = new Map<string, number>();

  const publishOne = async (row: PublicationRow): Promise<void> => {
    const key = `${row.kind}:${row.name}`;
    const published = publishedAt.get(key) ?? 0;
    const earliest = published + limits.publishIntervalMs;
    // A time in the future comes from a wrong clock.
    if (earliest > context.now() && published <= context.now()) return postpone(context, row, row.attempts, earliest);
    const publishing = publish(context, own, row);
    await withTimeout(systemClock, publishing, publishTimeoutMs, () => {
      const failed = (cause: unknown): void => context.log.error('could not set the alarm for a late publish', { cause: String(cause) });
      void republishAfterLateWrite(publishing, row).catch(failed);
      throw new Error('KV write timed out');
    });
    remember(publishedAt, key, context.now());
    // A write during the publish has raised the sequence: its row stays, and is due after the interval.
    context.sql.exec('DELETE FROM publications WHERE kind = ? AND name = ? AND sequence = ?', row.kind, row.name, row.sequence);
    const left = readPublication(context, row);
    if (left !== null) postpone(context, left, 0, context.now() + limits.publishIntervalMs);
  };

  /** A publish that timed out may still reach KV, after a newer state. The newest state is then written again. */
  const republishAfterLateWrite = async (publishing: Promise<void>, { kind, name }: PublicationRow): Promise<void> => {
    try {
      await publishing;
    } catch {
      // It did not reach KV; the retry was already scheduled at the timeout.
      return;
    }
    enqueuePublish(context, kind, name);
    await own.wake();
  };

  const due = (count: number): PublicationRow[] => {
    const query = 'SELECT kind, name, sequence, attempts FROM publications WHERE due_at <= ? ORDER BY due_at LIMIT ?';
    return context.sql.exec<PublicationRow>(query, context.now(), count).toArray();
  };
  const rows = new DueRows<PublicationRow>({
    ...{ log: context.log, due, work: publishOne, atOnce: maxPublishesPerAlarm, perRun: maxPublishesPerAlarm },
    nextDue: () => dueTime(context.sql, 'SELECT min(due_at) AS due FROM publications'),
    id: ({ kind, name }) => `${kind}:${name}`,
    failed: (row, error) => {
      const attempts = row.attempts + 1;
      context.log.error('publishing failed; it will be retried', { kind: row.kind, name: row.name, attempts, cause: String(error) });
      const delayMs = backoffMs({ firstMs: limits.publishIntervalMs, maxMs: limits.maxPublishBackoffMs }, attempts);
      postpone(context, row, attempts, context.now() + delayMs);
    },
  });
  return {
    nextDue: () => rows.nextDue(),
    runDue: async () => {
      if (due(maxPublishesPerAlarm).some(({ kind }) => ofPrograms.has(kind))) own.programsChanged();
      await rows.runDue();
    },
  };
}

type PublicationRow = { kind: PublicationKind; name: string; sequence: number; attempts: number };

function readPublication(context: CatalogContext, { kind, name }: PublicationRow): PublicationRow | null {
  const query = 'SELECT kind, name, sequence, attempts FROM publications WHERE kind = ? AND name = ?';
  return context.sql.exec<PublicationRow>(query, kind, name).toArray()[0] ?? null;
}

function postpone(context: CatalogContext, { kind, name }: PublicationRow, attempts: number, dueAt: number): void {
  context.sql.exec('UPDATE publications SET attempts = ?, due_at = ? WHERE kind = ? AND name = ?', attempts, dueAt, kind, name);
}

async function publish(context: CatalogContext, own: PublisherTargets, { kind, name }: PublicationRow): Promise<void> {
  if (kind === 'members') return await own.publishMembers();
  const kv = own.kv();
  if (kind === 'toolset') return await publishToolset(context, kv, name);
  const document = documentKindOf[kind];
  const version = document === undefined ? 0 : (readRow(context.sql, document, name)?.version ?? 0);
  const value = own.read(context, kind, name);
  const key = kvKeys.published(kind, context.workspace, name);
  if (value === null) return await putTombstone(kv, key, version);
  await kv.put(key, JSON.stringify({ format: publishedFormat, version, [kind]: value }));
}

/** Publishes the edition first: a pointer must never name an edition that readers cannot find. */
async function publishToolset(context: CatalogContext, kv: KVNamespace, name: string): Promise<void> {
  const { sql, workspace } = context;
  const row = readRow(sql, 'toolset', name);
  const key = kvKeys.toolset(workspace, name);
  const compiled = row === null || row.deleted ? null : versionRow(sql, name, row.version);
  if (row === null || compiled === null || compiled.hash === null) return putTombstone(kv, key, row?.version ?? 0);
  const { hash, revision } = compiled;
  if (editionPublishedAt(sql, hash) === null) {
    await kv.put(kvKeys.edition(workspace, hash), readEditionText(sql, hash));
    markEditionPublished(sql, hash, context.now());
  }
  const pointer: PublishedPointer = { format: publishedFormat, version: row.version, revision, hash, ...readStanding(sql, row) };
  await kv.put(key, JSON.stringify(pointer));
}

async function putTombstone(kv: KVNamespace, key: string, version: number): Promise<void> {
  const tombstone: PublishedTombstone = { format: publishedFormat, version, deleted: true };
  await kv.put(key, JSON.stringify(tombstone), { expirationTtl: tombstoneTtlSeconds });
}

/** Only the interval matters, so older times are dropped. */
function remember(publishedAt: Map<string, number>, key: string, now: number): void {
  for (const [known, at] of publishedAt) if (at + limits.publishIntervalMs <= now) publishedAt.delete(known);
  publishedAt.set(key, now);
}
