/**
 * Converts a neutral request to the body of Ollama's own chat API. `reply.ts` reads the reply. Source: ollama/ollama, `docs/api.md`
 * ("Generate a chat completion"), `api/types.go` (`ChatRequest`, `Message`, `Options`) and `server/routes.go`, revision fb307609.
 */
import type { InputPart, ToolResultPart } from '../../core/model/message.ts';
import { markedContent } from '../../core/tools/tool.ts';
import type { ModelSettings } from '../../core/model/model-settings.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import type { ProfileRow } from '../adapter.ts';
import { createCallIds, historyInput, historyName } from '../history-calls.ts';
import { inlineImage, shownInput, splitResult, takesInResult, takesMedia } from '../content/input-media.ts';
import { type Assistant, isNativeMessage } from '../native-parts.ts';
import { effortLevel, requestedFormat, requestedReasoning, supportedSettings } from '../supported-settings.ts';
import { offerTools } from '../tool-definitions.ts';
import type { Json } from '../../core/json/wire-value.ts';

/** Returns the body of a streamed or unstreamed request. */
export function toOllamaBody(request: ChatRequest, profile: Profile): Json {
  const { tools } = offerTools(request, profile);
  const settings = supportedSettings(request, profile, 'ollama', tools.length > 0);
  const body: Json = { model: request.model, messages: toMessages(request, profile), stream: request.whole !== true };
  if (tools.length > 0) body.tools = tools.map(toTool);
  // Otherwise the oldest messages are left out without a word where the prompt, or what is written, exceeds the context.
  body.truncate = false;
  body.shift = false;
  const think = toThink({ settings, dropped: request.dropped }, profile);
  if (think !== null) body.think = think;
  const format = requestedFormat(settings);
  if (format !== null) body.format = format.schema ?? 'json';
  if (profile.keepAlive !== null) body.keep_alive = profile.keepAlive;
  const options = toOptions(settings, profile);
  if (Object.keys(options).length > 0) body.options = options;
  return body;
}

function toTool({ name, description, inputSchema }: OfferedTool): Json {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function toOptions(settings: ModelSettings, { contextTokens }: Profile): Json {
  const { maxOutputTokens, temperature, topP, topK, seed, stop, frequencyPenalty, presencePenalty } = settings;
  const options: Json = {};
  if (contextTokens !== null) options.num_ctx = contextTokens;
  if (maxOutputTokens !== undefined) options.num_predict = maxOutputTokens;
  if (temperature !== undefined) options.temperature = temperature;
  if (topP !== undefined) options.top_p = topP;
  if (topK !== undefined) options.top_k = topK;
  if (seed !== undefined) options.seed = seed;
  if (stop !== undefined) options.stop = stop;
  if (frequencyPenalty !== undefined) options.frequency_penalty = frequencyPenalty;
  if (presencePenalty !== undefined) options.presence_penalty = presencePenalty;
  return options;
}

/** null: the setting is omitted; then models that can think do. */
function toThink(asked: Pick<ChatRequest, 'settings' | 'dropped'>, profile: Profile): boolean | string | null {
  const reasoning = requestedReasoning(asked.settings);
  if (reasoning === null || profile.reasoning === 'none') return null;
  const effort = effortLevel(reasoning, profile.efforts, asked);
  return effort === 'none' ? false : effort;
}

function toMessages(request: ChatRequest, profile: Profile): Json[] {
  const idOf = createCallIds(request.messages, request.access.name, profile);
  return request.messages.flatMap((message): Json[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.parts.map((part) => part.text).join('\n\n') }];
      case 'user':
        return [toUser(message.parts, request, profile)];
      case 'assistant':
        return toAssistant(message, request, idOf);
      case 'tool':
        return toResults(message.parts, request, profile, idOf);
      default:
        return message satisfies never;
    }
  });
}

/** Images are bare base64 beside the text; a URL is not loaded. */
function toUser(parts: readonly InputPart[], request: ChatRequest, profile: Profile): Json {
  const shown = shownInput(parts, request, (part) => takesMedia(part, profile, 'ollama'), []);
  const images = imagesIn(shown);
  const content = shown.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n\n');
  return { role: 'user', content, ...(images.length > 0 && { images }) };
}

function imagesIn(parts: readonly InputPart[]): string[] {
  return parts.flatMap((part) => (part.type === 'image' ? (inlineImage(part)?.data ?? []) : []));
}

/** Thoughts go back to the model that had them: templates of models with tools show those of the current turn. */
function toAssistant(message: Assistant, request: ChatRequest, idOf: (callId: string) => string): Json[] {
  const textOf = (type: 'text' | 'reasoning'): string => message.parts.map((part) => (part.type === type ? part.text : '')).join('');
  const content = textOf('text');
  const thinking = isNativeMessage(message, request) ? textOf('reasoning') : '';
  const calls = message.parts.filter((part) => part.type === 'tool-call');
  if (content === '' && calls.length === 0) return [];
  const toolCalls = calls.map((call, index) => ({
    id: idOf(call.callId),
    type: 'function',
    function: { index, name: historyName(call.requested), arguments: historyInput(call) },
  }));
  return [{ role: 'assistant', content, ...(thinking !== '' && { thinking }), ...(toolCalls.length > 0 && { tool_calls: toolCalls }) }];
}

/** A result is text; images follow in a user message, for models that see them there. */
function toResults(parts: readonly ToolResultPart[], request: ChatRequest, profile: Profile, idOf: (callId: string) => string): Json[] {
  const results = parts.map((part) => {
    const name = historyName(part.requested);
    const { text, behind } = splitResult(markedContent(part), request, (found) => takesInResult(found, profile, 'ollama'));
    return { name, images: imagesIn(behind), message: { role: 'tool', tool_name: name, tool_call_id: idOf(part.callId), content: text } };
  });
  const shown = results.filter(({ images }) => images.length > 0);
  const messages: Json[] = results.map(({ message }) => message);
  if (shown.length === 0) return messages;
  const content = `[From the result of ${shown.map(({ name }) => name).join(', ')}:]`;
  return [...messages, { role: 'user', content, images: shown.flatMap(({ images }) => images) }];
}

export const ollamaRows: readonly ProfileRow[] = [
  {
    kind: 'ollama',
    because:
      'no tool_choice and no parallel_tool_calls (`ChatRequest`); of a tool, `ToolProperty` keeps few keywords; `format` constrains all that the model writes, also its calls (docs/api.md)',
    profile: {
      schemas: 'ollama',
      toolChoice: 'absent',
      parallelToolCalls: false,
      formatWithTools: false,
      efforts: ['none', 'low', 'medium', 'high', 'max'],
    },
  },
  {
    kind: 'ollama',
    model: /gpt-oss/i,
    because: 'its thinking has three levels and cannot be switched off (docs/capabilities/thinking.mdx)',
    profile: { efforts: ['low', 'medium', 'high'] },
  },
  {
    kind: 'ollama',
    model:
      /^([\w.-]+\/)*(llama|codellama|gemma[23]?(:|$)|codegemma|mistral|mixtral|codestral|devstral|phi[34]?(:|$|-mini(:|$))|qwen2|command-r|llava|granite-code)/i,
    because: 'a think that is not false is a 400 "does not support thinking" (`ChatHandler`; library without the tag "thinking")',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'ollama',
    model: /^(gemma[23]?|llama2|llama3|codellama|vicuna|phi3|deepseek-r1)(:|$)/i,
    because: '"does not support tools" is a 400 (ollama/ollama#5793, #15023, #15602)',
    profile: { protocol: 'text' },
  },
];
