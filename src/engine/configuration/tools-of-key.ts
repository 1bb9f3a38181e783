/**
 * The tools of a bound key: it may read, and list in toolsets, only these (`core/people/authority.ts`). Used by the tool routes, the configuration
 * tools and every write of a toolset.
 */
import { sourceOfTools, type Rights } from '../../core/people/authority.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { readToolsetReference, type Toolset } from '../../core/toolset/toolset.ts';
import type { CatalogPort, DocumentKind, StoredDocument } from '../../ports/catalog.ts';
import type { Directory } from '../../ports/directory.ts';
import { agentsOfKey, allowOf, findToolset } from '../plan/read-toolset.ts';
import { listedNames } from '../plan/plan-names.ts';
import { readAllPages } from '../read-pages.ts';

/** Returns canonical names; null: all tools of the workspace. */
export async function toolsOfKey(catalog: CatalogPort, directory: Directory, principal: Principal): Promise<ReadonlySet<string> | null> {
  const source = sourceOfTools(principal);
  if (source === 'workspace') return null;
  return source === 'toolsets' ? await toolsOfToolsets(catalog, principal.toolsets ?? []) : await toolsOfAgents(directory, principal);
}

/** Returns the tools of these toolsets (`support`, `support@3`); a missing toolset has none. */
export async function toolsOfToolsets(catalog: Pick<CatalogPort, 'get'>, toolsets: readonly string[]): Promise<ReadonlySet<string>> {
  const read = (reference: string) => {
    const { name, version } = readToolsetReference(reference);
    return nullIfNotFound(catalog.get('toolset', name, version));
  };
  const documents = await Promise.all([...new Set(toolsets)].map(read));
  // Bodies of toolsets were parsed by the schema when they were written; a stored entry always has `tool`.
  return new Set(
    documents.flatMap((document) => (document === null ? [] : (document.body as Toolset).tools.flatMap(({ tool }) => tool ?? []))),
  );
}

async function toolsOfAgents(directory: Directory, principal: Principal): Promise<ReadonlySet<string>> {
  const agents = await agentsOfKey(directory, principal);
  const references = new Set(agents.flatMap(({ toolset }) => toolset ?? []));
  const found = await Promise.all([...references].map((reference) => findToolset(directory, principal, reference)));
  const usable = found.filter((toolset) => toolset !== null);
  return new Set(
    usable.flatMap(({ names, list }) => listedNames(names, { aliases: true, ...allowOf(list) }).tools.map(({ canonical }) => canonical)),
  );
}

/** Returns definitions as their sources describe them, sorted by canonical name. `has` null: all. */
export async function readDefinitions(catalog: Pick<CatalogPort, 'tools'>, has: ReadonlySet<string> | null): Promise<ToolDefinition[]> {
  const all = await readAllPages((page) => catalog.tools({ ...page, limit: limits.maxToolPageItems }));
  return has === null ? all : all.filter(({ canonical }) => has.has(canonical));
}

/** Returns the tools that a key may list in toolsets; null: any. */
export async function listableTools(catalog: Pick<CatalogPort, 'get'>, { toolsets }: Rights): Promise<ReadonlySet<string> | null> {
  return toolsets === undefined ? null : await toolsOfToolsets(catalog, toolsets);
}

export function readAllDocuments(catalog: Pick<CatalogPort, 'list'>, kind: DocumentKind): Promise<StoredDocument[]> {
  return readAllPages((page) => catalog.list(kind, page));
}
