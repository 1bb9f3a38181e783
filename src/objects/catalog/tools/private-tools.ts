/**
 * Made tools that are private to one key or trigger. They are stored separately from the workspace's known tools: no toolset, listing,
 * alias or suggestion of another key can name them. They are removed with their key.
 */
import { withTools } from '../../../core/toolset/known-tools.ts';
import { pinned, MadeTool, MadeToolName, readStored } from '../../../core/tools/made-tool.ts';
import { madeOwnName, readPrivateToolName, toMadeDefinition } from '../../../core/made/made-toolset.ts';
import { invalidRequest, Problem, parseInput } from '../../../core/problem.ts';
import type { CatalogContext } from '../context.ts';
import { ownedRows, readRow } from '../documents/documents.ts';
import { overwrite, requestClose } from '../records/close-database.ts';
import { keyRights } from '../keys/keys.ts';
import { knownTools } from './known-tools.ts';
import { privateDefinitions, privateOwners } from './made-tool-definitions.ts';
import { preparePrivateToolset, removePrivateToolset } from './made-toolset.ts';
import type { DocumentWriter } from '../documents/write-document.ts';

export const maxPrivateTools = 100;

export const privateToolWriter: DocumentWriter = {
  nameFault: (_context, name) => {
    const { owner, canonical } = readPrivateToolName(name);
    if (owner === '') return 'must be the id of a key, "/", and a name of a made tool';
    return MadeToolName.safeParse(canonical).error?.issues[0]?.message ?? null;
  },

  prepare: async (context, name, body, previous) => {
    const { owner, canonical } = readPrivateToolName(name);
    const document = parseInput(MadeTool, body);
    requireOwner(context, owner);
    if (previous === null) requireNew(context, owner, canonical);
    const [known, own] = [knownTools(context), privateDefinitions(context, owner)];
    const { checkMadeTool } = await import('../../../core/made/check-made-tool.ts');
    const before = previous && (await readStored(name, previous.body));
    const { tool, issues, warnings } = checkMadeTool(canonical, document, withTools(known, own), before);
    if (issues.length > 0) throw invalidRequest(issues);
    const stored = await pinned(name, tool);
    const next = [...own.filter((other) => other.canonical !== canonical), toMadeDefinition(canonical, stored, owner)];
    const publish = await preparePrivateToolset(context, owner, next, known);
    const commit = (): void => {
      // The key may have been revoked meanwhile; a revocation does not wait for writes.
      requireOwner(context, owner);
      publish();
    };
    return { body: stored, warnings, commit };
  },

  prepareRemoval: async (context, name) => {
    const { owner, canonical } = readPrivateToolName(name);
    const next = privateDefinitions(context, owner).filter((other) => other.canonical !== canonical);
    const publish = await preparePrivateToolset(context, owner, next, knownTools(context));
    return () => {
      dropRow(context.sql, name);
      publish();
    };
  },
};

/** Call in the transaction that revokes the key or removes the trigger. */
export function removePrivateTools(context: CatalogContext, owner: string): void {
  for (const { name } of ownedRows(context.sql, owner)) dropRow(context.sql, name);
  removePrivateToolset(context, owner);
}

/** Without a tombstone, so that a key cannot fill the table with deleted names. */
function dropRow(sql: SqlStorage, name: string): void {
  overwrite(sql, 'documents', 'body', "kind = 'private-tool' AND name = ?", name);
  sql.exec("DELETE FROM documents WHERE kind = 'private-tool' AND name = ?", name);
  requestClose(sql);
}

/** Runs when the object starts: removes the tools of expired keys, which no other event does. */
export function sweepPrivateTools(context: CatalogContext): void {
  const gone = [...privateOwners(context)].filter((owner) => keyRights(context, owner) === null);
  if (gone.length > 0)
    context.transact(() => {
      for (const owner of gone) removePrivateTools(context, owner);
    });
}

function requireOwner(context: CatalogContext, owner: string): void {
  if (keyRights(context, owner) === null) throw new Problem('forbidden', 'The key of this call was revoked or has expired.');
}

function requireNew(context: CatalogContext, owner: string, canonical: string): void {
  const shared = readRow(context.sql, 'made-tool', canonical);
  if (shared !== null && !shared.deleted) {
    const message = `"${madeOwnName(canonical)}" is already the name of the shared tool ${canonical}: choose another name. To replace the shared tool, send share: true, which requires the scope "toolsets"`;
    throw invalidRequest([{ path: 'name', message }]);
  }
  const count = ownedRows(context.sql, owner).length;
  if (count < maxPrivateTools) return;
  throw new Problem(
    'conflict',
    `The key already has ${count} private made tools (maximum: ${maxPrivateTools}). Delete one with DELETE /v1/tools/{canonical}.`,
  );
}
