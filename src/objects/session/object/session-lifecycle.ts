/**
 * The lifecycle of a session's object: opens the session on the first request, handles the alarm, sends audit rows and notices, and
 * deletes the session. `session.ts` checks the callers.
 */
import { failpoint } from '../../../core/failpoint.ts';
import { limits } from '../../../core/limits/limits.ts';
import { rootKeyId, systemKeyId } from '../../../core/people/principal.ts';
import { nullIfNotFound } from '../../../core/problem.ts';
import { triggerOfKey } from '../../../core/triggers/trigger-principal.ts';
import { withLazyTables } from '../../shared/lazy-tables.ts';
import { withTimeout } from '../../../engine/timeout.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { SessionNeeds } from './session-needs.ts';
import { loadReplays, runAlarm } from './alarm.ts';
import {
  createSessionTables,
  markDeleting,
  buildOpenSession,
  readDeletedBy,
  readSessionState,
  type OpenSession,
  type SessionRecord,
} from './open-session.ts';
import { lazySessionTables } from './schema.ts';

export class SessionLifecycle {
  readonly #storage: DurableObjectStorage;
  readonly #id: string;
  readonly #wiring: SessionNeeds;
  /** Keeps the object alive until the work is done (`waitUntil`). */
  readonly #waitUntil: (work: Promise<unknown>) => void;
  #session: OpenSession | null = null;
  /** Set while the session is being deleted; it no longer exists for new requests. */
  #deleting: Promise<void> | null = null;
  #keyCheckedAt = 0;
  /** Settles once the session was added to the list; a row that is added later than that would never be removed. */
  #indexing = Promise.resolve();

  constructor(own: { storage: DurableObjectStorage; session: string; wiring: SessionNeeds; waitUntil(work: Promise<unknown>): void }) {
    this.#storage = own.storage;
    this.#id = own.session;
    this.#wiring = own.wiring;
    this.#waitUntil = own.waitUntil;
  }

  /** Finishes a deletion that is in progress under this id, before a new session is created. */
  async finishDeletion(): Promise<void> {
    if (this.#deleting !== null || readSessionState(this.#storage) === 'leaving') await this.destroy();
  }

  /** Creates a session where none exists. `keptMs`: how long an unlisted one is stored. */
  create(meta: Omit<SessionRecord, 'createdAt'>, keptMs: number): OpenSession {
    const createdAt = this.#wiring.clock.now();
    createSessionTables(this.#storage, { ...meta, createdAt });
    // There is nothing to resume.
    const openSession = this.#build();
    if (!meta.setup.listed) openSession.timers.set('expire', createdAt + keptMs);
    // A replay lists itself when it begins (`summary-outbox.ts`).
    if (!meta.setup.listed && meta.setup.forCall !== true && meta.setup.replay !== true)
      this.#waitUntil(this.#index({ ...meta, createdAt }));
    return openSession;
  }

  /** Lists the session in the background: a chat request does not wait for it. Never throws. */
  #index({ workspace, keyId, setup, createdAt }: SessionRecord): Promise<void> {
    const { agent = null, model = null, toolset = null } = setup;
    const row = { id: this.#id, keyId, agent, model, toolset, createdAt };
    this.#indexing = this.#wiring
      .catalog(workspace)
      .indexSession(row)
      .catch((error: unknown) => this.#wiring.log.error('a session could not be listed', { session: this.#id, error: String(error) }));
    return this.#indexing;
  }

  /** Returns the open session; null when this id was never created or was deleted. */
  tryOpen(): OpenSession | null {
    if (this.#deleting !== null) return null;
    if (this.#session !== null) {
      this.#session.timers.followClock(this.#wiring.clock.now());
      return this.#session;
    }
    const state = readSessionState(this.#storage);
    // Finishes a deletion that a process did not complete.
    if (state === 'leaving') this.#waitUntil(this.tryDestroy());
    return state === 'open' ? this.#open() : null;
  }

  #open(): OpenSession {
    const openSession = this.#build();
    try {
      openSession.journals.dropUnrecoverable();
      openSession.timers.restore(this.#wiring.clock.now());
      openSession.runner.recover();
      openSession.runner.startNext();
      openSession.timers.arm();
      return openSession;
    } catch (error) {
      // The next request or alarm opens it from its tables again; a run that was started can no longer write then.
      this.#session = null;
      throw error;
    }
  }

  /**
   * Opens a session that was just restored. A turn that was running is cancelled: the service that was backed up has probably finished it, and
   * it must not have its effects twice. A turn that waits for a person keeps waiting. `cancelReplay`: loaded before, so that nothing runs meanwhile.
   * `isAlone`: without the Catalog, whose lists have another state of it, or none.
   */
  openRestored({ cancelReplay }: Pick<Awaited<ReturnType<typeof loadReplays>>, 'cancelReplay'>, isAlone: boolean): void {
    const openSession = this.#build();
    openSession.journals.dropUnrecoverable();
    openSession.timers.restore(this.#wiring.clock.now());
    if (openSession.turns.open()?.state !== 'waiting') openSession.runner.cancelAll();
    if (openSession.meta.setup.replay === true) cancelReplay(this.#replayParts(), openSession, 'The workspace was restored from a backup.');
    if (isAlone) openSession.summary.noteChange();
    openSession.timers.arm();
  }

  async cancelReplay(openSession: OpenSession, reason: string): Promise<void> {
    const { cancelReplay } = await loadReplays();
    if (!this.isDeleted(openSession)) cancelReplay(this.#replayParts(), openSession, reason);
  }

  #replayParts() {
    const isDeleted = (openSession: OpenSession): boolean => this.isDeleted(openSession);
    return { wiring: this.#wiring, session: this.#id, isDeleted, waitUntil: this.#waitUntil };
  }

  #build(): OpenSession {
    const openSession: OpenSession = buildOpenSession(this.#storage, this.#id, this.#wiring, {
      isGone: () => this.isDeleted(openSession),
      isEnding: () => this.isEnding(openSession),
      waitUntil: (work) => this.#waitUntil(work),
    });
    this.#session = openSession;
    return openSession;
  }

  isDeleted(openSession: OpenSession): boolean {
    return this.#session !== openSession;
  }

  /** Whether it was deleted, or is being deleted: what is stored from now on would end without a notice. */
  isEnding(openSession: OpenSession): boolean {
    return this.#deleting !== null || this.isDeleted(openSession);
  }

  /** Handles the alarm. Never throws: the platform stops retrying an alarm after a few failures. */
  async runAlarm(): Promise<void> {
    const { clock, log } = this.#wiring;
    const retryLater = async (): Promise<void> => {
      // Set directly, without the timers: their storage may be what failed.
      await this.#storage.setAlarm(clock.now() + limits.auditRetryMs);
    };
    try {
      const state = this.#deleting === null ? readSessionState(this.#storage) : 'leaving';
      if (state === 'leaving') {
        await retryLater();
        return await this.destroy();
      }
      const openSession = state === 'open' ? this.tryOpen() : null;
      if (openSession === null) return;
      const own = { openSession, session: this.#id, now: clock.now, log };
      const continueReplay = async (): Promise<void> => await (await loadReplays()).continueReplay(this.#replayParts(), openSession);
      await runAlarm({ ...own, continueReplay, isCancelled: () => this.#isCancelled(openSession), destroy: () => this.destroy() });
    } catch (error) {
      log.error('a session alarm failed', { session: this.#id, error: String(error) });
      await retryLater().catch((cause: unknown) => {
        log.error('a session alarm cannot be set', { session: this.#id, error: String(cause) });
      });
    }
  }

  /** Asks the Catalog at most once per `limits.streamKeyCheckMs`, since a running turn is woken more often. */
  async #isCancelled({ meta: { workspace, keyId } }: OpenSession): Promise<boolean> {
    const now = this.#wiring.clock.now();
    if (keyId === rootKeyId || triggerOfKey(keyId) !== null || now - this.#keyCheckedAt < limits.streamKeyCheckMs) return false;
    this.#keyCheckedAt = now;
    return await this.#wiring.catalog(workspace).isKeyCancelled(keyId);
  }

  /**
   * Deletes the session: marks it durably as being deleted, then deletes the rest. Concurrent callers share one deletion. Throws
   * when the rest cannot be deleted now: the session stays marked, and the next request or the alarm continues. `by`: the key that the audit
   * names; null for a session that was only stored for a time, which is not audited.
   */
  destroy(by: string | null = null): Promise<void> {
    this.#deleting ??= this.#erase(by).finally(() => {
      this.#deleting = null;
    });
    return this.#deleting;
  }

  /** Deletes the session if it was not used since, and nothing in it runs or waits. Returns whether it did. */
  async tryDestroyUnused({ runner, replay, waits }: OpenSession, since: number): Promise<boolean> {
    if (runner.active || replay.run !== null || waits.nextExpiry() !== null || lastUse(this.#storage) > since) return false;
    await this.tryDestroy(systemKeyId);
    return true;
  }

  /** Deletes the session if there is one. */
  async destroyAny(): Promise<void> {
    if (this.#deleting !== null || readSessionState(this.#storage) !== 'none') await this.destroy(rootKeyId);
  }

  /** Like `destroy`, but never throws: the alarm finishes a deletion that fails. */
  async tryDestroy(by: string | null = null): Promise<void> {
    try {
      await this.destroy(by);
    } catch (error) {
      this.#wiring.log.error('a deletion of a session is not finished yet', { session: this.#id, error: String(error) });
    }
  }

  async #erase(by: string | null): Promise<void> {
    const storage = this.#storage;
    const openSession = this.#session ?? this.#build();
    markDeleting(openSession, storage, by, this.#wiring.clock.now() + limits.auditRetryMs);
    await failpoint('delete-session-mid');
    try {
      const stopped = Promise.all([openSession.runner.stop(), openSession.replay.run?.stop()]).then(() => undefined);
      await withTimeout(systemClock, stopped, limits.auditWaitMs, () => undefined);
      // No call uses its processes any more.
      this.#waitUntil(this.#wiring.sessionEnded(openSession.meta.workspace, this.#id));
      const { notices, usage, summary, audit } = openSession;
      notices.abandonQueued();
      if (!(await notices.outbox.flush())) throw new Error('the notices about the turns of this session could not be sent');
      if (!(await usage.outbox.flush())) throw new Error('the usage of this session could not be sent');
      // The index row must not outlive its session: it would link to nothing and could not be removed.
      await this.#indexing;
      await summary.outbox.settled();
      // Not found: the workspace was deleted before, with its index and counters.
      const forgotten = this.#wiring.catalog(openSession.meta.workspace).forgetSession(this.#id, readDeletedBy(storage.sql));
      await nullIfNotFound(forgotten.then(async () => await this.#forgetStorage(openSession)));
      if (!(await audit.outbox.flush())) throw new Error('the audit rows of this session could not be sent');
      // From here on nothing reads the tables that are about to be deleted.
      this.#session = null;
      // In this order: an alarm for an empty object finds nothing to do, while a missing alarm would leave the deletion unfinished.
      await storage.deleteAll();
      await storage.deleteAlarm();
    } finally {
      this.#session = null;
      openSession.log.wakeReaders();
    }
  }

  /** What the session stores no longer counts for limits. */
  async #forgetStorage({ files, meta: { workspace, keyId, setup } }: OpenSession): Promise<void> {
    if ((files.usage?.().bytes ?? 0) === 0) return;
    const { catalog, limiter } = this.#wiring;
    const holders = await catalog(workspace).limitedHolders();
    const own = holders.filter(({ of, name }) => of === 'workspace' || name === (of === 'key' ? keyId : setup.agent));
    await limiter.reportStorage(workspace, own, this.#id, 0);
  }
}

/** Returns when the session was last used: created, sent a turn or call, or given a file. */
function lastUse(storage: DurableObjectStorage): number {
  const sql = withLazyTables(storage.sql, lazySessionTables);
  const queries = [
    'SELECT created_at AS at FROM meta',
    'SELECT accepted_at AS at FROM turns ORDER BY seq DESC LIMIT 1',
    'SELECT at FROM events ORDER BY id DESC LIMIT 1',
    'SELECT modified_at AS at FROM files ORDER BY modified_at DESC LIMIT 1',
    'SELECT at FROM calls ORDER BY at DESC LIMIT 1',
  ];
  return Math.max(...queries.flatMap((query) => sql.exec<{ at: number }>(query).toArray()).map(({ at }) => at));
}
