/** Reads the settings of the workspace, which the toolset compiler needs too. `workspace.ts` writes them. */
import type { Principal } from '../../../core/people/principal.ts';
import { limitsAmong, type UsageLimits } from '../../../core/usage-limits.ts';
import { defaultWorkspaceSettings, Workspace, type WorkspaceSettings } from '../../../core/people/workspace.ts';
import { workspaceDocument } from '../../../ports/catalog.ts';
import { findRow } from './documents.ts';

/** Returns the stored settings, with the default of every setting that was added since. */
export function readWorkspaceSettings(sql: SqlStorage): WorkspaceSettings {
  const row = findRow(sql, 'workspace', workspaceDocument);
  return row === null ? defaultWorkspaceSettings : Workspace.parse(row.body).settings;
}

/** Returns the limits of a caller. They are sent with its rights, so that requests need not read the settings. `key`: its own. */
export function callerLimits(sql: SqlStorage, key?: UsageLimits): Pick<Principal, 'limits'> {
  const workspace = limitsAmong(readWorkspaceSettings(sql).limits);
  if (key === undefined && workspace === null) return {};
  return { limits: { ...(key !== undefined && { key }), ...(workspace !== null && { workspace }) } };
}
