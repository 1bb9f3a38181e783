/**
 * Converts a neutral request to the body of Anthropic's Messages API: settings and tools. `messages.ts` converts messages,
 * `thinking.ts` thinking; `reply.ts` reads the reply. Sources: API reference "Create a Message", the guides "Tool use",
 * "Prompt caching" and "Structured outputs", and the types of @anthropic-ai/sdk 1.12.
 */
import type { Message } from '../../core/turn/message.ts';
import type { ModelSettings } from '../../core/turn/plan.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { chooseThinking } from './thinking.ts';
import { type RequestBlock, legalTurns, type Turn, toTurns } from './messages.ts';
import { requestedFormat, supportedSettings } from '../supported-settings.ts';
import { offerTools } from '../tool-definitions.ts';
import { type Json, recordOf } from '../../core/json/wire-value.ts';

/** Returns the body of a streamed request. */
export function toMessagesBody(request: ChatRequest, profile: Profile): Json {
  const { model } = request;
  const offered = offerTools(request, profile);
  const settings = supportedSettings(request.settings, profile, offered.tools.length > 0);
  const turns = toTurns(request, profile);
  const thinking = chooseThinking(settings, profile, turns);
  // A prefilled assistant message is rejected with thinking, and by models with adaptive thinking.
  const messages = legalTurns(turns, { canContinue: profile.reasoning !== 'adaptive' && !thinking.on });
  const tools = offered.tools.length > 0 ? offered.tools : toolsOf(messages);
  const body: Json = {
    model,
    max_tokens: thinking.maxTokens,
    messages: offered.tools.length > 0 ? marked(messages) : messages,
    stream: request.whole !== true,
  };
  const system = toSystem(request.messages);
  if (system.length > 0) body.system = system;
  if (tools.length > 0) {
    body.tools = tools.map((tool, index) => toTool(tool, index === tools.length - 1));
    const toolChoice = offered.tools.length > 0 ? offered.toolChoice : 'none';
    // Rejected together with thinking: "Thinking may not be enabled when tool_choice forces tool use".
    const isForced = toolChoice !== 'auto' && toolChoice !== 'none';
    const choice = toToolChoice(isForced && thinking.on ? 'auto' : toolChoice, settings.parallelToolCalls);
    if (choice !== null) body.tool_choice = choice;
  }
  Object.assign(body, thinking.fields);
  // OpenAI's JSON mode has no counterpart, but a schema does.
  const schema = requestedFormat(settings)?.schema;
  if (schema) body.output_config = { ...recordOf(body.output_config), format: { type: 'json_schema', schema } };
  if (!thinking.on) addSampling(settings, body);
  // A sequence of blanks is rejected.
  const stop = settings.stop?.filter((sequence) => sequence.trim() !== '') ?? [];
  if (stop.length > 0) body.stop_sequences = stop;
  return body;
}

/**
 * Marks the end of the prefix that all steps of an agent share (tools first, then system text, in the API's order), so that a tool loop
 * does not pay for it in full at each step. A prefix that is too short for caching is not affected.
 */
const cacheMark = { cache_control: { type: 'ephemeral' } };

function toSystem(messages: readonly Message[]): RequestBlock[] {
  const texts = messages.flatMap((message) => (message.role === 'system' ? message.parts.map((part) => part.text) : []));
  const blocks: RequestBlock[] = texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text }));
  const last = blocks.pop();
  return last === undefined ? [] : [...blocks, { ...last, ...cacheMark }];
}

/**
 * With tools, the last two user turns are marked, so that the next step finds what this one wrote. Two, because the cache lookback is 20
 * blocks, and parallel results may have more. So a request has four marks, the maximum (guide "Prompt caching"; the same places in
 * microsoft/vscode#315505).
 */
function marked(turns: readonly Turn[]): Turn[] {
  const latest = turns.filter(({ role }) => role === 'user').slice(-2);
  return turns.map((turn) => {
    const last = turn.content.at(-1);
    return last !== undefined && latest.includes(turn)
      ? { ...turn, content: [...turn.content.slice(0, -1), { ...last, ...cacheMark }] }
      : turn;
  });
}

function toTool({ name, description, inputSchema }: OfferedTool, isLast: boolean): Json {
  const tool: Json = { name, input_schema: { ...inputSchema, type: 'object' } };
  if (description !== '') tool.description = description;
  return isLast ? { ...tool, ...cacheMark } : tool;
}

/** A history with calls is rejected if no tools are declared, so the tools that it names are declared. */
function toolsOf(messages: readonly Turn[]): OfferedTool[] {
  const names = new Set<string>();
  for (const { content } of messages) for (const block of content) if (block.type === 'tool_use') names.add(String(block.name));
  return [...names].map((name) => ({ name, description: '', inputSchema: { type: 'object' } }));
}

/** null: the API's default. */
function toToolChoice(choice: ChatRequest['toolChoice'], parallel: boolean | undefined): Json | null {
  const single = parallel === false ? { disable_parallel_tool_use: true } : null;
  if (choice === 'none') return { type: 'none' };
  if (choice === 'auto') return single && { type: 'auto', ...single };
  if (choice === 'required') return { type: 'any', ...single };
  return { type: 'tool', name: choice.tool, ...single };
}

/** The range ends at 1; models since Claude Opus 4.1 reject `top_p` next to it (guide "Migrating to Claude 4.5"). */
function addSampling({ temperature, topP, topK }: ModelSettings, body: Json): void {
  if (temperature !== undefined) body.temperature = Math.min(temperature, 1);
  else if (topP !== undefined) body.top_p = topP;
  if (topK !== undefined) body.top_k = topK;
}
