/** Compiles one tool of an edition from its entry and its definition. */
import type { EditionTool, MadeCode } from './edition-tool.ts';
import type { NamedEntry } from './named-entry.ts';
import { toStrictSchema } from './arguments/strict-schema.ts';
import type { ToolsetEntry } from './toolset.ts';
import { toolPin } from '../tools/tool.ts';
import { trustOf } from './edition-tool.ts';
import { stateOf } from './edition-tool.ts';

export type CompiledEntry = Pick<NamedEntry, 'source' | 'definition' | 'canonical' | 'wireName' | 'ownName' | 'server' | 'aliases'>;

/** `announces`: whether the toolset tells models of aliases. */
export async function compileTool(entry: CompiledEntry, made?: MadeCode, announces = true): Promise<EditionTool> {
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
