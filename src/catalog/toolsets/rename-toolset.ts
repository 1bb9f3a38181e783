/**
 * Renames a toolset: writes the same document as a first version under the new name, removes the old one, and updates keys that have it
 * equipped. Writes of a workspace are serialized, so no reader sees the intermediate state; if the object dies in between, both remain.
 */
import { invalidRequest } from '../../core/problem.ts';
import type { PutAnswer } from '../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow } from '../documents/documents.ts';
import { equipRenamed } from './equipment.ts';
import { toolsetWriter } from './toolsets.ts';
import { putDocument, removeDocument } from '../documents/write-document.ts';

/** `version`: the expected version. Throws `not_found`, and `precondition_failed`, also if the new name is used. */
export async function renameToolset(
  context: CatalogContext,
  { from, to, version, by }: { from: string; to: string; version: number; by: string },
): Promise<PutAnswer> {
  if (from === to) throw invalidRequest([{ path: 'name', message: 'is its current name' }]);
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
