/**
 * Converts a neutral request to the body of Anthropic's Messages API: settings, tools and thinking. `messages.ts` converts messages,
 * `reply.ts` reads the reply. Thinking differs by generation (data in the rows below): a token budget up to Claude 4.5, `adaptive` with an
 * effort since 4.6. Sources: API reference "Create a Message", the guides "Tool use", "Prompt caching", "Structured outputs", "Thinking",
 * "Extended thinking" and "Effort", "What's new" of Claude Opus 5, Opus 5.5 and Sonnet 5.5, and the types of @anthropic-ai/sdk 1.12.
 */
import type { ModelSettings } from '../../core/model/model-settings.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { wireOf } from '../../core/model/wire-settings.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { legalTurns, type Turn, toTurns, textBlock, thinkingTypes } from './messages.ts';
import { markOf, settleMarks } from '../content/cache-marks.ts';
import { splitSystem } from '../content/place-system.ts';
import {
  budgetTokens,
  compiledFormat,
  supportedSettings,
  effortLevel,
  type RequestedReasoning,
  requestedReasoning,
  sentAs,
} from '../supported-settings.ts';
import { messagesSearch } from '../web-search.ts';
import { offerTools } from '../tool-definitions.ts';
import { type Json, recordOf } from '../../core/json/wire-value.ts';
import type { ProfileRow } from '../adapter.ts';

/** Returns the body of a streamed request. */
export function toMessagesBody(request: ChatRequest, profile: Profile): Json {
  const { model } = request;
  const offered = offerTools(request, profile);
  const settings = supportedSettings(request, profile, wireOf(request.access.kind), offered.tools.length > 0);
  const { system: texts, rest } = splitSystem(request.messages);
  const turns = toTurns(request, rest, profile);
  const thinking = chooseThinking(settings, request, profile, turns);
  // A prefilled assistant message is rejected with thinking, and by models with adaptive thinking.
  const messages = legalTurns(turns, { canContinue: profile.reasoning !== 'adaptive' && !thinking.on, request });
  const tools = offered.tools.length > 0 ? offered.tools : toolsOf(messages);
  const body: Json = {
    model,
    max_tokens: thinking.maxTokens,
    messages,
    stream: request.whole !== true,
  };
  const system = texts.flatMap((part) => textBlock(part.text, part));
  if (system.length > 0) body.system = system;
  const toolBlocks = tools.map(toTool);
  const blocks = [...toolBlocks, ...system, ...messages.flatMap(({ content }) => content)];
  const ends = messages
    .filter(({ role }) => role === 'user')
    .map(
      ({ content }) =>
        () =>
          content.at(-1),
    );
  settleMarks(
    { blocks: () => blocks, ends: ends.reverse(), system: () => system.at(-1), tools: () => toolBlocks.at(-1) },
    request,
    profile,
  );
  if (settings.webSearch !== undefined) body.tools = [...toolBlocks, messagesSearch(settings.webSearch)];
  if (tools.length > 0) {
    body.tools ??= toolBlocks;
    const toolChoice = offered.tools.length > 0 ? offered.toolChoice : 'none';
    // Rejected together with thinking: "Thinking may not be enabled when tool_choice forces tool use".
    const isForced = toolChoice !== 'auto' && toolChoice !== 'none';
    if (isForced && thinking.on) request.dropped?.setting('toolChoice', 'not accepted with thinking');
    const choice = toToolChoice(isForced && thinking.on ? 'auto' : toolChoice, settings.parallelToolCalls);
    if (choice !== null) body.tool_choice = choice;
  }
  Object.assign(body, thinking.fields);
  const schema = compiledFormat(request, 'anthropic-strict')?.schema;
  if (schema) body.output_config = { ...recordOf(body.output_config), format: { type: 'json_schema', schema } };
  if (!thinking.on) addSampling(settings, request, body);
  else for (const name of samplingSettings) if (settings[name] !== undefined) request.dropped?.setting(name, 'not accepted with thinking');
  addService(settings, request, body);
  return body;
}

function toTool({ name, description, inputSchema, strict, ...mark }: OfferedTool): Json {
  const tool: Json = { name, input_schema: { ...inputSchema, type: 'object' } };
  if (description !== '') tool.description = description;
  if (strict === true) tool.strict = true;
  return Object.assign(tool, markOf(mark));
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

const samplingSettings = ['temperature', 'topP', 'topK'] as const;

/** A sequence of blanks is rejected. Of the tiers, only the standard one can be asked for. */
function addService({ stop = [], user, serviceTier }: ModelSettings, { dropped }: ChatRequest, body: Json): void {
  const sequences = stop.filter((sequence) => sequence.trim() !== '');
  for (const [index, sequence] of stop.entries())
    if (sequence.trim() === '') dropped?.setting('stop', 'blanks are not accepted', `[${index}]`);
  if (sequences.length > 0) body.stop_sequences = sequences;
  if (user !== undefined) body.metadata = { user_id: user };
  if (serviceTier === 'flex') dropped?.setting('serviceTier', 'the API has no such tier');
  else if (serviceTier !== undefined) body.service_tier = serviceTier === 'default' ? 'standard_only' : 'auto';
}

/** The range ends at 1; models since Claude Opus 4.1 reject `top_p` next to it (guide "Migrating to Claude 4.5"). */
function addSampling({ temperature, topP, topK }: ModelSettings, { dropped }: Pick<ChatRequest, 'dropped'>, body: Json): void {
  if (temperature !== undefined && topP !== undefined) dropped?.setting('topP', 'not accepted next to a temperature');
  if (temperature !== undefined) body.temperature = sentAs('temperature', temperature, Math.min(temperature, 1), { dropped });
  else if (topP !== undefined) body.top_p = topP;
  if (topK !== undefined) body.top_k = topK;
}

/** `on`: thinking was requested, which excludes some other settings. `maxTokens` includes thinking. */
type Thinking = { on: boolean; maxTokens: number; fields: Json };

function chooseThinking(settings: ModelSettings, { dropped }: ChatRequest, profile: Profile, turns: readonly Turn[]): Thinking {
  const maxTokens = settings.maxOutputTokens ?? profile.defaultMaxTokens ?? leastMaxTokens;
  const off: Thinking = { on: false, maxTokens, fields: {} };
  const asked = { settings, dropped };
  const reasoning = requestedReasoning(settings);
  if (reasoning === null || profile.reasoning === 'none') return off;
  switch (profile.reasoning) {
    case 'effort':
      return reasoning === 'off' && profile.minReasoningBudget === 0 ? off : { ...off, fields: toEffort(reasoning, profile, asked) };
    case 'adaptive': {
      // Requests readable thinking; by default the newest models return only a signature.
      if (reasoning !== 'off') {
        return {
          on: true,
          maxTokens,
          fields: { thinking: { type: 'adaptive', display: 'summarized' }, ...toEffort(reasoning, profile, asked) },
        };
      }
      const canBeOff = profile.minReasoningBudget === 0;
      return { ...off, fields: canBeOff ? { thinking: { type: 'disabled' } } : toEffort(reasoning, profile, asked) };
    }
    case 'budget': {
      if (reasoning === 'off') return off;
      if (!canThink(turns)) {
        for (const name of ['reasoningEffort', 'reasoningBudget'] as const)
          if (settings[name] !== undefined) dropped?.setting(name, 'the calls of this turn were made without thinking');
        return off;
      }
      const wanted = budgetTokens(reasoning, effortBudgets, asked) ?? mediumBudget;
      const budget = sentAs('reasoningBudget', wanted, Math.max(leastBudget, wanted), asked);
      // If both do not fit, the requested output limit is added to the budget.
      const limit = maxTokens > budget ? maxTokens : maxTokens + budget;
      if (settings.maxOutputTokens !== undefined) sentAs('maxOutputTokens', maxTokens, limit, asked);
      return { on: true, maxTokens: limit, fields: { thinking: { type: 'enabled', budget_tokens: budget } } };
    }
    default:
      return profile.reasoning satisfies never;
  }
}

/** The field is required, and every model supports this value. */
const leastMaxTokens = 4096;
const leastBudget = 1024;
const mediumBudget = 8192;
/** Tokens by effort; an unknown effort counts as `medium`. */
const effortBudgets: Readonly<Record<string, number>> = {
  minimal: leastBudget,
  low: 2048,
  medium: mediumBudget,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

/** These models have no token budget. */
function toEffort(reasoning: RequestedReasoning, { efforts }: Profile, asked: Pick<ChatRequest, 'settings' | 'dropped'>): Json {
  return { output_config: { effort: effortLevel(reasoning, efforts, asked) } };
}

/**
 * With a budget, the turn that began the current tool loop must begin with thinking of this model. After a model change within the loop it
 * does not; then this step runs without thinking, since the API would reject it ("a final assistant message must start with a thinking
 * block", BerriAI/litellm#9020). Adaptive thinking has no such rule.
 */
function canThink(turns: readonly Turn[]): boolean {
  let first: Turn | undefined;
  let inLoop = false;
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at] as Turn;
    if (turn.role === 'assistant') first = turn;
    else if (turn.content[0]?.type === 'tool_result') inLoop = true;
    else break;
  }
  return !inLoop || thinkingTypes.has(first?.content[0]?.type ?? '');
}

export const anthropicRows: readonly ProfileRow[] = [
  {
    kind: 'anthropic',
    host: 'api.anthropic.com',
    because: 'clients were written for its format; other servers of the same API only resemble it (reference §8.1 to §8.5)',
    profile: { exact: true, webSearch: true },
  },
  {
    kind: 'anthropic',
    because:
      'max_tokens is required; ids match ^[a-zA-Z0-9_-]+$ with 64 characters at most; a tool schema has no oneOf, anyOf or allOf at its top',
    profile: {
      schemas: 'anthropic',
      maxCallIdLength: 64,
      defaultMaxTokens: 8192,
      jsonMode: false,
      outputSchema: false,
      reasoning: 'budget',
      imagesInResults: true,
      files: ['pdf', 'url'],
      systemPlace: 'first',
      cacheMarks: 'automatic',
    },
  },
  {
    kind: 'anthropic',
    model: /claude-(2|instant|3-(opus|sonnet|haiku))/i,
    because: 'says 4,096 tokens at most, and does not think (models overview)',
    profile: { defaultMaxTokens: 4096, reasoning: 'none' },
  },
  { kind: 'anthropic', model: /claude-3[-.]5-/i, because: 'does not think', profile: { reasoning: 'none' } },
  {
    kind: 'anthropic',
    model: /claude-(3[-.]7-|(sonnet|haiku)-4)/i,
    because: '64,000 output tokens (models overview)',
    profile: { defaultMaxTokens: 64_000 },
  },
  {
    kind: 'anthropic',
    model: /claude-opus-4/i,
    because: '32,000 output tokens and more (models overview)',
    profile: { defaultMaxTokens: 32_000 },
  },
  {
    kind: 'anthropic',
    model: /claude-(opus-4[-.]1|[a-z]+-4[-.][5-9]|[a-z]+-[5-9])(?!\d)|claude-mythos/i,
    because: 'enforces schemas of answers and of tools (guide "Structured outputs")',
    profile: { outputSchema: true, strictTools: true },
  },
  {
    kind: 'anthropic',
    model: /claude-[a-z]+-(4[-.][6-9]|[5-9])(?!\d)|claude-mythos/i,
    because: 'budget_tokens is deprecated in 4.6 and refused since 4.7: adaptive with an effort (guides "Thinking", "Effort")',
    profile: { reasoning: 'adaptive', efforts: ['low', 'medium', 'high', 'xhigh', 'max'], defaultMaxTokens: 32_000 },
  },
  {
    kind: 'anthropic',
    model: /claude-[a-z]+-(4[-.][89]|[5-9])(?!\d)|claude-mythos/i,
    because:
      "takes system messages behind user messages (What's new in Claude Opus 4.8; earlier: \"role 'system' is not supported on this model\")",
    profile: { systemPlace: 'afterUser' },
  },
  {
    kind: 'anthropic',
    model: /claude-(opus|sonnet)-4[-.]6(?!\d)/i,
    because: 'no effort xhigh (guide "Effort")',
    profile: { efforts: ['low', 'medium', 'high', 'max'] },
  },
  {
    kind: 'anthropic',
    model: /claude-[a-z]+-(4[-.][7-9]|[5-9])(?!\d)|claude-mythos/i,
    because:
      '"`temperature` is deprecated for this model", and so are top_p and top_k (Comfy-Org/ComfyUI#13923, NousResearch/hermes-agent#11137)',
    profile: { noSampling: true },
  },
  {
    kind: 'anthropic',
    model: /claude-(fable|mythos)-|claude-(opus|sonnet)-(5[-.][5-9]|[6-9])(?!\d)/i,
    because: '"thinking.type.disabled" and a forced tool_choice are refused (What\'s new in Claude Opus 5.5, in Claude Sonnet 5.5)',
    profile: { minReasoningBudget: 1024, toolChoice: 'auto' },
  },
  {
    kind: 'anthropic',
    model: /claude-[a-z]+-(5[-.][1-9]|[6-9])(?!\d)/i,
    because:
      '"The block is bound to a different conversation": a thinking block behind another system text, tool list or earlier message is a 400 (anomalyco/opencode#48637)',
    profile: { boundReasoning: true },
  },
];
