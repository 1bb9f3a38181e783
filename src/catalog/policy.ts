/** The workspace's policy: one document, written whole by an administrator or grown by a rule that was remembered. */
import { canonicalJson } from '../core/hash.ts';
import { parseDocument } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import { Policy, PolicyRule, rulesOf } from '../core/policy/rule.ts';
import { Problem } from '../core/problem.ts';
import { policyDocument } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { readRow } from './documents.ts';
import { putDocument } from './write-document.ts';
import type { DocumentWriter } from './write-document.ts';

export const policyWriter: DocumentWriter = {
  nameFault: (_context, name) => (name === policyDocument ? null : `must be ${JSON.stringify(policyDocument)}: a workspace has one policy`),
  prepare: async (_context, _name, body) => ({ body: parseDocument(Policy, body) }),
};

/** What calls are judged by; nothing where no policy was written. */
export function readRules(sql: SqlStorage): PolicyRule[] {
  return rulesOf(readPolicy(sql));
}

function readPolicy(sql: SqlStorage): Policy {
  const row = readRow(sql, 'policy', policyDocument);
  // Bodies of policies were parsed by the schema when they were written.
  return row === null || row.deleted ? { rules: [] } : (row.body as Policy);
}

/** Adds a rule that allows at the end, unless it stands there already. `conflict` when there is no room. */
export async function allow(context: CatalogContext, given: PolicyRule): Promise<void> {
  const rule = parseDocument(PolicyRule, given);
  const policy = readPolicy(context.sql);
  const { rules } = policy;
  const text = canonicalJson(rule);
  if (rules.some((known) => canonicalJson(known) === text)) return;
  if (rules.length >= limits.maxPolicyRules) {
    throw new Problem(
      'conflict',
      `The policy holds ${limits.maxPolicyRules} rules, the most there can be: remove some with PUT /v1/policy.`,
    );
  }
  await putDocument(context, policyWriter, {
    kind: 'policy',
    name: policyDocument,
    body: { ...policy, rules: [...rules, rule] },
    options: {},
  });
}
