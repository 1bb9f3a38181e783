/**
 * Merges a document of a file into the stored one. Three states are compared, member by member: what the last import of the same file
 * gave (`base`, as marks), what the file gives now (`theirs`), and what is stored (`ours`). A member that only the file changed is
 * taken; a member that was changed here stays, and the difference is reported. Without a base, everything stored stays, and members
 * that it lacks are added.
 */
import { canonicalJson } from '../hash.ts';
import { isRecord, type Json, ownMember } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { cutToLength } from '../text/utf8.ts';

/** The mark of a value, or of each member of a record. Marks are equal if the values are, and do not show them. */
export type Marks = string | { readonly [member: string]: Marks };
export type ValueMark = (value: unknown) => string;

/** `path`: within the document. `reason`: why the part is kept or skipped. */
export type Part = { path: string; reason: string };

/** Parts that stay and parts that are left out are added. `shown`: both documents as reports may show them. */
export type MergeContext = { mark: ValueMark; kept: Part[]; skipped: Part[]; shown: { theirs: Json; ours: Json } };

type Path = readonly string[];

/** Records whose members are compared one by one. All other values are compared as a whole, lists too. */
const recordMembers = new Set('headers env query oauth settings nameMap arguments preset rename default result tools'.split(' '));

function isOpen(value: unknown, path: Path): value is Json {
  return isRecord(value) && (path.length === 0 || recordMembers.has(path.at(-1) ?? '') || (path.length === 2 && path[0] === 'tools'));
}

/** Returns the marks of a document, or of the part of one at `path`. */
export function marksOf(value: unknown, mark: ValueMark, path: Path = []): Marks {
  if (!isOpen(value, path)) return mark(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, marksOf(member, mark, [...path, name])]));
}

export function memberMarks(marks: Marks | undefined, member: string): Marks | undefined {
  return typeof marks === 'object' ? ownMember(marks, member) : undefined;
}

export function isUnchanged(marks: Marks | undefined, value: unknown, mark: ValueMark, path: Path): boolean {
  return marks !== undefined && canonicalJson(marksOf(value, mark, path)) === canonicalJson(marks);
}

export function mergeRecord(context: MergeContext, base: Marks | undefined, theirs: Json, ours: Json, path: Path = []): Json {
  const merged: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const value = mergeMember(context, memberMarks(base, name), ownMember(theirs, name), ownMember(ours, name), [...path, name]);
    if (value !== undefined) merged.push([name, value]);
  }
  return Object.fromEntries(merged);
}

/** Returns undefined for a member that is removed. */
function mergeMember(context: MergeContext, base: Marks | undefined, theirs: unknown, ours: unknown, path: Path): unknown {
  const keep = (): unknown => {
    context.kept.push({ path: pathText(path), reason: difference(context, path) });
    return ours;
  };
  // A member that the last import did not give either was added here.
  if (theirs === undefined && base === undefined) return ours;
  if (theirs === undefined) return ours === undefined || isUnchanged(base, ours, context.mark, path) ? undefined : keep();
  if (ours === undefined) return base === undefined ? theirs : keep();
  if (isOpen(theirs, path) && isOpen(ours, path)) return mergeRecord(context, base, theirs, ours, path);
  if (canonicalJson(theirs) === canonicalJson(ours)) return ours;
  return isUnchanged(base, ours, context.mark, path) ? theirs : keep();
}

/** `tools` with the entry of `github.search` is `tools (github.search)`. */
export function pathText(path: Path): string {
  const [first = '', second, ...rest] = path;
  if (first !== 'tools' || second === undefined) return path.join('.');
  return [`tools (${second})`, ...rest].join('.');
}

/** Says what is stored and what the file has. */
function difference({ shown }: MergeContext, path: Path): string {
  return `it is ${textAt(shown.ours, path)} here; the file has ${textAt(shown.theirs, path)}`;
}

function textAt(root: Json, path: Path): string {
  let value: unknown = root;
  for (const name of path) value = isRecord(value) ? ownMember(value, name) : undefined;
  return value === undefined ? 'nothing' : cutToLength(canonicalJson(value), limits.maxQuotedLength * 2);
}

// Lists whose items have a key are compared as records: the entries of a toolset by tool, the tools of a static server by name.

/** Returns the document with its list `tools` as a record. The second item of a key has `#2` after it. */
export function withKeyedTools(document: Json): Json {
  if (!Array.isArray(document.tools)) return document;
  const tools = new Map<string, unknown>();
  for (const item of document.tools) {
    const { tool, name } = item as Json; // Parsed by its schema: an entry or a definition.
    const key = String(tool ?? name);
    let free = key;
    for (let number = 2; tools.has(free); number += 1) free = `${key}#${number}`;
    tools.set(free, item);
  }
  return { ...document, tools: Object.fromEntries(tools) };
}

export function withListedTools(document: Json): Json {
  return isRecord(document.tools) ? { ...document, tools: Object.values(document.tools) } : document;
}
