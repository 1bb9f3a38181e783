/**
 * Compiles editions (`edition-tool.ts`): immutable compiled versions of a toolset, keyed by the SHA-256 of their bytes (contract §4).
 * An edition holds neutral definitions and final names. Lookup tables are built from it in the isolate (`alias-map.ts`), and provider
 * formats lazily by the adapters.
 */
import type { Edition, EditionTool } from './edition-tool.ts';
import { definitionNames } from './model-definitions.ts';
import { coveredAliases } from './arguments/argument-aliases.ts';
import { checkEntryResult } from './entry-result.ts';
import { sha256Hex } from '../hash.ts';
import { type KnownTools, resolveReferences } from './known-tools.ts';
import { limits } from '../limits/limits.ts';
import { countWarnings, definitionsAtFirst, lintTools, nameWarnings } from './lint.ts';
import { conflictAt, findConflicts, type NameConflict } from './name-claims.ts';
import { readNamedEntries, type NamedEntry } from './named-entry.ts';
import { type LeftOutName, settleNames } from './settle-names.ts';
import { invalidRequest, type Issue, Problem, type Warning } from '../problem.ts';
import { compileMadeEntries } from './compile-made.ts';
import type { Toolset } from './toolset.ts';
import { utf8Length } from '../text/utf8.ts';
import { expandEntries, isWildcard, type PlacedEntry, placeIn } from './wildcards.ts';
import { MB } from '../limits/units.ts';
import { checkEntries, compileTool } from './compile-tool.ts';
import { revokedEntries } from './revocations.ts';
import { offerWarnings, offerNameIssues } from './offer-entry.ts';

const maxToolsetBytes = 1 * MB;
export const maxEditionBytes = 10 * MB;

/** `before`: the tools of an earlier edition of the same document. Their wire names stay, whatever the default names are now. */
export type CompileInput = { workspace: string; name: string; toolset: Toolset; known: KnownTools; before?: readonly EditionTool[] };

/** `leftOut`: also in `warnings`. */
type CompiledEdition = { edition: Edition; warnings: Warning[]; leftOut: readonly LeftOutName[]; toolset: Toolset };

/**
 * Compiles a toolset document. The returned `toolset` is the document with its references (`refId`) resolved. The same input gives
 * the same edition; the order of the entries does not affect whether it is valid. Throws `Problem`: `invalid_request` with every
 * error and its path, or `name_conflict` with `conflicts` (`name-claims.ts`), at most a thousand.
 */
export async function compileEdition(input: CompileInput): Promise<CompiledEdition> {
  const { known } = input;
  if (utf8Length(JSON.stringify(input.toolset)) > maxToolsetBytes) {
    throw invalidRequest([{ path: '', message: `the toolset is larger than ${maxToolsetBytes} bytes` }]);
  }
  const { rows, issues, warnings } = expandEntries(input.toolset.tools, () => known.all(), input.toolset.revoked);
  if (issues.length > 0) throw invalidRequest(issues);
  if (!input.toolset.tools.some(isWildcard)) return await compileListed(input);
  try {
    const compiled = await compileListed({ ...input, toolset: { ...input.toolset, tools: rows.map(({ entry }) => entry) } });
    return { ...compiled, warnings: [...warnings, ...compiled.warnings] };
  } catch (error) {
    throw atPatterns(error, rows);
  }
}

/** Returns a fault of the expanded document with the positions of the entries and patterns of the written one. */
function atPatterns(error: unknown, rows: readonly PlacedEntry[]): unknown {
  if (!(error instanceof Problem)) return error;
  // Both are written in these shapes: here, and in `core/problem.ts`.
  const { issues, conflicts, ...extra } = error.extra as { issues?: Issue[]; conflicts?: NameConflict[] };
  const at = (path: string): string => placeIn(path, rows);
  if (error.code === 'invalid_request' && issues !== undefined)
    return invalidRequest(issues.map((issue) => ({ ...issue, path: at(issue.path) })));
  if (conflicts === undefined) return error;
  return new Problem(error.code, error.detail, { ...extra, conflicts: conflicts.map((conflict) => conflictAt(conflict, at)) });
}

/** Compiles a document without patterns. */
async function compileListed(input: CompileInput): Promise<CompiledEdition> {
  const { known } = input;
  const toolset = await resolveReferences(input.toolset, known);
  const reading = settleNames(readNamedEntries(toolset, known, input.before), toolset, known);
  const faults = [
    ...reading.issues,
    ...revokedEntries(toolset),
    ...(await checkEntries(reading.entries, known)),
    ...offerNameIssues(toolset),
    ...(await searchIssues(reading.entries)),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
  const conflicts = findConflicts(reading.entries);
  if (conflicts.length > 0) throw nameConflict(conflicts);

  const made = await compileMadeEntries(reading.entries, known);
  if (made.bytes > maxEditionBytes) throw tooLarge(', those inside made tools included,', 'list fewer made tools');
  const edition: Edition = {
    format: 1,
    workspace: input.workspace,
    toolset: input.name,
    announce: toolset.announce,
    ...(toolset.onDemandAbove !== undefined && { onDemandAbove: toolset.onDemandAbove }),
    ...(toolset.mcpTools !== undefined && { mcpTools: toolset.mcpTools }),
    ...instructionsOf(reading.entries),
    tools: await Promise.all(reading.entries.map((entry) => compileTool(entry, made.codes.get(entry), toolset.announce !== 'none'))),
    ...(toolset.resources && { resources: toolset.resources }),
    ...(toolset.prompts && { prompts: toolset.prompts }),
  };
  const bytes = utf8Length(editionBytes(edition));
  if (bytes > maxEditionBytes) throw tooLarge('', 'list fewer tools');
  // Stored once, but sent once for each alias: a small document could cause gigabytes of requests.
  if (bytes + copiedBytes(edition.tools) > maxEditionBytes)
    throw tooLarge(', one for each function alias,', 'give fewer aliases the mode "function"');
  return {
    edition,
    toolset,
    leftOut: reading.leftOut,
    warnings: [
      ...reading.warnings,
      ...reading.leftOut.map(({ path, message }) => ({ path, message })),
      ...reading.entries.flatMap(checkEntryResult),
      ...reading.entries.flatMap(coveredAliases),
      ...nameWarnings(reading.entries, known),
      ...lintTools(edition.tools),
      ...offerWarnings(toolset, known.hasServer),
      ...countWarnings(definitionsAtFirst(edition.tools, edition.onDemandAbove)),
    ],
  };
}

async function searchIssues(entries: readonly NamedEntry[]): Promise<Issue[]> {
  const marked = entries.filter(({ source }) => source.standsFor !== undefined);
  return marked.length === 0 ? [] : (await import('./entries/search-entry.ts')).checkSearchEntries(marked);
}

function tooLarge(counted: string, remedy: string): Problem {
  const message = `with all definitions${counted} the edition is larger than ${maxEditionBytes} bytes; ${remedy}`;
  return invalidRequest([{ path: 'tools', message }]);
}

/** The bytes that function aliases add to the definitions sent to providers. */
function copiedBytes(tools: readonly EditionTool[]): number {
  return tools.reduce((sum, tool) => {
    const copies = definitionNames(tool).length - 1;
    const { description, inputSchema } = tool;
    return copies === 0 ? sum : sum + copies * utf8Length(JSON.stringify({ description, inputSchema }));
  }, 0);
}

function instructionsOf(entries: readonly NamedEntry[]): Pick<Edition, 'instructions'> {
  const texts = new Map<string, string>();
  for (const { server, definition } of entries) {
    const { trusted = false, instructions } = definition?.source ?? {};
    if (trusted && instructions !== undefined) texts.set(server, instructions);
  }
  return texts.size === 0 ? {} : { instructions: [...texts].map(([server, text]) => ({ server, text })) };
}

/**
 * The edition as stored. Members have a fixed order, and schemas keep the order of their author, because models treat the first
 * properties as the important ones.
 */
export function editionBytes(edition: Edition): string {
  return JSON.stringify(edition);
}

/** The key under which an edition is stored. */
export async function editionHash(edition: Edition): Promise<string> {
  return await sha256Hex(editionBytes(edition));
}

/** The detail names the first few conflicts; `conflicts` has up to a thousand. */
const maxConflictsInDetail = 5;

function nameConflict(conflicts: readonly NameConflict[]): Problem {
  const sentences = conflicts.slice(0, maxConflictsInDetail).map(({ name, tools: [keeper, mover], suggestion }) => {
    return `"${name}" is claimed by ${keeper} and by ${mover}; name ${mover} "${suggestion}" instead.`;
  });
  const rest = conflicts.length - sentences.length;
  return new Problem('name_conflict', sentences.join(' ') + (rest > 0 ? ` And ${rest} more.` : ''), {
    conflicts: conflicts.slice(0, limits.maxReportedIssues),
  });
}
