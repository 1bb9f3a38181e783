/**
 * A listing of a server, read: which of its definitions can be offered, which are held until a person has looked, which are none.
 * Definitions come from strangers: a bad one is told and left out, the others stay. Nothing is fetched and no pattern is run.
 * Used by the Catalog at every listing. Not here: comparing with what was accepted (`tool-pin.ts`, `definition-diff.ts`).
 */
import { remarks, suspicions } from './definition-findings.ts';
import { fold } from '../fold.ts';
import type { Finding } from './hold.ts';
import { limits } from '../limits.ts';
import { cleanSchema } from './listing-cleanup.ts';
import { addFinding } from './listing-findings.ts';
import { outputSchemaFault, schemaFault } from './listing-schema.ts';
import { cleanText } from './listing-text.ts';
import { isListedName, quote } from '../names.ts';
import { ToolAnnotations } from '../tool.ts';
import type { Operation } from '../servers/server-state.ts';
import type { BareDefinition } from '../tool.ts';
import { utf8Length } from '../utf8.ts';
import { isRecord } from '../wire-value.ts';

export type ListedDefinition = {
  /** `tools[i]`. */
  path: string;
  /** As it was listed; `''` where there was no text. */
  name: string;
  /** What the pin covers: as it came, but for members that say nothing to us. null: refused. */
  raw: BareDefinition | null;
  /** What models may be given: hidden characters gone, long texts cut. null: refused. */
  definition: BareDefinition | null;
  findings: Finding[];
  /** `hold`: not before a person has looked. `refuse`: no definition; `findings` say why. */
  verdict: 'offer' | 'hold' | 'refuse';
};

/** How its tools are called, by own name: of an OpenAPI server, and never what the listing itself says. */
export type Operations = Readonly<Record<string, Operation>>;

/** In the order of the listing, one for each of its items. */
export function readListing(tools: readonly Record<string, unknown>[], operations: Operations = {}): ListedDefinition[] {
  const names = new Set(tools.flatMap(({ name }) => (typeof name === 'string' ? [fold(name)] : [])));
  const taken = new Set<string>();
  return tools.map((tool, index) => {
    const listed = readOne(tool, { path: `tools[${index}]`, listed: names, operations });
    if (listed.verdict === 'refuse') return listed;
    if (taken.has(listed.name)) return duplicate(listed);
    taken.add(listed.name);
    return listed;
  });
}

function readOne(
  tool: Record<string, unknown>,
  { path, listed, operations }: { path: string; listed: ReadonlySet<string>; operations: Operations },
): ListedDefinition {
  const name = typeof tool.name === 'string' ? tool.name : '';
  const fault = faultOf(tool);
  if (fault !== null) return { path, name, raw: null, definition: null, findings: [fault], verdict: 'refuse' };
  const raw = { ...rawOf(tool, name), ...(Object.hasOwn(operations, name) && { operation: operations[name] }) };
  const cleaned: Finding[] = [];
  const definition = cleanDefinition(raw, cleaned);
  // A parameter that had to be left out may be one that the tool needs.
  const isHolding = ({ finding }: Finding): boolean => finding === 'hidden-key';
  const holding = [...suspicions(definition, listed), ...cleaned.filter(isHolding)];
  const others = [...cleaned.filter((finding) => !isHolding(finding)), ...remarks(definition)];
  const findings = [...holding, ...others].slice(0, limits.maxDefinitionFindings);
  return { path, name, raw, definition, findings, verdict: holding.length > 0 ? 'hold' : 'offer' };
}

/** Why it is no definition; null: it is one. */
function faultOf(tool: Record<string, unknown>): Finding | null {
  return (
    nameFault(tool.name) ??
    descriptionFault(tool.description) ??
    schemaFault(tool.inputSchema, '/inputSchema') ??
    outputSchemaFault(tool.outputSchema, '/outputSchema') ??
    sizeFault(tool)
  );
}

function nameFault(name: unknown): Finding | null {
  if (typeof name !== 'string') return { finding: 'invalid-name', path: '/name', message: 'must be a text' };
  if (isListedName(name)) return null;
  const finding = /[^\x20-\x7e]/.test(name) ? 'non-ascii-name' : 'invalid-name';
  return {
    finding,
    path: '/name',
    message: `${quote(name)} is no tool name: 1 to 128 of A-Z, a-z, 0-9, "_", "-" and ".", with single blanks between words`,
  };
}

function descriptionFault(description: unknown): Finding | null {
  if (description === undefined || description === null || typeof description === 'string') return null;
  return { finding: 'invalid-description', path: '/description', message: 'must be a text' };
}

/** After the others: a schema is not walked before it is known how deep it is. */
function sizeFault(tool: Record<string, unknown>): Finding | null {
  const bytes = utf8Length(JSON.stringify(rawOf(tool, '')));
  if (bytes <= limits.maxDefinitionBytes) return null;
  return { finding: 'too-large', path: '', message: `has ${bytes} bytes; at most ${limits.maxDefinitionBytes}` };
}

function cleanDefinition(raw: BareDefinition, findings: Finding[]): BareDefinition {
  const description = cleanAt(raw.description, '/description', findings);
  const title = raw.annotations?.title;
  return {
    name: raw.name,
    description,
    inputSchema: cleanSchema(raw.inputSchema, '/inputSchema', findings),
    ...(raw.outputSchema && { outputSchema: cleanSchema(raw.outputSchema, '/outputSchema', findings) }),
    ...(raw.annotations && {
      annotations: { ...raw.annotations, ...(title !== undefined && { title: cleanAt(title, '/annotations/title', findings) }) },
    }),
    ...(raw.operation && { operation: raw.operation }),
  };
}

function cleanAt(text: string, path: string, findings: Finding[]): string {
  const cleaned = cleanText(text);
  for (const finding of cleaned.findings) addFinding(findings, { ...finding, path });
  return cleaned.text;
}

function rawOf(tool: Record<string, unknown>, name: string): BareDefinition {
  const annotations = annotationsOf(tool.annotations);
  return {
    name,
    description: typeof tool.description === 'string' ? tool.description : '',
    inputSchema: tool.inputSchema as Record<string, unknown>, // Asked for only when it is one.
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

function duplicate({ path, name }: ListedDefinition): ListedDefinition {
  const finding: Finding = { finding: 'duplicate-name', path: '/name', message: `${quote(name)} is listed twice; the first one counts` };
  return { path, name, raw: null, definition: null, findings: [finding], verdict: 'refuse' };
}
