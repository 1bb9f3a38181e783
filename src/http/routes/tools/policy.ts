/**
 * `/v1/policy`: the rules for which calls the workspace allows, asks about and denies, in one document. `core/policy/evaluate-policy.ts` applies it.
 */
import * as z from 'zod';
import { isAllowed, requireAllowed } from '../../../core/people/authority.ts';
import { PolicyAnswer, PolicyQuestion } from '../../../core/policy/explain.ts';
import { Policy } from '../../../core/policy/policy.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { limits } from '../../../core/limits/limits.ts';
import { nullIfNotFound, Problem, Warning } from '../../../core/problem.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';
import { policyDocument, type CatalogPort, type WriteOptions } from '../../../ports/catalog.ts';
import { policyImpact, withDerivedRules } from '../../../engine/configuration/policy-impact.ts';
import { explainEffect } from '../../../engine/policy/explain-policy.ts';
import type { SessionExplainRequest } from '../../../ports/session.ts';
import { storedBody } from '../../conditions.ts';
import { pageOf, PageQuery } from '../../paging.ts';
import { decisionImpactView, pastCallsOf, pastDays, pastRange, TurnCoverage } from '../../past-calls.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { type DocumentPlace, shownIfAny, storedDocument, versionFields } from '../../stored-document.ts';

const workspace = 'The policy and its rules';
const warnings = z.array(Warning).optional().meta({ description: 'Names in rules that are not there, so that the rule matches nothing.' });
const WrittenPolicy = Policy.extend({ version: z.int(), warnings }).meta({ id: 'WrittenPolicy' });
const PolicyImpact = z
  .object({
    ...pastRange,
    ...decisionImpactView,
    turns: TurnCoverage,
    more: z.boolean().meta({
      description: 'Counts beyond 30,000 combinations of toolset and tool, and of agent or key where a rule names one, were not read.',
    }),
    idle: z.array(z.int()).meta({ description: 'Indexes of the rules that decided none of the calls.' }),
    warnings,
  })
  .meta({ id: 'PolicyImpact' });

const policy = storedDocument({
  path: '/v1/policy',
  params: z.object({}),
  id: 'Policy',
  one: 'policy',
  tag: 'Policy',
  scopes: ['admin'],
  workspace,
  at: ({ services, principal }) => ({ catalog: services.catalog(principal), kind: 'policy', name: policyDocument }),
});

const hosts = { tag: 'Policy', scopes: ['admin'], workspace } as const;
const KnownHost = z
  .object({
    host: z.string().meta({ description: 'With `:port` if it is not the default port.' }),
    approvedBy: z.string().meta({ description: 'Id of the key.' }),
    approvedAt: z.iso.datetime(),
  })
  .meta({ id: 'KnownHost', example: { host: 'api.example.com', approvedBy: 'root', approvedAt: '2026-01-02T08:00:00.000Z' } });

export const policyRoutes = [
  /** A key that may call a tool may also know the verdict on the call, which a rejection would reveal anyway. */
  defineRoute(
    {
      method: 'post',
      path: '/v1/policy/test',
      storesNothing: true,
      operationId: 'testPolicy',
      tag: 'Policy',
      scopes: ['tools'],
      summary: 'Test the policy',
      description:
        'For a call (`tool` and its `arguments`; `builtin.bash` runs on temporary files) or for a single effect, for example ' +
        '`{"effect": {"kind": "network", "host": "api.example.com", "method": "POST"}}`. The response names the deciding rule and the reason. ' +
        'With `policy`, rules are tested before they are written, and a key with the scope `admin` gets the `warnings` of the write. Nothing is sent, called or written.',
      body: PolicyQuestion,
      answers: { 200: { description: 'The verdict, in total and for each effect.', schema: PolicyAnswer } },
      problems: ['unknown_tool', 'ambiguous_tool'],
    },
    async ({ answer, services, principal, body }) => {
      const { tool, effect, toolset, session, agent, key, policy } = body;
      const draft = policy && withDerivedRules(policy, await services.directory.rules(principal.workspace));
      const as = { ...(agent !== undefined && { agent }), ...(key !== undefined && { key }), ...(draft !== undefined && { rules: draft }) };
      // Permission for a call of a toolset is checked when the toolset is read.
      if (toolset === undefined) requireAllowed(principal, { act: 'use-workspace', what: workspace });
      requireAllowed(principal, { act: 'ask-policy-as', agent, key });
      // The warnings have names of the workspace.
      const isAdmin = isAllowed(principal, { act: 'use-scope', scopes: ['admin'] });
      const warned = policy !== undefined && isAdmin ? await warningsOf(services.catalog(principal), policy) : {};
      const decided = (found: PolicyAnswer) => answer(200, { ...found, ...warned });
      if (effect !== undefined) {
        const rules = draft ?? (await services.directory.rules(principal.workspace));
        const scope = { rules, keyId: key ?? principal.keyId, ...(agent !== undefined && { agent }) };
        return decided(explainEffect(scope, effect, tool ?? null));
      }
      const asked = { ...as, name: tool ?? '', arguments: body.arguments ?? {} };
      if (toolset === undefined) return decided(await explainKnownTool(services, principal, asked));
      if (session === undefined) return decided(await services.explainCall(principal, { ...asked, toolset }));
      const plan = await services.planTurn(principal, { model: 'rehearsal/default', toolset, callsOnly: true });
      return decided(await services.sessions.get(session).explain(principal, { ...asked, plan }));
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/v1/policy/impact',
      storesNothing: true,
      operationId: 'getPolicyImpact',
      tag: 'Policy',
      scopes: ['admin'],
      workspace,
      summary: 'Compare rules with past calls',
      description:
        'Judges the calls of the last days by the stored rules and by those of the body, and returns the calls whose decision differs. Calls are judged by their counts; those of `builtin` tools for files and requests by their arguments, as the logs of sessions have them. The taint rule is left out, and files are taken as new. Nothing runs and nothing is stored.',
      query: z.strictObject({ days: pastDays }),
      body: Policy,
      answers: { 200: { description: 'What would change.', schema: PolicyImpact } },
    },
    async ({ answer, services, principal, query: { days }, body }) => {
      const warned = await warningsOf(services.catalog(principal), body);
      const { range } = pastCallsOf(principal, services, days);
      const sources = { ...services, aliases: services.settings.aliases };
      return answer(200, { ...range, ...(await policyImpact(sources, principal, range, body)), ...warned });
    },
  ),

  policy.versions({ problems: ['not_found'] }),

  policy.read(
    {
      summary: 'Read the rules of the workspace',
      description: 'The response can be sent back with PUT unchanged. Remembered approvals are rules at its end.',
      view: Policy,
      found: 'The rules; empty and without `etag` if none were written.',
      versions: versionFields,
      problems: ['not_found'],
    },
    async ({ version, place: { catalog, kind, name } }) => {
      const read = catalog.get(kind, name, version);
      const document = version === undefined ? await nullIfNotFound(read) : await read;
      return { document, view: document === null ? { rules: [] } : storedBody<z.infer<typeof Policy>>(document) };
    },
  ),

  policy.put(
    {
      summary: 'Write the rules of the workspace',
      description:
        'A rule applies when all its fields match. `deny` takes precedence over `ask`, `ask` over ' +
        '`allow`, and `allow` over the defaults, whatever their order; POST /v1/policy/test shows which rule decides.  ' +
        `A change takes effect within ${limits.freshReadMs / 1000} seconds, and immediately on the instance that received it; a call in progress uses the rules that ` +
        'it started with.',
      body: Policy,
      written: WrittenPolicy,
    },
    ({ body, place, options }) => write(place, body, options),
  ),

  policy.patch(
    {
      summary: 'Change members of the policy',
      description: '`rules` is a list, which is replaced as a whole.',
      body: Policy,
      written: WrittenPolicy,
    },
    ({ place }) => ({
      read: async () => (await nullIfNotFound(place.catalog.get(place.kind, place.name))) ?? { body: { rules: [] }, version: null },
      write: (patched, options) => write(place, patched, options),
    }),
  ),

  defineRoute(
    {
      ...hosts,
      method: 'get',
      path: '/v1/policy/hosts',
      operationId: 'listKnownHosts',
      summary: 'List the known hosts',
      description:
        'Hosts that approvals made known: requests to them are not asked about as new. Each is forgotten a year after its approval.',
      query: PageQuery,
      answers: { 200: { description: 'A page, sorted by host.', schema: pageOf(KnownHost) } },
    },
    async ({ answer, services, principal, query }) => {
      const { items, nextCursor } = await services.catalog(principal).list('known-host', query);
      const shown = items.map(({ name, body, updatedAt }) => ({ host: name, approvedBy: String(body.by), approvedAt: updatedAt }));
      return answer(200, { items: shown, nextCursor });
    },
  ),

  defineRoute(
    {
      ...hosts,
      method: 'delete',
      path: '/v1/policy/hosts/{host}',
      operationId: 'forgetKnownHost',
      summary: 'Forget a known host',
      description: 'The next request to it requires approval again, unless a rule allows it.',
      params: z.object({ host: z.string().min(1).max(limits.maxUrlLength).meta({ example: 'api.example.com' }) }),
      answers: { 204: { description: 'Forgotten.' } },
      problems: ['not_found'],
    },
    async ({ answer, services, principal, params: { host } }) => {
      await services.catalog(principal).remove('known-host', host);
      return answer(204, null);
    },
  ),

  policy.remove({
    summary: 'Delete all rules of the workspace',
    gone: 'Deleted. The defaults apply again.',
    problems: ['precondition_failed', 'not_found'],
  }),
];

async function write({ catalog, kind, name }: DocumentPlace, body: z.infer<typeof Policy>, options: WriteOptions) {
  const { document, created, warnings } = await catalog.put(kind, name, body, options);
  return {
    document,
    created,
    view: { ...storedBody<z.infer<typeof Policy>>(document), version: document.version, ...shownIfAny(warnings) },
  };
}

/** The warnings of a write of these rules. Throws `invalid_request` as it would. */
async function warningsOf(catalog: CatalogPort, rules: z.infer<typeof Policy>): Promise<{ warnings?: Warning[] }> {
  return shownIfAny((await catalog.put('policy', policyDocument, rules, { dryRun: true })).warnings);
}

type AskedCall = Omit<SessionExplainRequest, 'plan'>;

/** Explains the tool as if it were in a toolset by itself. */
async function explainKnownTool(services: HttpServices, principal: Principal, asked: AskedCall): Promise<PolicyAnswer> {
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
