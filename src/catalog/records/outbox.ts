/**
 * The outbox of KV writes (contract §4). A write adds a row in its transaction; publishing always writes the newest state of that name, so
 * that late retries never restore an old one. At most one publish per name at a time and one per second; failures are retried by the alarm,
 * with growing delays, until they succeed.
 */
import type { Agent } from '../../core/agent.ts';
import { limits } from '../../core/limits.ts';
import type { Skill } from '../../core/skills/skill.ts';
import type { WebhookDocument } from '../../core/triggers/webhook.ts';
import type { DocumentKind } from '../../ports/catalog.ts';
import { kvKeys, publishedFormat } from '../../storage/keys.ts';
import type { PublishedAgent, PublishedHook, PublishedPointer, PublishedSkill, PublishedTombstone } from '../../storage/keys.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { CatalogContext, Job } from '../context.ts';
import { type DocumentRow, readRow } from '../documents/documents.ts';
import { editionPublishedAt, markEditionPublished, readEditionText } from '../toolsets/editions.ts';
import { versionRow } from '../toolsets/toolset-versions.ts';

export const publishTimeoutMs = 15_000;
/** KV may return an old value, or none, for about this long after a write. A miss later than that is a loss. */
const publishSettleMs = 5 * 60_000;
const maxPublishesPerAlarm = 50;
/** A tombstone saves readers of a deleted name a Catalog lookup; after it expires, a miss costs one. */
const tombstoneTtlSeconds = 86_400;

export type PublishedKind = 'toolset' | 'agent' | 'skill' | 'webhook';

/** Kinds whose complete documents are published. */
type WholeKind = Exclude<PublishedKind, 'toolset'>;

export function isPublishedWhole(kind: DocumentKind): kind is WholeKind {
  return kind === 'agent' || kind === 'skill' || kind === 'webhook';
}

/** Call in a write's transaction. */
export function enqueuePublish(context: CatalogContext, kind: PublishedKind, name: string): void {
  const statement = `INSERT INTO outbox (kind, name, sequence, attempts, due_at) VALUES (?, ?, 1, 0, ?)
    ON CONFLICT (kind, name) DO UPDATE SET sequence = sequence + 1, attempts = 0, due_at = min(due_at, excluded.due_at)`;
  context.sql.exec(statement, kind, name, context.now());
}

/**
 * Writes a name again that is missing in KV, including the edition of a toolset. Skipped shortly after a write or publish, when KV may not
 * be consistent everywhere yet.
 */
export function enqueueRepublish(context: CatalogContext, kind: PublishedKind, name: string): void {
  const settled = context.now() - publishSettleMs;
  const row = readRow(context.sql, kind, name);
  if (row === null || row.updatedAt > settled) return;
  const hash = kind === 'toolset' ? (versionRow(context.sql, name, row.version)?.hash ?? null) : null;
  if (hash !== null) {
    if ((editionPublishedAt(context.sql, hash) ?? 0) > settled) return;
    markEditionPublished(context.sql, hash, null);
  }
  enqueuePublish(context, kind, name);
}

/**
 * Publishes at most `maxPublishesPerAlarm` names at a time. `wake` is called when a row was added outside of a write and the alarm.
 */
export function createOutbox(context: CatalogContext, kv: () => KVNamespace, wake: () => Promise<void>): Job {
  const inFlight = new Map<string, Promise<void>>();
  const publishedAt = new Map<string, number>();

  const publishOne = async (row: OutboxRow): Promise<void> => {
    const key = `${row.kind}:${row.name}`;
    const earliest = (publishedAt.get(key) ?? 0) + limits.publishIntervalMs;
    if (earliest > context.now()) return postpone(context, row, row.attempts, earliest);
    const publishing =
      row.kind === 'toolset' ? publishToolset(context, kv(), row.name) : publishDocument(context, kv(), row.kind, row.name);
    let isLate = false;
    const late = (): never => {
      isLate = true;
      throw new Error('KV write timed out');
    };
    try {
      await withTimeout(systemClock, publishing, publishTimeoutMs, late);
      remember(publishedAt, key, context.now());
      // A write during the publish has raised the sequence: its row stays, and is due after the interval.
      context.sql.exec('DELETE FROM outbox WHERE kind = ? AND name = ? AND sequence = ?', row.kind, row.name, row.sequence);
      const left = readOutbox(context, row);
      if (left !== null) postpone(context, left, 0, context.now() + limits.publishIntervalMs);
    } catch (error) {
      const attempts = row.attempts + 1;
      context.log.error('publishing failed; it will be retried', { kind: row.kind, name: row.name, attempts, cause: String(error) });
      postpone(
        context,
        row,
        attempts,
        context.now() + Math.min(limits.publishIntervalMs * 2 ** (attempts - 1), limits.maxPublishBackoffMs),
      );
      if (isLate) {
        const failed = (cause: unknown): void => context.log.error('could not set the alarm for a late publish', { cause: String(cause) });
        void republishAfterLateWrite(publishing, row).catch(failed);
      }
    }
  };

  /** A publish that timed out may still reach KV, after a newer state. The newest state is then written again. */
  const republishAfterLateWrite = async (publishing: Promise<void>, { kind, name }: OutboxRow): Promise<void> => {
    try {
      await publishing;
    } catch {
      // It did not reach KV; the retry was already scheduled at the timeout.
      return;
    }
    enqueuePublish(context, kind, name);
    await wake();
  };

  return {
    runDue: async () => {
      const query = 'SELECT kind, name, sequence, attempts FROM outbox WHERE due_at <= ? ORDER BY due_at LIMIT ?';
      const due = context.sql.exec<OutboxRow>(query, context.now(), maxPublishesPerAlarm).toArray();
      await Promise.all(
        due.map((row) => {
          const key = `${row.kind}:${row.name}`;
          const running = inFlight.get(key) ?? publishOne(row).finally(() => inFlight.delete(key));
          inFlight.set(key, running);
          return running;
        }),
      );
    },
    nextDue: () => context.sql.exec<{ due: number | null }>('SELECT min(due_at) AS due FROM outbox').one().due,
  };
}

type OutboxRow = { kind: PublishedKind; name: string; sequence: number; attempts: number };

function readOutbox(context: CatalogContext, { kind, name }: OutboxRow): OutboxRow | null {
  const query = 'SELECT kind, name, sequence, attempts FROM outbox WHERE kind = ? AND name = ?';
  return context.sql.exec<OutboxRow>(query, kind, name).toArray()[0] ?? null;
}

function postpone(context: CatalogContext, { kind, name }: OutboxRow, attempts: number, dueAt: number): void {
  context.sql.exec('UPDATE outbox SET attempts = ?, due_at = ? WHERE kind = ? AND name = ?', attempts, dueAt, kind, name);
}

/** Publishes the edition first: a pointer must never name an edition that readers cannot find. */
async function publishToolset(context: CatalogContext, kv: KVNamespace, name: string): Promise<void> {
  const { sql, workspace } = context;
  const row = readRow(sql, 'toolset', name);
  if (row === null) return;
  const key = kvKeys.toolset(workspace, name);
  const compiled = row.deleted ? null : versionRow(sql, name, row.version);
  if (compiled === null || compiled.hash === null) return putTombstone(kv, key, row.version);
  const { hash, revision } = compiled;
  if (editionPublishedAt(sql, hash) === null) {
    await kv.put(kvKeys.edition(workspace, hash), readEditionText(sql, hash));
    markEditionPublished(sql, hash, context.now());
  }
  const pointer: PublishedPointer = { format: publishedFormat, version: row.version, revision, hash };
  await kv.put(key, JSON.stringify(pointer));
}

/** Publishes a complete document. */
async function publishDocument(context: CatalogContext, kv: KVNamespace, kind: WholeKind, name: string): Promise<void> {
  const row = readRow(context.sql, kind, name);
  if (row === null) return;
  const key = kvKeys[kind === 'webhook' ? 'hook' : kind](context.workspace, name);
  if (row.deleted) return putTombstone(kv, key, row.version);
  await kv.put(key, JSON.stringify(toPublished(kind, row)));
}

/** Bodies were parsed by their schemas when they were written. */
function toPublished(kind: WholeKind, { version, body, sealed }: DocumentRow): PublishedAgent | PublishedSkill | PublishedHook {
  const head = { format: publishedFormat, version } as const;
  switch (kind) {
    case 'agent':
      return { ...head, agent: body as Agent };
    case 'skill':
      return { ...head, skill: body as Skill };
    case 'webhook':
      return { ...head, webhook: body as WebhookDocument, sealed: sealed ?? '' };
    default:
      return kind satisfies never;
  }
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
