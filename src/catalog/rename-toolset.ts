/**
 * A toolset under another name: the same document as a first version there, then the old one is removed, and those who have it equipped go
 * along. Writes of a workspace run one after the other, so nobody sees what is between; should the object die there, both are left.
 */
import { invalidRequest } from '../core/problem.ts';
import type { PutAnswer } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { requireRow } from './documents.ts';
import { equipRenamed } from './equipment.ts';
import { toolsetWriter } from './toolsets.ts';
import { putDocument, removeDocument } from './write-document.ts';

/** `version`: the one that it must have. Throws `not_found` and `precondition_failed`, for a name that is taken as well. */
export async function renameToolset(
  context: CatalogContext,
  { from, to, version, by }: { from: string; to: string; version: number; by: string },
): Promise<PutAnswer> {
  if (from === to) throw invalidRequest([{ path: 'name', message: 'is the name that it has' }]);
  const { body } = requireRow(context.sql, 'toolset', from);
  const options = { ifMatch: version };
  const removal = { kind: 'toolset', name: from, options, by } as const;
  await removeDocument(context, toolsetWriter, { ...removal, options: { ...options, dryRun: true } });
  const renamed = { kind: 'toolset', name: to, body: { ...body, name: to }, options: { ifNoneMatch: true }, by } as const;
  const answer = await putDocument(context, toolsetWriter, renamed);
  equipRenamed(context, from, to);
  await removeDocument(context, toolsetWriter, removal);
  return answer;
}
