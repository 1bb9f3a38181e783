/**
 * The definition of a tool as sent to models: other tools mentioned in its description and schema go by their current names
 * (`rewrite-names.ts`). Built on first use and cached with the names; a definition that mentions no tool stays the same object, which
 * is the cache key of the provider formats.
 */
import { memoizeByObject } from '../memoize.ts';
import type { EditionTool } from './edition-tool.ts';
import { limits } from '../limits.ts';
import { nameLookup, type OfferedNames, rootOf } from '../names/old-names.ts';
import { type NameLookup, rewriteInline, rewriteNames } from '../names/rewrite-names.ts';
import { mapParts } from '../schema/schema-parts.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

type ModelDefinition = Pick<EditionTool, 'description' | 'inputSchema'>;

export function modelDefinition(names: OfferedNames, tool: EditionTool): ModelDefinition {
  // The caller wrote the definition for its own model: it is passed on unchanged.
  return tool.kind === 'client' ? tool : withCurrentNames(rootOf(names), tool);
}

const withCurrentNames = memoizeByObject((names: OfferedNames, tool: EditionTool): ModelDefinition => {
  const lookup = withoutParameters(nameLookup(names, tool.server), tool.inputSchema);
  const named = new Map<string, string>();
  const inputSchema = tellSchema(tool.inputSchema, lookup, named);
  return { description: rewriteNames(tool.description, lookup, named), inputSchema };
});

/** Descriptions also use inline code for the tool's own parameters; a tool with the same name is not meant. */
function withoutParameters(lookup: NameLookup, { properties }: JsonSchema): NameLookup {
  return isRecord(properties) ? (name) => (Object.hasOwn(properties, name) ? undefined : lookup(name)) : lookup;
}

/**
 * Parameters mention other tools as often as descriptions do. Names outside of inline code are listed below the tool's description.
 */
function tellSchema(schema: JsonSchema, lookup: NameLookup, named: Map<string, string>, depth = 0): JsonSchema {
  if (depth > limits.maxJsonDepth) return schema;
  const tellPart = (part: unknown): unknown => (isRecord(part) ? tellSchema(part, lookup, named, depth + 1) : part);
  const told = mapDefinitions(mapParts(schema, '', tellPart), tellPart);
  if (typeof told.description !== 'string') return told;
  const { text, others } = rewriteInline(told.description, lookup);
  for (const [old, name] of others) named.set(old, name);
  return text === told.description ? told : { ...told, description: text };
}

/** Subschemas that are defined under a name, for references. */
function mapDefinitions(schema: JsonSchema, visit: (part: unknown) => unknown): JsonSchema {
  let mapped = schema;
  for (const keyword of ['$defs', 'definitions']) {
    const parts = schema[keyword];
    if (!isRecord(parts)) continue;
    const entries = Object.entries(parts).map(([name, part]) => [name, visit(part)] as const);
    if (entries.some(([name, part]) => part !== parts[name])) mapped = { ...mapped, [keyword]: Object.fromEntries(entries) };
  }
  return mapped;
}

// The names under which definitions of one tool are sent to a model. Used to send, count and measure them.

type Named = { wireName: string; aliases: readonly { name: string; mode: string }[] };

/**
 * Returns the wire name, then the `function` aliases, each of which is sent as a separate definition. An alias that became the wire
 * name is not sent twice.
 */
export function definitionNames({ wireName, aliases }: Named): string[] {
  return [wireName, ...aliases.flatMap(({ name, mode }) => (mode === 'function' && name !== wireName ? [name] : []))];
}
