/**
 * Compacts the conversation of a client of Responses (`/v1/responses/compact`): by the provider if its API can, otherwise by asking the model
 * for a summary. The client sends the output in place of the items before it; the summary is an item that every wire accepts.
 */
import { listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { KB } from '../../core/limits/units.ts';
import type { Message, InputPart } from '../../core/model/message.ts';
import { type DroppedItem, createDropped } from '../../core/model/dropped.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { readCompletionId, toAnswerId } from '../../core/text/reference.ts';
import { maxSummaryTokens, summaryInstruction, summaryOfMessages } from '../../core/turn/compaction.ts';
import { type ResolvedModel, targetHeader } from '../../core/model/route.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { openAiResponses } from '../../dialects/openai-responses/dialect.ts';
import { packCompaction, withoutIssued } from '../../dialects/openai-responses/issued.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { SessionPort } from '../../ports/session.ts';
import { type ChatBody, resolveModel } from './incoming-chat.ts';
import type { ChatDeps } from './run-chat.ts';

export type CompactDeps = Pick<ChatDeps, 'sessions' | 'directory' | 'planTurn' | 'proxyChat' | 'ids'> & {
  clock: Pick<Clock, 'now'>;
  /** null: the provider of the model cannot. */
  compactByProvider(
    principal: Principal,
    request: { ref: ResolvedModel; body: ChatBody; requestId?: string | undefined },
  ): Promise<Response | null>;
};

export type CompactRequest = { body: ChatBody; requestId?: string | undefined; signal(): AbortSignal };
/** `target`: which model of a route wrote the summary, and why; null: the request names no route. */
export type Compacted = { document: CompactedDocument; dropped: readonly DroppedItem[]; target: string | null };
export type CompactedDocument = {
  id: string;
  object: 'response.compaction';
  created_at: number;
  output: { type: string }[];
  usage: unknown;
};

/** The newest messages of the user are kept as they are, up to this much as JSON. */
const maxKeptCharacters = 64 * KB;
/** Pages of a session that are read back for `previous_response_id`, each of at most 4 MB. */
const maxPages = 8;

/** Returns the provider's response, or what was made here. Throws `invalid_request`, and the problem of the model. */
export async function compactInput(deps: CompactDeps, principal: Principal, request: CompactRequest): Promise<Response | Compacted> {
  const { body, requestId, signal } = request;
  const ref = await resolveModel(deps, principal, body.model);
  const agent = typeof ref === 'string' && ref.startsWith('agent/') ? ref.slice('agent/'.length) : undefined;
  const plan = agent === undefined ? null : await deps.planTurn(principal, { agent, settings: {} });
  if (plan === null) requireAllowed(principal, { act: 'use-model' });
  const isOwn = plan !== null || isOfSession(body) || hasIssued(body.input);
  const passed = isOwn ? null : await deps.compactByProvider(principal, { ref, body, requestId });
  if (passed !== null) return passed;

  const { messages, dropped } = await readMessages(deps, principal, body);
  const input = summaryOfMessages(messages);
  const asked = {
    model: body.model,
    instructions: summaryInstruction,
    input: textOf(input),
    max_output_tokens: maxSummaryTokens,
    store: false,
  };
  const cacheKey = body.prompt_cache_key == null ? {} : { prompt_cache_key: body.prompt_cache_key };
  const chat = { dialect: openAiResponses, body: { ...asked, ...cacheKey }, requestId, signal, ref: plan?.model ?? ref };
  const response = await deps.proxyChat(principal, { ...chat, ...(plan !== null && { agentName: agent, ...limitsOf(plan) }) });
  const summarized = recordOf(await response.json());
  const summary = textIn(summarized.output);
  const token = summary === '' ? null : packCompaction(summary);
  if (token === null)
    throw new Problem('upstream_error', 'The model returned no usable summary of the conversation. Send the request again.');
  const unique = deps.ids.next('cmpl');
  const kept = keptInput(messages).map((parts, index) => toItem(parts, `msg_${unique}_${index}`));
  const document = {
    id: toAnswerId('openai-responses', unique),
    object: 'response.compaction' as const,
    created_at: Math.floor(deps.clock.now() / 1000),
    output: [...kept, { type: 'compaction', id: `cmp_${unique}`, encrypted_content: token }],
    usage: summarized.usage,
  };
  return { document, dropped, target: response.headers.get(targetHeader) };
}

function limitsOf({ limited, fallbacks, timeouts }: Plan) {
  return { fallbacks, timeouts, ...(limited !== undefined && { limited }) };
}

function isOfSession({ previous_response_id: previous }: ChatBody): boolean {
  return typeof previous === 'string' && readCompletionId('openai-responses', previous) !== null;
}

/** Whether a provider could not read some of the items. */
function hasIssued(input: unknown): boolean {
  return Array.isArray(input) && withoutIssued(input) !== input;
}

async function readMessages(
  { sessions }: CompactDeps,
  principal: Principal,
  body: ChatBody,
): Promise<{ messages: Message[]; dropped: readonly DroppedItem[] }> {
  const { previous_response_id: previous, input, ...rest } = body;
  const id = typeof previous === 'string' ? readCompletionId('openai-responses', previous) : null;
  if (previous != null && id === null)
    throw new Problem('not_found', 'This response is not stored here. Send the items of the conversation as input.', {
      param: 'previous_response_id',
    });
  const own = createDropped();
  const earlier = id === null ? [] : await messagesThrough(sessions.get(id.session), principal, id.own, own.add);
  if (input == null && earlier.length > 0) return { messages: earlier, dropped: own.items() };
  const read = openAiResponses.readRequest({ ...rest, input });
  const { history } = read.conversation({ whole: true });
  return { messages: [...earlier, ...history], dropped: [...own.items(), ...read.dropped.items()] };
}

/** Returns the newest messages of the session up to that answer. */
async function messagesThrough(
  session: SessionPort,
  principal: Principal,
  answer: string,
  drop: (name: string, reason: string) => void,
): Promise<Message[]> {
  const { turn } = await session.completionTurn(principal, answer);
  const messages: Message[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { items, nextCursor } = await session.messages(principal, { order: 'desc', ...(cursor !== undefined && { cursor }) });
    for (const item of items) if (messages.length > 0 || item.turn === turn) messages.push(item as unknown as Message); // As `TranscriptMessage` says.
    if (nextCursor === null) return messages.reverse();
    cursor = nextCursor;
  }
  if (messages.length === 0)
    throw invalidRequest([{ path: 'previous_response_id', message: 'is too far back in its session: send the items as input' }]);
  drop('previous_response_id', 'the oldest messages of a very long session are left out');
  return messages.reverse();
}

function textOf({ parts }: Message): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('');
}

/** Returns the text of the messages of an answer. */
function textIn(output: unknown): string {
  const parts = listOf(output).flatMap((item) => listOf(recordOf(item).content));
  return parts
    .map((part) => stringOf(recordOf(part).text))
    .join('')
    .trim();
}

/** Returns the newest messages of the user that fit, oldest first; of an agent's conversation they say what it is to do. */
function keptInput(messages: readonly Message[]): InputPart[][] {
  const kept: InputPart[][] = [];
  let left = maxKeptCharacters;
  for (const { role, parts } of messages.toReversed()) {
    if (role !== 'user') continue;
    left -= JSON.stringify(parts).length;
    if (left < 0) break;
    kept.unshift(parts);
  }
  return kept;
}

function toItem(parts: readonly InputPart[], id: string) {
  return { type: 'message', id, status: 'completed', role: 'user', content: parts.map(toResponsesContent) };
}

/** A part of the user's input as an item of Responses has it. */
export function toResponsesContent(part: InputPart): { type: string } & Record<string, unknown> {
  const { data, url } = part.type === 'text' ? {} : part;
  const source = (mediaType = 'image/*') => url ?? `data:${mediaType};base64,${data}`;
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'image') return { type: 'input_image', image_url: source(part.mediaType), detail: 'auto' };
  return {
    type: 'input_file',
    filename: part.name ?? null,
    ...(url === undefined ? { file_data: source(part.mediaType) } : { file_url: url }),
  };
}
