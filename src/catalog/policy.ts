/** The workspace's policy: one document, written whole by an administrator or grown by a rule that was remembered. */
import { canonicalJson } from '../core/hash.ts';
import { parseDocument } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import { Policy, PolicyRule } from '../core/policy.ts';
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

/** What the workspace has allowed; nothing where no policy was written. */
export function readRules(sql: SqlStorage): PolicyRule[] {
  const row = readRow(sql, 'policy', policyDocument);
  // Bodies of policies were parsed by the schema when they were written.
  return row === null || row.deleted ? [] : (row.body as Policy).rules;
}

/** Adds a rule at the end, unless it stands there already. `conflict` when there is no room. */
export async function allow(context: CatalogContext, given: PolicyRule): Promise<void> {
  const rule = parseDocument(PolicyRule, given);
  const rules = readRules(context.sql);
  const text = canonicalJson(rule);
  if (rules.some((known) => canonicalJson(known) === text)) return;
  if (rules.length >= limits.maxPolicyRules) {
    throw new Problem(
      'conflict',
      `The policy holds ${limits.maxPolicyRules} rules, the most there can be: remove some with PUT /v1/policy.`,
    );
  }
  await putDocument(context, policyWriter, { kind: 'policy', name: policyDocument, body: { rules: [...rules, rule] }, options: {} });
}
