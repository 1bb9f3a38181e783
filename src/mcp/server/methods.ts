/** Answers one request of an MCP client: the methods of each revision, and the form of their results on the wire. */
import { recordOf } from '../../core/json/wire-value.ts';
import { readListMeta } from '../../engine/mcp/serve-resources.ts';
import { answerDiscover, hasOffers, initialize, mcpListTtlMs, serverIdentity } from './discovery.ts';
import { askableOf, type Exchange, inRequestSpan, type ServedEra } from './exchange.ts';
import { errorText, resultText, type RpcParams, type RpcRequest } from './messages.ts';
import { completionOf, answerOfferList, promptOf, resourceOf, subscribeTo, unsubscribeFrom } from './resource-methods.ts';
import { logLevels, metaNames } from './revisions.ts';
import { invalidParams, RpcFault, rpcCodes, toRpcFault } from './rpc-fault.ts';
import { showsApps } from '../../core/tools/mcp-input.ts';
import { answerToolCall, toolListPage } from './tool-methods.ts';

/** `json`: a member of the result whose text is known already. */
type Answer = { result: Record<string, unknown>; json?: { member: string; text: string } };
/** `in`: the eras that have the method. `isOffer`: only with prompts or resources. */
type Method = { in: readonly ServedEra[]; isOffer?: true; answer(exchange: Exchange, params: RpcParams): Promise<Answer> };

const everywhere = ['modern', 'session', 'stateless'] as const;
const before2026 = ['session', 'stateless'] as const;

function method(
  eras: readonly ServedEra[],
  answer: (exchange: Exchange, params: RpcParams) => Promise<Record<string, unknown>>,
  isOffer?: true,
): Method {
  return { in: eras, ...(isOffer && { isOffer }), answer: async (...asked) => ({ result: await answer(...asked) }) };
}

const methods: ReadonlyMap<string, Method> = new Map([
  ['initialize', method(before2026, initialize)],
  ['server/discover', method(['modern'], answerDiscover)],
  ['ping', method(before2026, async () => ({}))],
  ['logging/setLevel', method(before2026, async (_, { level }) => checkLevel(level))],
  ['tools/list', { in: everywhere, answer: answerToolList }],
  ['tools/call', method(everywhere, answerToolCall)],
  ['prompts/list', method(everywhere, (exchange, params) => answerOfferList(exchange, 'prompts', params), true)],
  ['resources/list', method(everywhere, (exchange, params) => answerOfferList(exchange, 'resources', params), true)],
  ['resources/templates/list', method(everywhere, (exchange, params) => answerOfferList(exchange, 'resourceTemplates', params), true)],
  ['prompts/get', method(everywhere, promptOf, true)],
  ['resources/read', method(everywhere, resourceOf, true)],
  ['completion/complete', method(everywhere, completionOf, true)],
  ['resources/subscribe', method(['session'], subscribeTo, true)],
  ['resources/unsubscribe', method(['session'], unsubscribeFrom, true)],
]);

/** A response as JSON. `status`: of its HTTP response, if it is the only message. */
export type RpcAnswer = { text: string; status: number };

export async function answerRequest(exchange: Exchange, { id, method: name, params }: RpcRequest): Promise<RpcAnswer> {
  const { deps, era, headers } = exchange;
  try {
    const found = await methodOf(exchange, name);
    const { result, json } = await inRequestSpan(deps, { method: name, params, headers }, () => found.answer(exchange, params));
    const text = JSON.stringify(era === 'modern' ? toModern(exchange, name, result) : result);
    return { text: resultText(id, json === undefined ? text : withMember(json, text)), status: 200 };
  } catch (thrown) {
    const fault = unlessPage(era, toRpcFault(thrown, deps.log));
    return { text: errorText(id, fault), status: fault.status };
  }
}

async function methodOf(exchange: Exchange, name: string): Promise<Method> {
  const found = methods.get(name);
  const isServed =
    found?.in.includes(exchange.era) === true && (found.isOffer !== true || hasOffers(exchange.target, await exchange.viewOf()));
  if (found === undefined || !isServed) throw new RpcFault(rpcCodes.methodNotFound, 'Method not found', undefined, 404);
  return found;
}

async function answerToolList({ era, capabilities, viewOf, deps, principal }: Exchange, params: RpcParams): Promise<Answer> {
  const view = await viewOf();
  const { tools, more } = toolListPage(view, { era, withApps: showsApps(askableOf({ era, capabilities })) }, params);
  const meta = await readListMeta(deps, principal.workspace, view, 'tools');
  return { result: { ...more, ...meta }, json: { member: 'tools', text: tools } };
}

/** `mcp-session.ts` stores the level of a session; without one there is nothing that it would apply to. */
function checkLevel(level: unknown): Record<string, unknown> {
  if (typeof level === 'string' && logLevels.includes(level)) return {};
  throw invalidParams(`Invalid params of logging/setLevel: \`level\` must be one of ${logLevels.join(', ')}.`);
}

export function withMember({ member, text }: { member: string; text: string }, rest: string): string {
  return `{${JSON.stringify(member)}:${text}${rest === '{}' ? '' : ','}${rest.slice(1)}`;
}

const cachedLists: ReadonlySet<string> = new Set([
  'tools/list',
  'server/discover',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

/** 2026-07-28: each result names its type and the server, and lists and contents say how long they may be kept. */
function toModern({ target }: Exchange, name: string, result: Record<string, unknown>): Record<string, unknown> {
  const { resultType = 'complete', _meta: meta } = result;
  const kept = { ttlMs: cachedLists.has(name) ? mcpListTtlMs(target) : 0, cacheScope: 'private' };
  const isKept = resultType === 'complete' && (cachedLists.has(name) || name === 'resources/read');
  return {
    ...(isKept && kept),
    ...result,
    resultType,
    _meta: { ...recordOf(meta), [metaNames.serverInfo]: serverIdentity(target) },
  };
}

/** 2026-07-28 has no error for a page that the user has to open first: clients that can open pages get a request for input. */
function unlessPage(era: ServedEra, fault: RpcFault): RpcFault {
  if (era !== 'modern' || fault.code !== rpcCodes.openPage) return fault;
  return new RpcFault(rpcCodes.internal, `${fault.message} (The client does not support \`elicitation.url\`.)`);
}
