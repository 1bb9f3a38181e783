/**
 * Compiles a made tool with all tools that it may call, in the form stored in an edition: it is sufficient to run the tool. The tools
 * are in their original form; a held or missing one is included with that state, so that the made tool itself is ready and a call of
 * that tool reports why it cannot run.
 */
import { type MadeCode, type EditionTool, isEndorsed } from '../toolset/edition-tool.ts';
import { memoizeByObject } from '../memoize.ts';
import type { KnownTools } from '../toolset/known-tools.ts';
import type { MadeSource } from './made-tool.ts';
import type { NamedEntry } from '../toolset/named-entry.ts';
import { ownWireNames } from '../toolset/alias-map.ts';
import { toolPin, type ToolDefinition, type ToolAnnotations } from '../tools/tool.ts';
import { CanonicalName, toWireName } from '../names/names.ts';
import { utf8Length } from '../text/utf8.ts';

/**
 * Compiles the code of the made tools among a toolset's entries. A tool with several entries is compiled once. `bytes`: the total size as
 * JSON, as in the edition.
 */
export async function compileMadeEntries(
  entries: readonly NamedEntry[],
  known: Pick<KnownTools, 'get'>,
): Promise<{ codes: ReadonlyMap<NamedEntry, MadeCode>; bytes: number }> {
  const compiler = createMadeCompiler(known);
  const compiled = new Map<MadeSource, ReturnType<typeof compiler.compile>>();
  const codes = new Map<NamedEntry, MadeCode>();
  let bytes = 0;
  for (const entry of entries) {
    const source = entry.definition?.made;
    if (source === undefined) continue;
    const underWay = compiled.get(source) ?? compiler.compile(source);
    compiled.set(source, underWay);
    const one = await underWay;
    codes.set(entry, one.made);
    bytes += one.bytes;
  }
  return { codes, bytes };
}

export interface MadeCompiler {
  /** `bytes`: the size as JSON, computed without serializing it: a few tools used by many would be serialized many times. */
  compile(source: MadeSource): Promise<{ made: MadeCode; bytes: number }>;
}

type Sized<Value> = { value: Value; bytes: number };

/** Each tool is compiled once, however many tools use it. Writes make sure that there are no cycles. */
function createMadeCompiler(known: Pick<KnownTools, 'get'>): MadeCompiler {
  const kept = new Map<string, Promise<Sized<EditionTool>>>();

  const tool = (canonical: string): Promise<Sized<EditionTool>> => {
    const underWay = kept.get(canonical) ?? compileTool(canonical, known.get(canonical));
    kept.set(canonical, underWay);
    return underWay;
  };

  const compileTool = async (canonical: string, definition: ToolDefinition | undefined): Promise<Sized<EditionTool>> => {
    if (definition === undefined) return sized(unlisted(canonical));
    const { name: ownName, server, kind, description, inputSchema, outputSchema, annotations, source } = definition;
    const bare: EditionTool = {
      canonical: definition.canonical,
      wireName: toWireName(canonical, ownName),
      ownName,
      server,
      kind,
      description,
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
      aliases: [],
      ...(source?.trusted === true && { trusted: true as const }),
      ...(source?.annotationsAccepted === true && { annotationsAccepted: true as const }),
      state: source?.state ?? 'ready',
      ...(source?.held !== undefined && { held: source.held }),
      ...(source?.renamedTo !== undefined && { renamedTo: source.renamedTo }),
      pin: source?.state === 'missing' ? '' : await toolPin(definition),
    };
    if (definition.made === undefined) return sized(bare);
    const { made, bytes } = await compile(definition.made);
    return { value: { ...bare, made }, bytes: sized(bare).bytes + bytes };
  };

  const compile = async ({ implementation, uses, names = {}, ...by }: MadeSource): Promise<{ made: MadeCode; bytes: number }> => {
    const compiled = await Promise.all(uses.map(tool));
    const wireNames = ownWireNames(compiled.map(({ value }) => value));
    const own = new Map<string, string[]>();
    for (const [name, canonical] of Object.entries(names)) own.set(canonical, [...(own.get(canonical) ?? []), name]);
    const made: MadeCode = {
      ...by,
      implementation,
      uses: compiled.map(({ value }, index) => ({
        ...value,
        wireName: wireNames[index] ?? value.wireName,
        aliases: (own.get(value.canonical) ?? []).map((name) => ({ name, mode: 'hidden' as const })),
      })),
    };
    const bytes = compiled.reduce((sum, use) => sum + use.bytes, utf8Length(JSON.stringify([implementation, names])));
    return { made, bytes };
  };

  return { compile };
}

function sized(value: EditionTool): Sized<EditionTool> {
  return { value, bytes: utf8Length(JSON.stringify(value)) };
}

/** The server is gone, or no longer lists the tool and nothing else names it: only the name is left. */
function unlisted(canonical: string): EditionTool {
  const dot = canonical.indexOf('.');
  const [server, ownName] = [canonical.slice(0, dot), canonical.slice(dot + 1)];
  return {
    canonical: CanonicalName.parse(canonical),
    wireName: toWireName(canonical, ownName),
    ownName,
    server,
    kind: 'mcp',
    description: '',
    inputSchema: { type: 'object' },
    aliases: [],
    state: 'missing',
    pin: '',
  };
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
