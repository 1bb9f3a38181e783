/** `/v1/policy`: what the workspace allows, asks about and denies, one document. It is judged by `core/policy/evaluate-policy.ts`. */
import { z } from 'zod';
import { requireAllowed } from '../../core/authority.ts';
import { PolicyAnswer, PolicyQuestion } from '../../core/policy/explain.ts';
import { Policy } from '../../core/policy/document.ts';
import type { Principal } from '../../core/principal.ts';
import { limits } from '../../core/limits.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { policyDocument, type Catalog } from '../../ports/catalog.ts';
import { explainEffect } from '../../engine/policy/explain-policy.ts';
import type { Services } from '../../wiring.ts';
import { conditionHeaders, documentResponse, etag, etagHeader, writeConditions } from '../documents.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';

const path = '/v1/policy';
const tag = 'Policy';
const scopes = ['admin'] as const;
const workspace = 'The policy and its rules';
const WrittenPolicy = Policy.extend({ version: z.int() }).meta({ id: 'WrittenPolicy' });

export function mountPolicy(app: App): void {
  mountPolicyTest(app);

  mountRoute(
    app,
    {
      method: 'get',
      path,
      operationId: 'getPolicy',
      tag,
      scopes,
      workspace,
      summary: 'Read the rules of the workspace',
      description: 'The answer may be sent back with PUT as it is. Approvals that were remembered have added their rules at the end.',
      answers: { 200: { description: 'The rules; none and no `etag` where none were written.', schema: Policy, headers: etagHeader } },
    },
    async ({ c, services, principal }) => {
      const document = await nullIfNotFound(services.catalog(principal).get('policy', policyDocument));
      return document === null ? c.json({ rules: [] }) : documentResponse(c, document, document.body);
    },
  );

  mountRoute(
    app,
    {
      method: 'put',
      path,
      operationId: 'putPolicy',
      tag,
      scopes,
      workspace,
      summary: 'Write the rules of the workspace',
      description:
        'Each rule allows, asks about or denies what it describes: of a rule all members that are given must fit. `deny` goes before `ask`, `ask` before ' +
        '`allow`, `allow` before what is asked about without any rule, whatever their order; POST /v1/policy/test tells which one decides. ' +
        `Calls are judged by it within ${limits.rulesTtlMs / 1000} seconds, those of the instance that took it at once; a call under way goes by the rules that ` +
        'it began with.',
      headers: conditionHeaders,
      body: { schema: Policy },
      answers: {
        200: { description: 'Replaced, or already so.', schema: WrittenPolicy, headers: etagHeader },
        201: { description: 'Made.', schema: WrittenPolicy, headers: { ...etagHeader, location: 'Of the policy.' } },
      },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, body }) => {
      const write = services.catalog(principal).put('policy', policyDocument, body, writeConditions(c));
      const { document, created } = await write;
      const answer = { ...document.body, version: document.version };
      return c.json(answer, created ? 201 : 200, { etag: etag(document.version), ...(created && { location: path }) });
    },
  );

  mountRoute(
    app,
    {
      method: 'delete',
      path,
      operationId: 'deletePolicy',
      tag,
      scopes,
      workspace,
      summary: 'Forget all rules of the workspace',
      headers: conditionHeaders,
      answers: { 204: { description: 'Gone: everything is asked for again.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal }) => {
      await services.catalog(principal).remove('policy', policyDocument, writeConditions(c));
      return c.body(null, 204);
    },
  );
}

/** Whoever may call a tool may know what would become of the call: its refusal would say so, too. */
function mountPolicyTest(app: App): void {
  mountRoute(
    app,
    {
      method: 'post',
      path: `${path}/test`,
      operationId: 'testPolicy',
      tag,
      scopes: ['tools'],
      summary: 'What the policy would say, without doing it',
      description:
        'Of a call (`tool` and its `arguments`; `builtin.bash` is rehearsed on files that are thrown away) or of an effect as such, for example ' +
        '`{"effect": {"kind": "network", "host": "api.example.com", "method": "POST"}}`. The answer names the rule that decides, and why. ' +
        'Nothing is sent, called or written.',
      body: { schema: PolicyQuestion },
      answers: { 200: { description: 'The verdict, and that on each of the effects.', schema: PolicyAnswer } },
      problems: ['unknown_tool', 'ambiguous_tool'],
    },
    async ({ c, services, principal, body }) => {
      const { tool, effect, toolset, session, agent, key } = body;
      const as = { ...(agent !== undefined && { agent }), ...(key !== undefined && { key }) };
      // Calls of a toolset are decided where the toolset is read.
      if (toolset === undefined) requireAllowed(principal, { act: 'use-workspace', what: workspace });
      requireAllowed(principal, { act: 'ask-policy-as', agent, key });
      if (effect !== undefined) {
        const rules = await services.directory.rules(principal.workspace);
        const scope = { rules, keyId: key ?? principal.keyId, ...(agent !== undefined && { agent }) };
        return c.json(explainEffect(scope, effect, tool ?? null), 200);
      }
      const asked = { ...as, name: tool ?? '', arguments: body.arguments ?? {} };
      if (toolset === undefined) return c.json(await explainKnownTool(services, principal, asked), 200);
      if (session === undefined) return c.json(await services.explainCall(principal, { ...asked, toolset }), 200);
      const plan = await services.planTurn(principal, { model: 'rehearsal/default', toolset, callsOnly: true });
      return c.json(await services.sessions.get(session).explain(principal, { ...asked, plan }), 200);
    },
  );
}

type AskedCall = { name: string; arguments: Record<string, unknown>; agent?: string; key?: string };

/** As if it stood in a toolset of its own. */
async function explainKnownTool(services: Services, principal: Principal, asked: AskedCall): Promise<PolicyAnswer> {
  const definitions = await withUses(services.catalog(principal), asked.name);
  return await services.explainCall(principal, { ...asked, definitions });
}

/** The tool, and what it may call, and that in its turn: of a made tool only. Those that are gone are left out. */
async function withUses(catalog: Catalog, name: string): Promise<ToolDefinition[]> {
  const found = [await catalog.tool(name)];
  const asked = new Set<string>([name]);
  // `found` grows while it is walked.
  for (const { made } of found) {
    const uses = (made?.uses ?? []).filter((use) => !asked.has(use)).slice(0, Math.max(0, limits.maxListedPolicyEffects - asked.size));
    for (const use of uses) asked.add(use);
    found.push(...(await Promise.all(uses.map((use) => toolOrNone(catalog, use)))).flat());
  }
  return found;
}

async function toolOrNone(catalog: Catalog, name: string): Promise<ToolDefinition[]> {
  try {
    return [await catalog.tool(name)];
  } catch (error) {
    if (error instanceof Problem && error.code === 'unknown_tool') return [];
    throw error;
  }
}
