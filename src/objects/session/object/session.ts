/**
 * The `Session` Durable Object: one conversation's log, queue, files and feed (contract §5, §11). It stores and drives; `core/turn/turn.ts`
 * decides what the conversation does next. Every RPC method checks the owner first and returns an `Outcome`.
 */
import { DurableObject } from 'cloudflare:workers';
import type { ApprovalView, Decision } from '../../../core/policy/approval.ts';
import { createRedactor } from '../../../engine/call/redact.ts';
import { failpoint } from '../../../core/failpoint.ts';
import { limits } from '../../../core/limits/limits.ts';
import { once } from '../../../core/memoize.ts';
import type { ClientResult } from '../../../core/model/message.ts';
import type { PolicyAnswer } from '../../../core/policy/explain.ts';
import { isAllowed } from '../../../core/people/authority.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { toOutcome, type Outcome } from '../../../core/problem.ts';
import type { SessionEvent } from '../../../core/turn/session-event.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import type { AnswerContent } from '../../../core/policy/answer-name.ts';
import type { ArgumentsOf, Remote, ResultOf } from '../../../ports/remote.ts';
import type { ReplayPort } from '../../../ports/replays.ts';
import type {
  CompletionOptions,
  ForkedConversation,
  DecisionOutcome,
  EventPage,
  EventPageQuery,
  FollowedLink,
  GivenInputs,
  MessagePage,
  MessageQuery,
  DirectoryListing,
  RecordedConversation,
  ResultsAccepted,
  SessionPort,
  SessionCall,
  SessionCallRequest,
  SessionSetup,
  SessionView,
  SubmitTurn,
  SubmittedTurn,
  TurnAnswer,
  SessionExplainRequest,
  FileConditions,
  SessionMetadata,
} from '../../../ports/session.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import { readLimits } from '../../../engine/plan/turn-limits.ts';
import { createHistoryJudge, rememberAnswer } from '../../../engine/policy/client-history-taint.ts';
import type { FileChange, StoredFile } from '../../../ports/file-space.ts';
import { ObjectBackup } from '../../../storage/backup/object-backup.ts';
import type { BackupName, BackupRpc, RestoreStep } from '../../../storage/backup/backup-objects.ts';
import type { ReadPosition } from '../../../storage/backup/table-reader.ts';
import { applyChanges, copyFiles } from '../../../storage/files/file-image.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { readNewestMade } from '../../../engine/plan/newest-made.ts';
import { wire } from '../../../wiring/wire.ts';
import { loadDecisions, loadReplays } from './alarm.ts';
import type { SessionNeeds } from './session-needs.ts';
import type { SubmitContext } from '../turn/accept-turn.ts';
import { deleteCompletion, isInProgress, readCompletion, turnOf } from '../log/completion-reader.ts';
import type { DecisionContext } from '../pending/decide.ts';
import { createDirectCallContext, explainInSession, type DirectCallContext } from '../direct/direct-call-context.ts';
import { callWithSession, repeatedCall } from '../direct/direct-calls.ts';
import { deleteSessionFile, listSessionFiles, readSessionFile, writeSessionFile, type FileContent } from './file-access.ts';
import { submitInput } from '../pending/submit-input.ts';
import {
  enterObject,
  enterSession,
  enterToDecide,
  requireSession,
  requireTurnWithin,
  toSessionView,
  unknownSession,
  type OpenSession,
} from './open-session.ts';
import { publicId, readSessionBackup, restoreSession, sessionBackupPlan } from './session-backup.ts';
import { SessionLifecycle } from './session-lifecycle.ts';
import { repeatedTurn, submit } from '../turn/submit.ts';
import { acceptResults } from '../turn/accept-results.ts';
import { readMessages } from '../log/transcript-pages.ts';
import { readAnswer, readEventPage, readEvents, streamTurn, type TurnSource } from '../log/turn-reader.ts';

type DecideOptions = Parameters<SessionPort['decide']>[3];
type LinkOptions = Parameters<SessionPort['decideByLink']>[2];
type WrittenFile = Awaited<ReturnType<SessionPort['writeFile']>>;

const loadForks = once(() => import('../turn/fork-session.ts'));
const loadRecordings = once(() => import('../log/recorded-turn.ts'));

export class Session extends DurableObject<Bindings> implements Remote<SessionPort>, BackupRpc {
  readonly #wiring: SessionNeeds;
  /** Forks in progress, by idempotency key: a concurrent repeat of the request joins the same fork. */
  readonly #forks = new Map<string, Promise<SubmittedTurn>>();
  readonly #admissions: SubmitContext['admissions'] = { last: null };
  /** The same for `fork`. */
  readonly #copies = new Map<string, Promise<SessionView>>();
  /** Direct calls in flight, by idempotency key. */
  readonly #calls = new Map<string, Promise<SessionCall>>();
  /** Changes when the session is restored, which creates a new life. */
  #id = '';
  #life: SessionLifecycle;
  readonly #openedAt: number;
  readonly #backup: ObjectBackup;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#wiring = wire(env);
    this.#openedAt = this.#wiring.clock.now();
    this.#life = this.#createLife();
    this.#backup = new ObjectBackup(ctx.storage, sessionBackupPlan);
  }

  /** Creates the session, or returns it if the owner created it before. Its id is the id of the object. `keptMs`: how long an unlisted session is stored. */
  createOrGet(owner: Principal, setup: SessionSetup, keptMs: number = limits.unlistedSessionTtlMs): Promise<Outcome<SessionView>> {
    return toOutcome(async () => {
      this.#backup.requireUsable();
      await this.#life.finishDeletion();
      const known = this.#life.tryOpen();
      if (known !== null) return toSessionView(this.#id, enterObject(known, owner));
      return toSessionView(this.#id, this.#life.create({ workspace: owner.workspace, keyId: owner.keyId, setup }, keptMs));
    });
  }

  view(caller: Principal): Promise<Outcome<SessionView>> {
    return toOutcome(() => toSessionView(this.#id, this.#enter(caller)));
  }

  setup(caller: Principal): Promise<Outcome<SessionSetup>> {
    return toOutcome(() => this.#enter(caller).meta.setup);
  }

  fork(caller: Principal, turn: string, key?: string): Promise<Outcome<SessionView>> {
    return toOutcome(async () => {
      const { forkSession } = await loadForks();
      const context = this.#submitContext(this.#enter(caller));
      if (key === undefined) return await forkSession(context, caller, turn);
      const made = this.#copies.get(key) ?? forkSession(context, caller, turn, key).finally(() => this.#copies.delete(key));
      this.#copies.set(key, made);
      return await made;
    });
  }

  importConversation(caller: Principal, conversation: ForkedConversation): Promise<Outcome<void>> {
    return toOutcome(async () => (await loadForks()).importConversation(this.#enter(caller), conversation));
  }

  appendHistory(caller: Principal, added: Parameters<SessionPort['appendHistory']>[1]): Promise<Outcome<{ event: number }>> {
    return toOutcome(async () => (await loadForks()).appendHistory(this.#enterWaiting(caller), added));
  }

  setMetadata(caller: Principal, metadata: SessionMetadata): Promise<Outcome<SessionView>> {
    return toOutcome(() => {
      const openSession = this.#enter(caller);
      openSession.metadata.write(metadata);
      return toSessionView(this.#id, openSession);
    });
  }

  /** Deletes the session, permanently once it resolves. The alarm finishes what cannot be deleted now. */
  remove(caller: Principal, of?: 'any'): Promise<Outcome<void>> {
    return toOutcome(async () => {
      if (of === undefined) this.#enter(caller);
      else enterObject(this.#life.tryOpen(), caller);
      await this.#life.tryDestroy(caller.keyId);
    });
  }

  removeIfUnused(caller: Principal, since: number): Promise<Outcome<boolean>> {
    return toOutcome(async () => await this.#life.tryDestroyUnused(enterObject(this.#life.tryOpen(), caller), since));
  }

  messages(caller: Principal, query: MessageQuery = {}): Promise<Outcome<MessagePage>> {
    return toOutcome(() => readMessages(this.#enter(caller), query));
  }

  submit(caller: Principal, request: SubmitTurn): Promise<Outcome<SubmittedTurn>> {
    return toOutcome(async () => {
      // Only a request of a chat API may continue the waiting turn.
      const openSession = request.chat === undefined ? this.#enter(caller) : this.#enterWaiting(caller);
      const submitted = await submit(this.#submitContext(openSession), caller, request);
      await failpoint(submitted.position > 0 ? 'second-message-queued' : 'accept-before-ack');
      return submitted;
    });
  }

  findByIdempotencyKey(caller: Principal, key: string, bodyHash: string): Promise<Outcome<SubmittedTurn | null>> {
    return toOutcome(() => repeatedTurn(this.#submitContext(this.#enter(caller)), key, bodyHash));
  }

  hasTurn(caller: Principal, turn: string): Promise<Outcome<boolean>> {
    return toOutcome(() => this.#enter(caller).turns.stateOf(turn) !== null);
  }

  waitForAnswer(caller: Principal, turn: string): Promise<Outcome<TurnAnswer>> {
    return toOutcome(() => readAnswer(this.#source(caller), turn));
  }

  stream(caller: Principal, turn: string): Promise<Outcome<ReadableStream<Uint8Array>>> {
    return toOutcome(() => streamTurn(this.#source(caller), turn));
  }

  completion(caller: Principal, completion: string, options: CompletionOptions): Promise<Outcome<ReadableStream<Uint8Array>>> {
    return toOutcome(() => {
      const source = { ...this.#source(caller), session: this.#id };
      const given = { taint: source.openSession.taint, session: this.#id };
      const remember = (answer: AnswerContent): Promise<void> => rememberAnswer(this.#wiring, given, caller, answer);
      return readCompletion({ ...source, remember }, completion, options);
    });
  }

  completionTurn(caller: Principal, completion: string): Promise<Outcome<ReturnType<typeof turnOf>>> {
    return toOutcome(() => turnOf(this.#enter(caller), completion));
  }

  deleteCompletion(caller: Principal, completion: string): Promise<Outcome<void>> {
    return toOutcome(() => deleteCompletion(this.#enter(caller), completion));
  }

  eventsAfter(caller: Principal, after: number, waitMs: number): Promise<Outcome<SessionEvent[]>> {
    return toOutcome(() => readEvents(this.#source(caller), after, waitMs));
  }

  eventPage(caller: Principal, query: EventPageQuery): Promise<Outcome<EventPage>> {
    return toOutcome(() => readEventPage(this.#source(caller), query));
  }

  recordedTurn(caller: Principal, turn: string): Promise<Outcome<RecordedConversation>> {
    return toOutcome(async () => {
      const openSession = this.#enter(caller);
      return (await loadRecordings()).readRecordedTurn(openSession, turn);
    });
  }

  /** Calls a method of a replay (`ports/replays.ts`). */
  replay<Name extends keyof ReplayPort>(method: Name, args: ArgumentsOf<ReplayPort, Name>): Promise<Outcome<ResultOf<ReplayPort, Name>>> {
    return toOutcome(async () => {
      this.#backup.requireUsable();
      const { callReplay } = await loadReplays();
      const parts = { wiring: this.#wiring, session: this.#id, waitUntil: (work: Promise<unknown>) => this.ctx.waitUntil(work) };
      const life = { isDeleted: (one: OpenSession) => this.#life.isDeleted(one), remove: (by: string) => this.#life.tryDestroy(by) };
      return await callReplay({ ...parts, ...life }, this.#life.tryOpen(), method, args);
    });
  }

  approvals(caller: Principal): Promise<Outcome<ApprovalView[]>> {
    return toOutcome(async () => (await loadDecisions()).showPending(this.#deciding(caller)));
  }

  approval(caller: Principal, callId: string): Promise<Outcome<ApprovalView>> {
    return toOutcome(async () => (await loadDecisions()).showApproval(this.#deciding(caller), callId));
  }

  decide(caller: Principal, callId: string, decision: Decision, options: DecideOptions): Promise<Outcome<DecisionOutcome>> {
    return toOutcome(async () => {
      const { decide } = await loadDecisions();
      return await this.#decided(caller, (context) =>
        decide(context, callId, decision, { by: caller.keyId, mayWaive: isAllowed(caller, { act: 'waive', what: '' }), ...options }),
      );
    });
  }

  mintLink(caller: Principal, callId: string): Promise<Outcome<{ nonce: string; expiresAt: number }>> {
    return toOutcome(async () => (await loadDecisions()).mintLink(this.#deciding(caller), callId, caller.keyId));
  }

  linkedApproval(link: FollowedLink): Promise<Outcome<ApprovalView>> {
    return toOutcome(async () => (await loadDecisions()).showLinked(this.#deciding('link'), link));
  }

  decideByLink(link: FollowedLink, decision: Decision, options?: LinkOptions): Promise<Outcome<DecisionOutcome>> {
    return toOutcome(async () => {
      const { decideByLink } = await loadDecisions();
      return await this.#decided('link', (context) => decideByLink(context, link, decision, options));
    });
  }

  submitResults(caller: Principal, results: readonly ClientResult[]): Promise<Outcome<ResultsAccepted>> {
    return toOutcome(() => acceptResults(this.#enterWaiting(caller), results, caller.keyId));
  }

  submitInput(caller: Principal, given: GivenInputs): Promise<Outcome<ResultsAccepted>> {
    return toOutcome(() => submitInput(this.#enterWaiting(caller), given, caller.keyId, this.#wiring.clock.now()));
  }

  cancel(caller: Principal, completion?: string): Promise<Outcome<{ turn: string | null; cancelled: boolean }>> {
    return toOutcome(async () => {
      const openSession = this.#enter(caller);
      const turn = completion === undefined || isInProgress(openSession, completion) ? openSession.runner.cancel() : null;
      await failpoint('cancel-mid');
      return { turn, cancelled: turn !== null };
    });
  }

  cancelAll(caller: Principal): Promise<Outcome<{ cancelled: number }>> {
    return toOutcome(async () => {
      const openSession = enterObject(this.#life.tryOpen(), caller);
      if (openSession.meta.setup.replay === true) await this.#life.cancelReplay(openSession, 'The key was revoked.');
      return { cancelled: openSession.runner.cancelAll() };
    });
  }

  call(caller: Principal, request: SessionCallRequest): Promise<Outcome<SessionCall>> {
    return toOutcome(async () => {
      const openSession = this.#enter(caller);
      const context = await this.#directCall(openSession, caller, request.plan, {
        auditIntent: (row) => openSession.audit.begin(row),
        audit: (row) => openSession.audit.add(row),
      });
      const answer = await callWithSession(context, request);
      if (!context.isDeleted()) await openSession.audit.outbox.flush();
      return answer;
    });
  }

  explain(caller: Principal, request: SessionExplainRequest): Promise<Outcome<PolicyAnswer>> {
    return toOutcome(async () => {
      const context = await this.#directCall(this.#enter(caller), caller, request.plan, { audit: () => undefined });
      return await explainInSession(context, request);
    });
  }

  findCallByIdempotencyKey(caller: Principal, key: string, bodyHash: string): Promise<Outcome<SessionCall | null>> {
    return toOutcome(() => repeatedCall({ openSession: this.#enter(caller), inFlight: this.#calls }, key, bodyHash));
  }

  listFiles(caller: Principal, path: string, options?: { recursive?: boolean }): Promise<Outcome<DirectoryListing>> {
    return toOutcome(() => listSessionFiles(this.#enter(caller).files, path, options));
  }

  readFile(caller: Principal, path: string): Promise<Outcome<FileContent>> {
    return toOutcome(() => readSessionFile(this.#enter(caller).files, path));
  }

  writeFile(caller: Principal, path: string, content: Uint8Array, conditions?: FileConditions): Promise<Outcome<WrittenFile>> {
    return toOutcome(async () => {
      const { files } = this.#enter(caller);
      return await this.#withinStorage(caller, files, () => writeSessionFile(files, path, content, conditions));
    });
  }

  deleteFile(caller: Principal, path: string, conditions?: FileConditions): Promise<Outcome<void>> {
    return toOutcome(async () => {
      const { files } = this.#enter(caller);
      await deleteSessionFile(files, path, conditions);
      await this.#withinStorage(caller, files, () => undefined, 'deletes');
    });
  }

  loadFiles(caller: Principal): Promise<Outcome<StoredFile[]>> {
    return toOutcome(() => copyFiles(this.#enter(caller).files));
  }

  applyFiles(caller: Principal, changes: readonly FileChange[]): Promise<Outcome<void>> {
    return toOutcome(() => applyChanges(this.#enter(caller).files, changes));
  }

  readBackup(name: BackupName, at: ReadPosition | null): ReturnType<BackupRpc['readBackup']> {
    return toOutcome(() => readSessionBackup(this.ctx.storage, this.#backup, name, at));
  }

  restoreStep(name: BackupName, step: RestoreStep): Promise<Outcome<void>> {
    const life = (): SessionLifecycle => (this.#life = this.#createLife());
    const parts = { ctx: this.ctx, backup: this.#backup, life };
    return toOutcome(() => restoreSession(parts, name, step));
  }

  override async alarm(): Promise<void> {
    await this.#life.runAlarm();
  }

  #createLife(): SessionLifecycle {
    this.#id = publicId(this.ctx);
    const own = { storage: this.ctx.storage, session: this.#id, wiring: this.#wiring };
    return new SessionLifecycle({ ...own, waitUntil: (work) => this.ctx.waitUntil(work) });
  }

  #enter(caller: Principal): OpenSession {
    this.#backup.requireUsable();
    return enterSession(this.#life.tryOpen(), caller);
  }

  /** For what may continue the waiting turn with something that the caller sends. */
  #enterWaiting(caller: Principal): OpenSession {
    const openSession = this.#enter(caller);
    requireTurnWithin(openSession, caller);
    return openSession;
  }

  #submitContext(openSession: OpenSession): SubmitContext {
    const { clock, ids, sessions } = this.#wiring;
    const isEnding = (): boolean => this.#life.isEnding(openSession);
    const own = { openSession, session: this.#id, now: clock.now, forks: this.#forks, admissions: this.#admissions, isEnding };
    const life = { openedAt: this.#openedAt, createdAt: openSession.meta.createdAt };
    const withNewestMade: SubmitContext['withNewestMade'] = (caller, plan) => readNewestMade(this.#wiring, caller, life, plan);
    return { ...own, ids, sessions, judgeHistory: createHistoryJudge(this.#wiring), withNewestMade };
  }

  /** Returns the context of a decision by a caller, or by a link, whose nonce authorizes one approval and nothing else. */
  #deciding(by: Principal | 'link'): DecisionContext {
    const openSession = by === 'link' ? requireSession(this.#life.tryOpen()) : enterToDecide(this.#life.tryOpen(), by);
    const { clock, catalog, log, callDeps } = this.#wiring;
    const { addRule, knowHosts, originRights } = catalog({ workspace: openSession.meta.workspace, keyId: by === 'link' ? by : by.keyId });
    const isDeleted = (): boolean => this.#life.isDeleted(openSession);
    const redact: DecisionContext['redact'] = async (reason, toolset) =>
      createRedactor({ clock }, await callDeps(openSession.meta.workspace).redaction?.(toolset)).text(reason);
    return { openSession, session: this.#id, now: clock.now, log, isDeleted, addRule, knowHosts, originRights, redact };
  }

  /** Applies a decision and sends its audit row, also when the decision was stored and its rule was not. */
  async #decided(by: Principal | 'link', work: (context: DecisionContext) => Promise<DecisionOutcome>): Promise<DecisionOutcome> {
    const context = this.#deciding(by);
    try {
      return await work(context);
    } finally {
      await context.openSession.audit.outbox.flush();
    }
  }

  /** Changes files if the limits of storage allow it, and reports what the session stores then. */
  async #withinStorage<T>(caller: Principal, files: FileSystem, change: () => T | Promise<T>, how?: 'deletes'): Promise<T> {
    const { limiter, directory } = this.#wiring;
    const limited = (await readLimits(directory, caller)).filter(({ limits: own }) => own.storageBytes !== undefined);
    if (how === undefined) await limiter.requireStorage(caller.workspace, limited);
    const result = await change();
    await limiter.reportStorage(caller.workspace, limited, this.#id, files.usage?.().bytes ?? 0);
    return result;
  }

  /** Returns the context of a direct call; `audit` stores its rows. */
  async #directCall(
    openSession: OpenSession,
    caller: Principal,
    plan: Plan,
    audit: Pick<DirectCallContext, 'auditIntent' | 'audit'>,
  ): Promise<DirectCallContext> {
    const isDeleted = (): boolean => this.#life.isDeleted(openSession);
    const isEnding = (): boolean => this.#life.isEnding(openSession);
    const own = { session: this.#id, keyId: caller.keyId, inFlight: this.#calls, isDeleted, isEnding, ...audit };
    const context = await createDirectCallContext(this.#wiring, openSession, plan, own);
    if (isDeleted()) throw unknownSession();
    return context;
  }

  #source(caller: Principal): TurnSource & { openSession: OpenSession } {
    const openSession = this.#enter(caller);
    const { log, turns } = openSession;
    return { openSession, log, turns, clock: this.#wiring.clock, isDeleted: () => this.#life.isDeleted(openSession) };
  }
}
