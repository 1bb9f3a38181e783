/** The toolsets and agents whose documents a key may read (`core/people/authority.ts`). */
import { isAllowed, isUnbound, requireAllowed, type AgentTools } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import type { CatalogPort, StoredDocument } from '../../ports/catalog.ts';
import type { Directory } from '../../ports/directory.ts';
import { readAllDocuments } from './tools-of-key.ts';
import { agentsOfKey, requireVersion } from '../plan/read-toolset.ts';

/** `reference`: `name`, or `name@version`. Throws `forbidden`. */
export async function requireReadable(directory: Directory, principal: Principal, reference: string): Promise<void> {
  const agents = await agentsOfKey(directory, principal);
  requireAllowed(principal, { act: 'read-toolset', toolset: reference, agents });
  await requireVersion(directory, principal, reference, agents);
}

/** Returns the readable toolsets of a bound key, in their newest versions, sorted by name. */
export async function readableToolsets(
  catalog: Pick<CatalogPort, 'get'>,
  directory: Directory,
  principal: Principal,
): Promise<StoredDocument[]> {
  const agents = await agentsOfKey(directory, principal);
  const names = new Set([...(principal.toolsets ?? []), ...agents.flatMap(({ toolset }) => toolset ?? [])]);
  const own = [...names].sort().filter((toolset) => isAllowed(principal, { act: 'read-toolset', toolset, agents }));
  const found = await Promise.all(own.map((name) => (name.includes('@') ? null : nullIfNotFound(catalog.get('toolset', name)))));
  return found.filter((document) => document !== null);
}

/** Returns the readable agents, sorted by name. */
export async function readableAgents(catalog: Pick<CatalogPort, 'get' | 'list'>, principal: Principal): Promise<StoredDocument[]> {
  if (isUnbound(principal) || principal.agents === undefined)
    return (await readAllDocuments(catalog, 'agent')).filter((document) => isReadable(principal, document));
  const found = await Promise.all([...new Set(principal.agents)].sort().map((name) => nullIfNotFound(catalog.get('agent', name))));
  return found.filter((document) => document !== null && isReadable(principal, document)) as StoredDocument[];
}

function isReadable(principal: Principal, { name, body }: StoredDocument): boolean {
  // Bodies of agents were parsed by the schema when they were written.
  return isAllowed(principal, { act: 'read-agent', name, agent: body as AgentTools });
}
