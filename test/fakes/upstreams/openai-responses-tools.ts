/**
 * The tools of the fake of OpenAI's Responses API: those that a request offers, in its list or among its items, and the calls of replies.
 * Shapes: `openai` 7.57 (`Tool`, `NamespaceTool`, `ResponseInputItem.AdditionalTools`, `ToolSearchTool`), and what Codex 0.171 sends.
 */
import type { Json } from '../../../src/core/json/wire-value.ts';
import { listOf, recordOf, Refusal, refuse } from './refusal.ts';
import type { Say, Understood } from './upstream.ts';

/** `name` has the namespace in front of it; `own` is the name within it. */
export type OfferedTool = { type: string; name: string; own: string; namespace: string | null };

/** Fields of each type, apart from `type`. */
const toolFields: Readonly<Record<string, readonly string[]>> = {
  function: ['name', 'description', 'parameters', 'strict', 'defer_loading'],
  custom: ['name', 'description', 'format', 'defer_loading'],
  namespace: ['name', 'description', 'tools'],
  tool_search: ['execution', 'description', 'parameters'],
  web_search: ['external_web_access', 'filters', 'search_context_size', 'search_content_types', 'user_location'],
  image_generation: ['output_format', 'quality', 'size', 'background', 'model', 'moderation', 'partial_images'],
};

/** `loaded`: by a search, without which deferred tools cannot be called. */
export function readTools(tools: unknown, path: string, isLoaded = false): OfferedTool[] {
  const list = listOf(tools ?? [], `Invalid type for '${path}'.`).map((value, at) => recordOf(value, `Invalid type for '${path}[${at}]'.`));
  const offered = list.flatMap((tool, at) => readTool(tool, `${path}[${at}]`, null));
  refuse(new Set(offered.map(({ name }) => name)).size < offered.length, 'Duplicate tool names.');
  const all = list.flatMap((tool) => [tool, ...(Array.isArray(tool.tools) ? (tool.tools as Json[]) : [])]);
  const defers = all.some(({ defer_loading: isDeferred }) => isDeferred === true);
  const searches = isLoaded || offered.some(({ type }) => type === 'tool_search');
  refuse(defers && !searches, "Tools with 'defer_loading' require the tool 'tool_search'.");
  return offered;
}

function readTool(tool: Json, path: string, namespace: string | null): OfferedTool[] {
  const type = String(tool.type);
  const fields = toolFields[type];
  const supported = namespace === null ? Object.keys(toolFields) : ['function', 'custom'];
  if (fields === undefined || !supported.includes(type))
    throw new Refusal(`Invalid value: '${type}'. Supported values are: ${supported.map((one) => `'${one}'`).join(', ')}.`);
  for (const key of Object.keys(tool)) refuse(key !== 'type' && !fields.includes(key), `Unknown parameter: '${path}.${key}'.`);
  const { name, description } = tool;
  const isNamed = fields.includes('name');
  refuse(isNamed && !isName(name, 64), `Invalid '${path}.name': string does not match pattern.`);
  refuse(description != null && typeof description !== 'string', `Invalid type for '${path}.description'.`);
  if (type === 'namespace') {
    refuse(typeof description !== 'string', `Missing required parameter: '${path}.description'.`);
    const inner = listOf(tool.tools, `Missing required parameter: '${path}.tools'.`);
    refuse(inner.length === 0, `Invalid '${path}.tools': empty array.`);
    return inner.flatMap((value, at) =>
      readTool(recordOf(value, `Invalid type for '${path}.tools[${at}]'.`), `${path}.tools[${at}]`, String(name)),
    );
  }
  if (type === 'function') checkSchema(tool, path);
  if (type === 'custom') checkFormat(tool.format, path);
  if (type === 'tool_search') refuse(tool.execution !== 'client', `Unsupported value of '${path}.execution' in this fake.`);
  const own = isNamed ? String(name) : type;
  // What the provider runs is offered to no client.
  const isClients = isNamed || type === 'tool_search';
  return isClients ? [{ type, name: qualified(namespace, own), own, namespace }] : [];
}

function checkSchema({ name, parameters, strict }: Json, path: string): void {
  const schema = recordOf(parameters, `Missing required parameter: '${path}.parameters'.`);
  const complaint = `Invalid schema for function '${String(name)}'`;
  refuse(schema.type !== 'object', `${complaint}: schema must be a JSON Schema of 'type: "object"'.`);
  refuse(schema.properties === undefined, `${complaint}: object schema missing properties.`);
  // Strict by default.
  refuse(strict !== false && schema.additionalProperties !== false, `${complaint}: 'additionalProperties' is required to be false.`);
}

function checkFormat(value: unknown, path: string): void {
  if (value == null) return;
  const { type, syntax, definition } = recordOf(value, `Invalid type for '${path}.format'.`);
  refuse(type !== 'text' && type !== 'grammar', `Invalid value: '${String(type)}' at '${path}.format.type'.`);
  const isGrammar = (syntax === 'lark' || syntax === 'regex') && typeof definition === 'string';
  refuse(type === 'grammar' && !isGrammar, `Missing required parameter: '${path}.format.definition'.`);
}

export function readToolChoice({ tool_choice: choice }: Json, offered: readonly OfferedTool[]): Understood['toolChoice'] {
  if (choice == null) return 'auto';
  // Codex sends `auto` with the tools among the items, too.
  refuse(offered.length === 0 && choice !== 'none', "Tool choice must be specified with 'tools' parameter.");
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const { type, name, ...rest } = recordOf(choice, "Invalid type for 'tool_choice'.");
  refuse(type !== 'function' || Object.keys(rest).length > 0, "Invalid 'tool_choice'.");
  refuse(!offered.some((tool) => tool.name === name), `Tool choice '${String(name)}' not found in 'tools' parameter.`);
  return { tool: String(name) };
}

/** The types of calls that a client sends back, and of their results. */
export const outputOfCall: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  tool_search_call: 'tool_search_output',
};

/** Returns the call of a scripted reply as the item of its tool; a custom tool gets the text of the argument `input`. */
export function toCallItem(call: NonNullable<Say['calls']>[number], suffix: string, offered: readonly OfferedTool[]): Json {
  const { type = 'function', own = call.name, namespace = null } = offered.find(({ name }) => name === call.name) ?? {};
  const common = { status: 'completed', call_id: `call_${suffix}` };
  const named = { name: own, ...(namespace !== null && { namespace }) };
  if (type === 'tool_search')
    return { id: `tsc_${suffix}`, type: 'tool_search_call', ...common, execution: 'client', arguments: call.arguments };
  if (type === 'custom')
    return { id: `ctc_${suffix}`, type: 'custom_tool_call', ...common, ...named, input: String(call.arguments.input ?? '') };
  return { id: `fc_${suffix}`, type: 'function_call', ...common, ...named, arguments: JSON.stringify(call.arguments) };
}

/** `functions` is the namespace of tools that have none. */
export function qualified(namespace: unknown, name: string): string {
  return namespace == null || namespace === 'functions' ? name : `${String(namespace)}__${name}`;
}

export function isName(value: unknown, most: number): boolean {
  return typeof value === 'string' && /^[a-zA-Z0-9_-]+$/.test(value) && value.length <= most;
}
