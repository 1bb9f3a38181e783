/**
 * The `McpSession` Durable Object: one session of an MCP client of the 2025 versions (2026-07-28 has no sessions). It stores what the
 * client sent at the start and the messages of its streams, and deletes itself when it is unused for long. Under another name it is
 * one call of a 2026-07-28 client that stays open between requests (`open-call-store.ts`). `mcp/server/` does the serving.
 */
import { DurableObject } from 'cloudflare:workers';
import { limits } from '../../core/limits/limits.ts';
import { rootKeyId, type Principal } from '../../core/people/principal.ts';
import { once } from '../../core/memoize.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import type { MarkStore } from '../../engine/policy/direct-marks.ts';
import type { ServeTarget } from '../../engine/mcp/serve-view.ts';
import { Problem, toOutcome, type Outcome } from '../../core/problem.ts';
import type { ServeDeps } from '../../mcp/server/exchange.ts';
import { isClockSettled } from '../../platform/settled-clock.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ResourceLink } from '../../ports/mcp-sessions.ts';
import type { FilesPort, McpSessionPort, McpSessionRequest, ResourceSubscription } from '../../ports/mcp-sessions.ts';
import type { ArgumentsOf, Handlers, RemotePort, ResultOf } from '../../ports/remote.ts';
import type { Bindings } from '../../storage/bindings.ts';
import { createSessionFiles } from '../../storage/files/session-files.ts';
import { migrate, schemaSteps } from '../shared/migrate.ts';
import { lazyTables, withLazyTables } from '../shared/lazy-tables.ts';
import { createRememberedRules, rememberedSchema } from '../shared/remembered-rules.ts';
import { createTaintStore, type TaintStore } from '../shared/taint-store.ts';
import type { ErasableRpc } from '../shared/workspace-objects.ts';
import { wire } from '../../wiring/wire.ts';
import { FileSpaceStore } from './file-space.ts';
import { addLinks, findLinks } from './link-table.ts';
import { OpenCallStore } from './open-call-store.ts';
import type { LiveSession } from './live-session.ts';
import { mcpSessionMigrations } from './schema.ts';
import { MetaStore, expiresAt, type SessionMeta } from './session-meta.ts';

/** This class is in every isolate; most have no live session. */
const loadLiveSession = once(() => import('./live-session.ts'));

/** Minimum interval at which the alarm is moved. */
const mcpSessionTouchMs = 5 * 60_000;
/** Another stream has its place once its holder has not asked for this long. */
const listenerMs = 2 * 60_000;
/** Few sessions remember any. */
const rememberedTables = lazyTables(schemaSteps(rememberedSchema), []);
/** How long the result is kept after the end of the call, so that a repeated answer gets the same result. */
const heldResultMs = 60_000;

/** What it uses of the service. */
interface McpSessionNeeds {
  clock: Clock;
  log: Logger;
  catalog(workspace: string): Pick<CatalogPort, 'isKeyCancelled'>;
  serve: ServeDeps;
  /** Ends the processes that commands have for the session. Never rejects. */
  sessionEnded(workspace: string, session: string): Promise<void>;
}

type McpSessionObject = McpSessionPort & FilesPort;

export class McpSession extends DurableObject<Bindings> implements RemotePort<McpSessionObject>, ErasableRpc {
  readonly #wiring: McpSessionNeeds;
  readonly #meta: MetaStore;
  readonly #openCall: OpenCallStore;
  readonly #space: FileSpaceStore;
  #ownFiles: FileSystem | null = null;
  #live: Promise<LiveSession> | null = null;
  #isKeyWatched = false;
  /** The stream on which the client listens, in memory only: it does not keep the object awake. */
  #listener: { stream: string; until: number } | null = null;

  readonly #port: Handlers<McpSessionObject> = {
    begin: async (caller, target, session, request) => {
      const { workspace, keyId } = caller;
      migrate(this.ctx.storage, mcpSessionMigrations);
      const meta = { workspace, keyId, target, session, initialize: request.body ?? '', seenAt: this.#now() };
      this.#meta.create(meta);
      await this.ctx.storage.setAlarm(expiresAt({ ...meta, used: false }));
      this.#live = this.#open(meta);
      const live = await this.#live;
      const response = await live.begin(request, caller);
      this.#watchKey(caller);
      return response;
    },
    resume: async (caller, target, request) => {
      const meta = this.#meta.current();
      if (meta === null || !isOwn(meta, caller, target)) return null;
      const live = await this.#wake(meta, caller);
      this.#note(meta, request);
      const answer = await live.handle(request, caller);
      // Otherwise nothing of the request is open.
      if (!(answer instanceof Response)) return answer;
      if (request.method === 'DELETE' && answer.ok) await this.#end();
      else this.#watchKey(caller);
      return answer;
    },
    listen: async (caller, target, { stream, mode }) => {
      const meta = this.#meta.current();
      if (meta === null || !isOwn(meta, caller, target)) return null;
      if (mode !== 'close') this.#touch(meta, true);
      const { logLevel } = meta;
      if (mode === 'check') return { subscriptions: [], logLevel };
      const now = this.#now();
      const isTaken = this.#listener !== null && this.#listener.stream !== stream && this.#listener.until > now;
      if (isTaken && mode !== 'resume') return 'conflict';
      this.#listener = mode === 'close' ? null : { stream, until: now + listenerMs };
      return { subscriptions: this.#meta.subscriptions(), logLevel };
    },
    hold: async (caller, target, name, request) => {
      const response = this.#openCall.serve(caller, target, name, request);
      this.#watchKey(caller);
      return await response;
    },
    loadFiles: () => this.#space.load(),
    applyFiles: (changes) => this.#space.apply(changes),
    findLinks: (uris) => findLinks(this.ctx.storage.sql, uris),
    addLinks: (links) => this.#space.addLinks(links),
  };

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#wiring = wire(env);
    this.#meta = new MetaStore(ctx.storage.sql);
    this.#space = new FileSpaceStore(
      ctx.storage,
      () => this.#files(),
      () => this.#now(),
    );
    this.#openCall = new OpenCallStore({
      deps: this.#wiring.serve,
      sql: ctx.storage.sql,
      migrate: () => migrate(ctx.storage, mcpSessionMigrations),
      // The alarm handler waits for the end of the call, because an object without work is evicted even with an open connection.
      onStarted: () => void ctx.storage.setAlarm(this.#now()),
    });
  }

  run<Name extends keyof McpSessionObject>(
    method: Name,
    args: ArgumentsOf<McpSessionObject, Name>,
  ): Promise<Outcome<ResultOf<McpSessionObject, Name>>> {
    return toOutcome(() => this.#port[method](...args));
  }

  async eraseWorkspace(): Promise<void> {
    this.#openCall.stop(new Error('the workspace is being deleted'));
    await this.#end();
  }

  override async alarm(): Promise<void> {
    const { state } = this.#openCall;
    if (state === 'over') return await this.#end();
    if (state === 'open') {
      await this.#openCall.finish();
      return await this.ctx.storage.setAlarm(this.#now() + heldResultMs);
    }
    // No request comes that would set the alarm again if the clock goes back: it is looked at often.
    if (!(await isClockSettled())) return await this.ctx.storage.setAlarm(this.#now() + heldResultMs);
    const spaceEnd = this.#space.expiresAt();
    if (spaceEnd !== null) return spaceEnd <= this.#now() ? await this.#end() : await this.ctx.storage.setAlarm(spaceEnd);
    this.#meta.forget();
    const meta = this.#meta.current();
    if (meta === null) return;
    const live = await this.#live?.catch(() => null);
    if (live?.isBusy) this.#meta.touch(this.#now(), true);
    const due = expiresAt(this.#meta.current() ?? meta);
    if (due <= this.#now()) await this.#end();
    else await this.ctx.storage.setAlarm(due);
  }

  /** While something is open, ends it when its key is revoked with `cancel`. */
  #watchKey({ workspace, keyId }: Principal): void {
    if (this.#isKeyWatched || keyId === rootKeyId) return;
    this.#isKeyWatched = true;
    const { clock, catalog, log } = this.#wiring;
    const watch = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(limits.streamKeyCheckMs);
        if (!(await this.#isOpen())) return;
        if (!(await catalog(workspace).isKeyCancelled(keyId))) continue;
        if (this.#openCall.state === 'none') return await this.#end();
        return this.#openCall.stop(new Error('the key was revoked and its calls were cancelled'));
      }
    };
    const failed = (error: unknown): void => log.error('the key of an MCP session could not be checked', { cause: String(error) });
    const watching = watch().catch(failed);
    this.ctx.waitUntil(watching.finally(() => (this.#isKeyWatched = false)));
  }

  async #isOpen(): Promise<boolean> {
    if (this.#openCall.state === 'open') return true;
    return (await this.#live?.catch(() => null))?.isBusy === true;
  }

  /** Restores the session once; concurrent requests wait for the same restore. */
  async #wake(meta: SessionMeta, caller: Principal): Promise<LiveSession> {
    if (this.#live !== null) return await this.#live;
    migrate(this.ctx.storage, mcpSessionMigrations);
    const opening = this.#open(meta).then((live) => {
      live.answerInterrupted(caller);
      return live;
    });
    this.#live = opening;
    try {
      return await opening;
    } catch (error) {
      // The next request tries again.
      if (this.#live === opening) this.#live = null;
      throw error;
    }
  }

  async #open({ session, target, initialize }: Pick<SessionMeta, 'session' | 'target' | 'initialize'>): Promise<LiveSession> {
    const { sql } = this.ctx.storage;
    const parts = {
      marks: sessionMarks(createTaintStore(sql, () => this.#now())),
      remembered: createRememberedRules(withLazyTables(sql, rememberedTables), () => this.#now()),
      files: this.#files(),
      links: {
        find: async (uris: readonly string[]) => findLinks(sql, uris),
        add: async (links: readonly ResourceLink[]) => addLinks(sql, links),
      },
      subscriptions: { add: (one: ResourceSubscription) => this.#subscribe(one), remove: (uri: string) => this.#meta.unsubscribe(uri) },
    };
    const { LiveSession: Live } = await loadLiveSession();
    const { params } = recordOf(JSON.parse(initialize));
    const capabilities = recordOf(recordOf(params).capabilities);
    const logLevel = () => this.#meta.current()?.logLevel ?? null;
    return new Live(sql, { deps: this.#wiring.serve, id: session, target, capabilities, logLevel, parts });
  }

  #subscribe(subscription: ResourceSubscription): void {
    if (this.#meta.subscribe(subscription)) return;
    const most = limits.maxMcpSubscriptions;
    throw new Problem('invalid_request', `A session can subscribe to at most ${most} resources. Unsubscribe from one first.`);
  }

  /** Stores what a restored session needs, and when the session was last used. */
  #note(meta: SessionMeta, { method, body }: McpSessionRequest): void {
    let isUse = method === 'GET';
    for (const message of [body === null ? [] : (JSON.parse(body) as unknown)].flat().map(recordOf)) {
      if (message.method !== 'notifications/initialized') isUse = true;
      const level = message.method === 'logging/setLevel' ? recordOf(message.params).level : undefined;
      if (typeof level === 'string' && level.length < 20) this.#meta.logLevel(level);
    }
    this.#touch(meta, isUse);
  }

  #touch({ seenAt, used }: SessionMeta, isUse: boolean): void {
    if ((isUse && !used) || this.#now() - seenAt >= mcpSessionTouchMs) this.#meta.touch(this.#now(), isUse);
  }

  async #end(): Promise<void> {
    const live = await this.#live?.catch(() => null);
    this.#live = null;
    this.#ownFiles = null;
    live?.close();
    const meta = this.#meta.current();
    if (meta !== null) this.ctx.waitUntil(this.#wiring.sessionEnded(meta.workspace, meta.session));
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.#meta.forget();
  }

  /** One instance, since it caches how much is used. Its tables exist once the object is migrated. */
  #files(): FileSystem {
    this.#ownFiles ??= createSessionFiles(this.ctx.storage.sql, () => this.#now());
    return this.#ownFiles;
  }

  #now(): number {
    return this.#wiring.clock.now();
  }
}

function isOwn({ workspace, keyId, target }: SessionMeta, caller: Principal, asked: ServeTarget): boolean {
  return workspace === caller.workspace && keyId === caller.keyId && target === asked;
}

/** The marks last as long as the session. */
function sessionMarks(store: TaintStore): MarkStore {
  const known = () => ({ taint: store.read(), expiresAt: Number.POSITIVE_INFINITY });
  return {
    known,
    read: async () => known(),
    add: async (taint) => store.addAll(taint),
  };
}
