/**
 * A chat request of any dialect as the client sent it, and its routing fields: agent or model, toolset, session. Only these are checked here,
 * since a request may be passed on unchanged. The dialect parses the rest.
 */
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import { readCompletionId, readConversationId } from '../../core/text/reference.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { ResolvedModel } from '../../core/model/route.ts';
import { resolveModelAlias } from '../../core/model/model-alias.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Idempotency } from '../idempotency.ts';
import type { ProxiedChat } from '../proxy/translate-chat.ts';

/** A passed-on request is checked only for its routing fields: the provider validates the rest. */
export type ChatBody = Record<string, unknown> & { model: string };

/** `toolset`, `session`: from the headers. `headers`: the caller's, for a provider with the same API. */
export type IncomingChat = Pick<ProxiedChat, 'headers' | 'signal' | 'requestId' | 'cache'> & {
  principal: Principal;
  dialect: Dialect;
  /** Parsed, and as received. */
  body: ChatBody;
  text: string | undefined;
  toolset: string | undefined;
  session: string | undefined;
  /** Read only for a turn. */
  idempotency(): Promise<Idempotency>;
  /** Returns the response of a provider, or opens a stream that is late. */
  open(answer: Promise<Response>): Promise<Response>;
};

/**
 * `session`: from the header, including `new`, or from the conversation of a Responses request. `previousCalls`: the session identified by ids in the request: of tool calls, or of the completion
 * that it continues.
 */
export type ChatRoute = { agent?: string; model?: ResolvedModel; toolset?: string; session?: string; previousCalls: string | null };

export function requireModel(value: unknown): ChatBody {
  if (!isRecord(value)) throw invalidRequest([{ path: '', message: 'must be an object' }]);
  const { model } = value;
  if (typeof model !== 'string' || model === '')
    throw invalidRequest([{ path: 'model', message: 'must be agent/<name> or <provider>/<model>' }]);
  return value as ChatBody; // Checked just now.
}

/** Returns what the name of a model in a request stands for, by an alias of the workspace or by itself. */
export async function resolveModel(
  { directory }: { directory: Directory },
  { workspace }: Principal,
  model: string,
): Promise<ResolvedModel> {
  return resolveModelAlias(await directory.modelAliases(workspace), model) ?? model;
}

/**
 * `ref`: what `resolveModel` returned. Throws `invalid_request` if body and header name different toolsets, or header and calls different
 * sessions, and `model_not_found` for an invalid model reference.
 */
export function readRoute(
  { dialect, body, toolset: inHeader, session: inHeaders }: Pick<IncomingChat, 'dialect' | 'body' | 'toolset' | 'session'>,
  ref: ResolvedModel,
): ChatRoute {
  const inBody = body.toolset ?? undefined;
  if (inBody !== undefined && typeof inBody !== 'string')
    throw invalidRequest([{ path: 'toolset', message: 'must be the name of a toolset' }]);
  if (inBody !== undefined && inHeader !== undefined && inBody !== inHeader) {
    throw invalidRequest([{ path: 'toolset', message: 'differs from the header x-moniker-toolset: send only one of them' }]);
  }
  const toolset = inBody ?? inHeader;
  const conversation = dialect.name === 'openai-responses' ? conversationIn(body) : null;
  const session = conversation ?? inHeaders;
  if (conversation !== null && inHeaders !== undefined && inHeaders !== conversation)
    throw invalidRequest([
      { path: 'conversation', message: 'names another session than the header x-moniker-session: send only one of them' },
    ]);
  return {
    ...modelOrAgent(ref),
    ...(toolset !== undefined && { toolset }),
    ...(session !== undefined && { session }),
    previousCalls: sessionOfPrevious(dialect, body) ?? dialect.sessionOfCalls(body),
  };
}

/** Returns true if the request needs no session: the provider's response is returned. */
export function isPlain({ agent, toolset, session, previousCalls }: ChatRoute): boolean {
  return agent === undefined && toolset === undefined && session === undefined && previousCalls === null;
}

export function withoutToolset({ toolset: _toolset, ...body }: ChatBody): ChatBody {
  // The rest of a record without one key still has `model`, which the compiler cannot infer.
  return body as ChatBody;
}

/** Returns the session of a conversation that this service created; null: any other value, which only a provider can know. */
function conversationIn({ conversation }: ChatBody): string | null {
  const id = isRecord(conversation) ? conversation.id : conversation;
  return typeof id === 'string' ? readConversationId(id) : null;
}

function sessionOfPrevious(dialect: Dialect, { previous_response_id: previous }: ChatBody): string | null {
  return typeof previous === 'string' ? (readCompletionId(dialect.name, previous)?.session ?? null) : null;
}

function modelOrAgent(ref: ResolvedModel): Pick<ChatRoute, 'agent' | 'model'> {
  if (typeof ref !== 'string') return { model: ref };
  const slash = ref.indexOf('/');
  if (slash < 1 || slash === ref.length - 1) {
    throw new Problem(
      'model_not_found',
      `Unknown model ${quoted(ref)}: it must be agent/<name> or <provider>/<model>. GET /v1/models lists them; PUT /v1/model-aliases/{alias} adds other names.`,
      { param: 'model' },
    );
  }
  return ref.startsWith('agent/') ? { agent: ref.slice(slash + 1) } : { model: ref };
}
