/** Reads the settings of the workspace, which the toolset compiler needs too. `workspace.ts` writes them. */
import { defaultWorkspaceSettings, Workspace, type WorkspaceSettings } from '../../core/workspace.ts';
import { workspaceDocument } from '../../ports/catalog.ts';
import { findRow } from './documents.ts';

/** Returns the stored settings, with the default of every setting that was added since. */
export function readWorkspaceSettings(sql: SqlStorage): WorkspaceSettings {
  const row = findRow(sql, 'workspace', workspaceDocument);
  return row === null ? defaultWorkspaceSettings : Workspace.parse(row.body).settings;
}
