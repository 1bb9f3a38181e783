/** Compiles one tool of an edition from its entry and its definition. */
import type { EditionTool, MadeCode } from './edition-tool.ts';
import type { NamedEntry } from './named-entry.ts';
import type { KnownTools } from './known-tools.ts';
import type { Issue } from '../problem.ts';
import { checkEntryArguments } from './arguments/check-arguments.ts';
import { toStrictSchema } from './arguments/strict-schema.ts';
import type { ToolsetEntry } from './toolset.ts';
import { toolPin } from '../tools/tool.ts';
import { trustOf } from './edition-tool.ts';
import { stateOf } from './edition-tool.ts';
import { sameJson } from '../schema/schema-parts.ts';
import { once } from '../memoize.ts';

export type CompiledEntry = Pick<NamedEntry, 'source' | 'definition' | 'canonical' | 'wireName' | 'ownName' | 'server' | 'aliases'> &
  Partial<Pick<NamedEntry, 'others'>>;

/** `announces`: whether the toolset tells models of aliases. With several targets, the tool is the first one, under the strictest annotations of all. */
export async function compileTool(entry: CompiledEntry, made?: MadeCode, announces = true): Promise<EditionTool> {
  const { source, definition, others = [] } = entry;
  const first = await compileTarget(entry, made, announces);
  if (definition === null || others.length === 0) return first;
  // Models and clients are only shown the first one's texts.
  const further = others.map(async (other): Promise<EditionTool> => {
    const named = { canonical: other.canonical, server: other.server, ownName: other.name };
    const target = await compileTarget({ ...entry, ...named, definition: other, aliases: [] });
    return { ...target, description: '', inputSchema: first.inputSchema, sourceSchema: other.inputSchema };
  });
  const { underStrictest } = await loadTargets();
  const [tool = first, ...targets] = underStrictest([first, ...(await Promise.all(further))]);
  const { outputSchema, ...shown } = tool;
  const isSame = targets.every((target) => sameJson(target.outputSchema, outputSchema));
  return {
    ...shown,
    ...(isSame && outputSchema !== undefined && { outputSchema }),
    targets: { choose: source.choose ?? 'in-order', others: targets },
  };
}

/** Few toolsets have such entries. */
const loadTargets = once(() => import('./entries/compile-targets.ts'));

/** Returns what is wrong with the rules, the targets and the cache of the entries. */
export async function checkEntries(entries: readonly NamedEntry[], known: KnownTools): Promise<Issue[]> {
  const isPlain = entries.every(({ source, others }) => others.length === 0 && source.cache === undefined);
  const targets = isPlain ? null : await loadTargets();
  return entries.flatMap((entry) => [...checkEntryArguments(entry, known), ...(targets?.targetIssues(entry, known) ?? [])]);
}

async function compileTarget(entry: CompiledEntry, made?: MadeCode, announces = true): Promise<EditionTool> {
  const { source, definition, canonical, wireName, ownName, server, aliases } = entry;
  const names = { canonical, wireName, ownName, server };
  // Absent for the default, so that editions older than this field keep their hash.
  const approval = source.approval === 'never' || source.approval === 'always' ? { approval: source.approval } : {};
  const compiledAliases = aliases.map(({ name, mode, note }) => ({ name, mode, ...(note !== undefined && { note }) }));
  if (definition === null) {
    // The kind is known once a server lists the tool; only MCP servers can have a known tool that is not listed.
    const unknown = { kind: 'mcp' as const, description: describe(source, ''), inputSchema: { type: 'object' } };
    return { ...names, ...unknown, aliases: compiledAliases, ...approval, state: 'missing', pin: '' };
  }
  const { kind, inputSchema, outputSchema, annotations, presentation, renamed, source: listing, ui } = definition;
  const shown = source.arguments === undefined ? inputSchema : toStrictSchema(inputSchema, source.arguments, announces);
  return {
    ...names,
    kind,
    description: describe(source, definition.description),
    inputSchema: shown,
    // With `pick` the result no longer has the shape that the tool declares.
    ...(outputSchema !== undefined && source.result?.pick === undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    aliases: compiledAliases,
    ...approval,
    ...(source.arguments !== undefined && { arguments: source.arguments }),
    ...(shown !== inputSchema && { sourceSchema: inputSchema }),
    ...(source.result !== undefined && { result: source.result }),
    ...(source.price !== undefined && { price: source.price }),
    ...(source.cache !== undefined && { cache: source.cache }),
    ...(renamed !== undefined && { renamed }),
    ...trustOf(listing),
    ...(source.standsFor !== undefined && { standsFor: source.standsFor }),
    ...(source.alwaysOffered === true && { alwaysOffered: true as const }),
    ...(presentation !== undefined && { presentation }),
    ...(ui !== undefined && { ui }),
    ...(made !== undefined && { made }),
    ...stateOf(listing),
    pin: await toolPin(definition),
  };
}

function describe(source: ToolsetEntry, own: string): string {
  const text = source.description ?? own;
  if (source.notes === undefined || source.notes.length === 0) return text;
  const notes = source.notes.map(({ name, note }) => `- ${name}: ${note}`).join('\n');
  return `${text}${text === '' ? '' : '\n\n'}### Additional tool notes\n${notes}`;
}
