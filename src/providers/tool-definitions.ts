/**
 * Converts the tools of a request to what its provider accepts: compiled schemas, descriptions and numbers within its limits, and a
 * supported tool choice. Tools that cannot be sent are reported and skipped. Cached by the list of tools: a session uses the same list
 * object in all steps, so later steps cost nothing.
 */
import { memoizeByObject } from '../core/memoize.ts';
import type { Profile } from '../core/model/provider-profile.ts';
import { compileSchema } from '../core/schema/schema-compiler.ts';
import type { ChatRequest, OfferedTool } from '../ports/chat-model.ts';

/**
 * Parts visited for all tools of a request, including every attempt: a second in the worst case. Large public toolsets need a tenth
 * of it.
 */
const maxSchemaPartsPerRequest = 200_000;

/** `path`: the position in the tool's input schema, as a JSON Pointer; '' is the tool itself. */
export type ToolChange = { path: string; message: string };

export type ToolDefinitions = {
  /** In the order offered. */
  tools: readonly OfferedTool[];
  /** By tool name: what differs from the offered tool. */
  changes: ReadonlyMap<string, readonly ToolChange[]>;
  /** Tools that are not sent: the reason by tool name. */
  left: ReadonlyMap<string, string>;
};

export const defineTools = memoizeByObject(define);

/**
 * Returns the tools to send and a choice that the provider supports. `tools` is empty if none can be sent. An unsupported choice, or one of
 * a tool that cannot be sent, becomes `auto`: `required` would make the model call another tool.
 */
export function offerTools(
  { tools: offered, toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>,
  profile: Profile,
): { tools: readonly OfferedTool[]; toolChoice: ChatRequest['toolChoice'] } {
  const { tools } = defineTools(offered, profile);
  if (tools.length === 0 || toolChoice === 'auto') return { tools, toolChoice: 'auto' };
  // `none` forces nothing, so providers that reject a forced choice accept it.
  if (toolChoice === 'none') return profile.toolChoice === 'absent' ? { tools: [], toolChoice: 'auto' } : { tools, toolChoice };
  if (profile.toolChoice === 'auto' || profile.toolChoice === 'absent') return { tools, toolChoice: 'auto' };
  if (typeof toolChoice === 'string') return { tools, toolChoice };
  const chosen = tools.find(({ name }) => name === toolChoice.tool) ?? beyondNumber(offered, toolChoice.tool, profile);
  if (chosen === undefined) return { tools, toolChoice: 'auto' };
  if (profile.toolChoice === 'required') return { tools: [chosen], toolChoice: 'required' };
  return { tools: tools.includes(chosen) ? tools : [...tools.slice(0, -1), chosen], toolChoice };
}

/** A tool that the choice names takes precedence over optional ones. */
function beyondNumber(offered: readonly OfferedTool[], name: string, profile: Profile): OfferedTool | undefined {
  const tool = offered.find((candidate) => candidate.name === name);
  return tool && define([tool], profile).tools[0];
}

function define(offered: readonly OfferedTool[], profile: Profile): ToolDefinitions {
  const most = profile.maxTools ?? Number.POSITIVE_INFINITY;
  const changes = new Map<string, readonly ToolChange[]>();
  const left = new Map<string, string>();
  const tools: OfferedTool[] = [];
  const spent = { parts: 0 };
  for (const tool of offered) {
    if (spent.parts > maxSchemaPartsPerRequest) {
      left.set(tool.name, 'the input schemas of the tools before it are too large together');
      continue;
    }
    const compiled = compileSchema(tool.inputSchema, profile.schemas, spent);
    if (!compiled.ok) {
      left.set(tool.name, `its input schema ${compiled.fault}`);
    } else if (tools.length >= most) {
      left.set(tool.name, `the provider accepts ${most} tools per request`);
    } else {
      const description = shortened(tool.description, profile.maxToolDescription);
      const cut = { path: '', message: `its description is truncated to ${profile.maxToolDescription} characters` };
      const all = description === tool.description ? compiled.changes : [cut, ...compiled.changes];
      if (all.length > 0) changes.set(tool.name, all);
      const isSame = description === tool.description && compiled.schema === tool.inputSchema;
      tools.push(isSame ? tool : { name: tool.name, description, inputSchema: compiled.schema });
    }
  }
  const isSame = tools.length === offered.length && tools.every((tool, index) => tool === offered[index]);
  return { tools: isSame ? offered : tools, changes, left };
}

function shortened(description: string, most: number | null): string {
  if (most === null || description.length <= most) return description;
  // Not within a surrogate pair.
  return `${description.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
