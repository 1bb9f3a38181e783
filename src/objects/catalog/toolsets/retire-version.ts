/** Retires versions of toolsets: they stay readable, but nothing can use them. */
import { limits } from '../../../core/limits/limits.ts';
import { firstWarnings, Problem, quoted, type Warning } from '../../../core/problem.ts';
import type { CatalogContext } from '../context.ts';
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
  return { warnings: isRetired ? firstWarnings(namedBy(context, reference), 'warnings') : [] };
}

function namedBy({ sql, now }: CatalogContext, reference: string): Warning[] {
  const agents = sql.exec<{ name: string }>(ofAgents, reference).toArray();
  const keys = sql.exec<{ id: string; name: string }>(ofKeys, reference, now()).toArray();
  return [
    ...agents.map(({ name }) => ({
      path: `agents.${name}.toolset`,
      message: `names ${reference}: this agent cannot run until it names another`,
    })),
    ...keys.map(({ id, name }) => ({
      path: `keys.${id}.toolsets`,
      message: `the key ${quoted(name)} is bound to ${reference}, which it cannot use`,
    })),
  ];
}

const ofAgents = `SELECT name FROM documents WHERE kind = 'agent' AND deleted = 0 AND body ->> '$.toolset' = ? ORDER BY name`;
const ofKeys = `SELECT id, name FROM keys WHERE revoked_at IS NULL AND EXISTS (SELECT 1 FROM json_each(toolsets) WHERE value = ?1)
  AND (expires_at IS NULL OR expires_at > ?2) ORDER BY name, id`;
