/**
 * Compares two versions of a toolset entry by entry (contract §4), by their compiled editions, since those are sent to models. Two
 * definitions of one tool are compared by `definition-diff.ts`. Used by `GET …/diff`.
 */
import { diffRecords } from './definition-diff.ts';
import { type Edition, type EditionTool, targetTools } from './edition-tool.ts';
import type { EditionSkill } from './edition-skill.ts';
import type { DefinitionChange } from '../tools/hold.ts';

/** Reported differences of two versions of a toolset, over all entries; each may have several kB. */
export const maxReportedDifferences = 1_000;

/** `fields`: changes at JSON Pointers into the compiled entry; empty for an added or removed entry. */
export type EntryChange = { change: 'added' | 'removed' | 'changed'; canonical: string; wireName: string; fields: DefinitionChange[] };

/** `fields`: changes of the toolset itself. `more`: how many changed fields were left out to keep the response readable. */
export type ToolsetDiff = { fields: DefinitionChange[]; changes: EntryChange[]; more: number };

/** One version of a toolset. The edition contains neither the description nor the revoked tools. */
export type ToolsetState = { edition: Edition; description?: string; revoked?: readonly string[] };

/**
 * Returns the changed entries in the order of the newer version, removed ones last. Entries match by tool and wire name; the remaining
 * entries of one tool match as renamed. If `from` is null, everything is new. Linear, except for moves: n log n.
 */
export function diffToolsets(from: ToolsetState | null, to: ToolsetState): ToolsetDiff {
  const before = from?.edition.tools ?? [];
  const after = to.edition.tools;
  const { partners, removed } = matchEntries(before, after);
  const moved = movedEntries(partners);
  const budget = { left: maxReportedDifferences, more: 0 };
  const fields = from === null ? [] : takeWithin(budget, diffRecords(toolsetView(from), toolsetView(to)));
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
    if (differences.length > 0) changes.push({ change: 'changed', ...namesOf(tool), fields: takeWithin(budget, differences) });
  }
  for (const tool of removed) changes.push({ change: 'removed', ...namesOf(tool), fields: [] });
  return { fields, changes, more: budget.more };
}

function takeWithin(budget: { left: number; more: number }, differences: DefinitionChange[]): DefinitionChange[] {
  const taken = differences.slice(0, budget.left);
  budget.left -= taken.length;
  budget.more += differences.length - taken.length;
  return taken;
}

function namesOf({ canonical, wireName }: EditionTool): Pick<EntryChange, 'canonical' | 'wireName'> {
  return { canonical, wireName };
}

/** `partners[i]`: the old position of the entry that is now at `i`; null for a new entry. */
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
      // The list was reversed, so `pop` takes the first.
      const [place] = places.get(keyOf(tool))?.pop() ?? [];
      if (place === undefined) continue;
      partners[index] = place;
      taken.add(place);
    }
  }
  return { partners, removed: before.filter((_tool, place) => !taken.has(place)) };
}

/**
 * The smallest set of remaining entries whose move explains the new order: all but a longest increasing subsequence. (Comparing
 * positions would report every entry after an inserted one.)
 */
function movedEntries(partners: readonly (number | null)[]): ReadonlySet<number> {
  const kept = partners.flatMap((place, index) => (place === null ? [] : [{ place, index }]));
  /** `ends[n]`: the last entry of the increasing subsequence of n + 1 entries that ends lowest. */
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

function toolsetView({ edition, description, revoked }: ToolsetState): Record<string, unknown> {
  const { announce, onDemandAbove, mcpTools, instructions, resources, prompts, skills } = edition;
  const texts = instructions && Object.fromEntries(instructions.map(({ server, text }) => [server, text]));
  return {
    announce,
    description,
    onDemandAbove,
    mcpTools,
    revoked,
    instructions: texts,
    resources,
    prompts,
    skills: skills && digestsOf(skills),
  };
}

/** The digests of the files of skills, by name and path. */
function digestsOf(skills: readonly EditionSkill[]): Record<string, Record<string, string>> {
  const files = ({ digest, resources }: EditionSkill) => [['SKILL.md', digest], ...resources.map((file) => [file.path, file.digest])];
  return Object.fromEntries(skills.map((skill) => [skill.name, Object.fromEntries(files(skill))]));
}

/** The compared fields of an entry, under the names that an administrator knows. */
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
    price: tool.price,
    cache: tool.cache,
    targets: tool.targets && {
      choose: tool.targets.choose,
      refIds: Object.fromEntries(targetTools(tool).map((one) => [one.canonical, one.pin])),
    },
    alwaysOffered,
    standsFor: tool.standsFor,
    trusted,
    annotationsAccepted,
    ui: tool.ui,
    state,
    held: tool.held?.reason,
    renamedTo,
    refId: tool.pin,
  };
}
