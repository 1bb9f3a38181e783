/** Changes to a toolset document in the editor, and what a failed check says about its rows. Pure. */
import type { components } from '../../../../client/src/index.ts';

export type ToolsetDraft = components['schemas']['ToolsetBody'] & { tools: ToolsetRow[] };
export type ToolsetRow = components['schemas']['ToolsetEntry'];

/** The fault of a row: what is wrong, and for a clash the name to use instead. */
export type RowFault = { message: string; clash: string | null; suggestion: string | null };

/** Throws an `Error` that says what the table needs. Everything else is checked by the service. */
export function asToolsetDraft(value: unknown): ToolsetDraft {
  const { tools } = loose(value);
  const isListOfObjects = Array.isArray(tools) && tools.every((entry) => typeof entry === 'object' && entry !== null);
  if (!isListOfObjects) throw new Error('"tools" must be a list of objects, each with "tool".');
  return value as ToolsetDraft;
}

export function aliasText({ aliases = [] }: ToolsetRow): string {
  return aliases.map((alias) => (typeof alias === 'string' ? alias : alias.name)).join(', ');
}

/** Reads aliases from a list with commas or spaces. An alias that exists keeps its mode and note. */
export function withAliases(entry: ToolsetRow, text: string): ToolsetRow {
  const { aliases = [], ...rest } = entry;
  const known = new Map(aliases.map((alias) => [typeof alias === 'string' ? alias : alias.name, alias]));
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.length === 0
    ? { ...rest, ...(text === '' ? {} : { aliases: [] }) }
    : { ...rest, aliases: names.map((name) => known.get(name) ?? name) };
}

export function withName({ name: _before, ...rest }: ToolsetRow, name: string): ToolsetRow {
  return name.trim() === '' ? rest : { ...rest, name: name.trim() };
}

export function replaceEntry(draft: ToolsetDraft, index: number, entry: ToolsetRow): ToolsetDraft {
  return { ...draft, tools: draft.tools.map((one, at) => (at === index ? entry : one)) };
}

/** Replaces a name that two entries claim: the alias if the entry has one of that name, otherwise its name. */
export function withSuggestion(entry: ToolsetRow, { clash, suggestion }: RowFault): ToolsetRow {
  if (clash === null || suggestion === null) return entry;
  const names = aliasText(entry).split(', ');
  if (!names.includes(clash)) return withName(entry, suggestion);
  return withAliases(entry, names.map((name) => (name === clash ? suggestion : name)).join(', '));
}

/** The faults of each row, by its index, from the body of a failed check (`conflicts` of `name_conflict`, `issues` otherwise). */
export function rowFaults({ tools }: ToolsetDraft, body: unknown): Map<number, RowFault> {
  const faults = new Map<number, RowFault>();
  const { conflicts, issues } = loose(body);
  for (const conflict of list(conflicts)) {
    const claimants = list(conflict.tools).map(String);
    const name = String(conflict.name);
    for (const [index, { tool = '' }] of tools.entries()) {
      if (!claimants.includes(tool)) continue;
      const others = claimants.filter((one) => one !== tool).join(', ') || 'another entry';
      // The name is free for the last claimant, which the service suggests to change.
      const suggestion = claimants.at(-1) === tool && typeof conflict.suggestion === 'string' ? conflict.suggestion : null;
      faults.set(index, { message: `“${name}” is also claimed by ${others}.`, clash: name, suggestion });
    }
  }
  for (const { path, message } of list(issues)) {
    const index = Number(/^tools\[(\d+)\]/.exec(String(path))?.[1] ?? Number.NaN);
    if (!Number.isNaN(index) && !faults.has(index)) faults.set(index, { message: String(message), clash: null, suggestion: null });
  }
  return faults;
}

type Loose = Record<string, unknown>;

function loose(value: unknown): Loose {
  return typeof value === 'object' && value !== null ? (value as Loose) : {};
}

function list(value: unknown): Loose[] {
  // Strings stay strings: `String` reads them.
  return Array.isArray(value) ? (value as Loose[]) : [];
}
