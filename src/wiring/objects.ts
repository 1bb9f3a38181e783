/** What is stored: the clients of the Durable Objects, and the caches before them. */
import { once } from '../core/memoize.ts';
import type { Principal } from '../core/people/principal.ts';
import type { Program } from '../core/servers/stdio.ts';
import { defaultWorkspace } from '../core/people/workspace.ts';
import { marksIn } from '../engine/policy/direct-marks.ts';
import { findUnwantedPrograms } from '../engine/servers/unwanted-programs.ts';
import { createRefusalCounter } from '../engine/triggers/count-refusals.ts';
import type { BackupPort } from '../ports/backup.ts';
import type { CatalogCaller } from '../ports/catalog.ts';
import type { Grants } from '../ports/grants.ts';
import type { MasterKeyPort } from '../ports/master-key.ts';
import type { Projects } from '../ports/projects.ts';
import type { StoredWork, Triggers } from '../ports/triggers.ts';
import type { Workspaces } from '../ports/workspaces.ts';
import { isActiveWorkspace } from '../objects/catalog/client/active-workspace.ts';
import { createAudits } from '../objects/audit/client/audit-client.ts';
import { createBackups } from '../storage/backup/backup-client.ts';
import type { Bindings } from '../storage/bindings.ts';
import { callCatalog, createCatalogClient, createCatalogs } from '../objects/catalog/client/catalog-client.ts';
import { buildOf } from '../core/tools/code-tools.ts';
import { createBuildCheck } from '../storage/published/build-check.ts';
import { toolDefinitions } from '../tools/registry.ts';
import { createDirectory } from '../storage/published/directory.ts';
import { createLazyLimiter } from '../objects/limits/client/lazy-limiter.ts';
import { createReadiness } from '../storage/published/readiness.ts';
import { createReplyStore } from '../storage/reply-store.ts';
import { createFileSpaces, createMcpSessions, createReplays, createSessions } from '../objects/session/client/session-client.ts';
import { createMcpSessionIds } from '../storage/keys/signed-token.ts';
import { createUsageReader, createUsageRecorder, withToolUsage } from '../objects/usage/client/usage-shards.ts';
import { createSseRelays } from '../objects/mcp-session/client/sse-relay-client.ts';
import type { EraserDeps, WorkspaceEraser } from '../storage/backup/workspace-eraser.ts';
import { createObjectNotes } from '../objects/shared/workspace-objects.ts';
import type { RuntimeParts } from './runtime.ts';

type Caller = Pick<Principal, 'workspace' | 'keyId'>;

export type ObjectParts = ReturnType<typeof buildObjects>;

export function buildObjects(bindings: Bindings, runtime: RuntimeParts) {
  const { settings, clock, log, background, pools, master, sealing } = runtime;
  const checkBuild = createBuildCheck({
    ...{ clock, log, background, build: () => buildOf(toolDefinitions) },
    ask: (workspace) => callCatalog(bindings, workspace, 'staleToolsets', []),
  });
  const cachedDirectory = createDirectory({ env: bindings, ...runtime, checkBuild });
  const catalog = createCatalogs(bindings, cachedDirectory);
  const client = (caller: CatalogCaller) => createCatalogClient(bindings, caller, cachedDirectory);
  const noteObject = createObjectNotes(bindings, clock.now);
  const limiter = createLazyLimiter({ bindings, ...runtime, noteObject });
  const recorder = createUsageRecorder({ bindings, ...runtime, pools, charge: limiter.charge });
  const namingSecret = async (): Promise<string | null> =>
    (await cachedDirectory.retiredKeys())[0] ?? settings.masterKey ?? settings.rootKey;
  const sessions = createSessions(bindings, catalog, namingSecret, noteObject);
  return {
    cachedDirectory,
    /** Returns the catalog for a caller, which is recorded in the audit row of each change. */
    catalog,
    limiter,
    recorder,
    recordUsage: recorder.record,
    sessions,
    mcpSessions: createMcpSessions(bindings, { ids: runtime.ids, sessionIds: createMcpSessionIds(sealing), noteObject }),
    sseRelays: createSseRelays(bindings),
    fileSpaces: createFileSpaces(bindings, { sessions, now: clock.now, noteObject }),
    /** Returns where the taint marks of a key's direct calls are stored. */
    marks: marksIn(catalog, clock),
    audit: withToolUsage(createAudits(bindings, settings.auditShards, catalog), recorder),
    kv: bindings.KV,
    keptReplies: createReplyStore({ ...runtime, kv: bindings.KV, sessions }),
    cachedReplies: once(async () => (await import('../storage/cached-replies.ts')).createCachedReplies({ ...runtime, kv: bindings.KV })),
    /** Writes documents together, as a caller of the catalog. */
    projects: (caller: Caller): Projects => client(caller),
    /** The registry of workspaces, for the caller, which its changes are audited with. */
    workspaces: ({ keyId }: Pick<Principal, 'keyId'>): Workspaces => client({ workspace: defaultWorkspace, keyId }),
    /** The rotation of the master key, which the Catalog of the first workspace coordinates. */
    masterKey: ({ keyId }: Principal): MasterKeyPort => client({ workspace: defaultWorkspace, keyId }),
    /** The backup of a workspace, for the key that asks for it, and its restore. */
    backups: ({ workspace, keyId }: Principal): BackupPort =>
      createBackups({ bindings, master: sealing, clock, workspace, auditShards: settings.auditShards }, keyId),
    triggers: (workspace: string): Triggers => client(workspace),
    /** Starts stored work, for the key that asks for it. */
    storedWork: (caller: Caller): StoredWork => client(caller),
    grants: (caller: CatalogCaller): Grants => client(caller),
    /** For `/readyz`. */
    readiness: createReadiness({ ...runtime, catalog, master, kv: bindings.KV }),
    refusals: createRefusalCounter({
      ...{ clock, log, background },
      report: async (workspace, counts) => await client(workspace).addRefusals(counts),
    }),
    replays: createReplays(bindings, sessions),
    /** Reads the usage of a workspace and its request log. */
    usage: createUsageReader({ bindings }),
    /** Returns the keys of those programs of the launcher that are to end. */
    unwantedPrograms: (programs: readonly Program[]): Promise<string[]> =>
      findUnwantedPrograms(
        {
          isActive: (workspace) => isActiveWorkspace(bindings, workspace),
          keys: (workspace, names) => callCatalog(bindings, workspace, 'programKeys', [names]),
        },
        programs,
      ),
    /** For the Catalog of `default`: erases deleted workspaces. */
    eraser: createEraser({ bindings, sessions, ...settings, log }),
  };
}

const loadEraser = once(() => import('../storage/backup/workspace-eraser.ts'));

/** Loaded when a workspace is deleted. */
function createEraser(deps: EraserDeps): WorkspaceEraser {
  const load = async (): Promise<WorkspaceEraser> => (await loadEraser()).createWorkspaceEraser(deps);
  return {
    step: async (workspace) => await (await load()).step(workspace),
    finish: async (workspace) => await (await load()).finish(workspace),
  };
}
