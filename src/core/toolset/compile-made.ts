/**
 * Compiles a made tool with all tools that it may call, in the form stored in an edition: it is sufficient to run the tool. The tools
 * are in their original form; a held or missing one is included with that state, so that the made tool itself is ready and a call of
 * that tool reports why it cannot run.
 */
import { type MadeCode, type EditionTool, isEndorsed } from './edition-tool.ts';
import { getOrBuild, memoizeByObject } from '../memoize.ts';
import type { KnownTools } from './known-tools.ts';
import type { MadeSource } from '../tools/made-tool.ts';
import type { NamedEntry } from './named-entry.ts';
import type { ToolDefinition, ToolAnnotations } from '../tools/tool.ts';
import { CanonicalName, ownWireNames, toWireName } from '../names/names.ts';
import { utf8Length } from '../text/utf8.ts';
import { type CompiledEntry, compileTool } from './compile-tool.ts';
import { ownNameOf } from './named-entry.ts';
import { serverOfOffer } from '../names/offer-pattern.ts';

/**
 * Compiles the code of the made tools among a toolset's entries. A tool with several entries is compiled once, and so is each tool, however
 * many use it. Writes make sure that there are no cycles. `bytes`: the total size as JSON, as in the edition, computed without serializing
 * it: a few tools used by many would be serialized many times.
 */
export async function compileMadeEntries(
  entries: readonly NamedEntry[],
  known: Pick<KnownTools, 'get'>,
): Promise<{ codes: ReadonlyMap<NamedEntry, MadeCode>; bytes: number }> {
  const tools = new Map<string, Promise<Sized<EditionTool>>>();
  const sources = new Map<MadeSource, Promise<Sized<MadeCode>>>();
  const compileUse = async (canonical: string): Promise<Sized<EditionTool>> => {
    const definition = known.get(canonical);
    const bare = await compileTool(bareEntry(canonical, definition));
    if (definition?.made === undefined) return sized(bare);
    const made = await compile(definition.made);
    return { value: { ...bare, made: made.value }, bytes: sized(bare).bytes + made.bytes };
  };
  const compile = async ({ implementation, uses, names = {}, ...by }: MadeSource): Promise<Sized<MadeCode>> => {
    const compiled = await Promise.all(uses.map((use) => getOrBuild(tools, use, Number.POSITIVE_INFINITY, () => compileUse(use))));
    const wireNames = ownWireNames(compiled.map(({ value }) => value));
    const own = Map.groupBy(Object.entries(names), ([, canonical]) => canonical);
    const made: MadeCode = {
      ...by,
      implementation,
      uses: compiled.map(({ value }, index) => ({
        ...value,
        wireName: wireNames[index] ?? value.wireName,
        aliases: (own.get(value.canonical) ?? []).map(([name]) => ({ name, mode: 'hidden' as const })),
      })),
    };
    const bytes = compiled.reduce((sum, use) => sum + use.bytes, utf8Length(JSON.stringify([implementation, names])));
    return { value: made, bytes };
  };

  const codes = new Map<NamedEntry, MadeCode>();
  let bytes = 0;
  for (const entry of entries) {
    const source = entry.definition?.made;
    if (source === undefined) continue;
    const made = await getOrBuild(sources, source, Number.POSITIVE_INFINITY, () => compile(source));
    codes.set(entry, made.value);
    bytes += made.bytes;
  }
  return { codes, bytes };
}

type Sized<Value> = { value: Value; bytes: number };

/**
 * A tool in its original form, without the rules of any toolset. Without a definition the server is gone, or no longer lists the tool and
 * nothing else names it: only the name is left.
 */
function bareEntry(canonical: string, definition: ToolDefinition | undefined): CompiledEntry {
  const { ownName } = ownNameOf({ tool: canonical }, definition);
  const names = {
    canonical: CanonicalName.parse(canonical),
    ownName,
    server: serverOfOffer(canonical),
    wireName: toWireName(canonical, ownName),
  };
  if (definition === undefined) return { ...names, source: {}, definition: null, aliases: [] };
  const { presentation: _presentation, ui: _ui, ...own } = definition;
  return { ...names, source: {}, definition: own, aliases: [] };
}

function sized(value: EditionTool): Sized<EditionTool> {
  return { value, bytes: utf8Length(JSON.stringify(value)) };
}

// The annotations of a made tool, derived from the tools that its code may call, since it has no effects itself. For clients that show
// hints (MCP); the policy checks each inner call and never uses them.

/** For any other tool, returns its own annotations. */
export function madeAnnotations(tool: EditionTool): ToolAnnotations | undefined {
  if (tool.made === undefined) return tool.annotations;
  const { reads, keeps, stays } = effectOf(tool);
  return { ...tool.annotations, readOnlyHint: reads, destructiveHint: !keeps, openWorldHint: !stays };
}

/** `keeps`: it destroys nothing. `stays`: it does not reach outside systems. */
type Effect = { reads: boolean; keeps: boolean; stays: boolean };

/** Tools of an edition live as long as the edition, and many tools may use the same few. */
const effectOf = memoizeByObject(
  (tool: EditionTool): Effect => (tool.made === undefined ? ownEffect(tool) : allOf(tool.made.uses.map((use) => effectOf(use)))),
);

function allOf(effects: readonly Effect[]): Effect {
  return {
    reads: effects.every(({ reads }) => reads),
    keeps: effects.every(({ keeps }) => keeps),
    stays: effects.every(({ stays }) => stays),
  };
}

/** A missing hint means the worst case, as in MCP. Annotations of untrusted servers are ignored. */
function ownEffect(tool: EditionTool): Effect {
  const { kind, annotations = {} } = tool;
  const isOurs = kind === 'builtin' || kind === 'local';
  if (!isOurs && !isEndorsed(tool)) return { reads: false, keeps: false, stays: false };
  const reads = annotations.readOnlyHint === true;
  return { reads, keeps: reads || annotations.destructiveHint === false, stays: annotations.openWorldHint === false };
}
