/** The registry of workspaces, which the Catalog of `default` stores: which workspaces exist, and the progress of their deletion. */
import type { WorkspaceStatus } from '../core/people/workspace.ts';
import type { Page, PageRequest } from './catalog.ts';

/** Times are milliseconds since the epoch. `left`: what is still to be erased, by kind, as far as it has been counted. */
export type WorkspaceRecord = {
  name: string;
  status: WorkspaceStatus;
  createdAt: number;
  deletion?: { startedAt: number; finishedAt: number | null; left: Readonly<Record<string, number>> };
};

export interface Workspaces {
  /** Returns the workspace, created if it does not exist. Throws `conflict` while the previous workspace of the name is being deleted. */
  registerWorkspace(name: string): Promise<{ record: WorkspaceRecord; created: boolean }>;
  /** Throws `not_found`. */
  workspace(name: string): Promise<WorkspaceRecord>;
  /** Sorted by name. */
  workspaces(page: PageRequest): Promise<Page<WorkspaceRecord>>;
  /** Begins to erase the workspace. Throws `not_found`, and `conflict` for the default workspace. */
  deleteWorkspace(name: string): Promise<WorkspaceRecord>;
}
