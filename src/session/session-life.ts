/**
 * The lifecycle of a session's object: opens the session on the first request, handles the alarm, sends audit rows and notices, and
 * deletes the session. `session.ts` checks the callers.
 */
import type { AuditRow } from '../core/audit.ts';
import { crashPoint } from '../core/crash-point.ts';
import { limits } from '../core/limits.ts';
import { rootKeyId } from '../core/principal.ts';
import { triggerOfKey } from '../core/triggers/trigger-principal.ts';
import { withTimeLimit } from '../net/time-limit.ts';
import type { Wiring } from '../wiring.ts';
import { ring } from './alarm.ts';
import { foundRoom, markLeaving, openRoom, stateOf, type Room, type SessionMeta } from './room.ts';

export class SessionLife {
  readonly #storage: DurableObjectStorage;
  readonly #id: string;
  readonly #wiring: Wiring;
  /** Keeps the object alive until the work is done (`waitUntil`). */
  readonly #keep: (work: Promise<unknown>) => void;
  #room: Room | null = null;
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
  async left(): Promise<void> {
    if (this.#leaving !== null || stateOf(this.#storage) === 'leaving') await this.leave();
  }

  /** Creates a session where none exists. `keptMs`: how long an unlisted one is stored. */
  begin(meta: Omit<SessionMeta, 'createdAt'>, keptMs: number): Room {
    const createdAt = this.#wiring.clock.now();
    foundRoom(this.#storage, { ...meta, createdAt });
    const room = this.#open();
    if (!meta.setup.listed) room.timers.set('expire', createdAt + keptMs);
    return room;
  }

  /** Returns the open session; null when this id was never created or was deleted. */
  tryOpen(): Room | null {
    if (this.#leaving !== null) return null;
    if (this.#room !== null) return this.#room;
    const state = stateOf(this.#storage);
    // Finishes a deletion that a process did not complete.
    if (state === 'leaving') this.#keep(this.tryLeave());
    return state === 'open' ? this.#open() : null;
  }

  #open(): Room {
    const room = this.#build();
    room.journals.forgetLost();
    room.runner.recover();
    room.runner.pump();
    room.timers.arm();
    return room;
  }

  #build(): Room {
    const room: Room = openRoom(this.#storage, this.#id, this.#wiring, {
      audit: (row) => this.audit(room, row),
      flushAudit: () => this.flushAudit(room),
      tell: () => this.#keep(this.#flushNotices(room)),
      keep: (work) => this.#keep(work),
    });
    this.#room = room;
    return room;
  }

  isGone(room: Room): boolean {
    return this.#room !== room;
  }

  /** Handles the alarm. Never throws: the platform stops retrying an alarm after a few failures. */
  async ring(): Promise<void> {
    const { clock, log } = this.#wiring;
    const retryLater = async (): Promise<void> => {
      // Set directly, without the timers: their storage may be what failed.
      await this.#storage.setAlarm(clock.now() + limits.auditRetryMs);
    };
    try {
      const state = this.#leaving === null ? stateOf(this.#storage) : 'leaving';
      if (state === 'leaving') {
        await retryLater();
        return await this.leave();
      }
      const room = state === 'open' ? this.tryOpen() : null;
      if (room === null) return;
      const context = { room, session: this.#id, now: clock.now, log };
      await ring({
        ...context,
        isCancelled: () => this.#isCancelled(room),
        flushAudit: () => this.flushAudit(room),
        flushNotices: () => this.#flushNotices(room),
        leave: () => this.leave(),
      });
    } catch (error) {
      log.error('a session alarm failed', { session: this.#id, error: String(error) });
      await retryLater().catch((cause: unknown) => {
        log.error('a session alarm cannot be set', { session: this.#id, error: String(cause) });
      });
    }
  }

  /** Asks the Catalog at most once per `limits.streamKeyCheckMs`, since a running turn is woken more often. */
  async #isCancelled({ meta: { workspace, keyId } }: Room): Promise<boolean> {
    const now = this.#wiring.clock.now();
    if (keyId === rootKeyId || triggerOfKey(keyId) !== null || now - this.#keyCheckedAt < limits.streamKeyCheckMs) return false;
    this.#keyCheckedAt = now;
    return await this.#wiring.catalog(workspace).keyIsCancelled(keyId);
  }

  /** Stores the audit row with the call. When the session was deleted during the call, sends the row to the Catalog directly. */
  async audit(room: Room, row: Omit<AuditRow, 'sequence'>): Promise<void> {
    if (!this.isGone(room)) room.audit.add(row);
    else await this.#wiring.catalog(room.meta.workspace).appendAudit([{ ...row, sequence: null }]);
  }

  /** Stores the intent of a direct call. The alarm sends it if the process dies before the outcome. */
  beginAudit(room: Room, row: Omit<AuditRow, 'sequence'>): void {
    if (this.isGone(room)) throw new Error('the session was deleted');
    room.audit.begin(row);
    room.timers.set('audit', this.#wiring.clock.now() + limits.auditRetryMs);
  }

  /** Sends the audit rows; the alarm retries what the Catalog does not take now. Returns true when none is left. */
  async flushAudit(room: Room): Promise<boolean> {
    if (this.isGone(room) || !room.audit.waiting()) return true;
    const { clock, log } = this.#wiring;
    const fault = await room.audit.handOver((rows) => this.#wiring.catalog(room.meta.workspace).appendAudit(rows));
    if (fault === null) return true;
    log.error('audit rows could not be sent', { session: this.#id, error: String(fault) });
    if (!this.isGone(room) && this.#leaving === null) room.timers.set('audit', clock.now() + limits.auditRetryMs);
    return false;
  }

  /** Sends the notices about turns, in order; the alarm retries what the Catalog does not take now. Returns true when none is left. Never throws. */
  async #flushNotices(room: Room): Promise<boolean> {
    if (this.isGone(room) || !room.notices.waiting()) return true;
    const { clock, log } = this.#wiring;
    const fault = await room.notices.handOver((notices) => this.#wiring.triggers(room.meta.workspace).noteTurns(notices));
    const isOpen = !this.isGone(room) && this.#leaving === null;
    if (fault === null) {
      if (isOpen && !room.notices.waiting()) {
        room.timers.clear('notice');
        // An idle session is not woken for a notice that was already sent.
        if (!room.runner.active) room.timers.settle();
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
  async tryLeave(): Promise<void> {
    try {
      await this.leave();
    } catch (error) {
      this.#wiring.log.error('a deletion of a session is not finished yet', { session: this.#id, error: String(error) });
    }
  }

  async #erase(): Promise<void> {
    const storage = this.#storage;
    const room = this.#room ?? this.#build();
    markLeaving(room, storage, this.#wiring.clock.now() + limits.auditRetryMs);
    await crashPoint('delete-session-mid');
    try {
      await withTimeLimit(room.runner.shut(), limits.auditWaitMs, () => undefined);
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
