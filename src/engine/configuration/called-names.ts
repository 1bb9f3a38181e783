/** The names that were called in a toolset, or by an agent, summed over days, agents and keys. */
import type { CalledName } from '../../core/impact/name-impact.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { readPages } from '../read-pages.ts';

/** Agents and keys that are named for one name. */
const maxNamed = 20;
/** Rows of one request; `nextCursor` continues after them. */
const reading = { limit: 1_000, maxPages: 20 };

/** `toolset`: null for calls without one. `agent`: only its calls. `key`: only its calls; undefined: all. */
export type AskedNames = {
  workspace: string;
  toolset: string | null;
  agent?: string;
  from: string;
  to: string;
  key: string | undefined;
  cursor: string | undefined;
};

/** Sums the rows of a name, which are next to each other. `elsewhere`: calls of the agent with another toolset. */
export async function calledNames(
  usage: UsageReader,
  { workspace, toolset, agent: of, from, to, key, cursor }: AskedNames,
): Promise<{ called: CalledName[]; unjudged: number; elsewhere: number; nextCursor: string | null }> {
  const where = { ...(of === undefined ? toolset !== null && { toolset } : { agent: of }), ...(key !== undefined && { key }) };
  const by = ['requested', 'agent', 'key', 'toolset'] as const;
  const rows = await readPages((page) => usage.usage(workspace, { ...page, from, to, by, where }), { ...reading, cursor });
  const called = new Map<string, CalledName>();
  let [unjudged, elsewhere] = [0, 0];
  for (const { requested, calls, failures, lastDay = null, overcount, agent, key: caller, toolset: used } of rows.items) {
    if ((used ?? null) !== toolset) {
      elsewhere += calls;
      continue;
    }
    if (requested == null) {
      unjudged += calls;
      continue;
    }
    const known = called.get(requested) ?? { requested, calls: 0, failures: 0, lastDay: null, agents: [], keys: [] };
    const over = (known.overcount ?? 0) + (overcount ?? 0);
    called.set(requested, {
      ...{ requested, calls: known.calls + calls, failures: known.failures + failures },
      lastDay:
        [known.lastDay, lastDay]
          .filter((day) => day !== null)
          .toSorted()
          .at(-1) ?? null,
      ...(over > 0 && { overcount: over }),
      agents: withName(known.agents, agent),
      keys: withName(known.keys, caller),
    });
  }
  return { called: [...called.values()], unjudged, elsewhere, nextCursor: rows.nextCursor };
}

function withName(names: readonly string[], name: string | null | undefined): readonly string[] {
  return name == null || names.includes(name) || names.length >= maxNamed ? names : [...names, name];
}
