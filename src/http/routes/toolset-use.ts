/** What a toolset comes to: the tools as a provider is sent them, what a name means, and calling one. */
import { z } from 'zod';
import { Pending } from '../../core/approval.ts';
import { announceBlock } from '../../core/announce.ts';
import { offeredTools, resolveName } from '../../core/alias-map.ts';
import type { AliasMap } from '../../core/alias-map.ts';
import type { EditionTool } from '../../core/edition.ts';
import { limits } from '../../core/limits.ts';
import { Via } from '../../core/message.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import { ContentBlock, ToolResultCode } from '../../core/tool.ts';
import { ToolsetName } from '../../core/toolset.ts';
import { planNames } from '../../engine/plan-names.ts';
import { readToolset } from '../../engine/plan-turn.ts';
import type { SessionCall } from '../../ports/session.ts';
import type { Services } from '../../wiring.ts';
import { requireToolset } from '../access.ts';
import { editionHeader, editionName } from '../documents.ts';
import { idempotencyHeader, idempotencyOf, orRepeated, type Idempotency } from '../idempotency.ts';
import { quoted } from '../problems.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';

const params = z.object({ toolset: ToolsetName.meta({ example: 'demo' }) });
const Version = z.coerce.number().int().min(1).optional().meta({ description: 'An older one. Absent: the newest.' });
const ToolName = z.string().min(1).max(limits.maxToolNameBytes);
const Issues = z.array(z.object({ path: z.string(), message: z.string() }));

const ToolsetTools = z
  .object({
    toolset: ToolsetName,
    version: z.int(),
    provider: z.string(),
    tools: z.array(
      z.object({
        canonical: z.string(),
        wireName: z.string(),
        aliases: z.array(z.string()),
        state: z.enum(['ready', 'missing', 'held']),
        definition: z
          .record(z.string(), z.unknown())
          .nullable()
          .meta({ description: 'As this provider is sent it; null: it is not sent.' }),
      }),
    ),
    prompt: z.string().nullable().meta({ description: 'The block about aliases that the system prompt gets; null: none.' }),
    warnings: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .meta({ id: 'ToolsetTools' });

const ResolvedName = z
  .object({ requested: z.string(), canonical: z.string(), wireName: z.string(), via: Via, aliases: z.array(z.string()) })
  .meta({
    id: 'ResolvedName',
    example: { requested: 'Shell', canonical: 'builtin.bash', wireName: 'terminalRun', via: 'folded', aliases: ['shell', 'bash'] },
  });

const CallRequest = z
  .strictObject({
    name: ToolName.meta({ description: 'Any name that the toolset resolves.' }),
    arguments: z.record(z.string(), z.unknown()).default({}),
    session: z.string().min(1).max(200).optional().meta({ description: 'Run on the files of this session. Absent: scratch files.' }),
  })
  .meta({ id: 'CallRequest', example: { name: 'shell', arguments: { command: 'echo hello' } } });

const CallAnswer = z
  .object({
    requested: z.string(),
    canonical: z.string().nullable(),
    via: Via.nullable(),
    isError: z.boolean(),
    code: ToolResultCode.optional(),
    content: z.array(ContentBlock),
    structuredContent: z.record(z.string(), z.unknown()).optional(),
    issues: Issues.optional().meta({ description: 'With `invalid_arguments`.' }),
    callId: z.string().optional().meta({ description: 'With `approval_required` in a session: what a person approves.' }),
    pending: z.array(Pending).optional().meta({ description: 'With `callId`: approved, the same call sent again runs, once.' }),
    durationMs: z.number(),
  })
  .meta({ id: 'CallAnswer' });

const DryRunAnswer = z
  .object({
    requested: z.string(),
    canonical: z.string().nullable(),
    via: Via.nullable(),
    valid: z.boolean(),
    issues: Issues,
    verdict: z.enum(['allow', 'ask', 'deny', 'unknown_tool', 'ambiguous_tool', 'not_allowed', 'tool_held']),
  })
  .meta({ id: 'DryRunAnswer' });

const common = { tag: 'Toolsets', scopes: ['tools'], params } as const;

export function mountToolsetUse(app: App): void {
  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/toolsets/{toolset}/tools',
      operationId: 'listToolsetTools',
      summary: 'The tools as a provider is sent them',
      query: z.strictObject({
        provider: z.string().min(1).max(32).default('openai').meta({ description: 'A kind or a configured provider.' }),
        version: Version,
      }),
      answers: { 200: { description: 'In the order they are sent.', schema: ToolsetTools, headers: editionHeader } },
      problems: ['model_not_found'],
    },
    async ({ c, services, principal, params, query }) => {
      const { pointer, names } = await readNames(services, principal, params.toolset, query.version);
      await requireProvider(services, principal, query.provider);
      const prompt = announceBlock(names);
      const answer = {
        toolset: pointer.toolset,
        version: pointer.version,
        provider: query.provider,
        tools: toolRows(names),
        prompt: prompt === '' ? null : prompt,
        warnings: stateWarnings(names),
      };
      return c.json(answer, 200, { 'x-moniker-edition': editionName(pointer) });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/toolsets/{toolset}/resolve',
      operationId: 'resolveToolName',
      summary: 'What a called name means',
      query: z.strictObject({ name: ToolName.meta({ example: 'Shell' }), version: Version }),
      answers: { 200: { description: 'The tool, and how the name led to it.', schema: ResolvedName, headers: editionHeader } },
      problems: ['unknown_tool', 'ambiguous_tool'],
    },
    async ({ c, services, principal, params, query }) => {
      const { pointer, names } = await readNames(services, principal, params.toolset, query.version);
      const resolution = resolveName(names, query.name);
      if (!resolution.ok) throw resolutionProblem(resolution);
      const { requested, canonical, wireName, via, tool } = resolution;
      return c.json({ requested, canonical, wireName, via, aliases: aliasNames(tool) }, 200, { 'x-moniker-edition': editionName(pointer) });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/toolsets/{toolset}/calls',
      operationId: 'callTool',
      summary: 'Call a tool',
      description:
        'Faults of the request are problems. Every fault of the call, an unknown name included, is 200 with `isError` and a `code`. With `?dryRun=true` nothing runs. A call that needs approval is answered with `approval_required`; in a session it can be approved under its `callId`, and then the same call sent again runs, once.',
      headers: { 'idempotency-key': idempotencyHeader },
      query: z.strictObject({ dryRun: z.enum(['true', 'false']).default('false') }),
      body: { schema: CallRequest },
      answers: {
        200: {
          description: 'What the call answered, or what it would come to.',
          schema: z.union([CallAnswer, DryRunAnswer]),
          headers: editionHeader,
        },
      },
      problems: ['idempotency_mismatch', 'conflict'],
    },
    async ({ c, services, principal, params, query, body, bytes }) => {
      const idempotency = await idempotencyOf(c, bytes);
      const call = { toolset: params.toolset, name: body.name, arguments: body.arguments };
      requireToolset(principal, params.toolset);
      const headersNow = async () => ({ 'x-moniker-edition': editionName((await readNames(services, principal, params.toolset)).pointer) });
      if (query.dryRun === 'true') {
        const headers = await headersNow();
        // The call would be refused for it, so its rehearsal is too.
        if (body.session !== undefined) await services.sessions.get(body.session).setup(principal);
        return c.json(await services.dryRunCall(principal, call), 200, headers);
      }
      const run = async () => {
        const headers = await headersNow();
        return { headers, answer: await callTool(services, principal, body.session, call, idempotency) };
      };
      const find = async (key: string, bodyHash: string) => {
        const session =
          body.session === undefined ? await services.sessions.keyed(principal, ownKey(key)) : services.sessions.get(body.session);
        const answer = await session.repeatedCall(principal, key, bodyHash);
        return answer === null ? null : { headers: {}, answer };
      };
      const { headers, answer } = await orRepeated<{ headers: Record<string, string>; answer: SessionCall }>(idempotency, run, find);
      return c.json(callAnswer(answer), 200, headers);
    },
  );
}

async function readNames(services: Services, principal: Principal, toolset: string, version?: number) {
  const { pointer, names } = await readToolset(services.directory, principal, version === undefined ? toolset : `${toolset}@${version}`);
  return { pointer, names: planNames(names, { aliases: services.settings.aliases, allow: null }) };
}

/** Kinds are known without being configured; every one there is so far takes the OpenAI form. */
async function requireProvider(services: Services, principal: Principal, provider: string): Promise<void> {
  if (provider !== 'openai' && provider !== 'openai-compatible') await services.directory.provider(principal.workspace, provider);
}

/** What is sent first, in its order, then what is listed and not sent. */
function toolRows(names: AliasMap) {
  const sent = offeredTools(names).map(({ name, description, inputSchema, tool }) => ({
    ...toolRow(tool),
    wireName: name,
    definition: { type: 'function', function: { name, description, parameters: inputSchema } },
  }));
  return [...sent, ...names.tools.filter((tool) => tool.state !== 'ready').map((tool) => ({ ...toolRow(tool), definition: null }))];
}

function toolRow(tool: EditionTool) {
  return { canonical: tool.canonical, wireName: tool.wireName, aliases: aliasNames(tool), state: tool.state };
}

function aliasNames(tool: EditionTool): string[] {
  return tool.aliases.map(({ name }) => name);
}

function stateWarnings(names: AliasMap) {
  return names.tools.flatMap((tool, index) => {
    if (tool.state === 'ready') return [];
    const why = tool.state === 'held' ? 'is held until its change is accepted' : 'was never listed by its server';
    return [{ path: `tools[${index}].tool`, message: `${tool.canonical} ${why}; it cannot be called` }];
  });
}

function resolutionProblem(resolution: Exclude<ReturnType<typeof resolveName>, { ok: true }>): Problem {
  const { requested } = resolution;
  if (resolution.code === 'ambiguous_tool') {
    const { candidates } = resolution;
    return new Problem('ambiguous_tool', `${quoted(requested)} fits ${candidates.join(' and ')}: use one of these names.`, {
      requested,
      candidates,
    });
  }
  const { suggestions } = resolution;
  const hint = suggestions.length === 0 ? '' : ` Did you mean ${suggestions.join(', ')}?`;
  return new Problem('unknown_tool', `No tool of this toolset goes by ${quoted(requested)}.${hint}`, { requested, suggestions });
}

/**
 * Without a session it runs here, unless a repeat must find it again: then in one that nobody sees, found by the key, and on
 * files of its own. In a session the plan carries the edition and the key's rights; its model is never asked.
 */
async function callTool(
  services: Services,
  principal: Principal,
  session: string | undefined,
  call: { toolset: string; name: string; arguments: Record<string, unknown> },
  idempotency: Idempotency,
): Promise<SessionCall> {
  if (session === undefined && idempotency.idempotencyKey === undefined) return await services.callTool(principal, call);
  const model = 'rehearsal/default';
  const plan = await services.planTurn(principal, { model, toolset: call.toolset });
  const request = { plan, name: call.name, arguments: call.arguments, ...idempotency };
  if (session !== undefined) return await services.sessions.get(session).call(principal, request);
  const { id } = await services.sessions.create(principal, { model, listed: false }, ownKey(idempotency.idempotencyKey ?? ''));
  return await services.sessions.get(id).call(principal, { ...request, scratch: true });
}

/** Apart from the sessions that other requests make with this key. */
function ownKey(key: string): string {
  return `call ${key}`;
}

function callAnswer({ requested, canonical, via, result, durationMs, pending = [] }: SessionCall): z.infer<typeof CallAnswer> {
  const [waits] = pending;
  const { isError, code, content, structuredContent, issues } = result;
  return {
    requested,
    canonical,
    via,
    isError,
    ...(code !== undefined && { code }),
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(issues !== undefined && { issues }),
    ...(waits !== undefined && { callId: waits.callId, pending }),
    durationMs,
  };
}
