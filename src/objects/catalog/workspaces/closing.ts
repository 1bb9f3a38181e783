/** The Catalog of a workspace that is being deleted: it runs no jobs, refuses keys, and accepts only what its sessions need to end. */
import { unknownWorkspace } from '../../../core/people/workspace.ts';
import type { CatalogMethod } from '../client/catalog-methods.ts';
import type { ClosedCatalog } from '../../../storage/backup/workspace-eraser.ts';
import { shardHeads } from '../records/audit.ts';

/** Methods that still run, for the sessions that are being deleted. */
const ending: ReadonlySet<CatalogMethod> = new Set(['forgetSession', 'updateSession', 'noteTurns', 'storeAuditHead']);

/** Keys are refused, their turns and streams end, and nothing has limits. */
const answers: Partial<Record<CatalogMethod, unknown>> = {
  verifyKey: { refused: 'unknown' },
  originRights: null,
  isKeyCancelled: true,
  keyRights: null,
  // The counters are erased, too.
  limitedHolders: [],
  programKeys: {},
};

export function isWorkspaceClosed(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM meta WHERE key = 'closed'").toArray().length > 0;
}

/** Closes the workspace permanently. May be repeated. Returns at most `limit` sessions. */
export async function closeWorkspace(storage: DurableObjectStorage, limit: number): Promise<ClosedCatalog> {
  const { sql } = storage;
  sql.exec("INSERT OR IGNORE INTO meta (key, value) VALUES ('closed', '')");
  await storage.deleteAlarm();
  const { count } = sql.exec<{ count: number }>('SELECT count(*) AS count FROM sessions').one();
  const sessions = sql.exec<{ id: string }>('SELECT id FROM sessions ORDER BY number LIMIT ?', limit).toArray();
  const shards = shardHeads({ sql }).map(([shard]) => shard + 1);
  return { sessions: sessions.map(({ id }) => id), count, auditShards: Math.max(0, ...shards) };
}

/** `run`: the method runs as usual. Otherwise what returns its result, or throws. */
export function answerWhileClosed(method: CatalogMethod, workspace: string): 'run' | (() => unknown) {
  if (ending.has(method)) return 'run';
  return () => {
    if (method in answers) return answers[method];
    throw unknownWorkspace(workspace);
  };
}
