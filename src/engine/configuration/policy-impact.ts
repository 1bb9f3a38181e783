/** What other rules would have decided about the calls of the last days. */
import type { Principal } from '../../core/people/principal.ts';
import { derivedNotes, type PolicyRule } from '../../core/policy/rule.ts';
import { type Policy, rulesOf } from '../../core/policy/policy.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import { type AliasMap, toolsNamed } from '../../core/toolset/alias-map.ts';
import { secretArguments } from '../../core/toolset/arguments/entry-arguments.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Sessions } from '../../ports/session.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { planNames } from '../plan/plan-names.ts';
import { readPages } from '../read-pages.ts';
import { countReading, namedCallers } from './called-names.ts';
import { createDecisionComparison, type DecisionImpact } from './decision-impact.ts';
import { newestTurns, readRecordedCalls, type ReadTurns } from './recorded-turns.ts';

/** `aliases`: the setting of the deployment. */
export type ImpactSources = { usage: UsageReader; sessions: Sessions; directory: Directory; aliases: boolean };

/** `more`: there are more counts than were read. `idle`: the rules that decided none of the calls. */
export type PolicyImpact = DecisionImpact & { turns: ReadTurns; more: boolean; idle: number[] };

/** `given`: the rules after the change. */
export async function policyImpact(
  { usage, sessions, directory, aliases }: ImpactSources,
  principal: Principal,
  days: { from: string; to: string },
  given: Policy,
): Promise<PolicyImpact> {
  const { workspace } = principal;
  const before = await directory.rules(workspace);
  const after = withDerivedRules(given, before);
  const tables = createTables({ directory, aliases }, workspace);
  const sides = (tool: EditionTool) =>
    [
      { tool, rules: before },
      { tool, rules: after },
    ] as const;
  const comparison = createDecisionComparison();
  const query = { ...days, by: ['toolset', 'tool', ...namedCallers(before, after)] as const, where: {}, who: true } as const;
  const counts = await readPages((page) => usage.usage(workspace, { ...page, ...query }), countReading);
  for (const { toolset, tool, agent = null, key = '', agents = [], keys = [], calls } of counts.items) {
    const found = await tables.tool(toolset ?? null, tool ?? '');
    const [was, now] = found === null ? [null, null] : sides(found);
    comparison.count(was, now, { calls, agent, key, agents, keys });
  }
  const found = await newestTurns(usage, { workspace, from: days.from, key: undefined });
  const rows = new Map(found.rows.map((row) => [row.turn ?? row.id, row]));
  const { calls, ...turns } = await readRecordedCalls(sessions, principal, found);
  for (const call of calls) {
    const row = rows.get(call.turn);
    const tool = row === undefined || call.code === 'invalid_arguments' ? null : await tables.called(row.toolset, call.requested);
    if (row === undefined || tool === null || tool.canonical !== call.canonical) continue;
    comparison.add(...sides(tool), { arguments: call.arguments, agent: call.agent, key: row.keyId, session: call.session });
  }
  const { deciding, ...impact } = comparison.result();
  const idle = [...given.rules.keys()].filter((index) => !deciding.has(index));
  return { ...impact, turns, more: counts.nextCursor !== null, idle };
}

/** The rules of a draft, with those of `published` that no document has: known hosts. */
export function withDerivedRules(draft: Policy, published: readonly PolicyRule[]): readonly PolicyRule[] {
  return [...rulesOf(draft), ...published.filter(({ note }) => note === derivedNotes.host)];
}

/** Finds tools in the toolsets as they are now, and among the made tools; each table is read once. */
function createTables({ directory, aliases }: Pick<ImpactSources, 'directory' | 'aliases'>, workspace: string) {
  const known = new Map<string, Promise<AliasMap | null>>();
  const read = (name: string | null): Promise<AliasMap | null> => {
    const stored = () => (name === null ? directory.made(workspace) : nullIfNotFound(directory.toolset(workspace, name)));
    const table = known.get(name ?? '') ?? stored().then((found) => planNames(found?.names ?? null, { aliases, allow: null }));
    known.set(name ?? '', table);
    return table;
  };
  const named = async (toolset: string | null, name: string): Promise<readonly EditionTool[]> => {
    for (const place of toolset === null ? [null] : [toolset, null]) {
      const table = await read(place);
      const tools = table === null ? [] : toolsNamed(table, name);
      if (tools.length > 0) return tools;
    }
    return [];
  };
  const only = ([first, ...others]: readonly EditionTool[]): EditionTool | null =>
    first === undefined || others.some((other) => decidingParts(other) !== decidingParts(first)) ? null : first;
  return {
    /** null: it is not there, or its entries are decided differently. */
    tool: async (toolset: string | null, canonical: string) =>
      only((await named(toolset, canonical)).filter((tool) => tool.canonical === canonical)),
    /** null: the name leads to no tool now, or to several. */
    async called(toolset: string | null, requested: string) {
      const [tool, ...others] = await named(toolset, requested);
      return tool === undefined || others.length > 0 ? null : tool;
    },
  };
}

/** What an entry adds to the decision. */
function decidingParts({ approval, arguments: args }: EditionTool): string {
  return JSON.stringify([approval, [...secretArguments(args).values()]]);
}
