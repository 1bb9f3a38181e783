/** The workspace's policy: one document, replaced by an administrator or extended by a remembered rule. */
import { canonicalJson } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Policy, rulesOf } from '../../../core/policy/policy.ts';
import { PolicyRule } from '../../../core/policy/rule.ts';
import { invalidRequest, Problem, type Issue, parseInput } from '../../../core/problem.ts';
import { nearNames } from '../../../core/names/suggest.ts';
import { policyDocument } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { findRow } from './documents.ts';
import { type DocumentWriter, putDocument } from './write-document.ts';

export const policyWriter: DocumentWriter = {
  nameFault: (_context, name) => (name === policyDocument ? null : `must be ${JSON.stringify(policyDocument)}: a workspace has one policy`),
  prepare: async (context, _name, body) => {
    const policy = parseInput(Policy, body);
    const issues = unknownTools(context, policy);
    if (issues.length > 0) throw invalidRequest(issues);
    return { body: policy };
  },
};

/**
 * Finds rules for tools that will never exist. Servers and made tools may be added later, but a rule for a missing built-in tool would
 * never match. Such rules that are already stored are accepted, since otherwise nothing could be remembered after a tool is removed.
 */
function unknownTools(context: CatalogContext, { rules }: Policy): Issue[] {
  const names = context.definitions().map(({ canonical }) => canonical as string);
  const fine = new Set([...names, ...readPolicy(context.sql).rules.map(({ tool }) => tool)]);
  const unknown = rules.flatMap(({ tool }, index) =>
    tool !== undefined && /^(builtin|local)\./.test(tool) && !tool.endsWith('.*') && !fine.has(tool) ? [{ tool, index }] : [],
  );
  // Only the first few, because each is compared with all names.
  return unknown.slice(0, maxUnknownTools).map(({ tool, index }) => {
    const near = nearNames(
      tool,
      names.map((name) => [name, name] as const),
    );
    const hint = near.length === 0 ? '' : `; similar names: ${near.join(', ')}`;
    return { path: `rules[${index}].tool`, message: `unknown tool ${JSON.stringify(tool)}${hint}` };
  });
}

const maxUnknownTools = 20;

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
