/**
 * Requests of MCP clients for resources and prompts, made as calls of a tool that stands for the request: so that rights, policy, approval,
 * guard, limits, redaction, taint marks and the audit apply to them as to tools. The tool has the method as its name (`docs.resources/read`) and
 * the parameters of the method as its arguments.
 */
import type { CanonicalName, WireName } from '../../core/names/names.ts';
import type { Pending } from '../../core/policy/approval.ts';
import { Problem, type ProblemCode } from '../../core/problem.ts';
import type { OfferMethod } from '../../core/tools/upstream-method.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { extendAliasMap } from '../../core/toolset/alias-map.ts';
import { fromCallResult } from '../../core/tools/offer-result.ts';
import type { InputRequest } from '../../core/tools/mcp-input.ts';
import { contentText, type JsonSchema, type ToolResult, type ToolResultCode } from '../../core/tools/tool.ts';
import { ServerRpcError } from './rpc-error.ts';
import { runServedCall, type ServeCallDeps, type ServedCall, type ServedCaller } from './serve-call.ts';
import type { FoundOffer } from './serve-offers.ts';
import { withShownUris } from './shown-links.ts';

/** `shown`: the name or URI that the client used. `params`: as its server gets them. */
export type AskedOffer = {
  method: OfferMethod;
  kind: 'resource' | 'prompt';
  found: FoundOffer;
  shown: string;
  params: Record<string, unknown>;
};

/** A request to a server on behalf of a client, repeated with answers. */
export type OfferRequest = Pick<ServedCall, 'responses' | 'state'>;
export type OfferAnswer =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'input'; requests: Record<string, InputRequest>; state: string };

/** Returns the result as in MCP, or the questions to ask first. Throws a problem for a request that was refused or has failed. */
export async function requestOffer(
  deps: ServeCallDeps,
  caller: ServedCaller,
  asked: AskedOffer,
  request: OfferRequest,
  signal: AbortSignal,
): Promise<OfferAnswer> {
  const { method, kind, found, shown, params } = asked;
  const { trusted } = await deps.directory.server(caller.principal.workspace, found.server);
  const tool = offerTool(asked, trusted);
  const view = { ...caller.view, names: extendAliasMap(null, [tool]) };
  const answer = await runServedCall(deps, { ...caller, view }, { name: shown, arguments: params, ...request }, signal);
  if (answer.kind === 'input') return answer;
  const { result } = answer.answer;
  if (result.isError) throw offerProblem(result);
  const read = kind === 'resource' ? { own: found.own, shown } : null;
  return { kind: 'result', result: fromCallResult(method, await withShownUris(deps, caller, tool, result, read), shown) };
}

/** The names are not those of a tool: nothing resolves them but the table of this one request. */
export function offerTool({ method, kind, found: { server, own, entry }, shown, params }: AskedOffer, trusted: boolean): EditionTool {
  const { approval } = entry ?? {};
  return {
    ...{ canonical: `${server}.${method}` as CanonicalName, wireName: shown as WireName, ownName: own, server, kind: 'mcp' },
    ...{ description: '', inputSchema: schemaOf(params), annotations: { readOnlyHint: true }, aliases: [], state: 'ready', pin: '' },
    ...(trusted && { trusted }),
    ...((approval === 'always' || approval === 'never') && { approval }),
    offer: { method, kind, name: `${server}.${own}` },
  };
}

/** A guard may change the arguments of a prompt, and not what is requested. */
function schemaOf({ arguments: _arguments, ...fixed }: Record<string, unknown>): JsonSchema {
  const constants = Object.entries(fixed).map(([name, value]): [string, JsonSchema] => [name, { const: value }]);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(constants), arguments: { type: 'object', additionalProperties: { type: 'string' } } },
    required: Object.keys(fixed),
    additionalProperties: false,
  };
}

/** `pending`: the approvals that it waits for. */
export function offerProblem({ code = 'tool_error', content, protocolError }: ToolResult, pending: readonly Pending[] = []): Problem {
  const cause = protocolError === undefined ? undefined : new ServerRpcError(protocolError);
  return new Problem(
    problemCodes[code] ?? 'forbidden',
    contentText(content),
    { reason: code, ...(pending.length > 0 && { pending }) },
    { cause },
  );
}

/** Other codes say that the caller may not have it. */
const problemCodes: Partial<Record<ToolResultCode, ProblemCode>> = {
  invalid_arguments: 'invalid_request',
  timeout: 'upstream_timeout',
  tool_error: 'upstream_error',
  outcome_unknown: 'upstream_error',
  aborted: 'unavailable',
  limit_reached: 'rate_limited',
  result_withheld: 'upstream_error',
};
