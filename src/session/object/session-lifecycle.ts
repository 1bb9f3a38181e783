/**
 * The lifecycle of a session's object: opens the session on the first request, handles the alarm, sends audit rows and notices, and
 * deletes the session. `session.ts` checks the callers.
 */
import type { AuditRow } from '../../core/audit.ts';
import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import { rootKeyId } from '../../core/principal.ts';
import { triggerOfKey } from '../../core/triggers/trigger-principal.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Wiring } from '../../wiring.ts';
import { runAlarm } from './alarm.ts';
import {
  createSessionTables,
  markDeleting,
  buildOpenSession,
  readSessionState,
  type OpenSession,
  type SessionRecord,
} from './open-session.ts';

export class SessionLifecycle {
  readonly #storage: DurableObjectStorage;
  readonly #id: string;
  readonly #wiring: Wiring;
  /** Keeps the object alive until the work is done (`waitUntil`). */
  readonly #keep: (work: Promise<unknown>) => void;
  #room: OpenSession | null = null;
  /** Set while the session is being deleted; it no longer exists for new requests. */
  #leaving: Promise<void> | null = null;
  #keyCheckedAt = 0;

  constructor(own: { storage: DurableObjectStorage; session: string; wiring: Wiring; keep(work: Promise<unknown>): void }) {
    this.#storage = own.storage;
    this.#id = own.session;
    this.#wiring = own.wiring;
    this.#keep = own.keep;
  }

  /** Finishes a deletion that is in progress under this id, before a new session is created. */
  async finishDeletion(): Promise<void> {
    if (this.#leaving !== null || readSessionState(this.#storage) === 'leaving') await this.leave();
  }

  /** Creates a session where none exists. `keptMs`: how long an unlisted one is stored. */
  create(meta: Omit<SessionRecord, 'createdAt'>, keptMs: number): OpenSession {
    const createdAt = this.#wiring.clock.now();
    createSessionTables(this.#storage, { ...meta, createdAt });
    const room = this.#open();
    if (!meta.setup.listed) room.timers.set('expire', createdAt + keptMs);
    return room;
  }

  /** Returns the open session; null when this id was never created or was deleted. */
  tryOpen(): OpenSession | null {
    if (this.#leaving !== null) return null;
    if (this.#room !== null) return this.#room;
    const state = readSessionState(this.#storage);
    // Finishes a deletion that a process did not complete.
    if (state === 'leaving') this.#keep(this.tryDestroy());
    return state === 'open' ? this.#open() : null;
  }

  #open(): OpenSession {
    const room = this.#build();
    room.journals.dropUnrecoverable();
    room.runner.recover();
    room.runner.startNext();
    room.timers.arm();
    return room;
  }

  #build(): OpenSession {
    const room: OpenSession = buildOpenSession(this.#storage, this.#id, this.#wiring, {
      audit: (row) => this.audit(room, row),
      flushAudit: () => this.flushAudit(room),
      tell: () => this.#keep(this.#flushNotices(room)),
      waitUntil: (work) => this.#keep(work),
    });
    this.#room = room;
    return room;
  }

  isDeleted(room: OpenSession): boolean {
    return this.#room !== room;
  }

  /** Handles the alarm. Never throws: the platform stops retrying an alarm after a few failures. */
  async runAlarm(): Promise<void> {
    const { clock, log } = this.#wiring;
    const retryLater = async (): Promise<void> => {
      // Set directly, without the timers: their storage may be what failed.
      await this.#storage.setAlarm(clock.now() + limits.auditRetryMs);
    };
    try {
      const state = this.#leaving === null ? readSessionState(this.#storage) : 'leaving';
      if (state === 'leaving') {
        await retryLater();
        return await this.leave();
      }
      const room = state === 'open' ? this.tryOpen() : null;
      if (room === null) return;
      const context = { openSession: room, session: this.#id, now: clock.now, log };
      await runAlarm({
        ...context,
        isCancelled: () => this.#isCancelled(room),
        flushAudit: () => this.flushAudit(room),
        flushNotices: () => this.#flushNotices(room),
        destroy: () => this.leave(),
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

  /** Stores the audit row with the call. When the session was deleted during the call, sends the row to the Catalog directly. */
  async audit(room: OpenSession, row: Omit<AuditRow, 'sequence'>): Promise<void> {
    if (!this.isDeleted(room)) room.audit.add(row);
    else await this.#wiring.catalog(room.meta.workspace).appendAudit([{ ...row, sequence: null }]);
  }

  /** Stores the intent of a direct call. The alarm sends it if the process dies before the outcome. */
  beginAudit(room: OpenSession, row: Omit<AuditRow, 'sequence'>): void {
    if (this.isDeleted(room)) throw new Error('the session was deleted');
    room.audit.begin(row);
    room.timers.set('audit', this.#wiring.clock.now() + limits.auditRetryMs);
  }

  /** Sends the audit rows; the alarm retries what the Catalog does not take now. Returns true when none is left. */
  async flushAudit(room: OpenSession): Promise<boolean> {
    if (this.isDeleted(room) || !room.audit.hasRows()) return true;
    const { clock, log } = this.#wiring;
    const fault = await room.audit.handOver((rows) => this.#wiring.catalog(room.meta.workspace).appendAudit(rows));
    if (fault === null) return true;
    log.error('audit rows could not be sent', { session: this.#id, error: String(fault) });
    if (!this.isDeleted(room) && this.#leaving === null) room.timers.set('audit', clock.now() + limits.auditRetryMs);
    return false;
  }

  /** Sends the notices about turns, in order; the alarm retries what the Catalog does not take now. Returns true when none is left. Never throws. */
  async #flushNotices(room: OpenSession): Promise<boolean> {
    if (this.isDeleted(room) || !room.notices.hasRows()) return true;
    const { clock, log } = this.#wiring;
    const fault = await room.notices.handOver((notices) => this.#wiring.triggers(room.meta.workspace).noteTurns(notices));
    const isOpen = !this.isDeleted(room) && this.#leaving === null;
    if (fault === null) {
      if (isOpen && !room.notices.hasRows()) {
        room.timers.clear('notice');
        // An idle session is not woken for a notice that was already sent.
        if (!room.runner.active) room.timers.armExactly();
      }
      return true;
    }
    log.error('notices about turns could not be sent', { session: this.#id, error: String(fault) });
    if (isOpen) room.timers.set('notice', clock.now() + limits.noticeRetryMs);
    return false;
  }

  /**
   * Deletes the session: marks it durably as being deleted, then deletes the rest. Concurrent callers share one deletion. Throws
   * when the rest cannot be deleted now: the session stays marked, and the next request or the alarm continues.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#erase().finally(() => {
      this.#leaving = null;
    });
    return this.#leaving;
  }

  /** Like `leave`, but never throws: the alarm finishes a deletion that fails. */
  async tryDestroy(): Promise<void> {
    try {
      await this.leave();
    } catch (error) {
      this.#wiring.log.error('a deletion of a session is not finished yet', { session: this.#id, error: String(error) });
    }
  }

  async #erase(): Promise<void> {
    const storage = this.#storage;
    const room = this.#room ?? this.#build();
    markDeleting(room, storage, this.#wiring.clock.now() + limits.auditRetryMs);
    await failpoint('delete-session-mid');
    try {
      await withTimeout(systemClock, room.runner.stop(), limits.auditWaitMs, () => undefined);
      room.notices.abandonQueued();
      if (!(await this.#flushNotices(room))) throw new Error('the notices about the turns of this session could not be sent');
      // The index row must not outlive its session: it would link to nothing and could not be removed.
      await this.#wiring.catalog(room.meta.workspace).forgetSession(this.#id);
      if (!(await this.flushAudit(room))) throw new Error('the audit rows of this session could not be sent');
      // From here on nothing reads the tables that are about to be deleted.
      this.#room = null;
      // In this order: an alarm for an empty object finds nothing to do, while a missing alarm would leave the deletion unfinished.
      await storage.deleteAll();
      await storage.deleteAlarm();
    } finally {
      this.#room = null;
      room.log.wakeReaders();
    }
  }
}
