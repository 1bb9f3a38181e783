/**
 * Converts the tools of a request to what its provider accepts: compiled schemas, descriptions and numbers within its limits, and a
 * supported tool choice. Tools that cannot be sent are reported and skipped. Cached by the list of tools: a session uses the same list
 * object in all steps, so later steps cost nothing.
 */
import { memoizeByObject } from '../core/memoize.ts';
import type { Profile } from '../core/model/provider-profile.ts';
import { type CompileCost, compileSchema } from '../core/schema/schema-compiler.ts';
import type { ChatRequest, OfferedTool } from '../ports/chat-model.ts';
import type { JsonSchema } from '../core/tools/tool.ts';
import { isRecord } from '../core/json/wire-value.ts';
import { cutToLength } from '../core/text/utf8.ts';

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
  /** Tools that are sent with a shorter description. */
  cut: ReadonlySet<string>;
  /** Tools whose schema the provider is to enforce and cannot. */
  loose: ReadonlySet<string>;
  /** Tools that are not sent: the reason by tool name. */
  left: ReadonlyMap<string, string>;
};

export const defineTools = memoizeByObject(define);

type Offer = { tools: readonly OfferedTool[]; toolChoice: ChatRequest['toolChoice'] };

/**
 * Returns the tools to send and a choice that the provider supports. `tools` is empty if none can be sent. An unsupported choice, or one of
 * a tool that cannot be sent, becomes `auto`: `required` would make the model call another tool. Reports to the request what differs.
 */
export function offerTools(request: Pick<ChatRequest, 'tools' | 'toolChoice' | 'dropped'>, profile: Profile): Offer {
  const { tools, cut, loose, left } = defineTools(request.tools, profile);
  const offer = chooseTools(request, profile);
  const { dropped } = request;
  if (dropped === undefined) return offer;
  const { toolChoice } = request;
  if (request.tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none' && offer.toolChoice === 'auto')
    dropped.setting('toolChoice', 'the model does not accept it');
  for (const [name, reason] of left) if (!offer.tools.some((tool) => tool.name === name)) dropped.add(`tools.${name}`, reason);
  // A chosen tool takes the place of the last one.
  if (offer.tools.length === tools.length)
    for (const tool of tools) if (!offer.tools.includes(tool)) dropped.add(`tools.${tool.name}`, 'the chosen tool is sent in its place');
  for (const name of cut) dropped.add(`tools.${name}.description`, `only its first ${profile.maxToolDescription} characters are sent`);
  for (const name of loose) dropped.add(`tools.${name}.strict`, 'the model cannot enforce this schema');
  if (profile.cacheMarks === 'breakpoint')
    for (const { name, cache } of tools) if (cache !== undefined) dropped.add(`tools.${name}.cache_control`, 'tools have no marks there');
  return offer;
}

function chooseTools({ tools: offered, toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>, profile: Profile): Offer {
  const { tools } = defineTools(offered, profile);
  if (tools.length === 0 || toolChoice === 'auto') return { tools, toolChoice: 'auto' };
  // `none` forces nothing, so providers that reject a forced choice accept it.
  if (toolChoice === 'none') return profile.toolChoice === 'absent' ? { tools: [], toolChoice: 'auto' } : { tools, toolChoice };
  if (profile.toolChoice === 'auto' || profile.toolChoice === 'absent') return { tools, toolChoice: 'auto' };
  if (typeof toolChoice === 'string') return { tools, toolChoice };
  const chosen = tools.find(({ name }) => name === toolChoice.tool) ?? defineChosenTool(offered, toolChoice.tool, profile);
  if (chosen === undefined) return { tools, toolChoice: 'auto' };
  if (profile.toolChoice === 'required') return { tools: [chosen], toolChoice: 'required' };
  return { tools: tools.includes(chosen) ? tools : [...tools.slice(0, -1), chosen], toolChoice };
}

/** A tool that the choice names takes precedence over optional ones. */
function defineChosenTool(offered: readonly OfferedTool[], name: string, profile: Profile): OfferedTool | undefined {
  const tool = offered.find((candidate) => candidate.name === name);
  return tool && define([tool], profile).tools[0];
}

function define(offered: readonly OfferedTool[], profile: Profile): ToolDefinitions {
  const most = profile.maxTools ?? Number.POSITIVE_INFINITY;
  const changes = new Map<string, readonly ToolChange[]>();
  const cut = new Set<string>();
  const loose = new Set<string>();
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
      const description = cutToLength(tool.description, profile.maxToolDescription ?? Number.POSITIVE_INFINITY);
      const shortened = { path: '', message: `its description is truncated to ${profile.maxToolDescription} characters` };
      const all = description === tool.description ? compiled.changes : [shortened, ...compiled.changes];
      if (description !== tool.description) cut.add(tool.name);
      if (all.length > 0) changes.set(tool.name, all);
      const strict = tool.strict === true ? strictSchema(tool, compiled.schema, profile, spent) : null;
      if (tool.strict === true && strict === null) loose.add(tool.name);
      const inputSchema = strict ?? compiled.schema;
      const { name, cache } = tool;
      const isSame = description === tool.description && inputSchema === tool.inputSchema && (strict !== null || tool.strict !== true);
      const rest = { ...(strict !== null && { strict: true }), ...(cache !== undefined && { cache }) };
      tools.push(isSame ? tool : { name, description, inputSchema, ...rest });
    }
  }
  const isSame = tools.length === offered.length && tools.every((tool, index) => tool === offered[index]);
  return { tools: isSame ? offered : tools, changes, cut, loose, left };
}

/** null: the provider cannot enforce the schema. */
function strictSchema(
  { inputSchema }: OfferedTool,
  sent: JsonSchema,
  { schemas, strictTools }: Profile,
  spent: CompileCost,
): JsonSchema | null {
  if (!strictTools) return null;
  if (schemas !== 'anthropic') return isComplete(sent) ? sent : null;
  const strict = compileSchema(inputSchema, 'anthropic-strict', spent);
  return strict.ok ? strict.schema : null;
}

/** Whether OpenAI can enforce the schema: all objects are closed, and all their fields required (guide "Structured outputs"). */
export function isComplete(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isComplete);
  if (!isRecord(schema)) return true;
  const { properties, required, additionalProperties } = schema;
  if (isRecord(properties)) {
    const isClosed = additionalProperties === false && Array.isArray(required);
    if (!isClosed || !Object.keys(properties).every((name) => required.includes(name))) return false;
    if (!Object.values(properties).every(isComplete)) return false;
  }
  return Object.entries(schema).every(([keyword, part]) => keyword === 'properties' || keyword === 'enum' || isComplete(part));
}
