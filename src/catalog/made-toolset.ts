/**
 * The edition of all made tools (`core/made/made-toolset.ts`), kept and published where toolsets are. It has one version for ever, and a revision for each
 * change. What stands beneath made tools is indexed with it, so that a change of it is noticed as one of a toolset's own tools is.
 */
import { compileEdition, editionBytes, editionHash } from '../core/edition.ts';
import type { KnownTools } from '../core/known-tools.ts';
import { madeToolset, toMadeToolset } from '../core/made/made-toolset.ts';
import { invalidRequest, Problem } from '../core/problem.ts';
import type { Toolset } from '../core/toolset.ts';
import type { CatalogContext } from './context.ts';
import { readRow, replaceRow } from './documents.ts';
import { storeEdition } from './editions.ts';
import { enqueuePublish } from './outbox.ts';
import { forgetUnnamed } from './server-definitions.ts';
import { insertVersion, versionRow } from './toolset-versions.ts';
import { revise } from './toolsets.ts';

const version = 1;

/** Over the tools as they are about to be. The answer is a part of the write's transaction. Throws when they are too large together. */
export async function prepareMadeToolset(context: CatalogContext, known: KnownTools): Promise<() => void> {
  const tools = [...known.all()];
  const document = toMadeToolset(tools);
  const { text, hash } = await compile(context, document, known);
  const named = new Set(tools.flatMap(({ canonical, made }) => (made === undefined ? [] : [canonical, ...made.uses])));
  return () => {
    const now = context.now();
    const before = readRow(context.sql, 'toolset', madeToolset);
    const row = { kind: 'toolset', name: madeToolset, version, deleted: false, body: document, sealed: null } as const;
    replaceRow(context.sql, { ...row, createdAt: before?.createdAt ?? now, updatedAt: now });
    if (versionRow(context.sql, madeToolset, version) === null) {
      storeEdition(context.sql, hash, text);
      // Nobody reads its documents by version.
      insertVersion(context.sql, madeToolset, { version, body: '{}', revision: 1, hash, created_at: now });
      enqueuePublish(context, 'toolset', madeToolset);
    } else revise(context, { name: madeToolset, version, text, hash });
    index(context, named);
  };
}

async function compile(context: CatalogContext, toolset: Toolset, known: KnownTools): Promise<{ text: string; hash: string }> {
  try {
    const { edition } = await compileEdition({ workspace: context.workspace, name: madeToolset, toolset, known });
    return { text: editionBytes(edition), hash: await editionHash(edition) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = `with it the made tools of the workspace cannot be offered together; delete some (${error.detail})`;
    throw invalidRequest([{ path: 'implementation', message }]);
  }
}

function index(context: CatalogContext, named: ReadonlySet<string>): void {
  const rows = context.sql.exec<{ tool: string }>('DELETE FROM toolset_tools WHERE toolset = ? RETURNING tool', madeToolset).toArray();
  for (const tool of named) context.sql.exec('INSERT INTO toolset_tools (tool, toolset) VALUES (?, ?)', tool, madeToolset);
  forgetUnnamed(context, new Set(rows.flatMap(({ tool }) => (named.has(tool) ? [] : [tool]))));
}
