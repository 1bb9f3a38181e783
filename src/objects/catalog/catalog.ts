/**
 * The `Catalog` Durable Object: the only writer of a workspace (contract §4, §11). Its methods are
 * `CatalogMethods` (`objects/catalog/client/catalog-methods.ts`), called through `objects/catalog/client/catalog-client.ts` and implemented in `handlers/`. This file has
 * the object's lifecycle, the order of writes, and the alarm.
 */
import { DurableObject } from 'cloudflare:workers';
import { limits } from '../../core/limits/limits.ts';
import { systemKeyId } from '../../core/people/principal.ts';
import type { ShareOwner } from '../../core/limits/fair-share.ts';
import { queuedWrites } from '../../core/limits/pools.ts';
import { nullIfNotFound, type Outcome, Problem, toOutcome } from '../../core/problem.ts';
import { createFairPool, requireTaken } from '../../engine/fair-pool.ts';
import { readSettings } from '../../core/people/settings.ts';
import { defaultWorkspace } from '../../core/people/workspace.ts';
import type { TurnNotice } from '../../core/triggers/callbacks/turn-notice.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import { wire } from '../../wiring/wire.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import type { Bindings } from '../../storage/bindings.ts';
import { createShardClient } from '../audit/client/audit-client.ts';
import { createAuditKeeper } from '../shared/audit-keeper.ts';
import { activateSession } from '../../storage/backup/backup-objects.ts';
import type {
  BackupName,
  CatalogBackupMethod,
  CatalogBackupMethods,
  CatalogBackupRpc,
  RestoreStep,
} from '../../storage/backup/backup-objects.ts';
import { ObjectBackup } from '../../storage/backup/object-backup.ts';
import { restoreShard } from '../../storage/backup/restore-shard.ts';
import type { ReadPosition } from '../../storage/backup/table-reader.ts';
import { catalogMethods } from './client/catalog-methods.ts';
import type { CatalogMethod, CatalogRpc, MethodArguments, MethodResult } from './client/catalog-methods.ts';
import type { CatalogCaller } from '../../ports/catalog.ts';
import { requireActiveWorkspace } from './client/active-workspace.ts';
import { createMasterKey } from '../../storage/keys/master-key.ts';
import { hasTable, migrate } from '../shared/migrate.ts';
import { catalogMigrations } from './schema.ts';
import type { ClosablePort, ClosedCatalog } from '../../storage/backup/workspace-eraser.ts';
import type { ErasableRpc } from '../shared/workspace-objects.ts';
import type { ArgumentsOf, Remote, ResultOf } from '../../ports/remote.ts';
import { closedAfterDeleteReason } from '../shared/object-client.ts';
import { toolDefinitions } from '../../tools/registry.ts';
import { requireUnlimited } from './keys/key-rows.ts';
import { auditRetention, signedChangeLog } from './records/audit.ts';
import type { CatalogContext } from './context.ts';
import { AlarmDriver } from '../shared/alarm-driver.ts';
import type { DueJob } from '../shared/due-job.ts';
import { checkStoredMadeTools } from './tools/made-tools.ts';
import { createCatalogSweep } from './records/catalog-sweep.ts';
import { createDatabaseCloser, type DatabaseCloser } from './records/close-database.ts';
import { createErasures } from './records/erasure.ts';
import { setLateRowsDue } from './records/late-rows.ts';
import { sessionsAhead } from './records/session-index.ts';
import { callCatalog } from './client/catalog-client.ts';
import { rootPrincipal } from '../../storage/published/principals.ts';
import { memberUsers, setMembersOf } from './documents/members.ts';
import { readWorkspaceSettings } from './documents/workspace-settings.ts';
import { createKeyCancellations } from './keys/key-cancellations.ts';
import type { ResealNeeds } from './keys/reseal.ts';
import { createResealJob } from './keys/reseal-job.ts';
import { documentHandlers } from './handlers/documents.ts';
import { keyHandlers } from './handlers/keys.ts';
import { projectHandlers } from './handlers/projects.ts';
import { publishedHandlers, readPublished } from './handlers/published.ts';
import { serverHandlers } from './handlers/servers.ts';
import { triggerHandlers } from './handlers/triggers.ts';
import { answerWhileClosed, closeWorkspace, isWorkspaceClosed } from './workspaces/closing.ts';
import { createWorkspaceDeletions } from './workspaces/deletions.ts';
import { workspaceHandlers } from './workspaces/registry.ts';
import type { CatalogServices, CatalogHandlers } from './handlers/catalog-handlers.ts';
import { createPublisher, enqueueRepublish } from './records/publications.ts';
import { enqueueCallbacks } from './triggers/callbacks/callbacks.ts';
import { createCallbackSender } from './triggers/callbacks/callback-sender.ts';
import { createDeliverySweep } from './triggers/deliveries/delivery-sweep.ts';
import { createDeliveryAcceptance } from './triggers/deliveries/deliveries.ts';
import { createDispatcher } from './triggers/deliveries/dispatcher.ts';
import { createScheduler } from './triggers/schedules/schedule-runs.ts';
import { createRecompileJob, readCompiledBuild, storeCompiledBuild } from './toolsets/compiled-build.ts';
import { recompileSome } from './toolsets/recompile-step.ts';
import { createTransactions } from './records/transactions.ts';
import { catalogBackupPlan, createSessionActivation } from './records/restored-sessions.ts';

/** Some job is due each day. */
const farAlarmMs = 24 * 60 * 60_000;
const maxWokenSessions = 1_000;
const wokenAtOnce = 16;
/** A write waits this long for its publication before it responds; the publisher continues without it. */
const publishWaitMs = 2_000;

const handlers: CatalogHandlers = {
  ...documentHandlers,
  ...projectHandlers,
  ...serverHandlers,
  ...keyHandlers,
  ...publishedHandlers,
  ...triggerHandlers,
  ...workspaceHandlers,
};

/** Time and the tools that are defined in code. */
type Sources = Pick<CatalogContext, 'now' | 'definitions'>;

type Opened = { services: CatalogServices; publisher: DueJob; jobs: readonly DueJob[]; closer: DatabaseCloser | null };

export class Catalog extends DurableObject<Bindings> implements CatalogRpc, CatalogBackupRpc, Remote<ClosablePort>, ErasableRpc {
  #opened: Opened | null = null;
  /** The end of the queue of writes. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  readonly #queuedWrites = createFairPool(queuedWrites, systemClock);
  readonly #alarm: AlarmDriver;
  #madeTools: Promise<void> | null = null;
  /** Whether there are tables; false: not known. */
  #created = false;
  /** Whether they are of the newest schema; false: not known. */
  #isMigrated = false;
  /** Whether the workspace is being deleted; null: not known. */
  #closed: boolean | null = null;
  /** Whether the alarm of an earlier process was read. */
  #isAlarmChecked = false;
  /** Requests and background work in progress. */
  #inProgress = 0;
  readonly #backup: ObjectBackup;
  readonly #sources: Sources;

  /** `sources`: given by tests; the platform passes none. */
  constructor(ctx: DurableObjectState, env: Bindings, sources: Sources = { now: () => Date.now(), definitions: toolDefinitions }) {
    super(ctx, env);
    this.#sources = sources;
    this.#backup = new ObjectBackup(ctx.storage, catalogBackupPlan);
    this.#alarm = new AlarmDriver({
      ...{ now: sources.now, storage: ctx.storage, log: createLog('error'), jobs: () => this.#opened?.jobs ?? [] },
      ...{ retryMs: limits.maxPublishBackoffMs, overdueMs: limits.publishIntervalMs, maxRunMs: limits.publishIntervalMs },
      began: (work) => void this.#counted(work),
    });
  }

  /** Runs one method in the lane of its row. */
  run<Name extends CatalogMethod>(caller: CatalogCaller, method: Name, args: MethodArguments<Name>): Promise<Outcome<MethodResult<Name>>> {
    const { workspace, keyId } = typeof caller === 'string' ? { workspace: caller, keyId: systemKeyId } : caller;
    // While the workspace is being restored, its servers are gone.
    if (this.#isClosed() || (this.#backup.isRestoring && method === 'programKeys')) {
      const answer = answerWhileClosed(method, workspace);
      if (answer !== 'run') return toOutcome(answer as () => MethodResult<Name>);
    }
    const { lane, startsWork } = catalogMethods[method];
    const work = async (services: CatalogServices): Promise<MethodResult<Name>> => {
      if (startsWork) requireUnlimited(services.context.sql, keyId);
      return await handlers[method]({ ...services, by: keyId }, ...args);
    };
    return lane === 'serialized' ? this.#serialized({ workspace, keyId }, work) : this.#concurrent(workspace, work);
  }

  closeWorkspace(workspace: string, limit: number): Promise<Outcome<ClosedCatalog>> {
    return toOutcome(async () => {
      if (!this.#isCreated()) return { sessions: [], count: 0, auditShards: 0 };
      this.#open(workspace);
      this.#closed = true;
      return await closeWorkspace(this.ctx.storage, limit);
    });
  }

  async eraseWorkspace(): Promise<void> {
    this.#opened = null;
    this.#madeTools = null;
    this.#alarm.forget();
    this.#created = false;
    this.#isMigrated = false;
    this.#closed = null;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  readBackup({ workspace, object }: BackupName, at: ReadPosition | null): ReturnType<CatalogBackupRpc['readBackup']> {
    return toOutcome(async () => {
      await this.#create(workspace);
      this.#open(workspace);
      return this.#backup.read(object, at);
    });
  }

  restoreStep({ workspace }: BackupName, step: RestoreStep): Promise<Outcome<void>> {
    return toOutcome(async () => {
      await this.#create(workspace);
      await restoreShard(this.ctx, this.#backup, step, () => undefined);
      if (step.step === 'abandon') migrate(this.ctx.storage, catalogMigrations);
    });
  }

  runBackup<Name extends CatalogBackupMethod>(
    workspace: string,
    method: Name,
    args: ArgumentsOf<CatalogBackupMethods, Name>,
  ): Promise<Outcome<ResultOf<CatalogBackupMethods, Name>>> {
    const { storage } = this.ctx;
    const created = async (): Promise<ResultOf<CatalogBackupMethods, Name>> => {
      await this.#create(workspace);
      const { createBackupMethods } = await import('./records/workspace-backup.ts');
      const methods = createBackupMethods({
        ...{ storage, backup: this.#backup, context: () => this.#context(workspace), kv: () => this.env.KV },
        begun: () => wire(this.env).programsChanged(),
        ended: async () => {
          this.#open(workspace);
          await this.#arm();
        },
      });
      // The methods take the arguments of their row, which TypeScript cannot follow for a variable name.
      const run = methods[method] as (...given: unknown[]) => Promise<ResultOf<CatalogBackupMethods, Name>>;
      return await run(...args);
    };
    return this.#started(() => toOutcome(created));
  }

  override async alarm(): Promise<void> {
    if (this.#backup.isRestoring) return;
    const workspace = this.#storedWorkspace();
    if (workspace === null || this.#isClosed()) return;
    this.#open(workspace);
    await this.#alarm.run();
  }

  /** For reads, and for writes of a single statement, which have no phases that another write could interleave with. */
  #concurrent<T>(workspace: string, work: (services: CatalogServices) => Promise<T>): Promise<Outcome<T>> {
    return this.#started(() => toOutcome(async () => work((await this.#checked(workspace)).services)));
  }

  /**
   * Runs writes one after the other, so that what a write has read is still current when it commits. Then publishes, for a limited time.
   */
  #serialized<T>(by: ShareOwner, work: (services: CatalogServices) => Promise<T>): Promise<Outcome<T>> {
    const write = async (): Promise<T> => {
      const { services, publisher } = await this.#checked(by.workspace);
      const place = requireTaken(this.#queuedWrites.take(by));
      const turn = this.#lastWrite.then(() => work(services)).finally(() => place.release());
      // The next write starts after this one, even if it fails; the caller receives the error below.
      this.#lastWrite = turn.catch(() => undefined);
      const answer = await turn;
      await this.#arm();
      await withTimeout(systemClock, this.#publish(publisher), publishWaitMs, () => undefined);
      return answer;
    };
    return this.#started(() => toOutcome(write));
  }

  /** Starts the work of a request, unless the database is being closed. */
  async #started<T>(work: () => Promise<T>): Promise<T> {
    const closing = this.#opened?.closer?.closing() ?? null;
    if (closing !== null) await closing;
    if (this.#alarm.isLate || !this.#isAlarmChecked) this.ctx.waitUntil(this.#counted(this.#runLateAlarm()));
    return await this.#counted(work());
  }

  /** Runs the alarm if it was set while the clock was ahead, maybe by an earlier process. Never throws. */
  async #runLateAlarm(): Promise<void> {
    const isKnown = this.#isAlarmChecked;
    this.#isAlarmChecked = true;
    const at = isKnown ? null : await this.ctx.storage.getAlarm();
    if (!isKnown && (at === null || at <= this.#sources.now() + farAlarmMs)) return;
    const workspace = this.#storedWorkspace();
    if (workspace !== null && !this.#isClosed() && !this.#backup.isRestoring) setLateRowsDue(this.#open(workspace).services.context);
    await this.alarm();
    await this.#wakeSessions();
  }

  /** The alarms of sessions are too late as well: a request sets them again. */
  async #wakeSessions(): Promise<void> {
    const workspace = this.#storedWorkspace();
    if (workspace === null || this.#isClosed() || this.#backup.isRestoring) return;
    const wake = async ({ id, key_id: keyId }: { id: string; key_id: string }): Promise<void> => {
      try {
        await nullIfNotFound(wire(this.env).sessions.get(id).hasTurn({ workspace, keyId, scopes: [] }, ''));
      } catch (error) {
        createLog('error').error('a session was not woken after the clock was set back', { session: id, cause: String(error) });
      }
    };
    const sessions = sessionsAhead(this.#open(workspace).services.context, maxWokenSessions);
    while (sessions.length > 0) await Promise.all(sessions.splice(0, wokenAtOnce).map(wake));
  }

  /** Counts work during which the object must not terminate itself. */
  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#inProgress += 1;
    try {
      return await work;
    } finally {
      this.#inProgress -= 1;
      if (this.#inProgress === 0) this.#opened?.closer?.arm();
    }
  }

  async #publish(publisher: DueJob): Promise<void> {
    try {
      await publisher.runDue();
      await this.#arm();
    } catch (error) {
      // The write is stored and the alarm set, so the caller does not receive this error.
      createLog('error').error('publishing failed; it will be retried', { cause: String(error) });
    }
  }

  async #arm(): Promise<void> {
    if (!this.#isClosed()) await this.#alarm.arm();
  }

  /**
   * Creates the tables on first use. The object of an unknown workspace stores nothing: the registry decides, so that no key, path or header
   * creates a workspace, and a deleted one stays empty.
   */
  async #create(workspace: string): Promise<void> {
    if (this.#backup.isRestoring || this.#isMigrated) return;
    if (!this.#isCreated()) await requireActiveWorkspace(this.env, workspace);
    this.#migrate();
  }

  #migrate(): void {
    if (!this.#isMigrated) migrate(this.ctx.storage, catalogMigrations);
    this.#isMigrated = true;
  }

  #isCreated(): boolean {
    this.#created ||= hasTable(this.ctx.storage.sql, 'meta');
    return this.#created;
  }

  #isClosed(): boolean {
    if (!this.#isCreated() || this.#backup.isRestoring) return false;
    this.#closed ??= isWorkspaceClosed(this.ctx.storage.sql);
    return this.#closed;
  }

  /** Checks the stored made tools before anything else uses them, once per lifetime of the object. */
  async #checked(workspace: string): Promise<Opened> {
    await this.#create(workspace);
    const opened = this.#open(workspace);
    this.#madeTools ??= this.ctx.blockConcurrencyWhile(async () => {
      // Toolsets were or have to be recompiled, and no write is in progress that would publish them.
      const isChanged = await checkStoredMadeTools(opened.services.context);
      if (isChanged || readCompiledBuild(opened.services.context).after !== null) await this.#arm();
    });
    await this.#madeTools;
    return opened;
  }

  /** The object is permanently bound to its first workspace. */
  #open(workspace: string): Opened {
    this.#backup.requireUsable();
    this.#opened ??= this.#build(workspace);
    if (this.#opened.services.context.workspace !== workspace) throw new Problem('internal', 'This catalog belongs to another workspace.');
    return this.#opened;
  }

  #build(workspace: string): Opened {
    this.#migrate();
    const isNew = this.#storedWorkspace() === null;
    if (isNew) this.ctx.storage.sql.exec("INSERT INTO meta (key, value) VALUES ('workspace', ?)", workspace);
    const context = this.#context(this.#storedWorkspace() ?? workspace);
    if (isNew) storeCompiledBuild(context.sql, { ...readCompiledBuild(context), after: null });
    const wake = (): Promise<void> => this.#arm();
    const publishMembers = async (): Promise<void> => {
      const users = memberUsers(context);
      if (context.workspace === rootPrincipal.workspace) setMembersOf(context, context.workspace, users);
      else await callCatalog(this.env, rootPrincipal.workspace, 'setMembersOf', [context.workspace, users]);
    };
    const programsChanged = (): void => this.#programsChanged();
    const publisher = createPublisher(context, { kv: () => this.env.KV, read: readPublished, publishMembers, programsChanged, wake });
    const triggers = this.#triggers(context, wake);
    const cancellations = createKeyCancellations(context, { wake, cancel: (keyId, session) => this.#cancelTurns(context, keyId, session) });
    const reseals: ResealNeeds = {
      signShard: (shard, after) => createShardClient(this.env, { workspace: context.workspace, shard }).renewSignatures(after),
    };
    const services: CatalogServices = {
      by: systemKeyId,
      context,
      cancellations,
      reseals,
      triggers,
      kv: () => this.env.KV,
      republish: async (kind, name, settleMs) => {
        enqueueRepublish(context, kind, name, settleMs);
        await wake();
      },
    };
    const jobs = [
      publisher,
      createRecompileJob(context, () =>
        this.#serialized({ workspace: context.workspace, keyId: systemKeyId }, () => recompileSome(context)),
      ),
      triggers.scheduler,
      triggers.dispatcher,
      triggers.callbacks,
      cancellations,
      createResealJob(context, async (name, position) => {
        if (name !== context.workspace) return await callCatalog(this.env, name, 'resealSome', [position]);
        return await (await import('./keys/reseal.ts')).resealSome(context, reseals, position);
      }),
      createErasures(context),
      createDeliverySweep(context),
      this.#auditKeeper(context),
      this.#sweep(context),
      ...(context.workspace === defaultWorkspace ? [createWorkspaceDeletions(context, wire(this.env).eraser)] : []),
      createSessionActivation(context, (id) => activateSession(this.env, context.workspace, id)),
    ];
    return { services, publisher, jobs, closer: this.#closer(context) };
  }

  /** In the background: what was written is stored, and the launcher checks its programs by itself if the notice is lost. */
  #programsChanged(): void {
    this.ctx.waitUntil(this.#counted(wire(this.env).programsChanged()));
  }

  #auditKeeper(context: CatalogContext): DueJob {
    const days = (): number => readWorkspaceSettings(context.sql).retention.auditDays;
    return createAuditKeeper(signedChangeLog(context), auditRetention(context, this.env.AUDIT_EXPORT ?? null, days), async () => undefined);
  }

  #sweep(context: CatalogContext): DueJob {
    return createCatalogSweep(context, {
      kv: () => this.env.KV,
      removeSession: async (id, keyId, unusedSince) => {
        const owner = { workspace: context.workspace, keyId, scopes: [] };
        return (await nullIfNotFound(wire(this.env).sessions.get(id).removeIfUnused(owner, unusedSince))) !== null;
      },
    });
  }

  #closer({ settings, sql }: CatalogContext): DatabaseCloser | null {
    if (!settings.closeAfterDelete) return null;
    return createDatabaseCloser({
      sql,
      clock: systemClock,
      isIdle: () => this.#inProgress === 0,
      sync: () => this.ctx.storage.sync(),
      abort: () => this.ctx.abort(closedAfterDeleteReason),
    });
  }

  async #cancelTurns({ workspace }: CatalogContext, keyId: string, session: string): Promise<number> {
    const owner = { workspace, keyId, scopes: [] };
    const work = nullIfNotFound(wire(this.env).sessions.get(session).cancelAll(owner));
    const late = (): never => {
      throw new Error('the session did not answer in time');
    };
    return (await withTimeout(systemClock, work, limits.catalogTimeoutMs, late))?.cancelled ?? 0;
  }

  #triggers(context: CatalogContext, wake: () => Promise<void>): CatalogServices['triggers'] {
    const { dispatchRun, sendCallback, impactOfHeld, sessions, ids, host } = wire(this.env);
    const own = { waitUntil: (work: Promise<unknown>): void => this.ctx.waitUntil(this.#counted(work)), wake, mayStart: host.mayStart };
    const callbacks = createCallbackSender(context, {
      ...own,
      send: sendCallback,
      impactOfHeld: (server, tool) => impactOfHeld(context.workspace, server, tool),
    });
    const notifyTurn = (notice: TurnNotice): void => enqueueCallbacks(context, notice);
    const dispatcher = createDispatcher(context, {
      ...own,
      wakesBy: (at) => this.#alarm.at !== null && this.#alarm.at > this.#sources.now() && this.#alarm.at <= at,
      dispatch: dispatchRun,
      notifyTurn,
      callbacksQueued: () => callbacks.kick(),
    });
    const scheduler = createScheduler(context, {
      ...{ wake, mayStart: host.mayStart },
      newTurn: () => ids.next('turn'),
      sessionId: (name, agent, key) => sessions.idOf(triggerPrincipal(context.workspace, { kind: 'schedule', name }, agent), key),
      kick: () => dispatcher.kick(),
    });
    const accept = createDeliveryAcceptance(context, { sync: () => this.ctx.storage.sync(), arrived: dispatcher.arrived });
    return { accept, dispatcher, callbacks, scheduler };
  }

  #context(workspace: string): CatalogContext {
    const settings = readSettings(this.env);
    const context: CatalogContext = {
      workspace,
      sql: this.ctx.storage.sql,
      ...createTransactions(this.ctx.storage, () => context),
      ...this.#sources,
      master: createMasterKey(settings.masterKey, settings.previousMasterKey),
      settings,
      log: createLog(settings.log),
    };
    return context;
  }

  #storedWorkspace(): string | null {
    if (!this.#isCreated()) return null;
    return this.ctx.storage.sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'workspace'").toArray()[0]?.value ?? null;
  }
}
