/**
 * The editions of made tools (`core/made/made-toolset.ts`): one of the shared tools, and one for each key's private tools, stored and
 * published like toolsets. Each has one version and a new revision for each change. The tools that they use are indexed, so that a change
 * of one recompiles the edition.
 */
import { withTools, type KnownTools } from '../../../core/toolset/known-tools.ts';
import { madeToolset, privateToolset, toMadeToolset } from '../../../core/made/made-toolset.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';
import type { Toolset } from '../../../core/toolset/toolset.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, readRow, storeRow } from '../documents/documents.ts';
import { discardEdition, storeEdition } from '../toolsets/editions.ts';
import { enqueuePublish } from '../records/publications.ts';
import { forgetUnnamed } from '../servers/server-definitions.ts';
import { forgetVersions, insertVersion, versionRow } from '../toolsets/toolset-versions.ts';
import { compileToolset, revise } from '../toolsets/toolsets.ts';

const version = 1;

/** Compiles with the pending tools. The returned function runs in the write's transaction. Throws if the tools are too large together. */
export function prepareMadeToolset(context: CatalogContext, known: KnownTools): Promise<() => void> {
  const tools = [...known.all()];
  const named = tools.flatMap(({ canonical, made }) => (made === undefined ? [] : [canonical, ...made.uses]));
  return prepare(context, { name: madeToolset, document: toMadeToolset(tools), named: new Set(named) }, known);
}

/** The same for the private tools of a key or a trigger. Their own names are not indexed, since no other toolset can use them. */
export function preparePrivateToolset(
  context: CatalogContext,
  owner: string,
  tools: readonly ToolDefinition[],
  known: KnownTools,
): Promise<() => void> {
  const own = new Set<string>(tools.map(({ canonical }) => canonical));
  const named = new Set(tools.flatMap(({ made }) => made?.uses ?? []).filter((use) => !own.has(use)));
  return prepare(context, { name: privateToolset(owner), document: toMadeToolset(tools), named }, withTools(known, tools));
}

/** Call in the transaction that removes its key or trigger. */
export function removePrivateToolset(context: CatalogContext, owner: string): void {
  const name = privateToolset(owner);
  const before = findRow(context.sql, 'toolset', name);
  if (before === null) return;
  const { hash } = versionRow(context.sql, name, version) ?? { hash: null };
  forgetVersions(context.sql, name);
  if (hash !== null) discardEdition(context.sql, hash);
  index(context, name, new Set());
  storeRow(context.sql, { ...before, deleted: true, body: {}, updatedAt: context.now() });
  enqueuePublish(context, 'toolset', name);
}

/** `named`: canonical names of the tools whose changes affect it. */
type MadeToolset = { name: string; document: Toolset; named: ReadonlySet<string> };

async function prepare(context: CatalogContext, { name, document, named }: MadeToolset, known: KnownTools): Promise<() => void> {
  const { text, hash } = await compile(context, name, document, known);
  return () => {
    const now = context.now();
    const before = readRow(context.sql, 'toolset', name);
    const row = { kind: 'toolset', name, version, deleted: false, body: document, sealed: null } as const;
    storeRow(context.sql, { ...row, createdAt: before?.createdAt ?? now, updatedAt: now });
    if (versionRow(context.sql, name, version) === null) {
      storeEdition(context.sql, hash, text);
      // Its documents are never read by version.
      insertVersion(context.sql, name, { version, body: '{}', revision: 1, hash, created_at: now });
      enqueuePublish(context, 'toolset', name);
    } else revise(context, { name, version, text, hash });
    index(context, name, named);
  };
}

async function compile(context: CatalogContext, name: string, toolset: Toolset, known: KnownTools) {
  try {
    return await compileToolset(context, name, toolset, known);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = `with this tool, the made tools cannot be offered together; delete some of them (${error.detail})`;
    throw invalidRequest([{ path: 'implementation', message }]);
  }
}

function index(context: CatalogContext, name: string, named: ReadonlySet<string>): void {
  const rows = context.sql.exec<{ tool: string }>('DELETE FROM toolset_tools WHERE toolset = ? RETURNING tool', name).toArray();
  for (const tool of named) context.sql.exec('INSERT INTO toolset_tools (tool, toolset) VALUES (?, ?)', tool, name);
  forgetUnnamed(context, new Set(rows.flatMap(({ tool }) => (named.has(tool) ? [] : [tool]))));
}
