/** The names that were called in a toolset, summed over days, agents and keys. */
import type { CalledName } from '../../core/impact/name-impact.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { readPages } from '../read-pages.ts';

/** Agents and keys that are named for one name. */
const maxNamed = 20;
/** Rows of one request; `nextCursor` continues after them. */
const reading = { limit: 1_000, maxPages: 20 };

/** `key`: only its calls; undefined: all. */
export type AskedNames = {
  workspace: string;
  toolset: string;
  from: string;
  to: string;
  key: string | undefined;
  cursor: string | undefined;
};

/** `rows`: the calls of each name by agent and key. `unjudged`: calls whose name was not kept. */
export type CalledNames = {
  called: CalledName[];
  rows: { requested: string; agent: string | null; key: string; calls: number }[];
  unjudged: number;
  nextCursor: string | null;
};

/** Sums the rows of a name, which are next to each other. */
export async function calledNames(usage: UsageReader, { workspace, toolset, from, to, key, cursor }: AskedNames): Promise<CalledNames> {
  const where = { toolset, ...(key !== undefined && { key }) };
  const by = ['requested', 'agent', 'key'] as const;
  const rows = await readPages((page) => usage.usage(workspace, { ...page, from, to, by, where }), { ...reading, cursor });
  const called = new Map<string, CalledName>();
  const callers: CalledNames['rows'] = [];
  let unjudged = 0;
  for (const { requested, calls, failures, lastDay = null, overcount, agent, key: caller } of rows.items) {
    if (requested == null) {
      unjudged += calls;
      continue;
    }
    callers.push({ requested, agent: agent ?? null, key: caller ?? '', calls });
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
  return { called: [...called.values()], rows: callers, unjudged, nextCursor: rows.nextCursor };
}

/** Returns the list with one more name, up to 20. */
export function withName(names: readonly string[], name: string | null | undefined): readonly string[] {
  return name == null || names.includes(name) || names.length >= maxNamed ? names : [...names, name];
}
