/**
 * A tool's definition as models are told it: what its description and its schema's descriptions say of other tools is said in the names of
 * today (`rewrite-names.ts`). Found when first asked for, and kept with the names; what names nothing stays the same object, by which
 * the providers' forms are kept.
 */
import type { EditionTool } from './edition-tool.ts';
import { limits } from './limits.ts';
import { nameLookup, type OfferedNames, rootOf } from './old-names.ts';
import { type NameLookup, rewriteInline, rewriteNames } from './rewrite-names.ts';
import { mapParts } from './schema/schema-parts.ts';
import type { JsonSchema } from './tool.ts';
import { isRecord } from './wire-value.ts';

type ToldTool = Pick<EditionTool, 'description' | 'inputSchema'>;

export function toldTool(names: OfferedNames, tool: EditionTool): ToldTool {
  const root = rootOf(names);
  const known = kept.get(root) ?? new Map<EditionTool, ToldTool>();
  kept.set(root, known);
  const told = known.get(tool) ?? tell(root, tool);
  // What a conversation brings along goes with it.
  if (names === root) known.set(tool, told);
  return told;
}

const kept = new WeakMap<OfferedNames, Map<EditionTool, ToldTool>>();

function tell(names: OfferedNames, tool: EditionTool): ToldTool {
  // Its caller wrote it, for a model that he knows: what he says is passed on as it is.
  if (tool.kind === 'client') return tool;
  const lookup = withoutParameters(nameLookup(names, tool.server), tool.inputSchema);
  const named = new Map<string, string>();
  const inputSchema = tellSchema(tool.inputSchema, lookup, named);
  return { description: rewriteNames(tool.description, lookup, named), inputSchema };
}

/** Descriptions speak of their tool's parameters in inline code as well; a tool of that name is not meant. */
function withoutParameters(lookup: NameLookup, { properties }: JsonSchema): NameLookup {
  return isRecord(properties) ? (name) => (Object.hasOwn(properties, name) ? undefined : lookup(name)) : lookup;
}

/** Parameters name other tools as often as descriptions do. Names out of inline code are told of beneath the tool's description. */
function tellSchema(schema: JsonSchema, lookup: NameLookup, named: Map<string, string>, depth = 0): JsonSchema {
  if (depth > limits.maxJsonDepth) return schema;
  const tellPart = (part: unknown): unknown => (isRecord(part) ? tellSchema(part, lookup, named, depth + 1) : part);
  const told = mapDefinitions(mapParts(schema, '', tellPart), tellPart);
  if (typeof told.description !== 'string') return told;
  const { text, others } = rewriteInline(told.description, lookup);
  for (const [old, name] of others) named.set(old, name);
  return text === told.description ? told : { ...told, description: text };
}

/** Parts that stand under a name to be referred to. */
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
