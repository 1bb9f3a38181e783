/**
 * The definition of a tool as sent to models: other tools mentioned in its description and schema go by their current names
 * (`rewrite-names.ts`). Built on first use and cached with the names; a definition that mentions no tool stays the same object, which
 * is the cache key of the provider formats.
 */
import { memoizeByObject } from '../memoize.ts';
import { type EditionTool, isForModels, type Edition } from './edition-tool.ts';
import { limits } from '../limits/limits.ts';
import { nameLookup, type OfferedNames, rootOf } from './old-names.ts';
import { type NameLookup, rewriteInline, rewriteNames } from '../names/rewrite-names.ts';
import { mapParts } from '../schema/schema-parts.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, mapMembers } from '../json/wire-value.ts';
import type { Announce } from './toolset.ts';
import { oneLine } from '../text/paragraphs.ts';
import { wireNameOf, type AliasMap } from './alias-map.ts';
import type { Message, ToolCallPart } from '../model/message.ts';

type ModelDefinition = Pick<EditionTool, 'description' | 'inputSchema'>;

export function modelDefinition(names: OfferedNames, tool: EditionTool): ModelDefinition {
  // The caller wrote the definition for its own model: it is passed on unchanged.
  return tool.kind === 'client' ? tool : withCurrentNames(rootOf(names), tool);
}

const withCurrentNames = memoizeByObject((names: OfferedNames, tool: EditionTool): ModelDefinition => {
  const lookup = withoutParameters(nameLookup(names, tool.server), tool.inputSchema);
  const named = new Map<string, string>();
  const inputSchema = renameInSchema(tool.inputSchema, lookup, named);
  return { description: rewriteNames(tool.description, lookup, named), inputSchema };
});

/** Descriptions also use inline code for the tool's own parameters; a tool with the same name is not meant. */
function withoutParameters(lookup: NameLookup, { properties }: JsonSchema): NameLookup {
  return isRecord(properties) ? (name) => (Object.hasOwn(properties, name) ? undefined : lookup(name)) : lookup;
}

/** Parameters mention other tools as often as descriptions do. Names outside of inline code are listed below the tool's description. */
function renameInSchema(schema: JsonSchema, lookup: NameLookup, named: Map<string, string>, depth = 0): JsonSchema {
  if (depth > limits.maxJsonDepth) return schema;
  const renamePart = (part: unknown): unknown => (isRecord(part) ? renameInSchema(part, lookup, named, depth + 1) : part);
  const told = mapDefinitions(mapParts(schema, '', renamePart), renamePart);
  if (typeof told.description !== 'string') return told;
  const { text, others } = rewriteInline(told.description, lookup);
  for (const [old, name] of others) named.set(old, name);
  return text === told.description ? told : { ...told, description: text };
}

/** Subschemas that are defined under a name, for references. */
function mapDefinitions(schema: JsonSchema, visit: (part: unknown) => unknown): JsonSchema {
  return mapMembers(schema, (parts, keyword) =>
    (keyword === '$defs' || keyword === 'definitions') && isRecord(parts) ? mapMembers(parts, visit) : parts,
  );
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

/** Returns the description of a definition under `name`: that of a `function` alias says first whose alias it is. */
export function describeUnder(name: string, { wireName }: Pick<Named, 'wireName'>, description: string): string {
  return name === wireName ? description : `Alias for ${wireName}.${description === '' ? '' : `\n${description}`}`;
}

// How aliases are announced to a model (contract §4): in one block of the system prompt, in each tool description, or not at all.

/**
 * Returns the prompt block, or `''` if the mode is not `prompt` or no tool has another visible name. Hidden and deprecated names are
 * never in it. `offered`: the tools that are sent from the first step on. Tools that a conversation finds later list their aliases in
 * their description, so that the block does not change.
 */
export function announceBlock(names: AnnouncedNames, offered: readonly EditionTool[] = names.tools): string {
  if (names.edition.announce !== 'prompt' || !names.aliases) return '';
  const renamed = offered.filter((tool) => isForModels(tool) && isRenamed(tool));
  const lines = renamed.map((tool) => announceLine(tool, modelDefinition(names, tool).description));
  return lines.length === 0 ? '' : [heading, ...lines].join('\n');
}

/** The part of an `AliasMap` that announcing needs. `aliases: false` is the rollback switch: nothing is announced. */
export type AnnouncedNames = OfferedNames & { readonly edition: Pick<Edition, 'announce'>; readonly aliases: boolean };

const heading = '## Tool names\nA tool may be called by the name at the left or by any of its aliases:';

/**
 * Returns the description as sent to a model. In mode `description` the aliases are listed below it, including the one that is the
 * wire name: it is the only place where the model learns what the wire name stands for.
 */
export function describeTool(tool: EditionTool, announce: Announce): string {
  if (announce !== 'description') return tool.description;
  const told = tool.aliases.filter(isVisible).map(({ name }) => name);
  const lines = told.map((alias) => `Alias: ${alias} (maps to ${oneLine(tool.canonical)})`);
  return [tool.description, ...lines].filter((part) => part !== '').join('\n');
}

/** Names besides the wire name that a model may know. */
export function visibleAliases(tool: EditionTool): string[] {
  return tool.aliases.filter((alias) => alias.name !== tool.wireName && isVisible(alias)).map(({ name }) => name);
}

function isVisible({ mode }: EditionTool['aliases'][number]): boolean {
  return mode === 'announced' || mode === 'function';
}

function isRenamed(tool: EditionTool): boolean {
  return tool.wireName !== tool.ownName || visibleAliases(tool).length > 0;
}

/** `- terminalRun = builtin.bash (aliases: bash, shell): Runs a command.` */
function announceLine(tool: EditionTool, description: string): string {
  const aliases = visibleAliases(tool);
  const also = aliases.length === 0 ? '' : ` (aliases: ${aliases.join(', ')})`;
  const summary = summaryOf(description);
  return `- ${tool.wireName} = ${oneLine(tool.canonical)}${also}${summary === '' ? '' : `: ${summary}`}`;
}

/** The full description is in the tool definition; here a reminder is enough. */
const maxSummaryLength = 120;

/** Returns the first sentence, on one line. */
export function summaryOf(description: string): string {
  const line = oneLine(description.trimStart().split('\n', 1)[0] ?? '');
  const sentence = /^.*?(?:[.!?](?= |$)|[。！？])/.exec(line)?.[0] ?? line;
  return sentence.length <= maxSummaryLength ? sentence : `${sentence.slice(0, maxSummaryLength).trimEnd()}…`;
}

// Rewrites a conversation to current tool names (contract §4): old turns use the names of their time, and a model repeats the names it reads.
// Matches by canonical name, so that a name that now belongs to another tool is not confused with it. A view for one request: the log stores
// the original names, and so do calls that a provider expects back unchanged (`said`). Native parts are left unchanged.

/** Unknown tools keep their names. Returns the same object if all names are current. */
export function realias(message: Message, names: AliasMap): Message {
  if (message.role === 'assistant') {
    const parts = message.parts.map((part) => (part.type === 'tool-call' ? underName(part, currentName(part, names)) : part));
    return isSame(parts, message.parts) ? message : { ...message, parts };
  }
  if (message.role !== 'tool') return message;
  const parts = message.parts.map((part) => ({ ...part, requested: currentName(part, names) }));
  return parts.every(({ requested }, index) => requested === message.parts[index]?.requested) ? message : { ...message, parts };
}

function isSame(parts: readonly unknown[], before: readonly unknown[]): boolean {
  return parts.every((part, index) => part === before[index]);
}

function underName(part: ToolCallPart, name: string): ToolCallPart {
  return name === part.requested ? part : { ...part, requested: name, said: part.requested };
}

function currentName({ requested, canonical }: { requested: string; canonical: string | null }, names: AliasMap): string {
  return (canonical === null ? undefined : wireNameOf(names, canonical, requested)) ?? requested;
}
