/**
 * The tool's own arguments of recorded and replayed calls, for matching them: names of arguments, presets and defaults of either toolset make no
 * difference. Values that depend on the caller are the same for every key.
 */
import { readPreset } from '../../core/toolset/arguments/entry-arguments.ts';
import { type AliasMap, findTool, toolsNamed } from '../../core/toolset/alias-map.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { SchemaOf } from '../../core/replay/match-calls.ts';
import type { RecordedTurnCall } from '../../core/replay/recorded-turn.ts';
import { prepareArguments } from '../call/prepare-call.ts';

type Arguments = Record<string, unknown>;

/** As far as they are known for a call that is refused. A secret is `{secret: NAME}`. */
export function ownArguments(tool: EditionTool, given: Arguments): Arguments {
  const fields = Object.values(tool.arguments?.preset ?? {}).map(readPreset);
  const caller = Object.fromEntries(
    fields.flatMap((preset) => (preset.kind === 'caller' ? [[preset.field, `caller.${preset.field}`]] : [])),
  );
  return prepareArguments(tool, given, caller).own;
}

/** `names`: of the edition that the turn used; null: it had none. Calls of tools that are not in it, such as those of the client, stay. */
export function withOwnArguments(calls: readonly RecordedTurnCall[], names: AliasMap | null): RecordedTurnCall[] {
  return calls.map((call) => {
    const tool = call.canonical === null || names === null ? null : toolOfCall(names, call.requested, call.canonical);
    return tool === null || call.arguments === null ? call : { ...call, arguments: ownArguments(tool, call.arguments) };
  });
}

/** Of several entries of a tool, the one that was called. */
function toolOfCall(names: AliasMap, requested: string, canonical: string): EditionTool | null {
  const called = findTool(names, requested);
  return called?.canonical === canonical ? called : (toolsNamed(names, canonical)[0] ?? null);
}

/** The tools' own schemas, of the first table that has the tool. null: there is no toolset. */
export function ownSchemas(...names: readonly (AliasMap | null)[]): SchemaOf {
  return (canonical) => {
    const tools = names.flatMap((map) => (map === null ? [] : toolsNamed(map, canonical)));
    const tool = tools.find((one) => one.canonical === canonical);
    return tool?.sourceSchema ?? tool?.inputSchema;
  };
}
