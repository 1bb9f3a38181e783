/**
 * Lists of tool definitions: functions of OpenAI's APIs, tools of Anthropic's, and the tools of SISU with their aliases. They say what a
 * tool is called and takes, but not where it runs: the definitions become a static server, whose endpoint the administrator sets.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { cutToBytes } from '../text/utf8.ts';
import type { ImportDraft } from './draft.ts';
import { listedName } from './names.ts';

/** Definitions without an endpoint get this one, which can never be reached (RFC 2606). */
const noEndpoint = 'https://endpoint.invalid/call';

/** Tools of SISU that a tool of Moniker does the work of. */
const builtinTools: ReadonlyMap<string, string> = new Map([
  ['terminalRun', 'builtin.bash'],
  ['terminalReadFile', 'builtin.read_file'],
]);

/** Whether a value is a definition in one of the forms. */
export function isDefinition(value: unknown): boolean {
  const { type, name, parameters, input_schema, inputSchema, schema, description } = recordOf(value);
  const inner = recordOf(value).function;
  if (type === 'function' && isRecord(inner)) return typeof inner.name === 'string';
  if (typeof name !== 'string' || 'implementation' in recordOf(value)) return false;
  return type === 'function' || [parameters, input_schema, inputSchema, schema].some(isRecord) || typeof description === 'string';
}

/** Returns the list of definitions in a value; null if the value contains none. */
export function definitionsIn(value: unknown): readonly unknown[] | null {
  const { tools, functions } = recordOf(value);
  const list = [value, tools, functions].find((one) => Array.isArray(one) && one.length > 0 && one.some(isDefinition));
  return Array.isArray(list) ? list : isDefinition(value) ? [value] : null;
}

/** `server`: the name of the server and of the toolset. */
export function readFunctionList(draft: ImportDraft, value: unknown, server: string): void {
  const renamed = aliasMap(recordOf(value).aliases);
  const definitions = new Map<string, Json>();
  const entries: Json[] = [];
  const name = draft.nameOf('servers', server);
  for (const [index, item] of (definitionsIn(value) ?? []).entries()) {
    const tool = definitionOf(item);
    const written = tool === null ? `tools[${index}]` : stringOf(tool.name);
    const own = tool === null ? null : listedName(written);
    if (tool === null || own === null) {
      draft.skip(written, describe(item));
      continue;
    }
    const aliases = aliasesOf(draft, written, [...listOf(tool.aliases), ...(renamed.get(written) ?? [])]);
    const builtin = builtinTools.get(written);
    if (builtin !== undefined) draft.warn(`toolsets.${name}`, `${written} is ${builtin}, which does the same in the files of the session`);
    else if (definitions.has(own)) {
      draft.skip(written, 'is in the list twice; the first one was taken');
      continue;
    } else {
      if (own !== written)
        draft.warn(`servers.${name}`, `${JSON.stringify(written.slice(0, 100))} is not a legal name of a tool: it is ${own}`);
      definitions.set(own, { name: own, description: stringOf(tool.description), inputSchema: tool.inputSchema });
    }
    entries.push({
      tool: builtin ?? `${name}.${own}`,
      ...(builtin !== undefined && { name: written }),
      ...(aliases.length > 0 && { aliases }),
    });
  }
  for (const target of renamed.keys())
    if (!definitions.has(target) && !builtinTools.has(target)) draft.skip(`aliases.${target}`, 'names no tool of the list');
  if (definitions.size > 0) addServer(draft, value, server, [...definitions.values()]);
  if (entries.length > 0) draft.add('toolsets', server, { tools: entries });
}

function addServer(draft: ImportDraft, value: unknown, written: string, tools: Json[]): void {
  const given = [recordOf(value).url, recordOf(value).endpoint].find((url) => typeof url === 'string' && /^https?:\/\//.test(url));
  const server = draft.add('servers', written, { kind: 'static', url: given ?? noEndpoint, tools });
  if (server !== null && given === undefined)
    draft.warn(
      `servers.${server}.url`,
      `the file does not say where the tools run, so calls fail until you set it: PATCH /v1/servers/${server} {"url": "https://…"}. The endpoint gets POST {"name", "arguments"}`,
    );
}

function definitionOf(value: unknown): Json | null {
  if (!isDefinition(value)) return null;
  const { type, aliases, ...outer } = recordOf(value);
  const tool = type === 'function' && isRecord(outer.function) ? outer.function : outer;
  const schema = [tool.parameters, tool.input_schema, tool.inputSchema, tool.schema].find(isRecord);
  return {
    name: tool.name,
    description: cutToBytes(stringOf(tool.description), limits.maxDescriptionBytes),
    inputSchema: schema ?? { type: 'object', properties: {} },
    aliases: tool.aliases ?? aliases,
  };
}

function describe(value: unknown): string {
  const { type } = recordOf(value);
  if (typeof type === 'string' && type !== 'function')
    return `is a tool of the kind ${JSON.stringify(type.slice(0, 50))}, which its provider runs`;
  return 'is not a definition with a name and a schema';
}

/** `{canonical: alias}` or `{canonical: [alias, …]}`. */
function aliasMap(value: unknown): Map<string, unknown[]> {
  return new Map(Object.entries(recordOf(value)).map(([name, aliases]) => [name, Array.isArray(aliases) ? aliases : [aliases]]));
}

function aliasesOf(draft: ImportDraft, tool: string, written: readonly unknown[]): string[] {
  const aliases = new Set<string>();
  for (const one of written) {
    const alias = draft.alias({ skipped: `${tool}.aliases`, warned: tool }, one);
    if (alias !== null && alias !== tool) aliases.add(alias);
  }
  return [...aliases].slice(0, limits.maxAliasesPerEntry);
}
