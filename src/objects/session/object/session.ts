/**
 * The `Session` Durable Object: one conversation's log, queue, files and feed (contract §5, §11). It stores and drives; `core/turn/turn.ts`
 * decides what the conversation does next. Every method of its port checks the owner first.
 */
import { DurableObject } from 'cloudflare:workers';
import { createRedactor } from '../../../engine/call/redact.ts';
import { failpoint } from '../../../core/failpoint.ts';
import { once } from '../../../core/memoize.ts';
import { isAllowed } from '../../../core/people/authority.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { toOutcome, type Outcome } from '../../../core/problem.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import type { AnswerContent } from '../../../core/policy/answer-name.ts';
import type { ArgumentsOf, Handlers, RemotePort, ResultOf } from '../../../ports/remote.ts';
import type { ReplayPort } from '../../../ports/replays.ts';
import type { DecisionOutcome, SessionCall, SessionView, SubmittedTurn } from '../../../ports/session.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import { readLimits } from '../../../engine/plan/turn-limits.ts';
import { createHistoryJudge, rememberAnswer } from '../../../engine/policy/client-history-taint.ts';
import { ObjectBackup } from '../../../storage/backup/object-backup.ts';
import type { BackupName, BackupRpc, RestoreStep } from '../../../storage/backup/backup-objects.ts';
import type { ReadPosition } from '../../../storage/backup/table-reader.ts';
import { applyChanges, copyFiles } from '../../../storage/files/file-image.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { readNewestMade } from '../../../engine/plan/newest-made.ts';
import { wire } from '../../../wiring/wire.ts';
import { loadDecisions, loadReplays } from './alarm.ts';
import type { SessionNeeds } from './session-needs.ts';
import type { SessionObject } from '../client/session-client.ts';
import type { SubmitContext } from '../turn/accept-turn.ts';
import { deleteCompletion, isInProgress, readCompletion, turnOf } from '../log/completion-reader.ts';
import type { DecisionContext } from '../pending/decide.ts';
import { createDirectCallContext, explainInSession, type DirectCallContext } from '../direct/direct-call-context.ts';
import { callWithSession, repeatedCall } from '../direct/direct-calls.ts';
import { deleteSessionFile, listSessionFiles, readSessionFile, writeSessionFile } from './file-access.ts';
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

const loadForks = once(() => import('../turn/fork-session.ts'));
const loadRecordings = once(() => import('../log/recorded-turn.ts'));

export class Session extends DurableObject<Bindings> implements RemotePort<SessionObject>, BackupRpc {
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

  readonly #port: Handlers<SessionObject> = {
    /** Creates the session, or returns it if the owner created it before. Its id is the id of the object. `keptMs`: how long an unlisted session is stored. */
    createOrGet: async (owner, setup, keptMs) => {
      this.#backup.requireUsable();
      await this.#life.finishDeletion();
      const known = this.#life.tryOpen();
      if (known !== null) return toSessionView(this.#id, enterObject(known, owner));
      return toSessionView(this.#id, this.#life.create({ workspace: owner.workspace, keyId: owner.keyId, setup }, keptMs));
    },
    view: (caller) => toSessionView(this.#id, this.#enter(caller)),
    setup: (caller) => this.#enter(caller).meta.setup,
    fork: async (caller, turn, key) => {
      const { forkSession } = await loadForks();
      const context = this.#submitContext(this.#enter(caller));
      if (key === undefined) return await forkSession(context, caller, turn);
      const made = this.#copies.get(key) ?? forkSession(context, caller, turn, key).finally(() => this.#copies.delete(key));
      this.#copies.set(key, made);
      return await made;
    },
    importConversation: async (caller, conversation) => (await loadForks()).importConversation(this.#enter(caller), conversation),
    appendHistory: async (caller, added) => (await loadForks()).appendHistory(this.#enterWaiting(caller), added),
    setMetadata: (caller, metadata) => {
      const openSession = this.#enter(caller);
      openSession.metadata.write(metadata);
      return toSessionView(this.#id, openSession);
    },
    /** Deletes the session, permanently once it resolves. The alarm finishes what cannot be deleted now. */
    remove: async (caller, of) => {
      if (of === undefined) this.#enter(caller);
      else enterObject(this.#life.tryOpen(), caller);
      await this.#life.tryDestroy(caller.keyId);
    },
    removeIfUnused: async (caller, since) => await this.#life.tryDestroyUnused(enterObject(this.#life.tryOpen(), caller), since),
    messages: (caller, query = {}) => readMessages(this.#enter(caller), query),
    submit: async (caller, request) => {
      // Only a request of a chat API may continue the waiting turn.
      const openSession = request.chat === undefined ? this.#enter(caller) : this.#enterWaiting(caller);
      const submitted = await submit(this.#submitContext(openSession), caller, request);
      await failpoint(submitted.position > 0 ? 'second-message-queued' : 'accept-before-ack');
      return submitted;
    },
    findByIdempotencyKey: (caller, key, bodyHash) => repeatedTurn(this.#submitContext(this.#enter(caller)), key, bodyHash),
    hasTurn: (caller, turn) => this.#enter(caller).turns.stateOf(turn) !== null,
    waitForAnswer: (caller, turn) => readAnswer(this.#source(caller), turn),
    stream: (caller, turn) => streamTurn(this.#source(caller), turn),
    completion: (caller, completion, options) => {
      const source = { ...this.#source(caller), session: this.#id };
      const given = { taint: source.openSession.taint, session: this.#id };
      const remember = (answer: AnswerContent): Promise<void> => rememberAnswer(this.#wiring, given, caller, answer);
      return readCompletion({ ...source, remember }, completion, options);
    },
    completionTurn: (caller, completion) => turnOf(this.#enter(caller), completion),
    deleteCompletion: (caller, completion) => deleteCompletion(this.#enter(caller), completion),
    eventsAfter: (caller, after, waitMs) => readEvents(this.#source(caller), after, waitMs),
    eventPage: (caller, query) => readEventPage(this.#source(caller), query),
    recordedTurn: async (caller, turn) => {
      const openSession = this.#enter(caller);
      return (await loadRecordings()).readRecordedTurn(openSession, turn);
    },
    approvals: async (caller) => (await loadDecisions()).showPending(this.#deciding(caller)),
    approval: async (caller, callId) => (await loadDecisions()).showApproval(this.#deciding(caller), callId),
    decide: async (caller, callId, decision, options) => {
      const { decide } = await loadDecisions();
      return await this.#decided(caller, (context) =>
        decide(context, callId, decision, { by: caller.keyId, mayWaive: isAllowed(caller, { act: 'waive', what: '' }), ...options }),
      );
    },
    mintLink: async (caller, callId) => (await loadDecisions()).mintLink(this.#deciding(caller), callId, caller.keyId),
    linkedApproval: async (link) => (await loadDecisions()).showLinked(this.#deciding('link'), link),
    decideByLink: async (link, decision, options) => {
      const { decideByLink } = await loadDecisions();
      return await this.#decided('link', (context) => decideByLink(context, link, decision, options));
    },
    submitResults: (caller, results) => acceptResults(this.#enterWaiting(caller), results, caller.keyId),
    submitInput: (caller, given) => submitInput(this.#enterWaiting(caller), given, caller.keyId, this.#wiring.clock.now()),
    cancel: async (caller, completion) => {
      const openSession = this.#enter(caller);
      const turn = completion === undefined || isInProgress(openSession, completion) ? openSession.runner.cancel() : null;
      await failpoint('cancel-mid');
      return { turn, cancelled: turn !== null };
    },
    cancelAll: async (caller) => {
      const openSession = enterObject(this.#life.tryOpen(), caller);
      if (openSession.meta.setup.replay === true) await this.#life.cancelReplay(openSession, 'The key was revoked.');
      return { cancelled: openSession.runner.cancelAll() };
    },
    call: async (caller, request) => {
      const openSession = this.#enter(caller);
      const context = await this.#directCall(openSession, caller, request.plan, {
        auditIntent: (row) => openSession.audit.begin(row),
        audit: (row) => openSession.audit.add(row),
      });
      const answer = await callWithSession(context, request);
      if (!context.isDeleted()) await openSession.audit.outbox.flush();
      return answer;
    },
    explain: async (caller, request) => {
      const context = await this.#directCall(this.#enter(caller), caller, request.plan, { audit: () => undefined });
      return await explainInSession(context, request);
    },
    findCallByIdempotencyKey: (caller, key, bodyHash) =>
      repeatedCall({ openSession: this.#enter(caller), inFlight: this.#calls }, key, bodyHash),
    listFiles: (caller, path, options) => listSessionFiles(this.#enter(caller).files, path, options),
    readFile: (caller, path) => readSessionFile(this.#enter(caller).files, path),
    writeFile: async (caller, path, content, conditions) => {
      const { files } = this.#enter(caller);
      return await this.#withinStorage(caller, files, () => writeSessionFile(files, path, content, conditions));
    },
    deleteFile: async (caller, path, conditions) => {
      const { files } = this.#enter(caller);
      await deleteSessionFile(files, path, conditions);
      await this.#withinStorage(caller, files, () => undefined, 'deletes');
    },
    loadFiles: (caller) => copyFiles(this.#enter(caller).files),
    applyFiles: (caller, changes) => applyChanges(this.#enter(caller).files, changes),
  };

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#wiring = wire(env);
    this.#openedAt = this.#wiring.clock.now();
    this.#life = this.#createLife();
    this.#backup = new ObjectBackup(ctx.storage, sessionBackupPlan);
  }

  run<Name extends keyof SessionObject>(
    method: Name,
    args: ArgumentsOf<SessionObject, Name>,
  ): Promise<Outcome<ResultOf<SessionObject, Name>>> {
    return toOutcome(() => this.#port[method](...args));
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
