/**
 * What two versions of a toolset differ in, for a model and for its administrator (DESIGN §4): entry by entry, from the compiled
 * editions, because a model is sent those. Two definitions of one tool are `definition-diff.ts`. Used by `GET …/diff`.
 */
import { diffRecords } from './listing/definition-diff.ts';
import type { Edition, EditionTool } from './edition-tool.ts';
import type { DefinitionChange } from './listing/hold.ts';
import { limits } from './limits.ts';

/** An entry that differs. `fields` are JSON Pointers into what the entry is compiled to; of an added or removed one there are none. */
export type EntryChange = { change: 'added' | 'removed' | 'changed'; canonical: string; wireName: string; fields: DefinitionChange[] };

/** `fields`: of the toolset itself. `more`: further fields that are not told, so that the answer stays readable. */
export type ToolsetDiff = { fields: DefinitionChange[]; changes: EntryChange[]; more: number };

/** A version of a toolset. `description` stands in the document alone. */
export type ToolsetState = { edition: Edition; description?: string };

/**
 * Entries in the order of the newer version, removed ones last. They are the same where tool and wire name are; what is left over of a
 * tool on both sides is one that was renamed. `from` null: all of it is new. Linear but for the moves, which are n log n.
 */
export function diffToolsets(from: ToolsetState | null, to: ToolsetState): ToolsetDiff {
  const before = from?.edition.tools ?? [];
  const after = to.edition.tools;
  const { partners, removed } = matchEntries(before, after);
  const moved = movedEntries(partners);
  const budget = { left: limits.maxToldDifferences, more: 0 };
  const fields = from === null ? [] : spend(budget, diffRecords(toolsetView(from), toolsetView(to)));
  const changes: EntryChange[] = [];
  for (const [index, tool] of after.entries()) {
    const partner = partners[index] ?? null;
    const old = partner === null ? undefined : before[partner];
    if (old === undefined) {
      changes.push({ change: 'added', ...namesOf(tool), fields: [] });
      continue;
    }
    const differences = diffRecords(entryView(old), entryView(tool));
    if (moved.has(index)) differences.push({ path: '/position', from: partner, to: index });
    if (differences.length > 0) changes.push({ change: 'changed', ...namesOf(tool), fields: spend(budget, differences) });
  }
  for (const tool of removed) changes.push({ change: 'removed', ...namesOf(tool), fields: [] });
  return { fields, changes, more: budget.more };
}

function spend(budget: { left: number; more: number }, differences: DefinitionChange[]): DefinitionChange[] {
  const told = differences.slice(0, budget.left);
  budget.left -= told.length;
  budget.more += differences.length - told.length;
  return told;
}

function namesOf({ canonical, wireName }: EditionTool): Pick<EntryChange, 'canonical' | 'wireName'> {
  return { canonical, wireName };
}

/** `partners[i]`: the place before of what stands at `i` now; null where it is new. */
function matchEntries(
  before: readonly EditionTool[],
  after: readonly EditionTool[],
): { partners: (number | null)[]; removed: EditionTool[] } {
  const partners: (number | null)[] = after.map(() => null);
  const taken = new Set<number>();
  const keys = [(tool: EditionTool) => `${tool.canonical} ${tool.wireName}`, (tool: EditionTool): string => tool.canonical];
  for (const keyOf of keys) {
    const left = [...before.entries()].filter(([place]) => !taken.has(place)).reverse();
    const places = Map.groupBy(left, ([, tool]) => keyOf(tool));
    for (const [index, tool] of after.entries()) {
      if (partners[index] !== null) continue;
      // From the end of what was turned round: the first comes first.
      const [place] = places.get(keyOf(tool))?.pop() ?? [];
      if (place === undefined) continue;
      partners[index] = place;
      taken.add(place);
    }
  }
  return { partners, removed: before.filter((_tool, place) => !taken.has(place)) };
}

/**
 * Which entries changed their order among those that stayed: the fewest that explain it, which are all but a longest run that still
 * rises. (Their plain places shift with every entry that is put before them, and would say nothing.)
 */
function movedEntries(partners: readonly (number | null)[]): ReadonlySet<number> {
  const kept = partners.flatMap((place, index) => (place === null ? [] : [{ place, index }]));
  /** `ends[n]`: of the runs of n + 1 entries so far, the one that ends lowest. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [at, { place }] of kept.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((kept[ends[middle] ?? 0]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    previous[at] = low === 0 ? -1 : (ends[low - 1] ?? -1);
    ends[low] = at;
  }
  const moved = new Set(kept.map(({ index }) => index));
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) moved.delete(kept[at]?.index ?? -1);
  return moved;
}

function toolsetView({ edition, description }: ToolsetState): Record<string, unknown> {
  const { announce, onDemandAbove, instructions } = edition;
  const told = instructions && Object.fromEntries(instructions.map(({ server, text }) => [server, text]));
  return { announce, description, onDemandAbove, instructions: told };
}

/** What somebody who looks after the toolset would call the entry's own: names by which it is found are `canonical` and `wireName`. */
function entryView(tool: EditionTool): Record<string, unknown> {
  const { wireName, description, inputSchema, outputSchema, annotations, approval, result, alwaysOffered, trusted, state, renamedTo } =
    tool;
  const { annotationsAccepted } = tool;
  const aliases = Object.fromEntries(tool.aliases.map(({ name, ...rest }) => [name, rest]));
  return {
    wireName,
    aliases,
    description,
    inputSchema,
    outputSchema,
    annotations,
    arguments: tool.arguments,
    result,
    approval,
    alwaysOffered,
    trusted,
    annotationsAccepted,
    ui: tool.ui,
    state,
    held: tool.held?.reason,
    renamedTo,
    refId: tool.pin,
  };
}
