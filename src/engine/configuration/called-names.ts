/** The names that were called in a toolset, or by an agent, summed over days, agents and keys. */
import type { CalledName } from '../../core/impact/name-impact.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { readPages } from '../read-pages.ts';

/** Agents and keys that are named for one name. */
const maxNamed = 20;
/** Rows of one request; `nextCursor` continues after them. Each page is a scan of the counts. */
export const countReading = { limit: 10_000, maxPages: 3 };

/** `toolset`: null for calls without one. `agent`: only its calls. `key`: only its calls; undefined: all. `by`: counted separately by these. */
export type AskedNames = {
  workspace: string;
  toolset: string | null;
  agent?: string;
  from: string;
  to: string;
  key: string | undefined;
  cursor: string | undefined;
  by?: readonly CallerPart[];
};

/** What rules may name of a caller. */
export type CallerPart = 'agent' | 'key';

/** Counts by agent or key are read only where a rule names one. */
export function namedCallers(...lists: readonly (readonly PolicyRule[])[]): CallerPart[] {
  return (['agent', 'key'] as const).filter((part) => lists.some((rules) => rules.some((rule) => rule[part] !== undefined)));
}

/** `agent`, `key`: null, and empty, where they were not counted separately. `agents`, `keys`: some of those who made the calls. */
export type CountedCalls = { calls: number; agent: string | null; key: string; agents: readonly string[]; keys: readonly string[] };

/** `rows`: the calls of each name by caller. `unjudged`: calls whose name was not kept. `elsewhere`: calls of the agent with another toolset. */
export type CalledNames = {
  called: CalledName[];
  rows: (CountedCalls & { requested: string })[];
  unjudged: number;
  elsewhere: number;
  nextCursor: string | null;
};

/** Sums the rows of a name, which are next to each other. */
export async function calledNames(
  usage: UsageReader,
  { workspace, toolset, agent: of, from, to, key, cursor, by: parts = [] }: AskedNames,
): Promise<CalledNames> {
  const where = { ...(of === undefined ? toolset !== null && { toolset } : { agent: of }), ...(key !== undefined && { key }) };
  const by = ['requested', ...(of === undefined ? [] : (['toolset'] as const)), ...parts] as const;
  const query = { from, to, by, where, who: true } as const;
  const found = await readPages((page) => usage.usage(workspace, { ...page, ...query }), { ...countReading, cursor });
  const called = new Map<string, CalledName>();
  const rows: CalledNames['rows'] = [];
  let [unjudged, elsewhere] = [0, 0];
  for (const {
    requested,
    calls,
    failures,
    lastDay = null,
    overcount,
    agent = null,
    key: caller = '',
    agents = [],
    keys = [],
    toolset: used = null,
  } of found.items) {
    if (of !== undefined && used !== toolset) {
      elsewhere += calls;
      continue;
    }
    if (requested == null) {
      unjudged += calls;
      continue;
    }
    rows.push({ requested, calls, agent, key: caller, agents, keys });
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
      ...{ agents: withNames(known.agents, agents), keys: withNames(known.keys, keys) },
    });
  }
  return { called: [...called.values()], rows, unjudged, elsewhere, nextCursor: found.nextCursor };
}

/** Returns the list with more names, up to 20. */
export function withNames(names: readonly string[], more: readonly string[]): readonly string[] {
  return names.length >= maxNamed ? names : [...new Set([...names, ...more])].slice(0, maxNamed);
}
