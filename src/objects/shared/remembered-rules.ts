/**
 * Rules that approvals were remembered as for one session, in the object's own table: of a session or an MCP session. They end with the
 * object, and are no part of a fork.
 */
import { canonicalJson } from '../../core/hash.ts';
import { limits } from '../../core/limits/limits.ts';
import { fallbackRules } from '../../core/policy/policy.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import { Problem } from '../../core/problem.ts';
import type { RememberedRules } from '../../ports/remembered-rules.ts';

export const rememberedSchema = 'CREATE TABLE remembered (rule TEXT PRIMARY KEY, at INTEGER!) WITHOUT ROWID;';

export function createRememberedRules(sql: SqlStorage, now: () => number): RememberedRules {
  let cached: readonly PolicyRule[] | null = null;
  let joined: { base: readonly PolicyRule[]; rules: readonly PolicyRule[] } | null = null;
  const list = (): readonly PolicyRule[] => (cached ??= read(sql));
  const texts = (rules: readonly PolicyRule[]): string[] => {
    const known = new Set(list().map((rule) => canonicalJson(rule)));
    const added = [...new Set(rules.map((rule) => canonicalJson(rule)))].filter((text) => !known.has(text));
    if (known.size + added.length <= limits.maxSessionRules || added.length === 0) return added;
    throw new Problem(
      'conflict',
      `This session already remembers ${known.size} rules (maximum: ${limits.maxSessionRules}). Leave \`remember\` out.`,
    );
  };
  return {
    list,
    requireRoom: (rules) => void texts(rules),
    add(rules) {
      for (const text of texts(rules)) sql.exec('INSERT INTO remembered (rule, at) VALUES (?, ?)', text, now());
      cached = null;
      joined = null;
    },
    after(base) {
      // Those ask about everything, and are recognized by identity.
      if (base === fallbackRules || list().length === 0) return base;
      // Rules are indexed once for each list (`core/policy/rule-table.ts`).
      if (joined?.base !== base) joined = { base, rules: [...base, ...list()] };
      return joined.rules;
    },
  };
}

function read(sql: SqlStorage): PolicyRule[] {
  // `add` wrote them.
  const rows = sql.exec<{ rule: string }>('SELECT rule FROM remembered ORDER BY at, rule').toArray();
  return rows.map(({ rule }) => JSON.parse(rule) as PolicyRule);
}
