/**
 * Tools as a request to one provider would hold them, for who wants to see it before it is sent: asked of the adapter itself, so that
 * what is shown is what goes. Used by `GET /v1/toolsets/{toolset}/tools`.
 */
import type { ProviderAccess } from '../core/provider.ts';
import { defaultBaseUrl, type ProviderKind } from '../core/provider-kind.ts';
import { promptTool, renderPrompt } from '../core/text-calls/text-tool-prompt.ts';
import type { OfferedTool } from '../ports/chat-model.ts';
import { profileFor } from './profiles.ts';
import { adapterFor } from './registry.ts';
import { defineTools, type ToolChange } from './tool-definitions.ts';
import { isRecord, type Json } from '../core/wire-value.ts';

export type ShownTools = {
  /** By tool name, in the order sent. */
  definitions: ReadonlyMap<string, Json>;
  changes: ReadonlyMap<string, readonly ToolChange[]>;
  /** Not sent: by tool name, why. */
  left: ReadonlyMap<string, string>;
  /** Where tools are told in the system text and not as definitions: the block of it. */
  prompt: string | null;
};

/** `model`: '' for what holds for all of the provider's. */
export function showTools(access: ProviderAccess, model: string, tools: readonly OfferedTool[]): ShownTools {
  const profile = profileFor(access, model);
  if (profile.protocol === 'text') return showText(tools);
  const { tools: sent, changes, left } = defineTools(tools, profile);
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello' }] }];
  const body = adapterFor(access.kind).toBody({ access, model, messages, tools, toolChoice: 'auto', settings: {} });
  const told = toldIn(body);
  return { definitions: new Map(sent.map(({ name }, index) => [name, told[index] ?? {}])), changes, left, prompt: null };
}

/**
 * Tools that are sent once they were found, a few in any request: each as it goes then, whatever the provider takes of all of them
 * at once.
 */
export function showLaterTools(access: ProviderAccess, model: string, tools: readonly OfferedTool[]): ShownTools {
  const atOnce = Math.min(profileFor(access, model).maxTools ?? toolsAtOnce, toolsAtOnce);
  const shown: ShownTools[] = [];
  for (let start = 0; start < tools.length; start += atOnce) shown.push(showTools(access, model, tools.slice(start, start + atOnce)));
  return {
    definitions: new Map(shown.flatMap(({ definitions }) => [...definitions])),
    changes: new Map(shown.flatMap(({ changes }) => [...changes])),
    left: new Map(shown.flatMap(({ left }) => [...left])),
    prompt: null,
  };
}

/** Small enough that none is left out for the size of the others (`limits.maxSchemaPartsPerRequest`) but for one that is too large itself. */
const toolsAtOnce = 16;

/** The text protocol: tools as they are, in words. */
export function showText(tools: readonly OfferedTool[]): ShownTools {
  const definitions = new Map(tools.map((tool) => [tool.name, promptTool(tool)]));
  return { definitions, changes: new Map(), left: new Map(), prompt: tools.length === 0 ? null : renderPrompt({ tools }) };
}

/** A provider of a kind with nothing said about it. Never called. */
export function exampleAccess(kind: ProviderKind): ProviderAccess {
  return { name: kind, kind, baseUrl: defaultBaseUrl(kind) ?? 'https://provider.invalid/v1', headers: {}, models: [], profile: {} };
}

/** One a tool, in order. Gemini has them in groups. */
function toldIn(body: unknown): Json[] {
  const tools = isRecord(body) && Array.isArray(body.tools) ? body.tools.filter(isRecord) : [];
  return tools.flatMap((tool) => (Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations.filter(isRecord) : [tool]));
}
