/**
 * Prompts and resources of a toolset's MCP servers: lists come from what is stored about the servers; other requests go to the one server
 * that offers the item. Names are built in `serve-offers.ts`.
 */
import { isForModels } from '../../core/toolset/edition-tool.ts';
import { cleanData, cleanNotice, sanitizeProgress } from '../../core/tools/clean-result.ts';
import type { InputRequest } from '../../core/tools/mcp-input.ts';
import { Problem, nullIfNotFound, quoted } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { Directory } from '../../ports/catalog.ts';
import type { McpUpstream, UpstreamAnswer, UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { limits } from '../../core/limits.ts';
import type { UpstreamCaller } from '../servers/server-fetch.ts';
import { withRedactedTokens, createRedactor, redactProblem, type Redactor } from '../call/redact.ts';
import { markServerResponse } from '../policy/direct-marks.ts';
import { nameOffers, ownerOf, shownUri, type ServedOffer, type ServedOffers } from './serve-offers.ts';
import { screenedAsk, screenQuestions } from './serve-questions.ts';
import { openState, sealState, type ServedState, type StateDeps } from './serve-state.ts';
import { answersTo, type ServeCallDeps, type ServedCaller, markStoreOf } from './serve-call.ts';
import type { ServedView } from './serve-view.ts';

export type OfferDeps = StateDeps &
  Pick<ServeCallDeps, 'marks' | 'callDeps'> & {
    directory: Directory;
    upstream: McpUpstream;
    upstreamContext(workspace: string, server: ServerAccess, caller: UpstreamCaller, signal: AbortSignal): UpstreamContext;
    /** Called when a server reports a changed list: refreshes it. Resolves when the new list can be read, or could not be; never rejects. */
    serverChanged(workspace: string, server: string): Promise<void>;
  };

/** Returns the MCP servers with a callable tool in this toolset, in the document's order. */
export function servedServers({ names }: Pick<ServedView, 'names'>): string[] {
  return [...new Set(names.tools.flatMap((tool) => (tool.kind === 'mcp' && isForModels(tool) ? [tool.server] : [])))];
}

/**
 * Returns the servers' own instructions, for the start of a client's connection: those of trusted servers, unless an administrator wrote
 * others into the server's document.
 */
export async function readServerInstructions(
  { directory }: Pick<OfferDeps, 'directory'>,
  workspace: string,
  view: ServedView,
): Promise<{ server: string; text: string }[]> {
  const written = new Set(view.names.edition.instructions?.map(({ server }) => server));
  const texts = await Promise.all(
    servedServers(view).map(async (server) => {
      const access = written.has(server) ? null : await nullIfNotFound(directory.server(workspace, server));
      const text = access?.trusted === true ? access.connection?.instructions : undefined;
      return text === undefined ? [] : [{ server, text }];
    }),
  );
  return texts.flat();
}

export async function readServedOffers(deps: Pick<OfferDeps, 'directory'>, workspace: string, view: ServedView): Promise<ServedOffers> {
  const all = await Promise.all(
    servedServers(view).map(async (server) => {
      const offers = await nullIfNotFound(deps.directory.serverOffers(workspace, server));
      return offers === null ? [] : [{ server, offers }];
    }),
  );
  return nameOffers(all.flat());
}

/** A request to a server on behalf of a client, repeated with answers. */
export type OfferRequest = { responses?: Readonly<Record<string, unknown>>; state?: string };
export type OfferAnswer =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'input'; requests: Record<string, InputRequest>; state: string };

/** Throws `not_found` for a URI that no server here has. */
export async function readResource(
  deps: OfferDeps,
  caller: ServedCaller,
  uri: string,
  request: OfferRequest,
  signal: AbortSignal,
): Promise<OfferAnswer> {
  const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
  const owner = ownerOf(offers, uri);
  if (owner === null) throw new Problem('not_found', `There is no resource ${quoted(uri)} here.`);
  const answer = await converse(
    deps,
    caller,
    { kind: 'resources/read', ...owner, given: null },
    request,
    signal,
    (server, given, hooks, context) => deps.upstream.readResource(server, { uri: owner.own, ...(given && { given }) }, hooks, context),
  );
  if (answer.kind === 'input') return answer;
  return { kind: 'result', result: withShownUris(answer.result, (own) => (own === owner.own ? uri : shownUri(offers, owner.server, own))) };
}

/** Throws `not_found` for an unknown prompt. */
export async function getPrompt(
  deps: OfferDeps,
  caller: ServedCaller,
  { name, arguments: args }: { name: string; arguments?: Record<string, string> },
  request: OfferRequest,
  signal: AbortSignal,
): Promise<OfferAnswer> {
  const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
  const prompt = offers.prompts.get(name);
  if (prompt === undefined) throw new Problem('not_found', `There is no prompt ${quoted(name)} here.`);
  return await converse(deps, caller, { kind: 'prompts/get', ...prompt, given: args }, request, signal, (server, given, hooks, context) =>
    deps.upstream.getPrompt(server, { name: prompt.own, ...(args && { arguments: args }), ...(given && { given }) }, hooks, context),
  );
}

/** `params` as in MCP. Returns no values where a server cannot complete the argument. */
export async function complete(
  deps: OfferDeps,
  caller: ServedCaller,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
  const ref = isRecord(params.ref) ? params.ref : {};
  const owner = completedBy(offers, ref);
  if (owner === null) throw new Problem('not_found', 'There is no such prompt or resource template here.');
  const { workspace } = caller.principal;
  const server = await deps.directory.server(workspace, owner.server);
  const own = { ...params, ref: ref.type === 'ref/prompt' ? { ...ref, name: owner.own } : { ...ref, uri: owner.own } };
  const redactor = await redactorOf(deps, caller);
  const context = keeping(redactor, deps.upstreamContext(workspace, server, upstreamCallerOf(caller), signal));
  return shown(redactor, await withoutSecretsIn(redactor, deps.upstream.complete(server, own, context)));
}

export function upstreamCallerOf({ principal, conversation }: Pick<ServedCaller, 'principal' | 'conversation'>): UpstreamCaller {
  const { keyId: owner, egressHosts } = principal;
  return { conversation, owner, ...(egressHosts !== undefined && { egressHosts }) };
}

function completedBy({ prompts, templates, resources }: ServedOffers, ref: Record<string, unknown>): ServedOffer | null {
  if (ref.type === 'ref/prompt') return prompts.get(String(ref.name)) ?? null;
  return templates.get(String(ref.uri)) ?? resources.get(String(ref.uri)) ?? null;
}

type Asked = { kind: 'resources/read' | 'prompts/get'; server: string; own: string; given: unknown };
type Send = (
  server: ServerAccess,
  given: { responses: Record<string, Record<string, unknown>>; state?: string } | undefined,
  hooks: UpstreamHooks,
  context: UpstreamContext,
) => Promise<UpstreamAnswer<Record<string, unknown>>>;

/** Sends a request to the server; its questions go to the client, as for tool calls. */
async function converse(
  deps: OfferDeps,
  caller: ServedCaller,
  asked: Asked,
  request: OfferRequest,
  signal: AbortSignal,
  send: Send,
): Promise<OfferAnswer> {
  const { principal, target } = caller;
  const { workspace } = principal;
  const about = { principal, target, kind: asked.kind, names: [asked.server, asked.own], given: asked.given };
  const before = request.state === undefined ? null : await openState(deps, about, request.state);
  const server = await deps.directory.server(workspace, asked.server);
  const redactor = await redactorOf(deps, caller);
  const context = keeping(redactor, deps.upstreamContext(workspace, server, upstreamCallerOf(caller), signal));
  const hooks = hooksOf(caller, server.name, redactor);
  let given = before === null ? undefined : givenBy(before, request.responses ?? {});
  for (let rounds = before?.rounds ?? 0; rounds < limits.maxInputRounds; ) {
    const answer = await withoutSecretsIn(redactor, send(server, given, hooks, context));
    if (answer.kind === 'result') {
      await markServerResponse(markStoreOf(deps, caller), server, `${asked.own} of the server ${server.name} (${asked.kind})`);
      return { kind: 'result', result: shown(redactor, answer.result) };
    }
    rounds += 1;
    const { requests, state } = answer.input;
    const { questions, answered, fault } = screenQuestions(server.name, redactor.data(requests), caller.askable);
    if (fault !== null) throw new Problem('upstream_error', `The server "${server.name}" did not answer: ${fault}.`);
    const keys = Object.keys(questions);
    given = { responses: answered, ...(state !== undefined && { state }) };
    if (keys.length === 0) continue;
    const callId = before?.callId ?? deps.ids.next('ask');
    const waits = { callId, asked: 'input' as const, keys, answered, rounds, ...(state !== undefined && { state }) };
    return { kind: 'input', requests: questions, state: await sealState(deps, about, waits) };
  }
  throw new Problem('upstream_error', `The server "${asked.server}" asked more than ${limits.maxInputRounds} times.`);
}

function givenBy({ keys, answered = {}, state }: ServedState, responses: Readonly<Record<string, unknown>>) {
  return { responses: { ...answered, ...answersTo(keys, responses) }, ...(state !== undefined && { state }) };
}

/** Applies the rules of the workspace, as to results of calls with the toolset. */
async function redactorOf(deps: Pick<OfferDeps, 'callDeps'>, { principal, view }: ServedCaller): Promise<Redactor> {
  return createRedactor(await deps.callDeps(principal.workspace).redaction?.(view.names.edition.toolset));
}

/** Registers secrets that are read on the way with the redactor. */
function keeping(redactor: Redactor, context: UpstreamContext): UpstreamContext {
  return {
    ...context,
    secret: async (name, host) => redactor.addSecret(await context.secret(name, host)),
    log: redactor.log(context.log),
    ...(context.tokens && { tokens: withRedactedTokens(context.tokens, redactor) }),
  };
}

/** Cleans and redacts data as for results of tools. */
function shown<Data>(redactor: Redactor, data: Data): Data {
  return redactor.data(cleanData(data));
}

async function withoutSecretsIn<Answer>(redactor: Redactor, work: Promise<Answer>): Promise<Answer> {
  return await work.catch((error: unknown) => {
    throw redactProblem(error, redactor);
  });
}

/** What the client can be sent and asked while the server works. */
function hooksOf(caller: ServedCaller, server: string, { data }: Redactor): UpstreamHooks {
  const { progress, notice, meta } = caller.channel;
  const ask = screenedAsk(server, caller);
  return {
    ...(progress && {
      progress(update) {
        const bounded = sanitizeProgress(update);
        if (bounded !== null) progress(data(bounded));
      },
    }),
    ...(notice && { notice: (line) => notice(data(cleanNotice(line))) }),
    ...(meta && { meta }),
    ...(ask && { ask: (request, key) => ask(data(request), key) }),
    askable: caller.askable,
  };
}

/** Replaces the URIs in resource contents by those that the client knows. */
function withShownUris(result: Record<string, unknown>, shown: (own: string) => string): Record<string, unknown> {
  if (!Array.isArray(result.contents)) return result;
  const contents = result.contents.map((part: unknown) =>
    isRecord(part) && typeof part.uri === 'string' ? { ...part, uri: shown(part.uri) } : part,
  );
  return { ...result, contents };
}
