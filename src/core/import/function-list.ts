/**
 * Lists of tool definitions: functions of OpenAI's APIs and of Gemini, tools of Anthropic's API, of MCP, LangChain and the AI SDK, and the tools
 * of SISU with their aliases. They say what a tool is called and takes, but not where it runs: the definitions become a static server, whose
 * endpoint the administrator sets. Wire: API references of OpenAI ("Function calling"), Anthropic ("Tool use"), Gemini ("FunctionDeclaration").
 */
import { isRecord, type Json, mapMemberTexts, recordOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { quoted } from '../problem.ts';
import { cutToBytes } from '../text/utf8.ts';
import type { ImportDraft } from './draft.ts';
import type { Members } from './members.ts';
import { listedName } from './names.ts';

/** Definitions without an endpoint get this one, which can never be reached (RFC 2606). */
const noEndpoint = 'https://endpoint.invalid/call';

/** Tools of SISU that a tool of Moniker does the work of. */
const builtinTools: ReadonlyMap<string, string> = new Map([
  ['terminalRun', 'builtin.bash'],
  ['terminalReadFile', 'builtin.read_file'],
]);

const schemaMembers = [
  ...['parameters', 'input_schema', 'inputSchema', 'parametersJsonSchema', 'parameters_json_schema', 'schema', 'args_schema'],
];
const listMembers = ['', 'tools', 'functions'];
const geminiMembers = ['functionDeclarations', 'function_declarations'];

/** Whether a value is a definition in one of the forms. */
export function isDefinition(value: unknown): boolean {
  const { type, name, description, args, function: inner, ...tool } = recordOf(value);
  if (type === 'function' && isRecord(inner)) return typeof inner.name === 'string';
  if (geminiMembers.some((member) => Array.isArray(tool[member]))) return true;
  if (typeof name !== 'string' || 'implementation' in tool) return false;
  const hasSchema = isRecord(args) || schemaMembers.some((member) => isRecord(tool[member]));
  return type === 'function' || hasSchema || (typeof description === 'string' && (type === undefined || type === 'custom'));
}

/** The record of tools of the AI SDK: definitions by name. */
function isToolRecord(value: unknown): boolean {
  const tools = Object.values(recordOf(value));
  return (
    tools.length > 0 &&
    tools.every((tool) => isRecord(tool) && !('implementation' in tool) && schemaMembers.some((member) => isRecord(tool[member])))
  );
}

/** Whether a value has definitions: a list, an object with one, a record of them, or one definition. */
export function hasDefinitions(value: unknown): boolean {
  const { tools, functions } = recordOf(value);
  const hasList = [value, tools, functions].some((one) => Array.isArray(one) && one.some(isDefinition));
  return hasList || isDefinition(value) || isToolRecord(value) || isToolRecord(tools);
}

/** Whether definitions of a value have aliases. */
export function hasAliases(value: unknown): boolean {
  const { aliases, tools, functions } = recordOf(value);
  const list = [value, tools, functions].find(Array.isArray);
  return isRecord(aliases) || (Array.isArray(list) && list.some((one) => 'aliases' in recordOf(one)));
}

/** `server`: the name of the server and of the toolset. */
export function readFunctionList(draft: ImportDraft, value: unknown, server: string): void {
  const file = draft.open(Array.isArray(value) ? { '': value } : recordOf(value));
  const url = file.text('url', 'endpoint');
  const renamed = hasOwnAliases(value) ? aliasMap(file.record('aliases')) : new Map<string, string[]>();
  const definitions = new Map<string, Json>();
  const entries: Json[] = [];
  const name = draft.nameOf('servers', server);
  for (const { members, given } of itemsOf(file, value)) {
    const tool = readDefinition(members, given);
    const own = tool === null ? null : listedName(tool.written);
    if (tool === null || own === null) continue;
    const aliases = aliasesOf(draft, tool.written, [...tool.aliases, ...(renamed.get(tool.written) ?? [])]);
    const builtin = builtinTools.get(tool.written);
    if (builtin !== undefined)
      draft.warn(`toolsets.${name}`, `${tool.written} is ${builtin}, which does the same in the files of the session`);
    else if (definitions.has(own)) {
      members.skipWhole(`${quoted(tool.written)} is in the list twice; the first one was taken`);
      continue;
    } else {
      if (own !== tool.written)
        draft.warn(`servers.${name}`, `${JSON.stringify(tool.written.slice(0, 100))} is not a legal name of a tool: it is ${own}`);
      definitions.set(own, { ...tool.definition, name: own });
    }
    entries.push({
      tool: builtin ?? `${name}.${own}`,
      ...(builtin !== undefined && { name: tool.written }),
      ...(aliases.length > 0 && { aliases }),
    });
  }
  for (const target of renamed.keys())
    if (!definitions.has(target) && !builtinTools.has(target)) draft.skip(`aliases.${target}`, 'names no tool of the list');
  if (definitions.size > 0) addServer(draft, url, server, [...definitions.values()]);
  if (entries.length > 0) draft.add('toolsets', server, { tools: entries });
  file.skip(requestMembers, 'is a part of a request, not of its tools');
}

/** Members of a whole request, whose tools are read. */
const requestMembers = [
  ...[
    'model',
    'messages',
    'input',
    'system',
    'instructions',
    'contents',
    'tool_choice',
    'toolConfig',
    'tool_config',
    'max_tokens',
    'stream',
  ],
  ...['temperature', 'generationConfig', 'systemInstruction', 'parallel_tool_calls', 'function_call', 'mcp_servers'],
];

/** A single definition may have aliases. */
function hasOwnAliases(value: unknown): boolean {
  return !isDefinition(value) && isRecord(recordOf(value).aliases);
}

/** `given`: the name that a record gives the definition. */
type Item = { members: Members; given: string | null };

function itemsOf(file: Members, value: unknown): Item[] {
  if (isDefinition(value)) return inGemini(file);
  if (isToolRecord(value)) return file.names().flatMap((name) => itemIn(file, name));
  const tools = isToolRecord(file.peek('tools')) ? file.record('tools') : null;
  const lists = listMembers.filter((member) => Array.isArray(file.peek(member)));
  const named = tools === null ? [] : tools.names().flatMap((name) => itemIn(tools, name));
  return [...named, ...lists.flatMap((member) => file.items(member).flatMap(inGemini))];
}

function itemIn(record: Members, name: string): Item[] {
  const members = record.record(name);
  return members === null ? [] : [{ members, given: name }];
}

/** A tool of Gemini is a list of functions, and the tools that Google runs. */
function inGemini(members: Members): Item[] {
  const own = geminiMembers.filter((member) => Array.isArray(members.peek(member)));
  if (own.length === 0) return [{ members, given: null }];
  const inside = own.flatMap((member) => members.items(member)).map((one) => ({ members: one, given: null }));
  for (const name of members.names().filter((one) => !own.includes(one))) {
    members.ignore(name);
    members.fault(name, 'is a tool of the provider, which runs it');
  }
  return inside;
}

type Definition = { written: string; definition: Json; aliases: unknown[] };

/** Returns null for what is no definition, which is reported. */
function readDefinition(members: Members, given: string | null): Definition | null {
  const type = members.text('type');
  const inner = type === 'function' && isRecord(members.peek('function')) ? members.record('function') : null;
  const tool = inner ?? members;
  const written = (tool.text('name') ?? given ?? '').trim();
  const hasSchema = isRecord(tool.peek('args')) || schemaMembers.some((member) => isRecord(tool.peek(member)));
  const refuse = (reason: string): null => {
    members.skipWhole(reason);
    return null;
  };
  if (!hasSchema && type !== null && type !== 'function')
    return refuse(
      type === 'custom'
        ? 'takes text in a format, not arguments'
        : `is a tool of the kind ${JSON.stringify(type.slice(0, 50))}, which its provider runs`,
    );
  const provided = members.names().find((name) => isRecord(members.peek(name)));
  if (written === '' && provided !== undefined && !hasSchema)
    return refuse(`is a tool of the kind ${JSON.stringify(provided.slice(0, 50))}, which its provider runs`);
  if (written === '' || listedName(written) === null) return refuse('is not a definition with a name and a schema');
  const schema = schemaOf(tool);
  if (schema === null) return refuse('has a schema that is no JSON Schema, such as one of a library: export it as JSON Schema');
  const output = tool.take('outputSchema', 'output_schema', 'responseJsonSchema', 'response_json_schema', 'response');
  const aliases = [tool.take('aliases'), inner === null ? undefined : members.take('aliases')].flat().filter((one) => one !== undefined);
  for (const one of [tool, members]) skipOthers(one);
  const shown = ['title', 'annotations', 'icons', '_meta', 'execution'].flatMap((name): [string, unknown][] => {
    const value = tool.take(name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    written,
    aliases,
    definition: {
      ...Object.fromEntries(shown),
      description: cutToBytes(tool.text('description') ?? '', limits.maxDescriptionBytes),
      inputSchema: schema,
      ...(isRecord(output) && { outputSchema: inLowerCase(output) }),
    },
  };
}

function skipOthers(tool: Members): void {
  tool.skip(['strict'], 'is not needed: arguments of every call are checked with the schema');
  tool.skip(['cache_control', 'cacheControl'], 'has no counterpart: what is cached is decided for each request');
  tool.skip(['defer_loading', 'deferLoading'], 'is not imported: `mcpTools` of a toolset lists tools on demand');
  tool.skip(
    ['allowed_callers', 'input_examples', 'inputExamples', 'eager_input_streaming', 'behavior', 'providerOptions', 'tags', 'metadata'],
    'has no counterpart',
  );
  tool.skip(
    ['return_direct', 'response_format', 'handle_tool_error', 'execute', 'toModelOutput', 'needsApproval'],
    'belongs to the program that runs the tool',
  );
}

/** Returns the schema of the arguments; null: it is of a library. */
function schemaOf(tool: Members): Json | null {
  const args = tool.record('args');
  if (args !== null) {
    const properties = Object.fromEntries(args.names().map((name) => [name, args.take(name)]));
    return { type: 'object', properties };
  }
  const given = tool.take(...schemaMembers);
  if (!isRecord(given)) return { type: 'object', properties: {} };
  // The AI SDK wraps a JSON Schema; LangChain may wrap that of Pydantic.
  const schema = [given.jsonSchema, given.schema].find(isRecord) ?? given;
  if ('_def' in schema || '~standard' in schema) return null;
  return inLowerCase(schema);
}

/** Gemini writes types in capitals: `OBJECT`. Other schemas stay as they are. */
function inLowerCase(schema: Json): Json {
  if (schema.type !== 'OBJECT') return schema;
  return recordOf(mapMemberTexts(schema, (text, name) => (name === 'type' && capitals.has(text) ? text.toLowerCase() : text)));
}

const capitals = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);

function addServer(draft: ImportDraft, url: string | null, written: string, tools: Json[]): void {
  const given = url !== null && /^https?:\/\//.test(url) ? url : undefined;
  const server = draft.add('servers', written, { kind: 'static', url: given ?? noEndpoint, tools });
  if (server !== null && given === undefined)
    draft.warn(
      `servers.${server}.url`,
      `the file does not say where the tools run, so calls fail until you set it: PATCH /v1/servers/${server} {"url": "https://…"}. The endpoint gets POST {"name", "arguments"}`,
    );
}

/** `{canonical: alias}` or `{canonical: [alias, …]}`. */
function aliasMap(aliases: Members | null): Map<string, string[]> {
  return new Map((aliases?.names() ?? []).map((name) => [name, aliases?.texts(name) ?? []]));
}

function aliasesOf(draft: ImportDraft, tool: string, written: readonly unknown[]): string[] {
  const aliases = new Set<string>();
  for (const one of written) {
    const alias = draft.alias({ skipped: `${tool}.aliases`, warned: tool }, one);
    if (alias !== null && alias !== tool) aliases.add(alias);
  }
  for (const left of [...aliases].slice(limits.maxAliasesPerEntry))
    draft.skip(`${tool}.aliases`, `${left} is more than the ${limits.maxAliasesPerEntry} aliases that a tool can have`);
  return [...aliases].slice(0, limits.maxAliasesPerEntry);
}
