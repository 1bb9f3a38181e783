/**
 * Compiles a toolset that is being edited as far as it is valid, and finds everything that prevents it from being stored, where `edition.ts`
 * stops at the first kind of fault. Positions are those of the draft, also behind patterns and entries that were left out.
 */
import { limits } from '../limits/limits.ts';
import { type Issue, Problem, type Warning } from '../problem.ts';
import { checkEntries } from './compile-tool.ts';
import { compileEdition, type CompileInput } from './edition.ts';
import type { Edition } from './edition-tool.ts';
import { readReferences } from './known-tools.ts';
import { conflictAt, findConflicts, type NameConflict } from './name-claims.ts';
import { readNamedEntries } from './named-entry.ts';
import { offerNameIssues } from './offer-entry.ts';
import { revokedEntries } from './revocations.ts';
import { settleNames } from './settle-names.ts';
import { entryIndex, expandEntries, type PlacedEntry, placeIn } from './wildcards.ts';

/** `edition`: of the valid entries; null if there are none. `places`: for each tool of the edition, the index of its entry in the draft. */
export type CompiledDraft = {
  edition: Edition | null;
  places: number[];
  issues: Issue[];
  conflicts: NameConflict[];
  warnings: Warning[];
};

/** `places`: for each entry of `toolset`, its index in the draft. Returns at most `limits.maxReportedIssues` faults of each kind. */
export async function compileDraft(input: CompileInput, places: readonly number[]): Promise<CompiledDraft> {
  const { known, toolset } = input;
  const expanded = expandEntries(toolset.tools, () => known.all(), toolset.revoked);
  if (expanded.rows.length > limits.maxToolsetEntries)
    return { edition: null, places: [], issues: expanded.issues, conflicts: [], warnings: [] };
  const references = await readReferences(
    expanded.rows.map(({ entry }) => entry),
    known,
  );
  const resolved = expanded.rows.map(({ place }, index): PlacedEntry => {
    return { entry: references.tools[index] ?? {}, place: places[place] ?? place };
  });
  const atDraft = (found: readonly Issue[]) =>
    found.map((issue) => ({ ...issue, path: issue.path.replace(entryIndex, (_path, index) => `tools[${places[Number(index)]}]`) }));
  const placed = (rows: readonly PlacedEntry[], found: readonly Issue[]) =>
    found.map((issue) => ({ ...issue, path: placeIn(issue.path, rows) }));
  const rows = resolved.filter((_row, index) => !faulty(references.issues).has(index));
  const document = { ...toolset, tools: rows.map(({ entry }) => entry) };
  const { entries, issues } = settleNames(readNamedEntries(document, known), document, known);
  const ownIssues = [...issues, ...revokedEntries(document), ...(await checkEntries(entries, known))];
  const conflicts = findConflicts(entries);
  const offerIssues = offerNameIssues(toolset);
  const faults = [...offerIssues, ...atDraft(expanded.issues), ...placed(resolved, references.issues), ...placed(rows, ownIssues)];
  const left = new Set([
    ...faulty(ownIssues),
    ...faulty(conflicts.map(({ claims: [, mover] }) => ({ path: mover.entry ?? '', message: '' }))),
  ]);
  const valid = rows.filter((_row, index) => !left.has(index));
  const { prompts: _prompts, resources: _resources, ...withoutOffers } = toolset;
  const compiled = await compileRows(offerIssues.length === 0 ? input : { ...input, toolset: withoutOffers }, valid);
  return {
    edition: compiled.edition,
    places: valid.map(({ place }) => place),
    issues: [...faults, ...(faults.length === 0 || compiled.isTooLarge ? placed(valid, compiled.issues) : [])].slice(
      0,
      limits.maxReportedIssues,
    ),
    conflicts: conflicts.slice(0, limits.maxReportedIssues).map((conflict) => conflictAt(conflict, (path) => placeIn(path, rows))),
    warnings: [...atDraft(expanded.warnings), ...placed(valid, compiled.warnings)],
  };
}

type CompiledRows = { edition: Edition | null; issues: Issue[]; warnings: Warning[]; isTooLarge: boolean };

/** Without the name map if it names tools that were left out. */
async function compileRows(input: CompileInput, rows: readonly PlacedEntry[]): Promise<CompiledRows> {
  const none = { edition: null, issues: [], warnings: [], isTooLarge: false };
  if (rows.length === 0) return none;
  const { nameMap, ...rest } = input.toolset;
  const tools = rows.map(({ entry }) => entry);
  try {
    const { edition, warnings } = await compileEdition({
      ...input,
      toolset: { ...rest, ...(nameMap !== undefined && { nameMap }), tools },
    });
    return { ...none, edition, warnings };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Written in this shape by `core/problem.ts`.
    const issues = (error.extra.issues ?? [{ path: 'tools', message: error.detail }]) as Issue[];
    const isOfNameMap = nameMap !== undefined && issues.every(({ path }) => path.startsWith('nameMap'));
    if (!isOfNameMap) return { ...none, issues, isTooLarge: issues.some(({ path }) => path === 'tools' || path === '') };
    return { ...(await compileRows({ ...input, toolset: rest }, rows)), issues };
  }
}

/** The indexes of the entries with faults. */
function faulty(issues: readonly Issue[]): Set<number> {
  return new Set(issues.flatMap(({ path }) => entryIndex.exec(path)?.[1] ?? []).map(Number));
}
