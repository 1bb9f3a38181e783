/**
 * Shows the tools as a request to one provider would contain them. Uses the adapter itself, so the result equals what is sent. Used by `GET
 * /v1/toolsets/{toolset}/tools`.
 */
import type { ProviderAccess } from '../core/model/provider.ts';
import { defaultBaseUrl, type ProviderKind } from '../core/names/provider-kind.ts';
import { promptTool, renderPrompt } from '../core/text-protocol/tool-prompt.ts';
import type { OfferedTool } from '../ports/chat-model.ts';
import { accessFor } from './api-choice.ts';
import { profileFor } from './profiles.ts';
import { toRequestBody } from './chat-model.ts';
import { defineTools, type ToolDefinitions } from './tool-definitions.ts';
import { isRecord, type Json } from '../core/json/wire-value.ts';

export type WireToolNames = Pick<ToolDefinitions, 'changes' | 'left'> & {
  /** By tool name, in the order sent. */
  definitions: ReadonlyMap<string, Json>;
  /** If tools are described in the system text instead of definitions: that text. */
  prompt: string | null;
};

/** `model`: '' for what applies to all models of the provider. */
export function assignWireNames(given: ProviderAccess, model: string, tools: readonly OfferedTool[]): WireToolNames {
  const access = accessFor(given, model, { hasTools: true, effort: 'default' }, null);
  const profile = profileFor(access, model);
  if (profile.protocol === 'text') return toWireText(tools);
  const { tools: sent, changes, left } = defineTools(tools, profile);
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello' }] }];
  const body = toRequestBody({ access, model, messages, tools, toolChoice: 'auto', settings: {} });
  const definitions = definitionsIn(body);
  return { definitions: new Map(sent.map(({ name }, index) => [name, definitions[index] ?? {}])), changes, left, prompt: null };
}

/**
 * Tools that are sent after a search found them, a few per request. Each is shown as sent then, without the provider's limits for all tools
 * together.
 */
export function addWireNames(access: ProviderAccess, model: string, tools: readonly OfferedTool[]): WireToolNames {
  const atOnce = Math.min(profileFor(access, model).maxTools ?? toolsAtOnce, toolsAtOnce);
  const shown: WireToolNames[] = [];
  for (let start = 0; start < tools.length; start += atOnce) shown.push(assignWireNames(access, model, tools.slice(start, start + atOnce)));
  return {
    definitions: new Map(shown.flatMap(({ definitions }) => [...definitions])),
    changes: new Map(shown.flatMap(({ changes }) => [...changes])),
    left: new Map(shown.flatMap(({ left }) => [...left])),
    prompt: null,
  };
}

/** Small enough that only a tool that is too large itself is skipped (`limits.maxSchemaPartsPerRequest`). */
const toolsAtOnce = 16;

/** The text protocol: tools unchanged, described in the prompt. */
export function toWireText(tools: readonly OfferedTool[]): WireToolNames {
  const definitions = new Map(tools.map((tool) => [tool.name, promptTool(tool)]));
  return { definitions, changes: new Map(), left: new Map(), prompt: tools.length === 0 ? null : renderPrompt({ tools }) };
}

/** A provider of a kind without further settings. Never called. */
export function exampleAccess(kind: ProviderKind): ProviderAccess {
  return { name: kind, kind, baseUrl: defaultBaseUrl(kind) ?? 'https://provider.invalid/v1', headers: {}, models: [], profile: {} };
}

/** One definition per tool, in order. Gemini groups them. */
function definitionsIn(body: unknown): Json[] {
  const tools = isRecord(body) && Array.isArray(body.tools) ? body.tools.filter(isRecord) : [];
  return tools.flatMap((tool) => (Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations.filter(isRecord) : [tool]));
}
