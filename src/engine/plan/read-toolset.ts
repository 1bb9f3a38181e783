/**
 * Reads a toolset as far as a key may use it (contract §3.6: the edition, the agents' lists and the key's rights). Every entry point that
 * resolves, lists or calls tools reads its toolset here. An agent's list is matched once against a toolset: every request makes a plan, and a
 * list may have as many names as the toolset.
 */
import { isAllowed, requireAllowed, type AgentTools } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { nullIfNotFound, Problem, quoted } from '../../core/problem.ts';
import { readToolsetReference } from '../../core/toolset/toolset.ts';
import type { CompiledToolset, Directory } from '../../ports/directory.ts';
import { memoizeByObject } from '../../core/memoize.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { matchAllowList } from '../../core/toolset/allow-list.ts';
import { sha256Hex } from '../../core/hash.ts';
import type { AcceptedNames, Plan } from '../../core/turn/plan.ts';
import { utf8Length } from '../../core/text/utf8.ts';

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
  await requireVersion(directory, principal, reference, agents);
  const compiled = await readEdition(directory, principal.workspace, reference);
  const lists = agents.filter(({ toolset }) => toolset === reference).map(({ tools }) => tools);
  return { ...compiled, list: await joinAgentLists(compiled.names, lists) };
}

/** Like `readToolset`, but returns null if the toolset does not exist or the key may not use it. */
export async function findToolset(directory: Directory, principal: Principal, reference: string): Promise<UsableToolset | null> {
  return await readToolset(directory, principal, reference).catch((error: unknown) => {
    if (error instanceof Problem && (error.code === 'not_found' || error.code === 'forbidden')) return null;
    throw error;
  });
}

/**
 * Throws `forbidden` if the reference names a version that the key may not use or read, and `not_found` if the toolset does not exist. `agents`: the
 * agents that the key is bound to, or the agent of the turn.
 */
export async function requireVersion(
  directory: Directory,
  principal: Principal,
  reference: string,
  agents: readonly AgentTools[],
): Promise<void> {
  const act = { act: 'use-version', toolset: reference, agents } as const;
  // Most keys may name any version, and most references name none: then nothing is read.
  if (isAllowed(principal, { ...act, current: null })) return;
  const { pointer } = await directory.toolset(principal.workspace, readToolsetReference(reference).name);
  requireAllowed(principal, { ...act, current: pointer.version });
}

/** Reads an edition without an authorization check, which is the caller's responsibility. Throws `not_found`, also for a retired version. */
export async function readEdition(directory: Directory, workspace: string, reference: string): Promise<CompiledToolset> {
  const { name, version } = readToolsetReference(reference);
  if (version === undefined) return await directory.toolset(workspace, name);
  if (Number.isNaN(version)) throw new Problem('not_found', `${quoted(reference)} names no version of the toolset ${quoted(name)}.`);
  const compiled = await directory.toolset(workspace, name, version);
  if (compiled.standing?.retired?.includes(version) !== true) return compiled;
  const instead = `Use ${quoted(name)} for the current version, or another version.`;
  throw new Problem('not_found', `The version ${quoted(reference)} is retired. ${instead}`);
}

/** `hash`: for `Plan.allowHash`. `bytes`: the size of the list as JSON. `accepted`: for `Plan.acceptedNames`. */
export type AgentList = { allow: readonly string[]; hash: string; bytes: number; accepted: AcceptedNames };

/** Matches a list. `names`: the toolset's full table. Cached by identity: an agent that is read again has a new list. */
export const matchAgentList = memoizeByObject(
  async (names: AliasMap, list: readonly string[]): Promise<AgentList> => await measured(matchAllowList(names, list)),
);

/** Returns the tools that any of the lists allows; null for all of them, as for an agent without a list. */
export async function joinAgentLists(names: AliasMap, lists: readonly (readonly string[] | undefined)[]): Promise<AgentList | null> {
  const given = lists.filter((list) => list !== undefined);
  if (given.length < lists.length || given.length === 0) return null;
  const [first, ...others] = await Promise.all(given.map((list) => matchAgentList(names, list)));
  if (first === undefined) return null;
  if (others.length === 0) return first;
  const allow = [...new Set([first, ...others].flatMap((list) => list.allow))];
  return await measured({ allow, accepted: Object.assign({}, ...[first, ...others].map(({ accepted }) => accepted)) });
}

/** Returns the plan's fields for a list. */
export function allowOf(list: AgentList | null): Pick<Plan, 'allow' | 'allowHash' | 'acceptedNames'> {
  if (list === null) return { allow: null };
  const isPlain = Object.keys(list.accepted).length === 0;
  return { allow: list.allow, allowHash: list.hash, ...(!isPlain && { acceptedNames: list.accepted }) };
}

async function measured({ allow, accepted }: Pick<AgentList, 'allow' | 'accepted'>): Promise<AgentList> {
  const text = JSON.stringify(allow);
  return { allow, hash: await sha256Hex(text), bytes: utf8Length(text), accepted };
}
