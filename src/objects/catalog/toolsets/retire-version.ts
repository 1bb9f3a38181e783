/** Retires versions of toolsets: they stay readable, but nothing can use them. */
import { limits } from '../../../core/limits/limits.ts';
import { Problem, quoted, type Warning } from '../../../core/problem.ts';
import type { CatalogContext } from '../context.ts';
import { warnUsers } from '../documents/document-uses.ts';
import { findRow } from '../documents/documents.ts';
import { recordChange } from '../records/audit.ts';
import { enqueuePublish } from '../records/publications.ts';
import { isRetiredVersion, readStanding, setRetired } from './toolset-versions.ts';

/** `isRetired` false: undoes it. Returns warnings about what names the version. Throws `not_found` and `conflict`. */
export function retireVersion(
  context: CatalogContext,
  { toolset, version, isRetired, by }: { toolset: string; version: number; isRetired: boolean; by: string },
): { warnings: Warning[] } {
  const { sql } = context;
  const reference = `${toolset}@${version}`;
  const before = isRetiredVersion(sql, toolset, version);
  const row = findRow(sql, 'toolset', toolset);
  if (before === isRetired) throw new Problem('conflict', `The version ${quoted(reference)} is ${isRetired ? 'already' : 'not'} retired.`);
  if (isRetired && row?.version === version)
    throw new Problem(
      'conflict',
      `${quoted(reference)} is the current version, which cannot be retired. Write the version that replaces it first, or delete the toolset.`,
    );
  const { retired = [] } = readStanding(sql, { name: toolset, body: {} });
  if (isRetired && retired.length >= limits.maxRetiredVersions)
    throw new Problem(
      'conflict',
      `The toolset ${quoted(toolset)} has ${retired.length} retired versions, the maximum. Undo some of them first.`,
    );
  context.transact(() => {
    setRetired(sql, toolset, version, isRetired ? { at: context.now(), by } : null);
    recordChange(context, { by, action: isRetired ? 'retire' : 'undo', resource: 'toolset', name: toolset, version });
    enqueuePublish(context, 'toolset', toolset);
  });
  return { warnings: isRetired ? warnUsers(context, 'toolset', reference, 'which cannot be used any more') : [] };
}
