/**
 * Marks of the prompt cache: the client's, and those that the service sets where a model caches nothing without them. An adapter writes all in
 * Anthropic's form (guide "Prompt caching"), and this file settles which are sent, and in which form.
 */
import { type Json, listOf, recordOf } from '../../core/json/wire-value.ts';
import type { Marked } from '../../core/model/message.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ChatRequest } from '../../ports/chat-model.ts';

/** The maximum of Anthropic, of OpenAI and of Qwen (guides "Prompt caching"; "Context cache"). */
const mostMarks = 4;

/** Returns the member of a marked part; of others nothing. */
export function markOf({ cache }: Marked): Json {
  if (cache === undefined) return {};
  return { cache_control: { type: 'ephemeral', ...(cache === '1h' && { ttl: cache }) } };
}

/** The mark alone, for another part. */
export function markIn(part: Marked | undefined): Marked {
  return part?.cache === undefined ? {} : { cache: part.cache };
}

export const noAnswerMarks = 'only what the model is given has marks there, not its answers';

/** Where the service sets marks. A place can turn out to have no block. */
type Place = () => Json | undefined;
export type MarkPlaces = {
  /** Returns all blocks that can have a mark, in the order of the prompt. */
  blocks(): readonly Json[];
  /** The ends of the user's turns, the latest first. */
  ends: readonly Place[];
  system?: Place;
  tools?: Place;
};

/**
 * Returns the last part of a content, which becomes parts if it is text. Only parts have marks: OpenRouter hangs on those of a tool message
 * (NousResearch/hermes-agent#2391). An empty text has none.
 */
export function lastPart(message: Json, field: 'content' | 'output' = 'content', type = 'text'): Json | undefined {
  const content = message[field];
  if (typeof content === 'string' && content !== '') message[field] = [{ type, text: content }];
  return listOf(message[field]).map(recordOf).at(-1);
}

/** Returns the last message of each turn of the user, results of tools included, the latest first. */
export function endsOf(messages: readonly Json[], isInput: (message: Json) => boolean): Json[] {
  return messages.filter((message, index) => isInput(message) && !isInput(messages[index + 1] ?? {})).reverse();
}

/** Returns the last of the system messages at the beginning. */
export function endOfSystem(messages: readonly Json[]): Json {
  const begins = messages.findIndex(({ role }) => role !== 'system');
  return messages.slice(0, begins < 0 ? undefined : begins).at(-1) ?? {};
}

/**
 * Settles the marks of a body, in place. The client's come first; of more than the maximum, the last are sent. The service marks the end of
 * the prefix that all steps of an agent share, and with tools the last two turns of the user, so that the next step finds what this one
 * wrote: two, because the cache lookback is 20 blocks, and parallel results may have more (the same places in microsoft/vscode#315505). A
 * prefix that is too short for caching is not affected.
 */
export function settleMarks(
  { blocks, ends, system, tools }: MarkPlaces,
  { dropped, settings, tools: offered }: Pick<ChatRequest, 'dropped' | 'settings' | 'tools'>,
  { cacheMarks }: Profile,
): void {
  const given = blocks().filter(isMarked);
  const over = given.slice(0, cacheMarks === 'none' ? given.length : -mostMarks);
  for (const block of over) delete block.cache_control;
  if (over.length > 0 && cacheMarks !== 'none') dropped?.add('cache_control', `at most ${mostMarks} are accepted: the last ones are sent`);
  // Marks that have no place, as in turns of a session, leave the wish to cache.
  const cache = given.length === 0 && cacheMarks !== 'none' ? settings.cache : undefined;
  const [latest, before] = offered.length > 0 || cache !== undefined ? ends : [];
  let free = cacheMarks === 'automatic' || cache !== undefined ? mostMarks - given.length : 0;
  for (const place of [latest, system, before, tools]) {
    const block = free > 0 ? place?.() : undefined;
    if (block === undefined || isMarked(block)) continue;
    Object.assign(block, markOf({ cache: cache ?? '5m' }));
    free -= 1;
  }
  orderMarks(blocks(), cacheMarks);
}

/** "1-hour entries must appear before 5-minute ones": what is before a mark is cached for as long as that, in any case. */
function orderMarks(blocks: readonly Json[], cacheMarks: Profile['cacheMarks']): void {
  let isHour = false;
  for (const block of blocks.filter(isMarked).reverse()) {
    isHour ||= recordOf(block.cache_control).ttl === '1h';
    if (isHour) Object.assign(block, markOf({ cache: '1h' }));
    if (cacheMarks !== 'breakpoint') continue;
    // Without a lifetime, that of the request.
    block.prompt_cache_breakpoint = { mode: 'explicit', ...(isHour && { ttl: '12h' }) };
    delete block.cache_control;
  }
}

function isMarked({ cache_control: mark }: Json): boolean {
  return mark !== undefined;
}
