/** Calls a tool of a toolset by any of its names. `toolset-resolve.ts` explains names. */
import * as z from 'zod';
import { Pending } from '../../../core/policy/approval.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Via } from '../../../core/model/message.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { Repair } from '../../../core/tools/argument-repair.ts';
import { ContentBlock, ServedBy, ToolResultCode } from '../../../core/tools/tool.ts';
import type { SessionCall } from '../../../ports/session.ts';
import { editionHeader, editionName } from '../../conditions.ts';
import { runIdempotent, type Idempotency } from '../../../engine/idempotency.ts';
import { idempotencyHeader, idempotencyOf } from '../../idempotency.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { ofToolset, readNames, Version } from './toolset-names.ts';

const ToolName = z.string().min(1).max(limits.maxToolNameLength);
const Issues = z.array(z.object({ path: z.string(), message: z.string() }));
const Repairs = z.array(Repair).meta({ description: 'Arguments that did not fit the tool and were converted.' });

const CallRequest = z
  .strictObject({
    name: ToolName.meta({ description: 'Any name that the toolset resolves.' }),
    arguments: z.record(z.string(), z.unknown()).default({}),
    session: z.string().min(1).max(200).optional().meta({ description: 'Run with the files of this session. Default: temporary files.' }),
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
    structuredContent: z.unknown().optional(),
    issues: Issues.optional().meta({ description: 'With `invalid_arguments`.' }),
    repaired: Repairs.optional(),
    served: ServedBy.optional(),
    callId: z.string().optional().meta({ description: 'With `approval_required` in a session: the id of the approval.' }),
    pending: z.array(Pending).optional().meta({ description: 'With `callId`: after approval, the same call sent again runs once.' }),
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
    repaired: Repairs.optional(),
    verdict: z.enum(['allow', 'ask', 'deny', 'unknown_tool', 'ambiguous_tool', 'not_allowed', 'tool_held']),
  })
  .meta({ id: 'DryRunAnswer' });

export const toolsetUseRoutes = [
  defineRoute(
    {
      ...ofToolset,
      scopes: ['tools'],
      method: 'post',
      path: '/v1/toolsets/{toolset}/calls',
      operationId: 'callTool',
      summary: 'Call a tool',
      description:
        'Errors in the request are problems. Every error of the call, including an unknown name, is 200 with `isError` and a `code`. With `?dryRun=true` nothing runs. A call that requires approval returns `approval_required`; in a session it can be approved under its `callId`, and the same call sent again then runs once. A call that may have an effect is recorded in the audit before it runs: if that fails, it does not run (503 `unavailable`, safe to retry).',
      headers: { 'idempotency-key': idempotencyHeader },
      query: z.strictObject({ dryRun: z.enum(['true', 'false']).default('false'), version: Version }),
      body: CallRequest,
      answers: {
        200: {
          description: 'The result of the call, or of the dry run.',
          schema: z.union([CallAnswer, DryRunAnswer]),
          headers: editionHeader,
        },
      },
      problems: ['idempotency_mismatch', 'conflict', 'unavailable'],
    },
    async ({ c, services, principal, params, query, body, bytes, answer }) => {
      const idempotency = await idempotencyOf(c, bytes);
      const toolset = query.version === undefined ? params.toolset : `${params.toolset}@${query.version}`;
      const call = { toolset, name: body.name, arguments: body.arguments };
      const headersNow = async () => ({ 'x-moniker-edition': editionName((await readNames(services, principal, toolset)).pointer) });
      if (query.dryRun === 'true') {
        const headers = await headersNow();
        // The call would be rejected for this reason, so its dry run is, too.
        if (body.session !== undefined) await services.sessions.get(body.session).setup(principal);
        return answer(200, await services.dryRunCall(principal, { ...call, inSession: body.session !== undefined }), headers);
      }
      const run = async () => {
        const headers = await headersNow();
        return { headers, call: await callTool(services, principal, body.session, call, idempotency) };
      };
      const find = async (key: string, bodyHash: string) => {
        const session =
          body.session === undefined ? await services.sessions.getByKey(principal, ownKey(key)) : services.sessions.get(body.session);
        const call = await session.findCallByIdempotencyKey(principal, key, bodyHash);
        return call === null ? null : { headers: {}, call };
      };
      const done = await runIdempotent<{ headers: { 'x-moniker-edition'?: string }; call: SessionCall }>(idempotency, run, find);
      return answer(200, callAnswer(done.call), done.headers);
    },
  ),
];

/**
 * Without a session the call runs here, unless a repeat must find it again: then in a hidden session, identified by the idempotency key,
 * with its own files. In a session the plan contains the edition and the key's rights; no model is called.
 */
async function callTool(
  services: HttpServices,
  principal: Principal,
  session: string | undefined,
  call: { toolset: string; name: string; arguments: Record<string, unknown> },
  idempotency: Idempotency,
): Promise<SessionCall> {
  if (session === undefined && idempotency.idempotencyKey === undefined) return await services.callTool(principal, call);
  const model = 'rehearsal/default';
  const plan = await services.planTurn(principal, { model, toolset: call.toolset, callsOnly: true });
  const request = { plan, name: call.name, arguments: call.arguments, ...idempotency };
  if (session !== undefined) return await services.sessions.get(session).call(principal, request);
  const { id } = await services.sessions.create(
    principal,
    { model, listed: false, forCall: true },
    ownKey(idempotency.idempotencyKey ?? ''),
  );
  return await services.sessions.get(id).call(principal, { ...request, scratch: true });
}

/** Separate from the sessions that other routes create with this key. */
function ownKey(key: string): string {
  return `call ${key}`;
}

function callAnswer({ requested, canonical, via, result, durationMs, pending = [] }: SessionCall): z.infer<typeof CallAnswer> {
  const [waits] = pending;
  const { isError, code, content, structuredContent, issues, repaired, served } = result;
  return {
    requested,
    canonical,
    via,
    isError,
    ...(code !== undefined && { code }),
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(issues !== undefined && { issues }),
    ...(repaired !== undefined && { repaired }),
    ...(served !== undefined && { served }),
    ...(waits !== undefined && { callId: waits.callId, pending }),
    durationMs,
  };
}
