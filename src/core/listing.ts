/**
 * A listing of a server, read: which of its definitions can be offered, which are held until a person has looked, which are none.
 * Definitions come from strangers: a bad one is told and left out, the others stay. Nothing is fetched and no pattern is run.
 * Used by the Catalog at every listing. Not here: comparing with what was accepted (`tool-pin.ts`, `definition-diff.ts`).
 */
import type { Finding } from './hold.ts';
import { isDeeperThan } from './json-depth.ts';
import { limits } from './limits.ts';
import { quote } from './names.ts';
import { ToolAnnotations } from './tool.ts';
import type { ToolDefinition } from './tool.ts';
import { utf8Length } from './utf8.ts';
import { isRecord } from './wire-value.ts';

export type ListingDefinition = Pick<ToolDefinition, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'>;

export type ListedDefinition = {
  /** `tools[i]`. */
  path: string;
  /** As it was listed; `''` where there was no text. */
  name: string;
  /** What the pin covers: as it came, but for members that say nothing to us. null: refused. */
  raw: ListingDefinition | null;
  /** What models may be given: hidden characters gone, long texts cut. null: refused. */
  definition: ListingDefinition | null;
  findings: Finding[];
  /** `hold`: not before a person has looked. `refuse`: no definition; `findings` say why. */
  verdict: 'offer' | 'hold' | 'refuse';
};

/** In the order of the listing, one for each of its items. */
export function readListing(tools: readonly Record<string, unknown>[]): ListedDefinition[] {
  const taken = new Set<string>();
  return tools.map((tool, index) => {
    const listed = readOne(tool, `tools[${index}]`);
    if (listed.verdict !== 'refuse' && taken.has(listed.name)) {
      return refused(listed.path, listed.name, 'duplicate-name', '/name', `${quote(listed.name)} is listed twice; the first one counts`);
    }
    taken.add(listed.name);
    return listed;
  });
}

function readOne(tool: Record<string, unknown>, path: string): ListedDefinition {
  const name = typeof tool.name === 'string' ? tool.name : '';
  const fault = nameFault(tool.name);
  if (fault !== null) return refused(path, name, 'invalid-name', '/name', fault);
  for (const member of ['inputSchema', 'outputSchema'] as const) {
    const schema = tool[member];
    if (member === 'outputSchema' && (schema === undefined || schema === null)) continue;
    if (!isRecord(schema)) return refused(path, name, 'invalid-schema', `/${member}`, 'must be a JSON Schema object');
    if (isDeeperThan(schema, limits.maxJsonDepth)) {
      return refused(path, name, 'too-deep', `/${member}`, `nests deeper than ${limits.maxJsonDepth} levels`);
    }
  }
  const raw = rawOf(tool, name);
  if (utf8Length(JSON.stringify(raw)) > limits.maxDefinitionBytes) {
    return refused(path, name, 'too-large', '', `is larger than ${limits.maxDefinitionBytes} bytes`);
  }
  return { path, name, raw, definition: raw, findings: [], verdict: 'offer' };
}

function rawOf(tool: Record<string, unknown>, name: string): ListingDefinition {
  const annotations = annotationsOf(tool.annotations);
  return {
    name,
    description: typeof tool.description === 'string' ? tool.description : '',
    inputSchema: tool.inputSchema as Record<string, unknown>, // Looked at by the caller.
    ...(isRecord(tool.outputSchema) && { outputSchema: tool.outputSchema }),
    ...(annotations !== null && { annotations }),
  };
}

/** The hints that we know, of the right type. What else a server annotates says nothing to us, and may change unseen. */
function annotationsOf(value: unknown): ToolAnnotations | null {
  if (!isRecord(value)) return null;
  const known = Object.entries(ToolAnnotations.shape).flatMap(([hint, type]) => {
    const read = type.safeParse(Object.hasOwn(value, hint) ? value[hint] : undefined);
    return read.success && read.data !== undefined ? [[hint, read.data]] : [];
  });
  return known.length === 0 ? null : ToolAnnotations.parse(Object.fromEntries(known));
}

/** MCP (2026-07-28, tool names): 1 to 128 of A-Z, a-z, 0-9, "_", "-" and ".". */
function nameFault(name: unknown): string | null {
  if (typeof name !== 'string') return 'must be a text';
  if (/^[A-Za-z0-9_.-]{1,128}$/.test(name)) return null;
  return `${quote(name)} is no tool name: 1 to 128 of A-Z, a-z, 0-9, "_", "-" and "."`;
}

function refused(path: string, name: string, finding: string, where: string, message: string): ListedDefinition {
  return { path, name, raw: null, definition: null, findings: [{ finding, path: where, message }], verdict: 'refuse' };
}
