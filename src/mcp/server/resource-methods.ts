/**
 * Prompts, resources, templates and completions of a toolset's MCP servers. Lists call no server; all other requests call the one server that
 * the item belongs to.
 */
import { isRecord } from '../../core/json/wire-value.ts';
import { Problem } from '../../core/problem.ts';
import type { ServedOffer } from '../../engine/mcp/offer-names.ts';
import type { OfferAnswer } from '../../engine/mcp/request-offer.ts';
import { readServedOffers } from '../../engine/mcp/read-offers.ts';
import { auditSkillRead } from '../../engine/mcp/audit-skill-read.ts';
import { getSkill, hasSkills, listSkillFolder, readSkillUri, servedSkills } from '../../engine/mcp/serve-skills.ts';
import { complete, getPrompt, readListMeta, readResource, subscribe } from '../../engine/mcp/serve-resources.ts';
import { toInputRequired, withAnswers } from './answers.ts';
import { servedCallerOf, type Exchange } from './exchange.ts';
import { listPageAt, paginateList } from './list-cursor.ts';
import type { RpcParams } from './messages.ts';
import { invalidParams, RpcFault, rpcCodes } from './rpc-fault.ts';

type Result = Record<string, unknown>;

/** `kind`: the list, and the member of the result. */
export async function answerOfferList(
  exchange: Exchange,
  kind: 'prompts' | 'resources' | 'resourceTemplates',
  { cursor }: RpcParams,
): Promise<Result> {
  const { deps, principal } = exchange;
  const view = await exchange.viewOf();
  const served = await readServedOffers(deps, principal.workspace, view);
  const offers: ReadonlyMap<string, ServedOffer> = kind === 'resourceTemplates' ? served.templates : served[kind];
  const skills = kind === 'resources' && hasSkills(view) ? servedSkills(view).listed : [];
  const all = [...skills, ...[...offers.values()].map(({ shown }) => shown)];
  const { items, ...more } = listPageAt(kind, String(all.length), paginateList<object>(all), cursorOf(cursor));
  return { [kind]: items, ...more, ...(await readListMeta(deps, principal.workspace, view, kind)) };
}

export async function promptOf(exchange: Exchange, params: RpcParams): Promise<Result> {
  const { name, arguments: args } = params;
  if (typeof name !== 'string' || !(args === undefined || isTexts(args))) {
    throw invalidParams('Invalid params of prompts/get: `name` must be a string and `arguments` an object of strings.');
  }
  const caller = await servedCallerOf(exchange, params);
  const asked = { name, ...(args !== undefined && { arguments: args }) };
  return toResult(await withAnswers(exchange, params, (given) => getPrompt(exchange.deps, caller, asked, given, exchange.signal)));
}

function isTexts(args: unknown): args is Record<string, string> {
  return isRecord(args) && Object.values(args).every((value) => typeof value === 'string');
}

export async function resourceOf(exchange: Exchange, params: RpcParams): Promise<Result> {
  const uri = uriOf(params);
  const caller = await servedCallerOf(exchange, params);
  const ofSkill = readSkillUri(caller.view, uri);
  if (ofSkill !== null) {
    await auditSkillRead(exchange.deps, caller, 'resources/read', uri);
    return ofSkill;
  }
  const reading = withAnswers(exchange, params, (given) => readResource(exchange.deps, caller, uri, given, exchange.signal));
  return toResult(await withResourceNotFound(exchange, uri, reading));
}

export async function completionOf(exchange: Exchange, params: RpcParams): Promise<Result> {
  const { ref, argument } = params;
  const isNamed = isRecord(argument) && typeof argument.name === 'string' && typeof argument.value === 'string';
  if (!isRecord(ref) || !['ref/prompt', 'ref/resource'].includes(String(ref.type)) || !isNamed) {
    throw invalidParams('Invalid params of completion/complete: `ref` must be a reference, and `argument` have `name` and `value`.');
  }
  return await complete(exchange.deps, await servedCallerOf(exchange, params), { ...params }, exchange.signal);
}

/** 2025 revisions: a session receives updates of a resource until it unsubscribes. */
export async function subscribeTo(exchange: Exchange, params: RpcParams): Promise<Result> {
  const uri = uriOf(params);
  const caller = await servedCallerOf(exchange, params);
  const subscription = await withResourceNotFound(exchange, uri, subscribe(exchange.deps, caller, uri, exchange.signal));
  exchange.session?.subscriptions.add(subscription);
  return {};
}

export async function unsubscribeFrom(exchange: Exchange, params: RpcParams): Promise<Result> {
  exchange.session?.subscriptions.remove(uriOf(params));
  return {};
}

/** `skills/list` of the extension: complete entries, so that clients need not ask for each. */
export async function listSkills({ viewOf }: Exchange, { cursor }: RpcParams): Promise<Result> {
  const { entries } = servedSkills(await viewOf());
  const { items, ...more } = listPageAt('skills', String(entries.length), paginateList(entries), cursorOf(cursor));
  return { skills: items, ...more };
}

export async function skillOf(exchange: Exchange, params: RpcParams): Promise<Result> {
  const uri = uriOf(params);
  const { deps, principal } = exchange;
  const view = await exchange.viewOf();
  const skill = await withResourceNotFound(exchange, uri, (async () => getSkill(view, uri))());
  await auditSkillRead(deps, { principal, view }, 'skills/get', uri);
  return { skill };
}

export async function folderOf(exchange: Exchange, params: RpcParams): Promise<Result> {
  const uri = uriOf(params);
  const children = await withResourceNotFound(
    exchange,
    uri,
    exchange.viewOf().then((view) => listSkillFolder(view, uri)),
  );
  const { items, ...more } = listPageAt('skill-folder', `${uri} ${children.length}`, paginateList(children), cursorOf(params.cursor));
  return { resources: items, ...more };
}

function cursorOf(cursor: unknown): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw invalidParams('Invalid params of a list: `cursor` must be a string.');
}

function uriOf({ uri }: RpcParams): string {
  if (typeof uri !== 'string') throw invalidParams('Invalid params: `uri` must be a string.');
  return uri;
}

/** 2026-07-28 reports unknown resources as invalid parameters. */
async function withResourceNotFound<Answer>({ era }: Exchange, uri: string, work: Promise<Answer>): Promise<Answer> {
  return await work.catch((error: unknown) => {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    throw new RpcFault(era === 'modern' ? rpcCodes.invalidParams : rpcCodes.resourceNotFound, error.detail, { uri });
  });
}

function toResult(answer: OfferAnswer): Result {
  return answer.kind === 'input' ? toInputRequired(answer) : answer.result;
}
