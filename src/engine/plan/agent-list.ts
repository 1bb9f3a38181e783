/**
 * An agent's tool list matched against its toolset. Cached while both are the same objects: every request makes a plan, and a list may have
 * as many names as the toolset.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { matchAllowList } from '../../core/names/allow-list.ts';
import { sha256Hex } from '../../core/hash.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { utf8Length } from '../../core/text/utf8.ts';

/** `hash`: for `Plan.allowHash`. `bytes`: the size of the list as JSON. */
export type AgentList = { allow: readonly string[]; hash: string; bytes: number };

/** Matches a list. `names`: the toolset's full table. Cached by identity: an agent that is read again has a new list. */
export const matchAgentList = memoizeByObject(
  async (names: AliasMap, list: readonly string[]): Promise<AgentList> => await measured(matchAllowList(names, list).allow),
);

/** Returns the tools that any of the lists allows; null for all of them, as for an agent without a list. */
export async function joinAgentLists(names: AliasMap, lists: readonly (readonly string[] | undefined)[]): Promise<AgentList | null> {
  const given = lists.filter((list) => list !== undefined);
  if (given.length < lists.length || given.length === 0) return null;
  const [first, ...others] = await Promise.all(given.map((list) => matchAgentList(names, list)));
  if (first === undefined) return null;
  return others.length === 0 ? first : await measured([...new Set([first, ...others].flatMap(({ allow }) => allow))]);
}

/** Returns the plan's fields for a list. */
export function allowOf(list: AgentList | null): Pick<Plan, 'allow' | 'allowHash'> {
  return list === null ? { allow: null } : { allow: list.allow, allowHash: list.hash };
}

async function measured(allow: readonly string[]): Promise<AgentList> {
  const text = JSON.stringify(allow);
  return { allow, hash: await sha256Hex(text), bytes: utf8Length(text) };
}
