/** The workspace's own document, `{settings}` (`core/workspace.ts`). Its name is the name of the workspace. */
import { parseDocument } from '../../core/issues.ts';
import { defaultWorkspaceSettings, Workspace, type WorkspaceSettings } from '../../core/workspace.ts';
import { workspaceDocument } from '../../ports/catalog.ts';
import { findRow } from './documents.ts';
import type { DocumentWriter } from './write-document.ts';

export const workspaceWriter: DocumentWriter = {
  nameFault: (_context, name) => (name === workspaceDocument ? null : `must be ${JSON.stringify(workspaceDocument)}`),
  prepare: async (_context, _name, body) => ({ body: parseDocument(Workspace, body) }),
};

/** Returns the stored settings, with the default of every setting that was added since. */
export function readWorkspaceSettings(sql: SqlStorage): WorkspaceSettings {
  const row = findRow(sql, 'workspace', workspaceDocument);
  return row === null ? defaultWorkspaceSettings : Workspace.parse(row.body).settings;
}
