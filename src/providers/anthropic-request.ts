/**
 * A neutral request as the body of Anthropic's Messages API: settings and tools. Its messages are `anthropic-turns.ts`, thinking is
 * `anthropic-thinking.ts`, and the reply is read in `anthropic.ts`. Sources: API reference "Create a Message", the guides "Tool use",
 * "Prompt caching" and "Structured outputs", and the types of @anthropic-ai/sdk 1.12.
 */
import type { Message } from '../core/message.ts';
import type { ModelSettings } from '../core/plan.ts';
import type { ChatRequest, OfferedTool } from '../ports/chat-model.ts';
import { chooseThinking } from './anthropic-thinking.ts';
import { type Block, legalTurns, type Turn, toTurns } from './anthropic-turns.ts';
import { profileFor } from './profiles.ts';
import { askedFormat, takenSettings } from './taken-settings.ts';
import { offerTools } from './tool-definitions.ts';
import { type Json, recordOf } from '../core/wire-value.ts';

/** The body of a streamed request. */
export function toMessagesBody(request: ChatRequest): Json {
  const { access, model } = request;
  const profile = profileFor(access, model);
  const offered = offerTools(request, profile);
  const settings = takenSettings(request.settings, profile, offered.tools.length > 0);
  const turns = toTurns(request, profile);
  const thinking = chooseThinking(settings, profile, turns);
  // A last word of the model's to go on from is refused with thinking, and by the models that think as they see fit.
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
    // Refused together with thinking: "Thinking may not be enabled when tool_choice forces tool use".
    const isForced = toolChoice !== 'auto' && toolChoice !== 'none';
    const choice = toToolChoice(isForced && thinking.on ? 'auto' : toolChoice, settings.parallelToolCalls);
    if (choice !== null) body.tool_choice = choice;
  }
  Object.assign(body, thinking.fields);
  // OpenAI's JSON mode has no counterpart; a schema has.
  const schema = askedFormat(settings)?.schema;
  if (schema) body.output_config = { ...recordOf(body.output_config), format: { type: 'json_schema', schema } };
  if (!thinking.on) addSampling(settings, body);
  // A sequence of blanks is refused.
  const stop = settings.stop?.filter((sequence) => sequence.trim() !== '') ?? [];
  if (stop.length > 0) body.stop_sequences = stop;
  return body;
}

/**
 * Marks the end of what is the same in every step of an agent (tools first, then system text: the order in which the API reads them),
 * so that a tool loop does not pay in full for it again and again. Where the prefix is too short to be kept, the mark does nothing.
 */
const cacheMark = { cache_control: { type: 'ephemeral' } };

function toSystem(messages: readonly Message[]): Block[] {
  const texts = messages.flatMap((message) => (message.role === 'system' ? message.parts.map((part) => part.text) : []));
  const blocks: Block[] = texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text }));
  const last = blocks.pop();
  return last === undefined ? [] : [...blocks, { ...last, ...cacheMark }];
}

/**
 * The last two turns of the user's are marked where there are tools: the next step of the loop finds there what this one wrote. Two,
 * because it looks back over 20 blocks at most, and parallel results are more than that. So a request has four marks, the most that
 * is allowed (guide "Prompt caching"; the same places in microsoft/vscode#315505).
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

/** History with calls is refused where no tools are declared: those it names, to be read and not to be called. */
function toolsOf(messages: readonly Turn[]): OfferedTool[] {
  const names = new Set<string>();
  for (const { content } of messages) for (const block of content) if (block.type === 'tool_use') names.add(String(block.name));
  return [...names].map((name) => ({ name, description: '', inputSchema: { type: 'object' } }));
}

/** null: the API's own default. */
function toToolChoice(choice: ChatRequest['toolChoice'], parallel: boolean | undefined): Json | null {
  const single = parallel === false ? { disable_parallel_tool_use: true } : null;
  if (choice === 'none') return { type: 'none' };
  if (choice === 'auto') return single && { type: 'auto', ...single };
  if (choice === 'required') return { type: 'any', ...single };
  return { type: 'tool', name: choice.tool, ...single };
}

/** Its range ends at 1; models since Claude Opus 4.1 refuse `top_p` beside it (guide "Migrating to Claude 4.5"). */
function addSampling({ temperature, topP, topK }: ModelSettings, body: Json): void {
  if (temperature !== undefined) body.temperature = Math.min(temperature, 1);
  else if (topP !== undefined) body.top_p = topP;
  if (topK !== undefined) body.top_k = topK;
}
