/**
 * The `Session` Durable Object: one conversation's log, queue, files and feed (DESIGN §5, §11). It stores and drives; what
 * the conversation does next is decided in `core/turn.ts`. Every RPC method answers an `Outcome` and checks the owner first.
 */
import { DurableObject } from 'cloudflare:workers';
import type { ApprovalView, Decision } from '../core/approval.ts';
import type { AuditRow } from '../core/audit.ts';
import { crashPoint } from '../core/crash-point.ts';
import type { EditionPointer } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import { hasScope, type Principal } from '../core/principal.ts';
import { Problem, toOutcome, type Outcome } from '../core/problem.ts';
import type { SessionEvent } from '../core/session-event.ts';
import { withTimeLimit } from '../net/time-limit.ts';
import type { Remote } from '../ports/remote.ts';
import type {
  ClientResult,
  Decided,
  MessagePage,
  MessageQuery,
  ResultsTaken,
  Session as SessionPort,
  SessionCall,
  SessionCallRequest,
  SessionSetup,
  SessionView,
  SubmitTurn,
  SubmittedTurn,
  TurnAnswer,
} from '../ports/session.ts';
import type { Bindings } from '../storage/bindings.ts';
import { wire, type Wiring } from '../wiring.ts';
import { ring } from './alarm.ts';
import { editionOf, readCompletion } from './completion-reader.ts';
import { decide, decideByLink, mintLink, showApproval, showLinked, showPending, type DecideDoor } from './decide.ts';
import { callDirectly, openCalls, repeatedCall } from './direct-calls.ts';
import { deleteFile, listFiles, readFile, writeFile, type FileContent, type FileListing } from './file-access.ts';
import { foundRoom, markLeaving, openRoom, stateOf, viewOf, type Room } from './room.ts';
import type { SubmitDoor } from './accept-turn.ts';
import { repeatedTurn, submit } from './submit.ts';
import { takeResults } from './take-results.ts';
import { readMessages } from './transcript-pages.ts';
import { readAnswer, readEvents, streamTurn, type TurnSource } from './turn-reader.ts';

export class Session extends DurableObject<Bindings> implements Remote<SessionPort> {
  readonly #wiring: Wiring;
  /** Forks being made, by idempotency key: a repeat that comes meanwhile joins them. */
  readonly #forks = new Map<string, Promise<SubmittedTurn>>();
  /** Direct calls under way, by idempotency key. */
  readonly #calls = new Map<string, Promise<SessionCall>>();
  #room: Room | null = null;
  /** While it is being deleted: to everyone who comes now, there is no such session. */
  #leaving: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#wiring = wire(env);
  }

  /** Makes the session; its id is the object's. `keptMs`: how long an unlisted one is kept. Its owner may found it again: it is the same. */
  found(owner: Principal, setup: SessionSetup, keptMs: number = limits.unlistedSessionTtlMs): Promise<Outcome<SessionView>> {
    return toOutcome(async () => {
      // What was deleted under this id is gone before anything new is made.
      if (this.#leaving !== null || stateOf(this.ctx.storage) === 'leaving') await this.#leave();
      if (this.#tryOpen() !== null) return viewOf(this.#id, this.#enter(owner));
      const createdAt = this.#wiring.clock.now();
      foundRoom(this.ctx.storage, { workspace: owner.workspace, keyId: owner.keyId, setup, createdAt });
      const room = this.#open();
      if (!setup.listed) room.timers.set('expire', createdAt + keptMs);
      return viewOf(this.#id, room);
    });
  }

  view(caller: Principal): Promise<Outcome<SessionView>> {
    return toOutcome(() => viewOf(this.#id, this.#enter(caller)));
  }

  setup(caller: Principal): Promise<Outcome<SessionSetup>> {
    return toOutcome(() => this.#enter(caller).meta.setup);
  }

  /** Final when it resolves: what could not be cleared away yet, the alarm clears away. */
  remove(caller: Principal): Promise<Outcome<void>> {
    return toOutcome(async () => {
      this.#enter(caller);
      await this.#leave().catch((error: unknown) => {
        this.#wiring.log.error('a deleted session is not cleared away yet', { session: this.#id, error: String(error) });
      });
    });
  }

  messages(caller: Principal, query: MessageQuery = {}): Promise<Outcome<MessagePage>> {
    return toOutcome(() => readMessages(this.#enter(caller).log, query));
  }

  submit(caller: Principal, request: SubmitTurn): Promise<Outcome<SubmittedTurn>> {
    return toOutcome(async () => {
      const submitted = await submit(this.#submitDoor(this.#enter(caller)), caller, request);
      await crashPoint(submitted.position > 0 ? 'second-message-queued' : 'accept-before-ack');
      return submitted;
    });
  }

  repeated(caller: Principal, key: string, bodyHash: string): Promise<Outcome<SubmittedTurn | null>> {
    return toOutcome(() => repeatedTurn(this.#submitDoor(this.#enter(caller)), key, bodyHash));
  }

  answer(caller: Principal, turn: string): Promise<Outcome<TurnAnswer>> {
    return toOutcome(() => readAnswer(this.#source(caller), turn));
  }

  stream(caller: Principal, turn: string): Promise<Outcome<ReadableStream<Uint8Array>>> {
    return toOutcome(() => streamTurn(this.#source(caller), turn));
  }

  completion(
    caller: Principal,
    completion: string,
    options: { streamed: boolean; after?: string },
  ): Promise<Outcome<ReadableStream<Uint8Array>>> {
    return toOutcome(() => readCompletion({ ...this.#source(caller), session: this.#id }, completion, options));
  }

  completionEdition(caller: Principal, completion: string): Promise<Outcome<EditionPointer | null>> {
    return toOutcome(() => editionOf(this.#enter(caller), completion));
  }

  eventsAfter(caller: Principal, after: number, waitMs: number): Promise<Outcome<SessionEvent[]>> {
    return toOutcome(() => readEvents(this.#source(caller), after, waitMs));
  }

  approvals(caller: Principal): Promise<Outcome<ApprovalView[]>> {
    return toOutcome(() => showPending(this.#decideDoor(this.#enter(caller))));
  }

  approval(caller: Principal, callId: string): Promise<Outcome<ApprovalView>> {
    return toOutcome(() => showApproval(this.#decideDoor(this.#enter(caller)), callId));
  }

  decide(caller: Principal, callId: string, decision: Decision, { remember }: { remember: boolean }): Promise<Outcome<Decided>> {
    return toOutcome(() => this.#decided(this.#enter(caller), (door) => decide(door, callId, decision, { by: caller.keyId, remember })));
  }

  mintLink(caller: Principal, callId: string): Promise<Outcome<{ nonce: string; expiresAt: number }>> {
    return toOutcome(() => mintLink(this.#decideDoor(this.#enter(caller)), callId, caller.keyId));
  }

  linkedApproval(nonce: string): Promise<Outcome<ApprovalView>> {
    return toOutcome(() => showLinked(this.#decideDoor(this.#enterByLink()), nonce));
  }

  decideByLink(nonce: string, decision: Decision): Promise<Outcome<Decided>> {
    return toOutcome(() => this.#decided(this.#enterByLink(), (door) => decideByLink(door, nonce, decision)));
  }

  takeResults(caller: Principal, results: readonly ClientResult[]): Promise<Outcome<ResultsTaken>> {
    return toOutcome(() => takeResults(this.#enter(caller), results));
  }

  cancel(caller: Principal): Promise<Outcome<{ turn: string | null; cancelled: boolean }>> {
    return toOutcome(async () => {
      const turn = this.#enter(caller).runner.cancel();
      await crashPoint('cancel-mid');
      return { turn, cancelled: turn !== null };
    });
  }

  call(caller: Principal, request: SessionCallRequest): Promise<Outcome<SessionCall>> {
    return toOutcome(async () => {
      const room = this.#enter(caller);
      const gone = (): boolean => this.#isGone(room);
      const door = await openCalls(this.#wiring, room, request.plan, {
        session: this.#id,
        keyId: caller.keyId,
        underWay: this.#calls,
        gone,
        audit: (row) => this.#audit(room, row),
      });
      if (gone()) throw unknownSession();
      const answer = await callDirectly(door, request);
      if (!gone()) await this.#flushAudit(room);
      return answer;
    });
  }

  repeatedCall(caller: Principal, key: string, bodyHash: string): Promise<Outcome<SessionCall | null>> {
    return toOutcome(() => repeatedCall({ room: this.#enter(caller), underWay: this.#calls }, key, bodyHash));
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

  /** Never throws: the platform gives up on an alarm after a few failures. */
  override async alarm(): Promise<void> {
    const { clock, log } = this.#wiring;
    const again = async (): Promise<void> => {
      // Not by the timers: what broke may be the storage that has them.
      await this.ctx.storage.setAlarm(clock.now() + limits.auditRetryMs);
    };
    try {
      const state = this.#leaving === null ? stateOf(this.ctx.storage) : 'leaving';
      if (state === 'leaving') {
        await again();
        return await this.#leave();
      }
      const room = state === 'open' ? this.#tryOpen() : null;
      if (room === null) return;
      const door = { room, session: this.#id, now: clock.now, log };
      await ring({ ...door, flushAudit: () => this.#flushAudit(room), leave: () => this.#leave() });
    } catch (error) {
      log.error('a session alarm failed', { session: this.#id, error: String(error) });
      await again().catch((cause: unknown) => {
        log.error('a session alarm cannot be set', { session: this.#id, error: String(cause) });
      });
    }
  }

  get #id(): string {
    return this.ctx.id.toString();
  }

  /** The session, for its owner and administrators of its workspace; to everyone else it does not exist. */
  #enter(caller: Principal): Room {
    const room = this.#tryOpen();
    const mine =
      room !== null && caller.workspace === room.meta.workspace && (caller.keyId === room.meta.keyId || hasScope(caller, 'admin'));
    if (!mine) throw unknownSession();
    return room;
  }

  /** For whoever has a link in hand: its nonce is the right to one approval, and nothing else. */
  #enterByLink(): Room {
    const room = this.#tryOpen();
    if (room === null) throw unknownSession();
    return room;
  }

  /** null when this id was never made, or was deleted. */
  #tryOpen(): Room | null {
    if (this.#leaving !== null) return null;
    if (this.#room !== null) return this.#room;
    const state = stateOf(this.ctx.storage);
    // A deletion that its process did not live to finish.
    if (state === 'leaving') this.ctx.waitUntil(this.#leave().catch(() => undefined));
    return state === 'open' ? this.#open() : null;
  }

  #open(): Room {
    const room = this.#build();
    room.runner.recover();
    room.runner.pump();
    room.timers.arm();
    return room;
  }

  #build(): Room {
    const room: Room = openRoom(this.ctx.storage, this.#id, this.#wiring, {
      audit: (row) => this.#audit(room, row),
      flushAudit: () => this.#flushAudit(room),
      keep: (work) => this.ctx.waitUntil(work),
    });
    this.#room = room;
    return room;
  }

  #isGone(room: Room): boolean {
    return this.#room !== room;
  }

  #submitDoor(room: Room): SubmitDoor {
    const { clock, ids, sessions } = this.#wiring;
    return { room, session: this.#id, now: clock.now, ids, sessions, forks: this.#forks, gone: () => this.#isGone(room) };
  }

  #decideDoor(room: Room): DecideDoor {
    const { clock, catalog, log } = this.#wiring;
    const { allow, keyStands } = catalog(room.meta.workspace);
    return { room, session: this.#id, now: clock.now, log, gone: () => this.#isGone(room), allow, keyStands };
  }

  /** The word's audit row is handed over, also when it was stored and its rule was not. */
  async #decided(room: Room, work: (door: DecideDoor) => Promise<Decided>): Promise<Decided> {
    try {
      return await work(this.#decideDoor(room));
    } finally {
      await this.#flushAudit(room);
    }
  }

  #source(caller: Principal): TurnSource & { room: Room } {
    const room = this.#enter(caller);
    return { room, log: room.log, turns: room.turns, clock: this.#wiring.clock, gone: () => this.#isGone(room) };
  }

  /** Stored with the call; a call that outlived its session is told to the Catalog at once. */
  async #audit(room: Room, row: Omit<AuditRow, 'sequence'>): Promise<void> {
    if (!this.#isGone(room)) room.audit.add(row);
    else await this.#wiring.catalog(room.meta.workspace).appendAudit([{ ...row, sequence: null }]);
  }

  /** Hands the audit rows over; what the Catalog cannot take now is tried again by the alarm. True when none is left. */
  async #flushAudit(room: Room): Promise<boolean> {
    if (this.#isGone(room) || !room.audit.waiting()) return true;
    const { clock, log } = this.#wiring;
    const fault = await room.audit.handOver((rows) => this.#wiring.catalog(room.meta.workspace).appendAudit(rows));
    if (fault === null) return true;
    log.error('audit rows wait', { session: this.#id, error: String(fault) });
    if (!this.#isGone(room) && this.#leaving === null) room.timers.set('audit', clock.now() + limits.auditRetryMs);
    return false;
  }

  /**
   * Deletes the session, once for all who ask: marked durably first, so that nothing brings it back, then the rest. Throws when
   * the rest cannot be done now: it stays marked, and whoever opens the object next, the alarm at the latest, goes on.
   */
  #leave(): Promise<void> {
    this.#leaving ??= this.#erase().finally(() => {
      this.#leaving = null;
    });
    return this.#leaving;
  }

  async #erase(): Promise<void> {
    const { storage } = this.ctx;
    const room = this.#room ?? this.#build();
    markLeaving(room, storage, this.#wiring.clock.now() + limits.auditRetryMs);
    await crashPoint('delete-session-mid');
    try {
      await withTimeLimit(room.runner.shut(), limits.auditWaitMs, () => undefined);
      // A row that outlives its session would lead nowhere, and nobody could take it away.
      await this.#wiring.catalog(room.meta.workspace).forgetSession(this.#id);
      if (!(await this.#flushAudit(room))) throw new Error('the audit of this session cannot be handed over now');
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

function unknownSession(): Problem {
  return new Problem('not_found', 'There is no such session.');
}
