/**
 * Reads a toolset as far as a key may use it (contract §3.6: the edition, the agents' lists and the key's rights). Every entry point that
 * resolves, lists or calls tools reads its toolset here.
 */
import { requireAllowed, type AgentTools } from '../../core/authority.ts';
import type { Principal } from '../../core/principal.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import type { CompiledToolset, Directory } from '../../ports/catalog.ts';
import { joinAgentLists, type AgentList } from './agent-list.ts';

/** `list`: the tools of the edition that may be used; null: all. */
export type UsableToolset = CompiledToolset & { list: AgentList | null };

/** Returns the existing agents that the key is bound to; empty for a key that is not bound to agents. */
export async function agentsOfKey(directory: Directory, { workspace, agents = [] }: Principal): Promise<AgentTools[]> {
  const found = await Promise.all([...new Set(agents)].map((name) => nullIfNotFound(directory.agent(workspace, name))));
  return found.filter((agent) => agent !== null);
}

/** `reference`: `name`, or `name@version`. Throws `forbidden` before the toolset is looked up, and `not_found`. */
export async function readToolset(directory: Directory, principal: Principal, reference: string): Promise<UsableToolset> {
  const agents = await agentsOfKey(directory, principal);
  requireAllowed(principal, { act: 'use-edition', toolset: reference, agents });
  const compiled = await readEdition(directory, principal.workspace, reference);
  const lists = agents.filter(({ toolset }) => toolset === reference).map(({ tools }) => tools);
  return { ...compiled, list: await joinAgentLists(compiled.names, lists) };
}

/** Reads an edition without an authorization check, which is the caller's responsibility. Throws `not_found`. */
export async function readEdition(directory: Directory, workspace: string, reference: string): Promise<CompiledToolset> {
  const [name = '', version] = reference.split('@', 2);
  if (version === undefined) return await directory.toolset(workspace, name);
  if (!/^[1-9][0-9]{0,8}$/.test(version)) throw new Problem('not_found', `"${version}" is not a version of the toolset "${name}".`);
  return await directory.toolset(workspace, name, Number(version));
}
