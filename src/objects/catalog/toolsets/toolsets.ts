/** Writes toolsets: the document, its compiled edition, and new revisions when a default alias changes (contract §4). */
import { compileEdition, editionBytes, editionHash } from '../../../core/toolset/edition.ts';
import type { Edition, EditionTool } from '../../../core/toolset/edition-tool.ts';
import { withTools, type KnownTools } from '../../../core/toolset/known-tools.ts';
import { firstWarnings, invalidRequest, Problem, type Warning, parseInput } from '../../../core/problem.ts';
import type { PutAnswer } from '../../../ports/catalog.ts';
import { ownerOfToolset, dependentsOf } from '../../../core/made/made-toolset.ts';
import { Toolset, ToolsetName } from '../../../core/toolset/toolset.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import { withSkills } from '../../../formats/with-skills.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, requireRow } from '../documents/documents.ts';
import { noteStale } from './compiled-build.ts';
import { readEditionText, storeEdition } from './editions.ts';
import { equipRenamed, unequipEverywhere } from './equipment.ts';
import { knownTools } from '../tools/known-tools.ts';
import { privateDefinitions } from '../tools/made-tool-definitions.ts';
import { forgetUnnamed } from '../servers/server-definitions.ts';
import { enqueuePublish } from '../records/publications.ts';
import { insertVersion, lastDocument, reviseVersion, versionRow } from './toolset-versions.ts';
import { checkNameInBody, type DocumentWriter, type Prepared, putDocument, removeDocument } from '../documents/write-document.ts';
import { keepRevocations, revocationWarnings, revokeRemoved } from '../../../core/toolset/revocations.ts';
import type { LeftOutName } from '../../../core/toolset/settle-names.ts';
import { targetNames } from '../../../core/toolset/entries/entry-targets.ts';

export const toolsetWriter: DocumentWriter = {
  nameFault: (_context, name) => ToolsetName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, _previous, { revoke }) => {
    const document = parseInput(Toolset, body);
    checkNameInBody(name, document);
    const known = knownTools(context);
    const draft = withStoredRevocations(context, name, document);
    const prepared = await prepareToolset(context, name, draft, known, revoke === true);
    const own = [...revocationWarnings(document, draft, known), ...usersOfRevoked(prepared.body as Toolset, known)];
    return { ...prepared, warnings: [...own, ...(prepared.warnings ?? [])] };
  },

  prepareRemoval: async (context, name) => (row) => {
    insertVersion(context.sql, name, { version: row.version, body: null, revision: 1, hash: null, created_at: row.updatedAt });
    forgetUnnamed(context, unindexTools(context.sql, name));
    unequipEverywhere(context, name);
    enqueuePublish(context, 'toolset', name);
  },
};

/**
 * Renames a toolset: writes the same document as a first version under the new name, removes the old one, and updates keys that have it
 * equipped. Writes of a workspace are serialized, so no reader sees the intermediate state; if the object dies in between, both remain.
 * `version`: the expected version. Throws `not_found`, and `precondition_failed`, also if the new name is used.
 */
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

/** Warns about made tools that call a revoked one, which they cannot do in this toolset. */
function usersOfRevoked({ tools, revoked = [] }: Toolset, known: KnownTools): Warning[] {
  const users = dependentsOf(revoked, known);
  const message = (tool: string): string => `${tool} uses a tool that was revoked from this toolset: such nested calls are refused`;
  return tools.flatMap((entry) =>
    targetNames(entry)
      .filter((tool) => users.has(tool))
      .map((tool) => ({ path: 'revoked', message: message(tool) })),
  );
}

/** Returns the document with the tools that stay revoked, also if the toolset was removed in between. */
export function withStoredRevocations({ sql }: CatalogContext, name: string, document: Toolset): Toolset {
  return keepRevocations(document, lastDocument(sql, name));
}

/** Compiles the document with these tools, to be stored as the newest version. `isRevoking`: the tools that it removes are revoked. */
export async function prepareToolset(
  context: CatalogContext,
  name: string,
  document: Toolset,
  known: KnownTools,
  isRevoking = false,
): Promise<Prepared> {
  const compiled = await compileToolset(context, name, { ...document, name }, known);
  const toolset = isRevoking ? revokeRemoved(compiled.toolset, lastDocument(context.sql, name)) : compiled.toolset;
  const text = JSON.stringify(toolset);
  return {
    body: toolset,
    warnings: compiled.warnings,
    commit: (row, changed) => {
      if (changed) {
        storeEdition(context.sql, compiled.hash, compiled.text);
        insertVersion(context.sql, name, { version: row.version, body: text, revision: 1, hash: compiled.hash, created_at: row.updatedAt });
        const before = unindexTools(context.sql, name);
        indexTools(context.sql, name, toolset);
        forgetUnnamed(context, before);
        enqueuePublish(context, 'toolset', name);
      } else {
        // The document is unchanged, but a tool's definition may have changed since it was compiled.
        revise(context, { name, version: row.version, ...compiled });
      }
    },
  };
}

/** `failed`: why toolsets keep their edition, by name; `warnings`: the same for their author. `commit` stores the others; call it in a write's transaction. */
type Recompiled = { warnings: Warning[]; failed: ReadonlyMap<string, string>; commit: () => void };
type Revision = { name: string; version: number; text: string; hash: string };

/** Recompiles the toolsets that inherit the default aliases of `canonical`, with the pending tools. */
export async function recompileInheriting(context: CatalogContext, canonical: string, known: KnownTools): Promise<Recompiled> {
  const query = 'SELECT toolset FROM inherited_aliases WHERE tool = ?';
  const names = context.sql.exec<{ toolset: string }>(query, canonical).toArray();
  return await recompile(context, new Set(names.map(({ toolset }) => toolset)), known, 'aliases', (left) => left.canonical === canonical);
}

/**
 * Recompiles the toolsets with an entry of any of the tools, or of a made tool that uses one, with the pending tools; skips those in
 * `except`.
 */
export async function recompileWith(
  context: CatalogContext,
  canonicals: Iterable<string>,
  known: KnownTools,
  except: ReadonlySet<string> = new Set(),
): Promise<Recompiled> {
  const changed = [...canonicals];
  const names = [...toolsetsWith(context.sql, [...changed, ...dependentsOf(changed, known)])].filter((name) => !except.has(name));
  return await recompile(context, new Set(names), known, 'tools');
}

/** Recompiles all toolsets with a pending name map of the workspace. */
export async function recompileAll(context: CatalogContext, known: KnownTools): Promise<Recompiled> {
  const names = context.sql.exec<{ toolset: string }>('SELECT DISTINCT toolset FROM toolset_tools').toArray();
  const path = 'settings.nameMap';
  return await recompile(context, new Set(names.map(({ toolset }) => toolset)), known, path, (left) => left.path.startsWith(path));
}

/** Returns the names of the toolsets whose newest version has an entry of any of the tools. */
export function toolsetsWith(sql: SqlStorage, canonicals: Iterable<string>): Set<string> {
  const names = new Set<string>();
  for (const canonical of canonicals) {
    const rows = sql.exec<{ toolset: string }>('SELECT toolset FROM toolset_tools WHERE tool = ?', canonical);
    for (const { toolset } of rows) names.add(toolset);
  }
  return names;
}

/**
 * A toolset that fails to compile keeps its edition, with a warning; names that it leaves out are warnings too, if `concerns`. Secrets are checked at the call: a missing secret must not prevent a
 * toolset from holding a tool.
 */
export async function recompile(
  context: CatalogContext,
  names: ReadonlySet<string>,
  { secret: _secret, ...known }: KnownTools,
  path: string,
  concerns: (left: LeftOutName) => boolean = () => false,
): Promise<Recompiled> {
  const revisions: Revision[] = [];
  const warnings: Warning[] = [];
  const failed = new Map<string, string>();
  for (const name of [...names].sort()) {
    const row = findRow(context.sql, 'toolset', name);
    if (row === null) continue;
    const owner = ownerOfToolset(name);
    const tools = owner === null ? known : withTools(known, privateDefinitions(context, owner));
    try {
      // Toolset bodies were parsed by the schema when they were written.
      const before = versionRow(context.sql, name, row.version)?.hash ?? null;
      const { text, hash, leftOut } = await compileToolset(context, name, row.body as Toolset, tools, toolsOfEdition(context, before));
      // The writer of another document receives no warnings about private tools.
      if (owner === null)
        for (const left of leftOut.filter(concerns)) warnings.push({ path, message: `The toolset "${name}": ${left.message}` });
      if (before !== hash) revisions.push({ name, version: row.version, text, hash });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      failed.set(name, error.detail);
      if (owner !== null) context.log.info('private made tools keep their edition', { owner, cause: error.detail });
      else warnings.push({ path, message: `The toolset "${name}" keeps its previous names: ${error.detail}` });
    }
  }
  const commit = (): void => {
    for (const revision of revisions) revise(context, revision);
  };
  return { warnings: firstWarnings(warnings, 'warnings'), failed, commit };
}

/** Call in a write's transaction. Does nothing if the edition is unchanged. */
export function revise(context: CatalogContext, { name, version, text, hash }: Revision): void {
  noteStale(context.sql, name, null);
  if (versionRow(context.sql, name, version)?.hash === hash) return;
  storeEdition(context.sql, hash, text);
  reviseVersion(context.sql, name, version, hash);
  enqueuePublish(context, 'toolset', name);
}

/** The document is the same, so its entries are in the same order. null: the toolset has no edition. */
function toolsOfEdition({ sql }: CatalogContext, hash: string | null): readonly EditionTool[] {
  // Editions are written only by `storeEdition`.
  return hash === null ? [] : (JSON.parse(readEditionText(sql, hash)) as Edition).tools;
}

/** `before`: the tools of an earlier edition of the same document, whose wire names stay. */
export async function compileToolset(
  context: CatalogContext,
  name: string,
  toolset: Toolset,
  known: KnownTools,
  before: readonly EditionTool[] = [],
) {
  const compiled = await compileEdition({ workspace: context.workspace, name, toolset, known, before });
  const { edition, warnings } = await withSkills(compiled.edition, toolset, known);
  const { leftOut, toolset: read } = compiled;
  const all = [...compiled.warnings, ...warnings];
  return { toolset: { ...read, name }, text: editionBytes(edition), hash: await editionHash(edition), warnings: all, leftOut };
}

/** Recompiles the toolsets that list a skill, with the pending one. */
export async function recompileWithSkill(context: CatalogContext, name: string, skill: Skill | null): Promise<Recompiled> {
  const query = `SELECT name FROM documents WHERE kind = 'toolset' AND deleted = 0
    AND EXISTS (SELECT 1 FROM json_each(body, '$.skills') WHERE value = ?)`;
  const names = context.sql.exec<{ name: string }>(query, name).toArray();
  if (names.length === 0) return { warnings: [], failed: new Map(), commit: () => undefined };
  const known = knownTools(context, { skill: { name, skill } });
  return await recompile(context, new Set(names.map((row) => row.name)), known, 'content');
}

function indexTools(sql: SqlStorage, name: string, toolset: Toolset): void {
  for (const { aliases, ...entry } of toolset.tools) {
    const [tool = '', ...others] = targetNames(entry);
    for (const target of [tool, ...others]) sql.exec('INSERT OR IGNORE INTO toolset_tools (tool, toolset) VALUES (?, ?)', target, name);
    if (aliases === undefined) sql.exec('INSERT OR IGNORE INTO inherited_aliases (tool, toolset) VALUES (?, ?)', tool, name);
  }
}

/** Returns the canonical names of its previous tools. */
function unindexTools(sql: SqlStorage, name: string): Set<string> {
  sql.exec('DELETE FROM inherited_aliases WHERE toolset = ?', name);
  const rows = sql.exec<{ tool: string }>('DELETE FROM toolset_tools WHERE toolset = ? RETURNING tool', name).toArray();
  return new Set(rows.map(({ tool }) => tool));
}
