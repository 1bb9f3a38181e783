/**
 * `/v1/policy`: the rules for which calls the workspace allows, asks about and denies, in one document. `core/policy/evaluate-policy.ts` applies it.
 */
import { z } from 'zod';
import { requireAllowed } from '../../core/authority.ts';
import { PolicyAnswer, PolicyQuestion } from '../../core/policy/explain.ts';
import { Policy, rulesOf } from '../../core/policy/document.ts';
import type { Principal } from '../../core/principal.ts';
import { limits } from '../../core/limits.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { policyDocument, type CatalogPort, type StoredDocument } from '../../ports/catalog.ts';
import { explainEffect } from '../../engine/policy/explain-policy.ts';
import type { SessionExplainRequest } from '../../ports/session.ts';
import type { Services } from '../../wiring.ts';
import {
  answerDocument,
  answerWrite,
  conditionHeaders,
  etag,
  etagHeader,
  readConditionHeaders,
  storedBody,
  unchanged,
  writeConditions,
} from '../documents.ts';
import { patchBody, patchDocument, patchHeaders, patchedAnswer } from '../patch.ts';
import { defineRoute, type Route } from '../route.ts';
import { versionFields, versionsRoute } from '../version-routes.ts';

const path = '/v1/policy';
const tag = 'Policy';
const scopes = ['admin'] as const;
const workspace = 'The policy and its rules';
const WrittenPolicy = Policy.extend({ version: z.int() }).meta({ id: 'WrittenPolicy' });

export const policyRoutes: readonly Route[] = [
  /** A key that may call a tool may also know the verdict on the call, which a rejection would reveal anyway. */
  defineRoute(
    {
      method: 'post',
      path: `${path}/test`,
      operationId: 'testPolicy',
      tag,
      scopes: ['tools'],
      summary: 'Test the policy',
      description:
        'For a call (`tool` and its `arguments`; `builtin.bash` runs on temporary files) or for a single effect, for example ' +
        '`{"effect": {"kind": "network", "host": "api.example.com", "method": "POST"}}`. The response names the deciding rule and the reason. ' +
        'With `policy`, rules are tested before they are written. Nothing is sent, called or written.',
      body: { schema: PolicyQuestion },
      answers: { 200: { description: 'The verdict, in total and for each effect.', schema: PolicyAnswer } },
      problems: ['unknown_tool', 'ambiguous_tool'],
    },
    async ({ answer, services, principal, body }) => {
      const { tool, effect, toolset, session, agent, key, policy } = body;
      const draft = policy && rulesOf(policy);
      const as = { ...(agent !== undefined && { agent }), ...(key !== undefined && { key }), ...(draft !== undefined && { rules: draft }) };
      // Permission for a call of a toolset is checked when the toolset is read.
      if (toolset === undefined) requireAllowed(principal, { act: 'use-workspace', what: workspace });
      requireAllowed(principal, { act: 'ask-policy-as', agent, key });
      if (effect !== undefined) {
        const rules = draft ?? (await services.directory.rules(principal.workspace));
        const scope = { rules, keyId: key ?? principal.keyId, ...(agent !== undefined && { agent }) };
        return answer(200, explainEffect(scope, effect, tool ?? null));
      }
      const asked = { ...as, name: tool ?? '', arguments: body.arguments ?? {} };
      if (toolset === undefined) return answer(200, await explainKnownTool(services, principal, asked));
      if (session === undefined) return answer(200, await services.explainCall(principal, { ...asked, toolset }));
      const plan = await services.planTurn(principal, { model: 'rehearsal/default', toolset, callsOnly: true });
      return answer(200, await services.sessions.get(session).explain(principal, { ...asked, plan }));
    },
  ),

  versionsRoute({ path: `${path}/versions`, operationId: 'listPolicyVersions', tag, scopes, workspace, one: 'the policy' }, () => ({
    kind: 'policy',
    name: policyDocument,
  })),

  defineRoute(
    {
      method: 'get',
      path,
      operationId: 'getPolicy',
      tag,
      scopes,
      workspace,
      summary: 'Read the rules of the workspace',
      description: 'The response can be sent back with PUT unchanged. Remembered approvals are rules at its end.',
      answers: {
        200: { description: 'The rules; empty and without `etag` if none were written.', schema: Policy, headers: etagHeader },
        304: unchanged,
      },
      query: z.strictObject(versionFields),
      problems: ['not_found'],
      headers: readConditionHeaders,
    },
    async ({ c, services, principal, query: { version }, answer }) => {
      const read = services.catalog(principal).get('policy', policyDocument, version);
      const document = version === undefined ? await nullIfNotFound(read) : await read;
      return document === null
        ? answer(200, { rules: [] })
        : answerDocument({ c, answer }, document, storedBody<z.infer<typeof Policy>>(document));
    },
  ),

  defineRoute(
    {
      method: 'put',
      path,
      operationId: 'putPolicy',
      tag,
      scopes,
      workspace,
      summary: 'Write the rules of the workspace',
      description:
        'A rule applies when all its fields match. `deny` takes precedence over `ask`, `ask` over ' +
        '`allow`, and `allow` over the defaults, whatever their order; POST /v1/policy/test shows which rule decides.  ' +
        `A change takes effect within ${limits.freshReadMs / 1000} seconds, and immediately on the instance that received it; a call in progress uses the rules that ` +
        'it started with.',
      headers: conditionHeaders,
      body: { schema: Policy },
      answers: {
        200: { description: 'Replaced or unchanged.', schema: WrittenPolicy, headers: etagHeader },
        201: { description: 'Created.', schema: WrittenPolicy, headers: { ...etagHeader, location: 'URL of the policy.' } },
      },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, body, answer }) => {
      const written = await services.catalog(principal).put('policy', policyDocument, body, writeConditions(c));
      return answerWrite(answer, written, path, toWritten(written.document));
    },
  ),

  defineRoute(
    {
      method: 'patch',
      path,
      operationId: 'patchPolicy',
      tag,
      scopes,
      workspace,
      summary: 'Change members of the policy',
      description: '`rules` is a list, which is replaced as a whole.',
      headers: patchHeaders,
      body: patchBody,
      answers: { 200: { description: patchedAnswer, schema: WrittenPolicy, headers: etagHeader } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, body, answer }) => {
      const catalog = services.catalog(principal);
      const { document } = await patchDocument(body, writeConditions(c), {
        schema: Policy,
        read: async () => (await nullIfNotFound(catalog.get('policy', policyDocument))) ?? { body: { rules: [] }, version: null },
        write: (patched, options) => catalog.put('policy', policyDocument, patched, options),
      });
      return answer(200, toWritten(document), { etag: etag(document.version) });
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path,
      operationId: 'deletePolicy',
      tag,
      scopes,
      workspace,
      summary: 'Delete all rules of the workspace',
      headers: conditionHeaders,
      answers: { 204: { description: 'Deleted. The defaults apply again.' } },
      problems: ['precondition_failed', 'not_found'],
    },
    async ({ c, services, principal, answer }) => {
      await services.catalog(principal).remove('policy', policyDocument, writeConditions(c));
      return answer(204, null);
    },
  ),
];

function toWritten(document: StoredDocument): z.infer<typeof WrittenPolicy> {
  return { ...storedBody<z.infer<typeof Policy>>(document), version: document.version };
}

type AskedCall = Omit<SessionExplainRequest, 'plan'>;

/** Explains the tool as if it were in a toolset by itself. */
async function explainKnownTool(services: Services, principal: Principal, asked: AskedCall): Promise<PolicyAnswer> {
  const definitions = await withUses(services.catalog(principal), asked.name);
  return await services.explainCall(principal, { ...asked, definitions });
}

/** Returns the tool and, for a made tool, all tools that it uses, recursively. Missing tools are skipped. */
async function withUses(catalog: CatalogPort, name: string): Promise<ToolDefinition[]> {
  const found = [await catalog.tool(name)];
  const asked = new Set<string>([name]);
  // `found` grows during the iteration.
  for (const { made } of found) {
    const uses = (made?.uses ?? []).filter((use) => !asked.has(use)).slice(0, Math.max(0, limits.maxListedPolicyEffects - asked.size));
    for (const use of uses) asked.add(use);
    found.push(...(await Promise.all(uses.map((use) => toolOrNone(catalog, use)))).flat());
  }
  return found;
}

async function toolOrNone(catalog: CatalogPort, name: string): Promise<ToolDefinition[]> {
  try {
    return [await catalog.tool(name)];
  } catch (error) {
    if (error instanceof Problem && error.code === 'unknown_tool') return [];
    throw error;
  }
}
