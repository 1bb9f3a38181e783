/**
 * The life of a session's object: its room opened when it is first asked for, woken by the alarm, its audit handed over, and
 * deleted for good. Who may come in, and what they may ask, is in `session.ts`.
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
  /** Keeps the object alive until the work is done. */
  readonly #keep: (work: Promise<unknown>) => void;
  #room: Room | null = null;
  /** While it is being deleted: to everyone who comes now, there is no such session. */
  #leaving: Promise<void> | null = null;
  #keyCheckedAt = 0;

  constructor(own: { storage: DurableObjectStorage; session: string; wiring: Wiring; keep(work: Promise<unknown>): void }) {
    this.#storage = own.storage;
    this.#id = own.session;
    this.#wiring = own.wiring;
    this.#keep = own.keep;
  }

  /** What was deleted under this id is gone before anything new is made. */
  async left(): Promise<void> {
    if (this.#leaving !== null || stateOf(this.#storage) === 'leaving') await this.leave();
  }

  /** A new session, where there is none. `keptMs`: how long an unlisted one is kept. */
  begin(meta: Omit<SessionMeta, 'createdAt'>, keptMs: number): Room {
    const createdAt = this.#wiring.clock.now();
    foundRoom(this.#storage, { ...meta, createdAt });
    const room = this.#open();
    if (!meta.setup.listed) room.timers.set('expire', createdAt + keptMs);
    return room;
  }

  /** null when this id was never made, or was deleted. */
  tryOpen(): Room | null {
    if (this.#leaving !== null) return null;
    if (this.#room !== null) return this.#room;
    const state = stateOf(this.#storage);
    // A deletion that its process did not live to finish.
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

  /** Never throws: the platform gives up on an alarm after a few failures. */
  async ring(): Promise<void> {
    const { clock, log } = this.#wiring;
    const again = async (): Promise<void> => {
      // Not by the timers: what broke may be the storage that has them.
      await this.#storage.setAlarm(clock.now() + limits.auditRetryMs);
    };
    try {
      const state = this.#leaving === null ? stateOf(this.#storage) : 'leaving';
      if (state === 'leaving') {
        await again();
        return await this.leave();
      }
      const room = state === 'open' ? this.tryOpen() : null;
      if (room === null) return;
      const door = { room, session: this.#id, now: clock.now, log };
      await ring({
        ...door,
        isCancelled: () => this.#isCancelled(room),
        flushAudit: () => this.flushAudit(room),
        flushNotices: () => this.#flushNotices(room),
        leave: () => this.leave(),
      });
    } catch (error) {
      log.error('a session alarm failed', { session: this.#id, error: String(error) });
      await again().catch((cause: unknown) => {
        log.error('a session alarm cannot be set', { session: this.#id, error: String(cause) });
      });
    }
  }

  /** Asks now and then only: a running turn is woken more often. */
  async #isCancelled({ meta: { workspace, keyId } }: Room): Promise<boolean> {
    const now = this.#wiring.clock.now();
    if (keyId === rootKeyId || triggerOfKey(keyId) !== null || now - this.#keyCheckedAt < limits.streamKeyCheckMs) return false;
    this.#keyCheckedAt = now;
    return await this.#wiring.catalog(workspace).keyIsCancelled(keyId);
  }

  /** Stored with the call; a call that outlived its session is told to the Catalog at once. */
  async audit(room: Room, row: Omit<AuditRow, 'sequence'>): Promise<void> {
    if (!this.isGone(room)) room.audit.add(row);
    else await this.#wiring.catalog(room.meta.workspace).appendAudit([{ ...row, sequence: null }]);
  }

  /** Stores the intent of a direct call. The alarm hands it over if the process dies before the outcome. */
  beginAudit(room: Room, row: Omit<AuditRow, 'sequence'>): void {
    if (this.isGone(room)) throw new Error('the session was deleted');
    room.audit.begin(row);
    room.timers.set('audit', this.#wiring.clock.now() + limits.auditRetryMs);
  }

  /** Hands the audit rows over; what the Catalog cannot take now is tried again by the alarm. True when none is left. */
  async flushAudit(room: Room): Promise<boolean> {
    if (this.isGone(room) || !room.audit.waiting()) return true;
    const { clock, log } = this.#wiring;
    const fault = await room.audit.handOver((rows) => this.#wiring.catalog(room.meta.workspace).appendAudit(rows));
    if (fault === null) return true;
    log.error('audit rows wait', { session: this.#id, error: String(fault) });
    if (!this.isGone(room) && this.#leaving === null) room.timers.set('audit', clock.now() + limits.auditRetryMs);
    return false;
  }

  /** Tells the Catalog of turns, in order; what it cannot take now is tried again by the alarm. True when it knows all. Never throws. */
  async #flushNotices(room: Room): Promise<boolean> {
    if (this.isGone(room) || !room.notices.waiting()) return true;
    const { clock, log } = this.#wiring;
    const fault = await room.notices.handOver((notices) => this.#wiring.triggers(room.meta.workspace).noteTurns(notices));
    const isOpen = !this.isGone(room) && this.#leaving === null;
    if (fault === null) {
      if (isOpen && !room.notices.waiting()) {
        room.timers.clear('notice');
        // A session that rests is not woken for what was told already.
        if (!room.runner.active) room.timers.settle();
      }
      return true;
    }
    log.error('the end of a turn is not told yet', { session: this.#id, error: String(fault) });
    if (isOpen) room.timers.set('notice', clock.now() + limits.noticeRetryMs);
    return false;
  }

  /**
   * Deletes the session, once for all who ask: marked durably first, so that nothing brings it back, then the rest. Throws when
   * the rest cannot be done now: it stays marked, and whoever opens the object next, the alarm at the latest, goes on.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#erase().finally(() => {
      this.#leaving = null;
    });
    return this.#leaving;
  }

  /** As `leave`, for whoever need not know: what cannot be cleared away yet, the alarm clears away. Never throws. */
  async tryLeave(): Promise<void> {
    try {
      await this.leave();
    } catch (error) {
      this.#wiring.log.error('a deleted session is not cleared away yet', { session: this.#id, error: String(error) });
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
      if (!(await this.#flushNotices(room))) throw new Error('the Catalog cannot be told now how the turns of this session ended');
      // A row that outlives its session would lead nowhere, and nobody could take it away.
      await this.#wiring.catalog(room.meta.workspace).forgetSession(this.#id);
      if (!(await this.flushAudit(room))) throw new Error('the audit of this session cannot be handed over now');
      // From here on nobody reads what is about to go.
      this.#room = null;
      // In this order: an alarm that rings at an empty object finds nothing; one that is missing leaves a deletion undone.
      await storage.deleteAll();
      await storage.deleteAlarm();
    } finally {
      this.#room = null;
      room.log.wakeReaders();
    }
  }
}
