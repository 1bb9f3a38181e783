/** The workspace's policy: one document, written whole by an administrator or grown by a rule that was remembered. */
import { canonicalJson } from '../core/hash.ts';
import { parseDocument } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import { Policy, rulesOf } from '../core/policy/document.ts';
import { PolicyRule } from '../core/policy/rule.ts';
import { invalidRequest, Problem, type Issue } from '../core/problem.ts';
import { nearNames } from '../core/suggest.ts';
import { policyDocument } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { readRow } from './documents.ts';
import { putDocument } from './write-document.ts';
import type { DocumentWriter } from './write-document.ts';

export const policyWriter: DocumentWriter = {
  nameFault: (_context, name) => (name === policyDocument ? null : `must be ${JSON.stringify(policyDocument)}: a workspace has one policy`),
  prepare: async (context, _name, body) => {
    const policy = parseDocument(Policy, body);
    const issues = unknownTools(context, policy);
    if (issues.length > 0) throw invalidRequest(issues);
    return { body: policy };
  },
};

/**
 * Servers and made tools may come later. What this code base has not got never fits, and would deny nothing to what it was meant for; what stands
 * in the policy already may stay, or nothing could be remembered once a tool is gone.
 */
function unknownTools(context: CatalogContext, { rules }: Policy): Issue[] {
  const names = context.definitions().map(({ canonical }) => canonical as string);
  const fine = new Set([...names, ...readPolicy(context.sql).rules.map(({ tool }) => tool)]);
  const unknown = rules.flatMap(({ tool }, index) =>
    tool !== undefined && /^(builtin|local)\./.test(tool) && !tool.endsWith('.*') && !fine.has(tool) ? [{ tool, index }] : [],
  );
  // The first few, because each is held against all names.
  return unknown.slice(0, maxUnknownTools).map(({ tool, index }) => {
    const near = nearNames(
      tool,
      names.map((name) => [name, name] as const),
    );
    const hint = near.length === 0 ? '' : `; near: ${near.join(', ')}`;
    return { path: `rules[${index}].tool`, message: `there is no tool ${JSON.stringify(tool)}${hint}` };
  });
}

const maxUnknownTools = 20;

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
export async function allow(context: CatalogContext, given: PolicyRule, by: string): Promise<void> {
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
    by,
  });
}
