/**
 * The `Session` Durable Object: one conversation's log, queue, files and feed (DESIGN §5, §11). It stores and drives; what
 * the conversation does next is decided in `core/turn.ts`. Every RPC method answers an `Outcome` and checks the owner first.
 */
import { DurableObject } from 'cloudflare:workers';
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import type { Plan } from '../core/plan.ts';
import { hasScope, type Principal } from '../core/principal.ts';
import { Problem, toOutcome, type Outcome } from '../core/problem.ts';
import type { SessionEvent } from '../core/session-event.ts';
import { callToolNow } from '../engine/call-tool.ts';
import { withTimeLimit } from '../net/time-limit.ts';
import type { Remote } from '../ports/remote.ts';
import type {
  Session as SessionPort,
  SessionCall,
  SessionSetup,
  SessionView,
  SubmitTurn,
  SubmittedTurn,
  TranscriptMessage,
  TurnAnswer,
} from '../ports/session.ts';
import type { Bindings } from '../storage/bindings.ts';
import { wire, type Wiring } from '../wiring.ts';
import { deleteFile, listFiles, readFile, writeFile, type FileContent, type FileListing } from './file-access.ts';
import { foundRoom, isFounded, openRoom, type Room } from './room.ts';
import { submit, type SubmitDoor } from './submit.ts';
import { toTranscript } from './turn-answer.ts';
import { readAnswer, readCompletion, readEvents, streamTurn, type TurnSource } from './turn-reader.ts';

export class Session extends DurableObject<Bindings> implements Remote<SessionPort> {
  readonly #wiring: Wiring;
  /** Forks being made, by idempotency key: a repeat that comes meanwhile joins them. */
  readonly #forks = new Map<string, Promise<SubmittedTurn>>();
  #room: Room | null = null;
  /** While it is being deleted: to everyone who comes now, there is no such session. */
  #leaving = false;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#wiring = wire(env);
  }

  /** Makes the session; its id is the object's. */
  found(owner: Principal, setup: SessionSetup): Promise<Outcome<SessionView>> {
    return toOutcome(() => {
      const createdAt = this.#wiring.clock.now();
      foundRoom(this.ctx.storage, { workspace: owner.workspace, keyId: owner.keyId, setup, createdAt });
      const room = this.#open();
      if (!setup.listed) room.timers.set('expire', createdAt + limits.unlistedSessionTtlMs);
      return this.#view(room);
    });
  }

  view(caller: Principal): Promise<Outcome<SessionView>> {
    return toOutcome(() => this.#view(this.#enter(caller)));
  }

  setup(caller: Principal): Promise<Outcome<SessionSetup>> {
    return toOutcome(() => this.#enter(caller).meta.setup);
  }

  remove(caller: Principal): Promise<Outcome<void>> {
    return toOutcome(async () => {
      const room = this.#enter(caller);
      // First, and it may be repeated: a row that outlives its session would lead nowhere, and nobody could take it away.
      await this.#wiring.catalog(room.meta.workspace).forgetSession(this.#id);
      await this.#erase(room);
    });
  }

  messages(caller: Principal): Promise<Outcome<TranscriptMessage[]>> {
    return toOutcome(() => toTranscript(this.#enter(caller).transcript.turns()));
  }

  submit(caller: Principal, request: SubmitTurn): Promise<Outcome<SubmittedTurn>> {
    return toOutcome(() => submit(this.#submitDoor(this.#enter(caller)), caller, request));
  }

  answer(caller: Principal, turn: string): Promise<Outcome<TurnAnswer>> {
    return toOutcome(() => readAnswer(this.#source(caller), turn));
  }

  stream(caller: Principal, turn: string): Promise<Outcome<ReadableStream<Uint8Array>>> {
    return toOutcome(() => streamTurn(this.#source(caller), turn));
  }

  completion(
    caller: Principal,
    turn: string,
    options: { model: string; streamed: boolean; includeUsage: boolean },
  ): Promise<Outcome<ReadableStream<Uint8Array>>> {
    return toOutcome(() => readCompletion(this.#source(caller), turn, options));
  }

  eventsAfter(caller: Principal, after: number, waitMs: number): Promise<Outcome<SessionEvent[]>> {
    return toOutcome(() => readEvents(this.#source(caller), after, waitMs));
  }

  cancel(caller: Principal): Promise<Outcome<{ turn: string | null; cancelled: boolean }>> {
    return toOutcome(() => {
      const turn = this.#enter(caller).runner.cancel();
      return { turn, cancelled: turn !== null };
    });
  }

  call(caller: Principal, request: { plan: Plan; name: string; arguments: Record<string, unknown> }): Promise<Outcome<SessionCall>> {
    return toOutcome(async () => {
      const room = this.#enter(caller);
      const { plan } = request;
      const names = await this.#wiring.namesFor(room.meta.workspace, plan);
      const callId = this.#wiring.ids.next('call');
      const scope = {
        keyId: caller.keyId,
        session: this.#id,
        turn: null,
        names: () => names,
        rules: await this.#wiring.rules(room.meta.workspace),
        canWait: false,
        results: null,
        edition: plan.edition ?? null,
        files: room.files,
        timeoutMs: plan.limits.toolTimeoutMs ?? limits.toolTimeoutMs,
        audit: (row: Omit<AuditRow, 'sequence'>) => this.#audit(room, row),
      };
      const signal = new AbortController().signal;
      const answer = await callToolNow(
        this.#wiring.callDeps(room.meta.workspace),
        scope,
        { callId, requested: request.name, arguments: request.arguments },
        signal,
      );
      if (this.#room === room) await this.#flushAudit(room);
      return answer;
    });
  }

  listFiles(caller: Principal, path: string): Promise<Outcome<FileListing>> {
    return toOutcome(() => listFiles(this.#enter(caller).files, path));
  }

  readFile(caller: Principal, path: string): Promise<Outcome<FileContent>> {
    return toOutcome(() => readFile(this.#enter(caller).files, path));
  }

  writeFile(caller: Principal, path: string, content: Uint8Array): Promise<Outcome<{ path: string; created: boolean }>> {
    return toOutcome(() => writeFile(this.#enter(caller).files, path, content));
  }

  deleteFile(caller: Principal, path: string): Promise<Outcome<void>> {
    return toOutcome(() => deleteFile(this.#enter(caller).files, path));
  }

  /** Rings for what the `timers` table says is due. Never throws: the platform gives up on an alarm after a few failures. */
  override async alarm(): Promise<void> {
    const { clock, log } = this.#wiring;
    try {
      const room = this.#tryOpen();
      if (room !== null) await this.#ring(room);
    } catch (error) {
      log.error('a session alarm failed', { session: this.#id, error: String(error) });
      // Not by the timers: what broke may be the storage that has them.
      await this.ctx.storage.setAlarm(clock.now() + limits.auditRetryMs).catch((cause: unknown) => {
        log.error('a session alarm cannot be set', { session: this.#id, error: String(cause) });
      });
    }
  }

  async #ring(room: Room): Promise<void> {
    const { clock } = this.#wiring;
    room.timers.rang();
    const now = clock.now();
    for (const kind of room.timers.due(now)) {
      if (kind === 'turn') {
        if (room.runner.active) room.timers.set('turn', now + limits.turnAlarmMs);
        else room.runner.pump();
      } else if (kind === 'audit') {
        room.timers.clear('audit');
        await this.#flushAudit(room);
      } else if (room.runner.active) room.timers.set('expire', now + limits.turnTimeoutMs);
      else {
        // Set before it is tried: what cannot be deleted now must not ring without pause.
        room.timers.set('expire', now + limits.auditRetryMs);
        return await this.#erase(room);
      }
    }
    room.timers.arm();
  }

  get #id(): string {
    return this.ctx.id.toString();
  }

  /** The session, for its owner and administrators of its workspace; to everyone else it does not exist. */
  #enter(caller: Principal): Room {
    const room = this.#tryOpen();
    const mine =
      room !== null && caller.workspace === room.meta.workspace && (caller.keyId === room.meta.keyId || hasScope(caller, 'admin'));
    if (!mine) throw new Problem('not_found', 'There is no such session.');
    return room;
  }

  /** null when this id was never made, or was deleted. */
  #tryOpen(): Room | null {
    if (this.#leaving) return null;
    return this.#room ?? (isFounded(this.ctx.storage) ? this.#open() : null);
  }

  #open(): Room {
    const room: Room = openRoom(this.ctx.storage, this.#id, this.#wiring, {
      audit: (row) => this.#audit(room, row),
      flushAudit: () => this.#flushAudit(room),
      keep: (work) => this.ctx.waitUntil(work),
    });
    this.#room = room;
    room.runner.recover();
    room.runner.pump();
    return room;
  }

  #view({ meta, turns }: Room): SessionView {
    const { agent, model, toolset } = meta.setup;
    const current = turns.current();
    return {
      id: this.#id,
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      toolset: toolset ?? null,
      createdAt: new Date(meta.createdAt).toISOString(),
      turn: current === null ? null : { id: current.id, status: current.status ?? current.state, reason: current.reason },
      queued: turns.queued(),
    };
  }

  #submitDoor(room: Room): SubmitDoor {
    const { ids, sessions } = this.#wiring;
    return { room, session: this.#id, ids, sessions, forks: this.#forks, gone: () => this.#room !== room };
  }

  #source(caller: Principal): TurnSource {
    const room = this.#enter(caller);
    return { log: room.log, turns: room.turns, clock: this.#wiring.clock, gone: () => this.#room !== room };
  }

  /** Stored with the call; a call that outlived its session is told to the Catalog at once. */
  async #audit(room: Room, row: Omit<AuditRow, 'sequence'>): Promise<void> {
    if (this.#room === room) room.audit.add(row);
    else await this.#wiring.catalog(room.meta.workspace).appendAudit([{ ...row, sequence: null }]);
  }

  /** Hands the audit rows over; what the Catalog cannot take now is tried again by the alarm. True when none is left. */
  async #flushAudit(room: Room): Promise<boolean> {
    if (this.#room !== room || !room.audit.waiting()) return true;
    const { clock, log } = this.#wiring;
    const catalog = this.#wiring.catalog(room.meta.workspace);
    const late = (): never => {
      throw new Error('the Catalog took too long');
    };
    try {
      await withTimeLimit(
        room.audit.flush((rows) => catalog.appendAudit(rows)),
        limits.auditWaitMs,
        late,
      );
      return true;
    } catch (error) {
      log.error('audit rows wait', { session: this.#id, error: String(error) });
      if (this.#room === room) room.timers.set('audit', clock.now() + limits.auditRetryMs);
      return false;
    }
  }

  /** All or nothing: audit rows that the Catalog cannot take now keep the session, and it is deleted the next time. */
  async #erase(room: Room): Promise<void> {
    this.#leaving = true;
    try {
      await withTimeLimit(room.runner.shut(), limits.auditWaitMs, () => undefined);
      const flushed = await this.#flushAudit(room);
      this.#room = null;
      if (!flushed) throw new Problem('internal', 'The audit of this session cannot be written now, so it was not deleted. Try again.');
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
    } finally {
      this.#leaving = false;
      room.log.wakeReaders();
    }
  }
}
