/**
 * The registry of workspaces, in the table `workspaces` of the Catalog of `default`, its one writer: that Catalog always exists, its writes
 * are serialized and audited, and it publishes the status of each workspace to KV. `default` itself has no row.
 */
import { Problem, quoted } from '../../../core/problem.ts';
import { defaultWorkspace, unknownWorkspace, WorkspaceName, type WorkspaceStatus } from '../../../core/people/workspace.ts';
import type { Page, PageRequest } from '../../../ports/catalog.ts';
import type { WorkspaceRecord } from '../../../ports/workspaces.ts';
import { sortedPage } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';
import type { CatalogHandlers } from '../handlers/catalog-handlers.ts';
import { recordChange } from '../records/audit.ts';
import { enqueuePublish } from '../records/publications.ts';

/** Workspaces of one installation; each has objects of its own, so this only bounds lists and mistakes. */
const maxWorkspaces = 10_000;

export type WorkspaceRow = {
  name: string;
  status: WorkspaceStatus;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  due_at: number | null;
  progress: string;
};

export const workspaceHandlers = {
  registerWorkspace: ({ context, by }, name) => registerWorkspace(context, name, by),
  workspace: ({ context }, name) => toRecord(requireWorkspaceRow(context, name)),
  workspaces: ({ context }, page) => listWorkspaces(context, page),
  deleteWorkspace: ({ context, by }, name) => beginDeletion(context, name, by),
} satisfies Partial<CatalogHandlers>;

/** Returns null if it does not exist. */
export function findWorkspace({ sql, workspace }: Pick<CatalogContext, 'sql' | 'workspace'>, name: string): WorkspaceRow | null {
  requireRegistry(workspace);
  if (name === defaultWorkspace) return defaultRow;
  return sql.exec<WorkspaceRow>('SELECT * FROM workspaces WHERE name = ?', name).toArray()[0] ?? null;
}

function registerWorkspace(context: CatalogContext, name: string, by: string): { record: WorkspaceRecord; created: boolean } {
  const row = findWorkspace(context, name);
  if (row?.status === 'active') return { record: toRecord(row), created: false };
  if (row?.status === 'deleting')
    throw new Problem('conflict', `The workspace ${quoted(name)} is being deleted. Create it again when its status is "deleted".`);
  if (!WorkspaceName.safeParse(name).success) throw new Problem('internal', 'The name of a workspace was not checked.');
  const { count } = context.sql.exec<{ count: number }>("SELECT count(*) AS count FROM workspaces WHERE status <> 'deleted'").one();
  if (count >= maxWorkspaces) throw new Problem('conflict', `There are already ${maxWorkspaces} workspaces. Delete one first.`);
  context.record(() => {
    const insert = "INSERT OR REPLACE INTO workspaces (name, status, created_at) VALUES (?, 'active', ?)";
    context.sql.exec(insert, name, context.now());
    noteChange(context, { by, action: 'create', name });
  });
  return { record: toRecord(requireWorkspaceRow(context, name)), created: true };
}

function listWorkspaces({ sql, workspace }: CatalogContext, page: PageRequest): Page<WorkspaceRecord> {
  requireRegistry(workspace);
  const query = 'SELECT * FROM workspaces WHERE name > ? ORDER BY name LIMIT ?';
  const read = (after: string, count: number): WorkspaceRow[] => {
    const rows = sql.exec<WorkspaceRow>(query, after, count).toArray();
    const all = after < defaultWorkspace ? [...rows, defaultRow].sort((a, b) => (a.name < b.name ? -1 : 1)) : rows;
    return all.slice(0, count);
  };
  const { items, nextCursor } = sortedPage('workspaces', page, read, { position: ({ name }) => name, bytes: () => 0 });
  return { items: items.map(toRecord), nextCursor };
}

function beginDeletion(context: CatalogContext, name: string, by: string): WorkspaceRecord {
  const row = requireWorkspaceRow(context, name);
  if (name === defaultWorkspace) throw new Problem('conflict', 'The workspace "default" always exists. It cannot be deleted.');
  if (row.status === 'active')
    context.record(() => {
      const now = context.now();
      context.sql.exec(
        "UPDATE workspaces SET status = 'deleting', started_at = ?, due_at = ?, progress = '{}' WHERE name = ?",
        now,
        now,
        name,
      );
      noteChange(context, { by, action: 'delete', name });
    });
  return toRecord(requireWorkspaceRow(context, name));
}

function requireWorkspaceRow(context: CatalogContext, name: string): WorkspaceRow {
  const row = findWorkspace(context, name);
  if (row === null) throw unknownWorkspace(name);
  return row;
}

/** Call in the transaction of the change. */
function noteChange(context: CatalogContext, { by, action, name }: { by: string; action: 'create' | 'delete'; name: string }): void {
  recordChange(context, { by, action, resource: 'workspace', name });
  enqueuePublish(context, 'workspace-status', name);
}

/** `default` exists without a row. */
const defaultRow: WorkspaceRow = {
  ...{ name: defaultWorkspace, status: 'active', created_at: 0, started_at: null, finished_at: null, due_at: null, progress: '{}' },
};

function toRecord({
  name,
  status,
  created_at: createdAt,
  started_at: startedAt,
  finished_at: finishedAt,
  progress,
}: WorkspaceRow): WorkspaceRecord {
  if (startedAt === null) return { name, status, createdAt };
  const { left } = readProgress(progress);
  return { name, status, createdAt, deletion: { startedAt, finishedAt, left } };
}

/** `settleAt`: when the deletion may end; absent until nothing is published any more. */
export type ErasureProgress = { left: Readonly<Record<string, number>>; settleAt?: number };

export function readProgress(text: string): ErasureProgress {
  return { left: {}, ...(JSON.parse(text) as Partial<ErasureProgress>) };
}

function requireRegistry(workspace: string): void {
  if (workspace !== defaultWorkspace) throw new Problem('internal', 'Only the workspace "default" has the registry.');
}
