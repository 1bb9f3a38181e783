/** Changes to a toolset document in the editor, and what a failed check says about its rows. Pure. */
import type { components } from '../../../../client/src/index.ts';
import { type JsonRecord, jsonOrText, jsonRecordOf } from '../../text/json.ts';

export type ToolsetDraft = components['schemas']['ToolsetBody'] & { tools: ToolsetRow[] };
export type ToolsetRow = components['schemas']['ToolsetEntry'];

/** The fault of a row: what is wrong, and for a clash the name to use instead. */
export type RowFault = { message: string; clash: string | null; suggestion: string | null };

/** Throws an `Error` that says what the table needs. Everything else is checked by the service. */
export function asToolsetDraft(value: unknown): ToolsetDraft {
  const { tools } = jsonRecordOf(value);
  const isListOfObjects = Array.isArray(tools) && tools.every((entry) => typeof entry === 'object' && entry !== null);
  if (!isListOfObjects) throw new Error('"tools" must be a list of objects, each with "tool".');
  return value as ToolsetDraft;
}

export function aliasText({ aliases = [] }: ToolsetRow): string {
  return aliases.map(nameOf).join(', ');
}

/** Reads aliases from a list with commas or spaces. An alias that exists keeps its mode and note. */
export function withAliases(entry: ToolsetRow, text: string): ToolsetRow {
  const { aliases = [], ...rest } = entry;
  const known = new Map(aliases.map((alias) => [nameOf(alias), alias]));
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.length === 0
    ? { ...rest, ...(text === '' ? {} : { aliases: [] }) }
    : { ...rest, aliases: names.map((name) => known.get(name) ?? name) };
}

export function withName({ name: _before, ...rest }: ToolsetRow, name: string): ToolsetRow {
  return name.trim() === '' ? rest : { ...rest, name: name.trim() };
}

/** Returns the tool that gives an entry its names: the first of several targets. */
export function firstTarget({ tool }: Pick<ToolsetRow, 'tool'>): string | undefined {
  return [tool].flat()[0];
}

/** Whether the draft has the tool, also by a pattern such as `fs.*`. */
export function isListed({ tools }: Pick<ToolsetDraft, 'tools'>, name: string): boolean {
  return tools.some(({ tool }) =>
    [tool].flat().some((one) => one === name || (one?.endsWith('*') === true && name.startsWith(one.slice(0, -1)))),
  );
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

/** Sets the mode and the note of an alias. An announced alias without a note is only its name. */
export function withAlias(entry: ToolsetRow, { name, mode = 'announced', note = '' }: AliasDraft): ToolsetRow {
  const isPlain = mode === 'announced' && note === '';
  const alias = isPlain ? name : { name, mode, ...(note !== '' && { note }) };
  return { ...entry, aliases: (entry.aliases ?? []).map((one) => (nameOf(one) === name ? alias : one)) };
}

export type AliasDraft = Exclude<Alias, string>;
type Alias = components['schemas']['ToolsetAlias'];

function nameOf(alias: Alias): string {
  return typeof alias === 'string' ? alias : alias.name;
}

/** What an entry does with an argument of its tool. `value` is JSON, plain text, or the name of a secret or of a field of the caller. */
export type ArgumentDraft = { name: string; shown: string; kind: ArgumentKind; value: string };
export type ArgumentKind = 'model' | 'default' | 'preset' | 'secret' | 'caller';

export function argumentOf({ arguments: given = {} }: ToolsetRow, name: string): ArgumentDraft {
  const { rename = {}, preset = {}, default: defaults = {} } = given;
  const shown = Object.entries(rename).find(([, own]) => own === name)?.[0] ?? '';
  if (Object.hasOwn(preset, name)) return { name, shown, ...readPreset(preset[name]) };
  if (Object.hasOwn(defaults, name)) return { name, shown, kind: 'default', value: toText(defaults[name]) };
  return { name, shown, kind: 'model', value: '' };
}

export function withArgument(entry: ToolsetRow, { name, shown, kind, value }: ArgumentDraft): ToolsetRow {
  const { arguments: given = {}, ...rest } = entry;
  const others = (members: Record<string, unknown> = {}) => Object.entries(members).filter(([own]) => own !== name);
  const renamed = Object.entries(given.rename ?? {}).filter(([, own]) => own !== name);
  const presets = { secret: { secret: value }, caller: { caller: value }, preset: jsonOrText(value) };
  const isPreset = kind !== 'model' && kind !== 'default';
  // Members that are not shown stay.
  const groups = Object.entries({
    ...given,
    rename: Object.fromEntries(shown === '' ? renamed : [...renamed, [shown, name]]),
    preset: Object.fromEntries(isPreset ? [...others(given.preset), [name, presets[kind]]] : others(given.preset)),
    default: Object.fromEntries(kind === 'default' ? [...others(given.default), [name, jsonOrText(value)]] : others(given.default)),
  });
  const set = groups.filter(([, members]) => Object.keys(members).length > 0);
  return set.length === 0 ? rest : { ...rest, arguments: Object.fromEntries(set) };
}

function readPreset(value: unknown): Pick<ArgumentDraft, 'kind' | 'value'> {
  const { secret, caller } = jsonRecordOf(value);
  if (typeof secret === 'string') return { kind: 'secret', value: secret };
  if (typeof caller === 'string') return { kind: 'caller', value: caller };
  return { kind: 'preset', value: toText(value) };
}

/** Text that would be read as JSON, such as `"10"`, is quoted. */
function toText(value: unknown): string {
  return typeof value === 'string' && jsonOrText(value) === value ? value : JSON.stringify(value);
}

/** The faults of each row, by its index, from the body of a failed check (`claims` of `name_conflict`, `issues` otherwise). */
export function rowFaults({ tools }: ToolsetDraft, body: unknown): Map<number, RowFault> {
  const faults = new Map<number, RowFault>();
  const { conflicts, issues } = jsonRecordOf(body);
  for (const conflict of list(conflicts)) {
    const claims = list(conflict.claims);
    for (const claim of claims) {
      const { name, tool, entry, suggestion } = claim;
      const at = Number(/^tools\[(\d+)\]/.exec(String(entry))?.[1] ?? Number.NaN);
      // A pattern among the rows shifts the numbers of the entries.
      const index = firstTarget(tools[at] ?? {}) === tool ? at : tools.findIndex((row) => firstTarget(row) === tool);
      const others = claims.filter((one) => one !== claim).map((one) => String(one.tool));
      const message = `“${String(name)}” is also claimed by ${others.join(', ')}.`;
      if (index >= 0) faults.set(index, { message, clash: String(name), suggestion: typeof suggestion === 'string' ? suggestion : null });
    }
  }
  for (const { path, message } of list(issues)) {
    const index = Number(/^tools\[(\d+)\]/.exec(String(path))?.[1] ?? Number.NaN);
    if (!Number.isNaN(index) && !faults.has(index)) faults.set(index, { message: String(message), clash: null, suggestion: null });
  }
  return faults;
}

function list(value: unknown): JsonRecord[] {
  // Strings stay strings: `String` reads them.
  return Array.isArray(value) ? (value as JsonRecord[]) : [];
}
