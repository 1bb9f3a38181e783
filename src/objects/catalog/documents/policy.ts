/** The workspace's policy: one document, replaced by an administrator or extended by a remembered rule. */
import { canonicalJson } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Policy, rulesOf } from '../../../core/policy/policy.ts';
import { PolicyRule } from '../../../core/policy/rule.ts';
import { firstWarnings, invalidRequest, Problem, parseInput } from '../../../core/problem.ts';
import { type PolicyNames, type UnmatchedRule, unmatchedRules } from '../../../core/policy/unmatched-rules.ts';
import { reservedServers } from '../../../core/names/reserved-names.ts';
import { type DocumentKind, policyDocument } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { knownTools } from '../tools/known-tools.ts';
import { allRows, findRow } from './documents.ts';
import { type DocumentWriter, putDocument } from './write-document.ts';

export const policyWriter: DocumentWriter = {
  nameFault: (_context, name) => (name === policyDocument ? null : `must be ${JSON.stringify(policyDocument)}: a workspace has one policy`),
  // A rule for a missing tool in code is an error, unless it is stored already: otherwise nothing could be remembered after a tool is removed.
  prepare: async (context, _name, body) => {
    const policy = parseInput(Policy, body);
    const stored = new Set(readPolicy(context.sql).rules.map(({ tool }) => tool));
    const isFault = ({ index, member }: UnmatchedRule): boolean => {
      const tool = policy.rules[index]?.tool;
      return member === 'tool' && tool !== undefined && /^(builtin|local)\./.test(tool) && !stored.has(tool);
    };
    const unmatched = unmatchedRules(policy.rules, policyNames(context));
    const faults = unmatched.filter(isFault).slice(0, limits.maxReportedIssues);
    if (faults.length > 0)
      throw invalidRequest(faults.map(({ index, member, message }) => ({ path: `rules[${index}].${member}`, message })));
    const warnings = unmatched.map(({ index, member, message }) => ({
      path: `rules[${index}].${member}`,
      message: `${message}${message.endsWith('?') ? '' : '.'} The rule matches nothing as long as that is so.`,
    }));
    return { body: policy, warnings: firstWarnings(warnings, 'names in rules that match nothing', limits.maxReportedWarnings, 'rules') };
  },
};

function policyNames(context: CatalogContext): PolicyNames {
  const { sql } = context;
  const definitions = [...knownTools(context).all()];
  const named = (kind: DocumentKind): string[] => allRows(sql, kind).map(({ name }) => name);
  return {
    tools: new Set(definitions.flatMap(({ canonical, source }) => (source?.state === 'missing' ? [] : [canonical]))),
    listed: new Set(definitions.map(({ server }) => server)),
    servers: new Set([...reservedServers, ...named('server')]),
    agents: new Set(named('agent')),
    keys: new Set(
      sql
        .exec<{ id: string }>('SELECT id FROM keys WHERE revoked_at IS NULL')
        .toArray()
        .map(({ id }) => id),
    ),
    secrets: new Set(named('secret')),
    renamed: new Map(
      definitions.flatMap(({ canonical, source }) => (source?.renamedTo === undefined ? [] : [[canonical, source.renamedTo]])),
    ),
  };
}

/** Returns the rules for calls; empty if no policy was written. */
export function readRules(sql: SqlStorage): PolicyRule[] {
  return rulesOf(readPolicy(sql));
}

function readPolicy(sql: SqlStorage): Policy {
  const row = findRow(sql, 'policy', policyDocument);
  // Policy bodies were parsed by the schema when they were written.
  return row === null ? { rules: [] } : (row.body as Policy);
}

/** Appends allowing rules, except those that exist. Throws `conflict` if the policy is full. */
export async function allowWithRules(context: CatalogContext, given: readonly PolicyRule[], by: string): Promise<void> {
  const policy = readPolicy(context.sql);
  const { rules } = policy;
  const known = new Set(rules.map((rule) => canonicalJson(rule)));
  const asked = new Map(given.map((rule) => parseInput(PolicyRule, rule)).map((rule) => [canonicalJson(rule), rule]));
  const added = [...asked].flatMap(([text, rule]) => (known.has(text) ? [] : [rule]));
  if (added.length === 0) return;
  if (rules.length + added.length > limits.maxPolicyRules) {
    throw new Problem(
      'conflict',
      `The policy already has ${rules.length} rules, and the maximum is ${limits.maxPolicyRules}. Remove some with PUT /v1/policy.`,
    );
  }
  await putDocument(context, policyWriter, {
    kind: 'policy',
    name: policyDocument,
    body: { ...policy, rules: [...rules, ...added] },
    options: {},
    by,
  });
}
