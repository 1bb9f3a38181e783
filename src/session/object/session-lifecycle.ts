/**
 * The lifecycle of a session's object: opens the session on the first request, handles the alarm, sends audit rows and notices, and
 * deletes the session. `session.ts` checks the callers.
 */
import type { AuditRow } from '../../core/audit.ts';
import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import { rootKeyId, systemKeyId } from '../../core/principal.ts';
import { triggerOfKey } from '../../core/triggers/trigger-principal.ts';
import { withLazyTables } from '../../storage/lazy-tables.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Wiring } from '../../wiring.ts';
import { runAlarm } from './alarm.ts';
import { lazySessionTables } from './newest-schema.ts';
import {
  createSessionTables,
  markDeleting,
  buildOpenSession,
  readDeletedBy,
  readSessionState,
  type OpenSession,
  type SessionRecord,
} from './open-session.ts';

export class SessionLifecycle {
  readonly #storage: DurableObjectStorage;
  readonly #id: string;
  readonly #wiring: Wiring;
  /** Keeps the object alive until the work is done (`waitUntil`). */
  readonly #waitUntil: (work: Promise<unknown>) => void;
  #session: OpenSession | null = null;
  /** Set while the session is being deleted; it no longer exists for new requests. */
  #deleting: Promise<void> | null = null;
  #keyCheckedAt = 0;
  /** Settles once the session was added to the list; a row that is added later than that would never be removed. */
  #indexing = Promise.resolve();

  constructor(own: { storage: DurableObjectStorage; session: string; wiring: Wiring; waitUntil(work: Promise<unknown>): void }) {
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
    if (!meta.setup.listed && meta.setup.forCall !== true) this.#waitUntil(this.#index({ ...meta, createdAt }));
    return openSession;
  }

  /** Lists the session in the background: a chat request does not wait for it. Never throws. */
  #index({ workspace, keyId, setup: { agent, model, toolset }, createdAt }: SessionRecord): Promise<void> {
    const row = { id: this.#id, keyId, agent, model, toolset, createdAt: new Date(createdAt).toISOString() };
    this.#indexing = this.#wiring
      .catalog(workspace)
      .indexSession(row)
      .catch((error: unknown) => this.#wiring.log.error('a session could not be listed', { session: this.#id, error: String(error) }));
    return this.#indexing;
  }

  /** Returns the open session; null when this id was never created or was deleted. */
  tryOpen(): OpenSession | null {
    if (this.#deleting !== null) return null;
    if (this.#session !== null) return this.#session;
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
   * it must not have its effects twice. A turn that waits for a person keeps waiting.
   */
  openRestored(): void {
    const openSession = this.#build();
    openSession.journals.dropUnrecoverable();
    openSession.timers.restore(this.#wiring.clock.now());
    if (openSession.turns.open()?.state !== 'waiting') openSession.runner.cancelAll();
    openSession.timers.arm();
  }

  #build(): OpenSession {
    const openSession: OpenSession = buildOpenSession(this.#storage, this.#id, this.#wiring, {
      audit: (row) => this.audit(openSession, row),
      flushAudit: () => this.flushAudit(openSession),
      sendNotices: () => this.#waitUntil(this.#flushNotices(openSession)),
      sendUsage: () => this.#waitUntil(this.#flushUsage(openSession)),
      sendUpdate: () => this.#waitUntil(this.#flushSummary(openSession)),
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
      const context = { openSession, session: this.#id, now: clock.now, log };
      await runAlarm({
        ...context,
        isCancelled: () => this.#isCancelled(openSession),
        flushAudit: () => this.flushAudit(openSession),
        flushNotices: () => this.#flushNotices(openSession),
        flushUsage: () => this.#flushUsage(openSession),
        flushSummary: () => this.#flushSummary(openSession),
        destroy: () => this.destroy(),
      });
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

  /** Stores the audit row with the call. When the session was deleted during the call, sends the row directly. */
  async audit(openSession: OpenSession, row: Omit<AuditRow, 'sequence'>): Promise<void> {
    if (!this.isDeleted(openSession)) {
      openSession.audit.add(row);
      this.#setAuditTimer(openSession);
    } else await this.#wiring.audit(openSession.meta.workspace).append([{ ...row, sequence: null }]);
  }

  /** Stores the intent of a direct call. The alarm sends it if the process dies before the outcome. */
  beginAudit(openSession: OpenSession, row: Omit<AuditRow, 'sequence'>): void {
    if (this.isDeleted(openSession)) throw new Error('the session was deleted');
    openSession.audit.begin(row);
    this.#setAuditTimer(openSession);
  }

  #setAuditTimer({ timers }: OpenSession): void {
    timers.set('audit', this.#wiring.clock.now() + limits.auditRetryMs);
  }

  /** Sends the audit rows; the alarm retries what is not stored now. Returns true when none is left. */
  async flushAudit(openSession: OpenSession): Promise<boolean> {
    if (this.isDeleted(openSession)) return true;
    const fault = await openSession.audit.handOver((rows) => this.#wiring.audit(openSession.meta.workspace).append(rows));
    const isOpen = !this.isDeleted(openSession) && this.#deleting === null;
    if (fault === null) {
      if (isOpen && !openSession.audit.hasRows()) openSession.timers.clear('audit');
      return true;
    }
    this.#wiring.log.error('audit rows could not be sent', { session: this.#id, error: String(fault) });
    if (isOpen) this.#setAuditTimer(openSession);
    return false;
  }

  /** Sends the notices about turns, in order; the alarm retries what the Catalog does not take now. Returns true when none is left. Never throws. */
  async #flushNotices(openSession: OpenSession): Promise<boolean> {
    if (this.isDeleted(openSession)) return true;
    const { clock, log } = this.#wiring;
    const fault = await openSession.notices.handOver((notices) => this.#wiring.triggers(openSession.meta.workspace).noteTurns(notices));
    const isOpen = !this.isDeleted(openSession) && this.#deleting === null;
    if (fault === null) {
      if (isOpen && !openSession.notices.hasRows()) openSession.timers.clear('notice');
      return true;
    }
    log.error('notices about turns could not be sent', { session: this.#id, error: String(fault) });
    if (isOpen) openSession.timers.set('notice', clock.now() + limits.noticeRetryMs);
    return false;
  }

  /** Sends the usage of turns; the alarm retries what cannot be sent now. Returns true when none is left. Never throws. */
  async #flushUsage(openSession: OpenSession): Promise<boolean> {
    if (this.isDeleted(openSession)) return true;
    const { clock, log, recordUsage } = this.#wiring;
    const fault = await openSession.usage.handOver((reports) => recordUsage(openSession.meta.workspace, this.#id, reports));
    const isOpen = !this.isDeleted(openSession) && this.#deleting === null;
    if (fault === null) {
      if (isOpen && !openSession.usage.hasRows()) openSession.timers.clear('usage');
      return true;
    }
    log.error('usage could not be sent', { session: this.#id, error: String(fault) });
    if (isOpen) openSession.timers.set('usage', clock.now() + limits.noticeRetryMs);
    return false;
  }

  /** Sends the state that lists show; the alarm retries it. Returns true when the Catalog has all of it. Never throws. */
  async #flushSummary(openSession: OpenSession): Promise<boolean> {
    const isOpen = (): boolean => !this.isDeleted(openSession) && this.#deleting === null;
    if (!isOpen()) return true;
    const { summary, timers, meta } = openSession;
    const { clock, log } = this.#wiring;
    const fault = await summary.handOver((update) => this.#wiring.catalog(meta.workspace).updateSession(update));
    if (!isOpen()) return true;
    if (fault !== null) {
      log.error('the lists of the workspace could not be updated', { session: this.#id, error: String(fault) });
      timers.set('summary', clock.now() + limits.noticeRetryMs);
      return false;
    }
    if (summary.hasUpdate()) return false;
    timers.clear('summary');
    return true;
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
  async tryDestroyUnused({ runner, waits }: OpenSession, since: number): Promise<boolean> {
    if (runner.active || waits.nextExpiry() !== null || lastUse(this.#storage) > since) return false;
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
      await withTimeout(systemClock, openSession.runner.stop(), limits.auditWaitMs, () => undefined);
      openSession.notices.abandonQueued();
      if (!(await this.#flushNotices(openSession))) throw new Error('the notices about the turns of this session could not be sent');
      if (!(await this.#flushUsage(openSession))) throw new Error('the usage of this session could not be sent');
      // The index row must not outlive its session: it would link to nothing and could not be removed.
      await this.#indexing;
      await openSession.summary.settled();
      await this.#wiring.catalog(openSession.meta.workspace).forgetSession(this.#id, readDeletedBy(storage.sql));
      await this.#forgetStorage(openSession);
      if (!(await this.flushAudit(openSession))) throw new Error('the audit rows of this session could not be sent');
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
