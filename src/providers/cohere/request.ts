/**
 * Converts a neutral request to the body of Cohere's Chat v2. `reply.ts` reads the reply and defines what must be returned. Sources: API
 * reference "Chat" (v2) with its limits (`stop_sequences` 5, `p` 0.01–0.99, `k` 0–500, penalties 0–1), the guides "Tool use" and
 * "Reasoning", and vercel/ai#5794 for the rules about assistant messages with calls.
 */
import { createCallIds, historyArguments, historyName } from '../history-calls.ts';
import type { AssistantPart, ToolResultPart } from '../../core/model/message.ts';
import { markedContent } from '../../core/tools/tool.ts';
import type { ModelSettings } from '../../core/model/model-settings.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { chatContent, chatPart, splitResult, takesMedia } from '../content/input-media.ts';
import { askToContinue } from '../content/place-system.ts';
import { type Assistant, isNativePart, reportReasoning } from '../native-parts.ts';
import { budgetTokens, compiledFormat, requestedReasoning, sentAs, supportedSettings } from '../supported-settings.ts';
import { offerTools } from '../tool-definitions.ts';
import { isRecord, type Json } from '../../core/json/wire-value.ts';
import type { ProfileRow } from '../adapter.ts';

/**
 * Follows reasoning and names its field on the wire: `tool_plan` of the message, or a block of its content. The text itself is stored once.
 */
export type ReasoningMark = { api: 'cohere'; field: ReasoningField };
export type ReasoningField = 'tool_plan' | 'thinking';

/** Returns the body of a streamed request. */
export function toCohereBody(request: ChatRequest, profile: Profile): Json {
  const { model } = request;
  const { tools, toolChoice } = offerTools(request, profile);
  const settings = supportedSettings(request, profile, 'cohere', tools.length > 0);
  const thinking = toThinking(settings, request, profile);
  const body: Json = { model, messages: toMessages(request, profile, thinking?.type !== 'disabled'), stream: request.whole !== true };
  // An empty list is rejected, and so is a choice without tools.
  if (tools.length > 0) {
    body.tools = tools.map(toTool);
    if (toolChoice === 'required' || toolChoice === 'none') body.tool_choice = toolChoice.toUpperCase();
  }
  if (thinking !== null) body.thinking = thinking;
  addSettings(settings, request, body);
  return body;
}

function toTool({ name, description, inputSchema }: OfferedTool): Json {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function addSettings(settings: ModelSettings, request: ChatRequest, body: Json): void {
  const { maxOutputTokens, stop, seed, temperature, topP, topK } = settings;
  if (maxOutputTokens !== undefined) body.max_tokens = maxOutputTokens;
  if (stop !== undefined) body.stop_sequences = stop;
  if (seed !== undefined) body.seed = seed;
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.p = sentAs('topP', topP, between(0.01, topP, 0.99), request);
  if (topK !== undefined) body.k = sentAs('topK', topK, between(0, topK, 500), request);
  for (const [name, field] of penalties) {
    const penalty = settings[name];
    if (penalty !== undefined) body[field] = sentAs(name, penalty, between(0, penalty, 1), request);
  }
  const format = compiledFormat(request, 'cohere');
  if (format !== null) body.response_format = { type: 'json_object', ...(format.schema !== null && { json_schema: format.schema }) };
}

const penalties = [
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
] as const;

function between(least: number, value: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

type Thinking = { type: 'enabled' | 'disabled'; token_budget?: number };

/** Tokens by effort. `high` and what is above it have no limit, which is Cohere's default. */
const effortBudgets: Readonly<Record<string, number>> = {
  ...{ minimal: 512, low: 2048, medium: 8192 },
  ...{ high: Number.POSITIVE_INFINITY, xhigh: Number.POSITIVE_INFINITY, max: Number.POSITIVE_INFINITY },
};

/** null: the setting is omitted. */
function toThinking(settings: ModelSettings, request: ChatRequest, profile: Profile): Thinking | null {
  const reasoning = requestedReasoning(settings);
  if (reasoning === null || profile.reasoning === 'none') return null;
  if (reasoning === 'off') return { type: 'disabled' };
  const budget = budgetTokens(reasoning, effortBudgets, request);
  return { type: 'enabled', ...(budget !== undefined && budget !== Number.POSITIVE_INFINITY && { token_budget: budget }) };
}

function toMessages(request: ChatRequest, profile: Profile, thinks: boolean): Json[] {
  const idOf = createCallIds(request.messages, request.access.name, profile);
  const messages = request.messages.flatMap((message): Json[] => {
    switch (message.role) {
      case 'system':
        return unlessEmpty({ role: 'system', content: message.parts.map((part) => part.text).join('\n\n') });
      case 'user':
        return unlessEmpty({ role: 'user', content: chatContent(message.parts, request, profile, 'cohere') });
      case 'assistant':
        return toAssistant(message, request, { idOf, thinks: thinks && profile.reasoning !== 'none' });
      case 'tool':
        // One message per result, in call order. A tool message contains text or documents only; images follow.
        return toResults(message.parts, request, profile, idOf);
      default:
        return message satisfies never;
    }
  });
  // The last message must be of the user or a tool (API reference, `messages`).
  const last = messages.at(-1)?.role;
  if (last === 'user' || last === 'tool') return messages;
  return [...messages, { role: 'user', content: last === 'assistant' ? askToContinue(request) : beginning }];
}

/** Behind system messages alone. */
const beginning = '(The conversation begins here.)';

function toResults(parts: readonly ToolResultPart[], request: ChatRequest, profile: Profile, idOf: (callId: string) => string): Json[] {
  const results = parts.map((part) => ({
    id: idOf(part.callId),
    ...splitResult(markedContent(part), request, (found) => takesMedia(found, profile, 'cohere')),
  }));
  const media = results.flatMap(({ behind }) => behind).map(chatPart);
  const messages = results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text || '(no output)' }));
  return [...messages, ...unlessEmpty({ role: 'user', content: media })];
}

/** Returns nothing for a message without content, which is rejected. */
function unlessEmpty<Content extends string | Json[]>(message: { role: string; content: Content }): Json[] {
  return message.content.length === 0 ? [] : [message];
}

/**
 * Text next to calls is rejected ("text content is not allowed when tool_calls are provided", vercel/ai#5794): it becomes the plan, or
 * thinking if thinking is enabled. So another model's text before its calls becomes the plan.
 */
function toAssistant(
  message: Assistant,
  request: ChatRequest,
  { idOf, thinks }: { idOf: (callId: string) => string; thinks: boolean },
): Json[] {
  const calls = message.parts.filter((part) => part.type === 'tool-call');
  const content: Json[] = [];
  const plan: string[] = [];
  for (const [at, part] of message.parts.entries()) {
    if (part.type === 'text' && part.text !== '') {
      if (calls.length > 0) plan.push(part.text);
      else content.push({ type: 'text', text: part.text });
    } else if (part.type === 'reasoning') {
      const field = fieldOf(message, at, request);
      if (field === 'thinking' && thinks) content.push({ type: 'thinking', thinking: part.text });
      else if (field !== null) plan.push(part.text);
      else reportReasoning(message, request, false);
    }
  }
  if (calls.length > 0) {
    const toolCalls = calls.map((call) => ({
      id: idOf(call.callId),
      type: 'function',
      function: { name: historyName(call.requested), arguments: historyArguments(call) },
    }));
    return [
      {
        role: 'assistant',
        ...(plan.length > 0 && { tool_plan: plan.join('\n\n') }),
        ...(content.length > 0 && { content }),
        tool_calls: toolCalls,
      },
    ];
  }
  // A plan without calls is not valid, and neither is a message of thoughts only.
  const texts = content.filter((block) => block.type === 'text');
  if (texts.length === 0) return [];
  return [{ role: 'assistant', content: texts.length < content.length ? content : texts.map((block) => block.text).join('') }];
}

/** Returns the wire field of the reasoning at this index; null: another model's reasoning, which is not sent. */
function fieldOf(message: Assistant, at: number, request: ChatRequest): ReasoningField | null {
  const mark: AssistantPart | undefined = message.parts[at + 1];
  if (mark?.type === 'native' && isNativePart(mark, message, request) && isRecord(mark.data) && mark.data.api === 'cohere') {
    return mark.data.field === 'thinking' ? 'thinking' : 'tool_plan';
  }
  return message.model === `${request.access.name}/${request.model}` ? 'tool_plan' : null;
}

export const cohereRows: readonly ProfileRow[] = [
  {
    kind: 'cohere',
    because: 'tool_choice is REQUIRED or NONE, never one tool by name; response_format not together with tools (API reference, Chat v2)',
    profile: {
      schemas: 'cohere',
      toolChoice: 'required',
      maxCallIdLength: 64,
      reasoning: 'budget',
      formatWithTools: false,
      maxStops: 5,
    },
  },
  {
    kind: 'cohere',
    model: /command-(r|a-0|a-vision|a-translate|light|nightly)|aya/i,
    because: 'does not think (guide "Reasoning": command-a-reasoning and later)',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'cohere',
    model: /command-(r|a-0|a-reasoning|a-translate|light|nightly)|aya-expanse/i,
    because: 'text only (models overview: images are for command-a-vision, command-a-plus and aya-vision)',
    profile: { images: false },
  },
  {
    kind: 'cohere',
    model: /command-(r|r-plus)(-0[34]-2024|-08-2024)?$/i,
    because: 'tool_choice is for command-r7b and newer (API reference, Chat v2)',
    profile: { toolChoice: 'absent' },
  },
];
