/**
 * The `Catalog` Durable Object: a workspace's one writer (DESIGN §4, §11). Its methods are `CatalogRpc`, asked through
 * `storage/catalog-client.ts` and `storage/directory.ts`; what each does is in the file of its noun beside this one. Here are
 * the object's life, the order of writes, and the alarm.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Agent } from '../core/agent.ts';
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import { madeToolset } from '../core/made/made-toolset.ts';
import { Problem, toOutcome } from '../core/problem.ts';
import type { Outcome } from '../core/problem.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import type { KeyRequest, Scope } from '../core/principal.ts';
import type { RefreshReason } from '../core/servers/server-life.ts';
import type { Discovery } from '../core/servers/server-state.ts';
import { readSettings } from '../core/settings.ts';
import { createLog } from '../platform/log.ts';
import type {
  AuditQuery,
  DocumentKind,
  Equipment,
  PageRequest,
  ReadLeave,
  RefreshFailure,
  ServerGrant,
  SessionIndexRow,
  WriteOptions,
} from '../ports/catalog.ts';
import type { Bindings } from '../storage/bindings.ts';
import type { CatalogRpc } from '../storage/catalog-rpc.ts';
import { createMasterKey } from '../storage/master-key.ts';
import { catalogMigrations, migrate } from '../storage/schema.ts';
import { withTimeLimit } from '../net/time-limit.ts';
import { toolDefinitions } from '../tools/registry.ts';
import { acceptTool } from './accept-tool.ts';
import { agentWriter } from './agents.ts';
import { createAuditWriter, listAudit } from './audit.ts';
import type { AuditWriter } from './audit.ts';
import type { CatalogContext } from './context.ts';
import { listRows, notFound, requireRow, toStored } from './documents.ts';
import { readEditionText } from './editions.ts';
import { createKey, keyRights, keyStands, listKeys, revokeKey, verifyKey } from './keys.ts';
import { findTool, listTools } from './known-tools.ts';
import { createOutbox, enqueueLost } from './outbox.ts';
import type { Outbox, PublishedKind } from './outbox.ts';
import { allow, policyWriter, readRules } from './policy.ts';
import { listProviderModels, providerWriter, readSealedProvider, refuseRehearsal } from './providers.ts';
import { rebindTool } from './rebind.ts';
import { readSealedSecret, secretWriter } from './secrets.ts';
import { forgetSession, indexSession, listSessions } from './session-index.ts';
import { toolAliasesWriter } from './tool-aliases.ts';
import { listVersions, readPointer, readVersion, toolsetOfEdition } from './toolset-versions.ts';
import { dropAllDefinitions } from './server-definitions.ts';
import { readDocument } from './server-documents.ts';
import { readEquipment, setEquipment } from './equipment.ts';
import { readGrant, saveGrant } from './server-grants.ts';
import { readServer } from './server-access.ts';
import { readOffers } from './server-offers.ts';
import { claimRefresh, readOperation, takeDiscovery, takeFailure } from './server-refresh.ts';
import { spend } from './spent.ts';
import { listServers, listServerTools, readServerTool, refreshServer, serverWriter, showServer } from './servers.ts';
import { readSkillRow, skillWriter } from './skills.ts';
import { renameToolset } from './rename-toolset.ts';
import { toolsetWriter } from './toolsets.ts';
import { uiToolWriter } from './ui-tools.ts';
import { dropMadeDefinitions } from './made-tool-definitions.ts';
import { checkStoredMadeTools, madeToolWriter } from './made-tools.ts';
import { putDocument, removeDocument } from './write-document.ts';
import type { DocumentWriter } from './write-document.ts';

const writers: Readonly<Record<DocumentKind, DocumentWriter>> = {
  toolset: toolsetWriter,
  agent: agentWriter,
  provider: providerWriter,
  secret: secretWriter,
  'tool-aliases': toolAliasesWriter,
  policy: policyWriter,
  server: serverWriter,
  skill: skillWriter,
  'ui-tool': uiToolWriter,
  'made-tool': madeToolWriter,
};

/** What is kept as a document and is none of anybody's. */
function refuseOwn(kind: DocumentKind, name: string): void {
  if (kind === 'toolset' && name === madeToolset) throw notFound(kind, name);
}

type Parts = { context: CatalogContext; outbox: Outbox; audit: AuditWriter };

export class Catalog extends DurableObject<Bindings> implements CatalogRpc {
  #parts: Parts | null = null;
  /** The end of the queue of writes, and its length. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #queuedWrites = 0;
  #madeTools: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    migrate(ctx.storage, catalogMigrations);
  }

  put(workspace: string, kind: DocumentKind, name: string, body: Record<string, unknown>, options: WriteOptions) {
    return this.#write(workspace, ({ context }) => putDocument(context, writers[kind], { kind, name, body, options }));
  }

  get(workspace: string, kind: DocumentKind, name: string, version: number | undefined) {
    return this.#answer(workspace, ({ context }) => {
      const { sql } = context;
      refuseOwn(kind, name);
      if (version !== undefined && kind === 'toolset') return readVersion(sql, name, version);
      const row = requireRow(sql, kind, name);
      if (version !== undefined && version !== row.version) throw notFound(kind, `${name}@${version}`);
      if (kind === 'server') return showServer(context, row);
      const warnings = writers[kind].review?.(context, row.body) ?? [];
      return { ...toStored(row), ...(warnings.length > 0 && { warnings }) };
    });
  }

  list(workspace: string, kind: DocumentKind, page: PageRequest) {
    return this.#answer(workspace, ({ context }) => (kind === 'server' ? listServers(context, page) : listRows(context.sql, kind, page)));
  }

  versions(workspace: string, toolset: string, page: PageRequest) {
    return this.#answer(workspace, ({ context }) => listVersions(context.sql, toolset, page));
  }

  remove(workspace: string, kind: DocumentKind, name: string, options: WriteOptions) {
    return this.#write(workspace, async ({ context }) => {
      if (kind === 'provider') refuseRehearsal(name);
      refuseOwn(kind, name);
      await removeDocument(context, writers[kind], { kind, name, options });
      return null;
    });
  }

  renameToolset(workspace: string, from: string, to: string, version: number) {
    return this.#write(workspace, ({ context }) => renameToolset(context, from, to, version));
  }

  tools(workspace: string, page: PageRequest) {
    return this.#answer(workspace, ({ context }) => listTools(context, page));
  }

  tool(workspace: string, canonical: string) {
    return this.#answer(workspace, ({ context }) => findTool(context, canonical));
  }

  serverTools(workspace: string, server: string, page: PageRequest) {
    return this.#answer(workspace, ({ context }) => listServerTools(context, server, page));
  }

  serverTool(workspace: string, server: string, tool: string) {
    return this.#answer(workspace, ({ context }) => readServerTool(context, server, tool));
  }

  refreshServer(workspace: string, server: string) {
    return this.#write(workspace, ({ context }) => refreshServer(context, server));
  }

  serverDocument(workspace: string, server: string) {
    return this.#answer(workspace, ({ context }) => {
      requireRow(context.sql, 'server', server);
      return readDocument(context.sql, server);
    });
  }

  claimRefresh(workspace: string, server: string, reason: RefreshReason) {
    return this.#answer(workspace, ({ context }) => claimRefresh(context, server, reason));
  }

  takeDiscovery(workspace: string, server: string, leave: ReadLeave, discovery: Discovery) {
    return this.#write(workspace, ({ context }) => takeDiscovery(context, server, leave, discovery));
  }

  takeFailure(workspace: string, server: string, leave: ReadLeave, failure: RefreshFailure) {
    return this.#answer(workspace, ({ context }) => {
      takeFailure(context, server, leave, failure);
      return null;
    });
  }

  serverGrant(workspace: string, server: string) {
    return this.#answer(workspace, ({ context }) => readGrant(context, server));
  }

  saveServerGrant(workspace: string, server: string, grant: ServerGrant) {
    return this.#write(workspace, ({ context }) => saveGrant(context, server, grant));
  }

  equipment(workspace: string, keyId: string) {
    return this.#answer(workspace, ({ context }) => readEquipment(context.sql, keyId));
  }

  setEquipment(workspace: string, keyId: string, change: Partial<Equipment>) {
    return this.#answer(workspace, ({ context }) => setEquipment(context, keyId, change));
  }

  spend(workspace: string, nonce: string, expiresAt: number) {
    return this.#answer(workspace, ({ context }) => spend(context, nonce, expiresAt));
  }

  acceptTool(workspace: string, server: string, tool: string, refId: string | undefined) {
    return this.#write(workspace, ({ context }) => acceptTool(context, server, tool, refId));
  }

  rebindTool(workspace: string, server: string, from: string, to: string) {
    return this.#write(workspace, ({ context }) => rebindTool(context, server, from, to));
  }

  createKey(workspace: string, request: KeyRequest) {
    return this.#write(workspace, ({ context }) => createKey(context, request));
  }

  keys(workspace: string, page: PageRequest) {
    return this.#answer(workspace, ({ context }) => listKeys(context, page));
  }

  revokeKey(workspace: string, id: string) {
    return this.#answer(workspace, ({ context }) => {
      revokeKey(context, id);
      return null;
    });
  }

  verifyKey(workspace: string, id: string, hash: string) {
    return this.#answer(workspace, ({ context }) => verifyKey(context, id, hash));
  }

  keyStands(workspace: string, id: string, scope: Scope) {
    return this.#answer(workspace, ({ context }) => keyStands(context, id, scope));
  }

  keyRights(workspace: string, id: string) {
    return this.#answer(workspace, ({ context }) => keyRights(context, id));
  }

  allow(workspace: string, rule: PolicyRule) {
    return this.#write(workspace, async ({ context }) => {
      await allow(context, rule);
      return null;
    });
  }

  rules(workspace: string) {
    return this.#answer(workspace, ({ context }) => readRules(context.sql));
  }

  indexSession(workspace: string, row: SessionIndexRow) {
    return this.#answer(workspace, ({ context }) => {
      indexSession(context, row);
      return null;
    });
  }

  forgetSession(workspace: string, id: string) {
    return this.#answer(workspace, ({ context }) => {
      forgetSession(context, id);
      return null;
    });
  }

  sessions(workspace: string, keyId: string | null, page: PageRequest) {
    return this.#answer(workspace, ({ context }) => listSessions(context, keyId, page));
  }

  appendAudit(workspace: string, rows: readonly AuditRow[]) {
    return this.#answer(workspace, async (parts) => {
      await parts.audit.append(rows);
      return null;
    });
  }

  audit(workspace: string, query: AuditQuery) {
    return this.#answer(workspace, ({ context }) => listAudit(context, query));
  }

  pointer(workspace: string, toolset: string, version: number | undefined, republish: boolean) {
    return this.#answer(workspace, async ({ context }) => {
      const pointer = readPointer(context.sql, toolset, version);
      if (republish) await this.#republish(context, 'toolset', toolset);
      return pointer;
    });
  }

  editionText(workspace: string, hash: string) {
    return this.#answer(workspace, async ({ context }) => {
      const text = readEditionText(context.sql, hash);
      // Whoever asks did not find it in KV.
      const toolset = toolsetOfEdition(context.sql, hash);
      if (toolset !== null) await this.#republish(context, 'toolset', toolset);
      return text;
    });
  }

  agent(workspace: string, name: string, republish: boolean) {
    return this.#answer(workspace, async ({ context }) => {
      // Bodies of agents were parsed by the schema when they were written.
      const agent = requireRow(context.sql, 'agent', name).body as Agent;
      if (republish) await this.#republish(context, 'agent', name);
      return agent;
    });
  }

  server(workspace: string, name: string) {
    return this.#answer(workspace, ({ context }) => readServer(context, name));
  }

  serverOffers(workspace: string, name: string) {
    return this.#answer(workspace, ({ context }) => readOffers(context.sql, name));
  }

  operation(workspace: string, server: string, tool: string) {
    return this.#answer(workspace, ({ context }) => readOperation(context.sql, server, tool));
  }

  skill(workspace: string, name: string, republish: boolean) {
    return this.#answer(workspace, async ({ context }) => {
      const skill = readSkillRow(context, name);
      if (republish) await this.#republish(context, 'skill', name);
      return skill;
    });
  }

  sealedProvider(workspace: string, name: string) {
    return this.#answer(workspace, ({ context }) => readSealedProvider(context, name));
  }

  providerModels(workspace: string) {
    return this.#answer(workspace, ({ context }) => listProviderModels(context));
  }

  sealedSecret(workspace: string, name: string) {
    return this.#answer(workspace, ({ context }) => readSealedSecret(context, name));
  }

  /** Publishes what is due. It arms itself again first, and never throws: the platform's own retries are finite. */
  override async alarm(): Promise<void> {
    const workspace = this.#storedWorkspace();
    if (workspace === null) return;
    const { outbox } = this.#open(workspace);
    await this.ctx.storage.setAlarm(Date.now() + limits.maxPublishBackoffMs);
    await outbox.publishDue();
    await this.#arm();
  }

  /** For reads, and for writes of one statement, which have no phases that another could come between. */
  #answer<T>(workspace: string, work: (parts: Parts) => T | Promise<T>): Promise<Outcome<T>> {
    return toOutcome(async () => work(await this.#checked(workspace)));
  }

  /** One after the other, so that what a write has read still holds when it commits. Then publishes, for a while. */
  #write<T>(workspace: string, work: (parts: Parts) => Promise<T>): Promise<Outcome<T>> {
    return toOutcome(async () => {
      const parts = await this.#checked(workspace);
      if (this.#queuedWrites >= limits.maxQueuedWrites)
        throw new Problem('rate_limited', 'Too many writes at once.', { retryAfterMs: 1_000 });
      this.#queuedWrites += 1;
      const turn = this.#lastWrite.then(() => work(parts)).finally(() => (this.#queuedWrites -= 1));
      // The next in the queue starts after this one, however it ends; its caller is told of the failure below.
      this.#lastWrite = turn.catch(() => undefined);
      const answer = await turn;
      await this.#arm();
      await withTimeLimit(this.#publish(parts.outbox), limits.publishWaitMs, () => undefined);
      return answer;
    });
  }

  async #publish(outbox: Outbox): Promise<void> {
    try {
      await outbox.publishDue();
      await this.#arm();
    } catch (error) {
      // The write is stored and the alarm set: its caller is not to hear of this.
      createLog('error').error('publishing failed', { cause: String(error) });
    }
  }

  async #republish(context: CatalogContext, kind: PublishedKind, name: string): Promise<void> {
    enqueueLost(context, kind, name);
    await this.#arm();
  }

  /** The alarm stands at the next due publish. Overdue ones get a moment, since a publish is on its way with the write. */
  async #arm(): Promise<void> {
    const due = this.#parts?.outbox.nextDue() ?? null;
    if (due === null) return this.ctx.storage.deleteAlarm();
    await this.ctx.storage.setAlarm(Math.max(due, Date.now() + limits.publishIntervalMs));
  }

  /** What is stored of made tools is looked at before anything is made of it, once in this object's life. */
  async #checked(workspace: string): Promise<Parts> {
    const parts = this.#open(workspace);
    this.#madeTools ??= this.ctx.blockConcurrencyWhile(async () => {
      // Toolsets have been compiled anew, and no write is under way that would publish them.
      if (await checkStoredMadeTools(parts.context)) await this.#arm();
    });
    await this.#madeTools;
    return parts;
  }

  /** The object belongs to the first workspace that asked it, for ever. */
  #open(workspace: string): Parts {
    if (this.#parts === null) {
      if (this.#storedWorkspace() === null) this.ctx.storage.sql.exec("INSERT INTO meta (key, value) VALUES ('workspace', ?)", workspace);
      const context = this.#context(this.#storedWorkspace() ?? workspace);
      this.#parts = {
        context,
        audit: createAuditWriter(context, () => this.ctx.storage.sync()),
        outbox: createOutbox(
          context,
          () => this.env.KV,
          () => this.#arm(),
        ),
      };
    }
    if (this.#parts.context.workspace !== workspace) throw new Problem('internal', 'This catalog belongs to another workspace.');
    return this.#parts;
  }

  #context(workspace: string): CatalogContext {
    const settings = readSettings(this.env);
    let writes = 0;
    const context: CatalogContext = {
      workspace,
      sql: this.ctx.storage.sql,
      writes: () => writes,
      transact: (work) => {
        writes += 1;
        try {
          return this.ctx.storage.transactionSync(work);
        } catch (error) {
          dropAllDefinitions(context);
          dropMadeDefinitions(context);
          throw error;
        }
      },
      now: () => Date.now(),
      master: createMasterKey(settings.masterKey),
      settings,
      definitions: toolDefinitions,
      log: createLog(settings.log),
    };
    return context;
  }

  #storedWorkspace(): string | null {
    return this.ctx.storage.sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'workspace'").toArray()[0]?.value ?? null;
  }
}
