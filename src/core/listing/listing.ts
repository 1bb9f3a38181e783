/**
 * Reads a server's listing: which definitions can be offered, which are held for review, and which are invalid. An invalid definition is
 * reported and skipped; the others stay. Fetches nothing and runs no pattern. Used by the Catalog for every listing. `tool.ts` (pins) and
 * `definition-diff.ts` compare with the accepted definitions.
 */
import { findAdvisories, findSuspicions } from './definition-findings.ts';
import { fold } from '../names/fold.ts';
import { type Finding, addFinding, maxDefinitionFindings } from '../tools/hold.ts';
import { limits } from '../limits/limits.ts';
import { KB } from '../limits/units.ts';
import { cleanSchema } from './listing-cleanup.ts';
import { without } from '../schema/schema-parts.ts';
import { outputSchemaFault, schemaFault } from './listing-schema.ts';
import { cleanDescription } from '../tools/listing-text.ts';
import { listedNameFault, parseAlias, quote } from '../names/names.ts';
import { isOfferMethod } from '../tools/upstream-method.ts';
import type { ToolsetAlias } from '../names/toolset-alias.ts';
import { ToolAnnotations, type BareDefinition, Icons, type ToolPresentation } from '../tools/tool.ts';
import { passedMeta } from '../tools/mcp-input.ts';
import type { ServerOperation } from '../tools/server-operation.ts';
import { utf8Length } from '../text/utf8.ts';
import { isDeeperThan, isRecord, ownMember, recordOf } from '../json/wire-value.ts';

export type ListedDefinition = {
  /** `tools[i]`. */
  path: string;
  /** The name as listed; `''` if it is not a string. */
  name: string;
  /** What the pin covers: the item without unknown members. null: refused. */
  raw: BareDefinition | null;
  /** The definition for models: hidden characters removed, long texts cut. null: refused. */
  definition: BareDefinition | null;
  /** For MCP clients. */
  presentation?: ToolPresentation;
  findings: Finding[];
  /** `hold`: requires a review. `refuse`: not a valid definition, for the reasons in `findings`. */
  verdict: 'offer' | 'hold' | 'refuse';
};

/** How an OpenAPI server's tools are called, by name without the server. Never taken from the listing itself. */
export type OperationsByTool = Readonly<Record<string, ServerOperation>>;

/** Returns one result for each item, in the order of the listing. */
export function readListing(tools: readonly Record<string, unknown>[], operations: OperationsByTool = {}): ListedDefinition[] {
  const names = new Set(tools.flatMap(({ name }) => (typeof name === 'string' ? [fold(name)] : [])));
  const taken = new Set<string>();
  return tools.map((tool, index) => {
    const listed = readOne(tool, { path: `tools[${index}]`, listed: names, operations });
    if (listed.verdict === 'refuse') return listed;
    const { path, name } = listed;
    const message = `${quote(name)} is listed twice; the first definition is used`;
    if (taken.has(name)) return refused(path, name, { finding: 'duplicate-name', path: '/name', message });
    taken.add(name);
    return listed;
  });
}

function readOne(
  tool: Record<string, unknown>,
  { path, listed, operations }: { path: string; listed: ReadonlySet<string>; operations: OperationsByTool },
): ListedDefinition {
  const name = typeof tool.name === 'string' ? tool.name : '';
  const fault = faultOf(tool);
  if (fault !== null) return refused(path, name, fault);
  const raw = { ...rawOf(tool, name), ...(Object.hasOwn(operations, name) && { operation: operations[name] }) };
  const cleaned: Finding[] = [];
  const definition = cleanDefinition(raw, cleaned);
  // A parameter that was removed may be one that the tool needs.
  const isHolding = ({ finding }: Finding): boolean => finding === 'hidden-key';
  const holding = [...findSuspicions(definition, listed), ...cleaned.filter(isHolding)];
  const others = [...cleaned.filter((finding) => !isHolding(finding)), ...findAdvisories(definition)];
  const presentation = presentationOf(tool, others);
  const findings = [...holding, ...others].slice(0, maxDefinitionFindings);
  const verdict = holding.length > 0 ? 'hold' : 'offer';
  return { path, name, raw, definition, ...(presentation !== null && { presentation }), findings, verdict };
}

/** Returns why the item is not a valid definition; null: it is valid. */
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
  if (typeof name !== 'string') return { finding: 'invalid-name', path: '/name', message: 'must be a string' };
  // Rules and the audit call such a request by the name of its method, as if it were a tool of the server.
  const fault = isOfferMethod(name) ? 'it is a method of MCP' : listedNameFault(name);
  if (fault === null) return null;
  const finding = /[^\x20-\x7e]/.test(name) ? 'non-ascii-name' : 'invalid-name';
  return { finding, path: '/name', message: `${quote(name)} cannot be the name of a tool: ${fault}` };
}

function descriptionFault(description: unknown): Finding | null {
  if (description === undefined || description === null || typeof description === 'string') return null;
  return { finding: 'invalid-description', path: '/description', message: 'must be a string' };
}

/** Checked last: the depth of a schema must be known before it is traversed. */
function sizeFault(tool: Record<string, unknown>): Finding | null {
  const bytes = utf8Length(JSON.stringify(rawOf(tool, '')));
  if (bytes <= limits.maxDefinitionBytes) return null;
  return { finding: 'too-large', path: '', message: `has ${bytes} bytes; at most ${limits.maxDefinitionBytes} are allowed` };
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
    ...(raw.listedAliases && { listedAliases: raw.listedAliases }),
  };
}

function cleanAt(text: string, path: string, findings: Finding[]): string {
  const cleaned = cleanDescription(text);
  for (const finding of cleaned.findings) addFinding(findings, { ...finding, path });
  return cleaned.text;
}

function rawOf(tool: Record<string, unknown>, name: string): BareDefinition {
  const annotations = annotationsOf(tool.annotations);
  const aliases = aliasesOf(tool);
  return {
    name,
    description: typeof tool.description === 'string' ? tool.description : '',
    inputSchema: tool.inputSchema as Record<string, unknown>, // Only called for records.
    ...(isRecord(tool.outputSchema) && { outputSchema: tool.outputSchema }),
    ...(annotations !== null && { annotations }),
    ...(aliases.length > 0 && { listedAliases: aliases }),
  };
}

/**
 * Returns the legal aliases of a static tool (`aliases`) or of an MCP tool (`_meta.aliases`), as toolset entries write them. Only the modes
 * `announced` and `hidden` are taken: a note would reach models without review, and each `function` repeats the definition.
 */
function aliasesOf({ aliases, _meta: meta, name: own }: Record<string, unknown>): ToolsetAlias[] {
  const given = Array.isArray(aliases) ? aliases : isRecord(meta) && Array.isArray(meta.aliases) ? meta.aliases : [];
  const legal = new Map<string, ToolsetAlias>();
  for (const item of given.slice(0, limits.maxAliasesPerEntry)) {
    const { name, mode } = isRecord(item) ? item : { name: item, mode: 'announced' };
    const parsed = typeof name === 'string' ? parseAlias(name) : null;
    if (parsed?.ok !== true || parsed.alias === own) continue;
    legal.set(parsed.alias, (mode ?? 'announced') === 'announced' ? parsed.alias : { name: parsed.alias, mode: 'hidden' });
  }
  return [...legal.values()];
}

/** Returns the known hints of the right type. Other annotations are ignored, so their changes are not noticed. */
function annotationsOf(value: unknown): ToolAnnotations | null {
  if (!isRecord(value)) return null;
  const known = Object.entries(ToolAnnotations.shape).flatMap(([hint, type]) => {
    const read = type.safeParse(ownMember(value, hint));
    return read.success && read.data !== undefined ? [[hint, read.data]] : [];
  });
  return known.length === 0 ? null : ToolAnnotations.parse(Object.fromEntries(known));
}

/** An edition has the presentation of each of its tools. */
const maxPresentationBytes = 32 * KB;

const definitionMembers = ['name', 'description', 'inputSchema', 'outputSchema', 'aliases'] as const;

/**
 * Returns what the item has for clients, unchanged; null if there is nothing. An invalid member is ignored, and one that is too large is left
 * out with a finding: the last ones first, which clients need least.
 */
function presentationOf(item: Record<string, unknown>, findings: Finding[]): ToolPresentation | null {
  const { title, execution, annotations, icons, _meta, ...rest } = item;
  const { aliases, ...others } = recordOf(passedMeta(_meta));
  // A list of aliases are the default aliases of the tool, and shown as such.
  const meta = Array.isArray(aliases) || aliases === undefined ? others : { ...others, aliases };
  const members = {
    title: typeof title === 'string' && title !== '' ? title : undefined,
    execution: isRecord(execution) ? execution : undefined,
    meta: notEmpty(meta),
    annotations: notEmpty(without(recordOf(annotations), ...Object.keys(ToolAnnotations.shape))),
    others: notEmpty(without(rest, ...definitionMembers)),
    icons: Icons.safeParse(icons).data,
  };
  let left = maxPresentationBytes;
  const shown = Object.entries(members).filter(([name, member]) => {
    if (member === undefined) return false;
    left -= isDeeperThan(member, limits.maxJsonDepth) ? maxPresentationBytes : utf8Length(JSON.stringify(member));
    const fits = left >= 0;
    const message = `is not shown to clients: with it, the tool has more than ${maxPresentationBytes} bytes besides its definition`;
    if (!fits) findings.push({ finding: 'too-large', path: `/${name === 'meta' ? '_meta' : name === 'others' ? '' : name}`, message });
    return fits;
  });
  return shown.length === 0 ? null : Object.fromEntries(shown);
}

function notEmpty(record: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.keys(record).length === 0 ? undefined : record;
}

function refused(path: string, name: string, finding: Finding): ListedDefinition {
  return { path, name, raw: null, definition: null, findings: [finding], verdict: 'refuse' };
}
