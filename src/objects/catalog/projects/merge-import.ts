/**
 * Merges the documents of an import into the stored ones (`core/import/merge-document.ts`), and remembers what the file gave. Imports own no
 * documents, since several files may name the same server; projects do (`project-rows.ts`).
 */
import { refsIn } from '../../../core/model/route.ts';
import { canonicalJson, sha256HexSync } from '../../../core/hash.ts';
import {
  type ValueMark,
  type Marks,
  memberMarks,
  marksOf,
  mergeRecord,
  pathText,
  withKeyedTools,
  withListedTools,
} from '../../../core/import/merge-document.ts';
import { mergeToolset, readEntries, withFreeNames } from '../../../core/import/merge-toolset.ts';
import { type Json, listOf, recordOf, stringOf, ownMember } from '../../../core/json/wire-value.ts';
import { rawOf } from '../../../core/listing/stored-tool.ts';
import { hidingMembers, hideCredentials } from '../../../core/secrets/hidden-values.ts';
import { type GivenResource, toResource } from '../../../core/skills/skill.ts';
import type { ToolsetEntry } from '../../../core/toolset/toolset.ts';
import { toHex } from '../../../core/text/bytes.ts';
import type { DocumentPart, DocumentWrite, ImportOrigin, ProjectKind } from '../../../ports/projects.ts';
import { macOf } from '../../../storage/keys/master-key.ts';
import { openValue } from '../../../storage/keys/secret-box.ts';
import type { CatalogContext } from '../context.ts';
import { type DocumentRow, findRow, readRow, toStoredDocument } from '../documents/documents.ts';
import { withDocument } from '../servers/server-state.ts';
import { readTools } from '../servers/server-tools.ts';
import { knownTools } from '../tools/known-tools.ts';

/** `body`: to be written. `stays`: why the document is not written at all, and whether that is a fault of the file. */
export type MergedWrite = {
  body: Json;
  stays?: { action: 'kept' | 'skipped' | 'unchanged'; reason: string };
  keptParts: DocumentPart[];
  skippedParts: DocumentPart[];
  /** Call it when the document is as the file gives it, or merged. */
  remember(): void;
};

export type ImportMerge = (write: DocumentWrite) => Promise<MergedWrite>;

/** `writes`: all of the import. */
export async function openImport(context: CatalogContext, origin: ImportOrigin, writes: readonly DocumentWrite[]): Promise<ImportMerge> {
  const mark = await keyedMark(context);
  const conflicts = origin.isReplacing ? new Map<string, string>() : findConflicts(context, origin, writes);
  return async (write) => {
    const { kind, name } = write;
    const row = findRow(context.sql, kind, name);
    const why = conflicts.get(keyOf(write)) ?? null;
    const left = kind === 'toolset' ? withoutServers(write.body, conflicts) : { body: write.body, parts: [] };
    const theirs = givenForm(kind, left.body);
    const before = readMarks(context.sql, origin, kind, name);
    const stays = (action: 'kept' | 'skipped' | 'unchanged', reason: string): MergedWrite => ({
      ...{ body: write.body, stays: { action, reason }, keptParts: [], skippedParts: left.parts },
      remember: () => undefined,
    });
    if (why !== null) return stays(why === removedHere ? 'kept' : 'skipped', why);
    if (kind === 'toolset' && listOf(left.body.tools).length === 0) return stays('skipped', 'none of its tools can be taken');
    const kept: DocumentPart[] = [];
    const entries = kind === 'toolset' ? entriesOf(context, left.body, row) : null;
    const read = entries === null ? { ...theirs } : withKeyedTools({ ...theirs, tools: entries.tools });
    const remember = () => {
      const skipped = new Set(left.parts.map(({ path }) => path));
      const tools = Object.entries(recordOf(read.tools)).filter(([key]) => !skipped.has(pathText(['tools', key])));
      const marks = marksOf(entries === null ? theirs : { ...theirs, tools: Object.fromEntries(tools) }, mark);
      storeMarks(context, origin, write, remembered(before, marks, kind));
    };
    const done = (body: Json): MergedWrite => ({ body, keptParts: kept, skippedParts: left.parts, remember });
    if (row === null || origin.isReplacing) {
      const named = left.parts.length;
      const tools = entries === null ? [] : withFreeNames(left.parts, entries.tools, new Set());
      // A wildcard is written as it is, unless names were left out.
      return done(left.parts.length === named ? left.body : { ...left.body, tools });
    }
    if (kind === 'secret') return await mergeSecret(context, write, row, { before, mark, kept, done });
    const ours = storedForm(context, row);
    // Files of other systems do not have it: it is given once, by `moniker import --trust`, or set here.
    if (kind === 'server' && theirs.trusted === undefined && ours.trusted !== undefined) read.trusted = ours.trusted;
    const shown = { theirs: hideCredentials(kind, read), ours: hideCredentials(kind, ours) };
    const merging = { mark, kept, skipped: left.parts, shown };
    const merged = entries === null ? mergeRecord(merging, before, read, ours) : mergeToolset(merging, before, read, ours, entries);
    const both = alternatives.find((pair) => pair.every((member) => Object.hasOwn(merged, member)));
    if (both !== undefined) return stays('kept', `it has one of ${both.join(' and ')} here, and the file has the other`);
    const given = Object.entries(left.body).filter(([member]) => isUncompared(kind, member));
    return done({ ...withListedTools(withHidden(kind, merged, read, shown.ours)), ...Object.fromEntries(given) });
  };
}

/** Members of which an alias or a provider has one. */
const alternatives = [
  ['model', 'targets'],
  ['apiKeySecret', 'apiKeySecrets'],
];

/** A keyed hash, since the values may be credentials. */
async function keyedMark({ master, workspace }: CatalogContext): Promise<ValueMark> {
  const key = toHex(await macOf(master, workspace, 'import', 'marks'));
  return (value) => sha256HexSync(new TextEncoder().encode(`${key} ${canonicalJson(value)}`)).slice(0, markLength);
}

const markLength = 24;

/** Entries of other files stay remembered, so that a tool that was taken out here stays out. */
function remembered(before: Marks | undefined, marks: Marks, kind: ProjectKind): Marks {
  if (kind !== 'toolset' || typeof marks !== 'object') return marks;
  return { ...marks, tools: { ...recordOfMarks(memberMarks(before, 'tools')), ...recordOfMarks(marks.tools) } };
}

function recordOfMarks(marks: Marks | undefined): Exclude<Marks, string> {
  return typeof marks === 'object' ? marks : {};
}

// ---- Documents that are not merged ----

const removedHere = 'it was removed here since the last import of this file; replace=true brings it back';

/** Returns why documents are left out, by kind and name, with the documents that need them. */
function findConflicts({ sql }: CatalogContext, origin: ImportOrigin, writes: readonly DocumentWrite[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const write of writes) {
    const { kind, name, body } = write;
    const row = readRow(sql, kind, name);
    const marks = readMarks(sql, origin, kind, name);
    if (row?.deleted === true && marks !== undefined) found.set(keyOf(write), removedHere);
    else if (row !== null && !row.deleted && (kind === 'server' || kind === 'provider') && isOther(row.body, body, marks)) {
      const free = freeName(sql, kind, name, stringOf(body.kind));
      found.set(
        keyOf(write),
        `the stored ${kind} of this name is another one: it is ${describe(row.body)}, that of the file is ${describe(body)}. Rename that of the file, for example to ${JSON.stringify(free)}, or replace the stored one with replace=true`,
      );
    }
  }
  for (const write of writes)
    for (const [key] of [...found]) {
      const [kind = '', name = ''] = key.split(' ');
      if (found.has(keyOf(write)) || !dependsOn(write, kind, name, writes, found)) continue;
      found.set(keyOf(write), `the ${kind} ${JSON.stringify(name)} of the file is left out`);
    }
  return found;
}

/** Without earlier marks, a server at another address is another server. */
function isOther(stored: Json, given: Json, marks: Marks | undefined): boolean {
  if (stored.kind !== given.kind) return true;
  if (marks !== undefined || stored.kind !== 'mcp') return false;
  return (stored.command === undefined) !== (given.command === undefined) || originOf(stored.url) !== originOf(given.url);
}

function originOf(url: unknown): string {
  return URL.parse(stringOf(url))?.origin ?? '';
}

function describe({ kind, command, url }: Json): string {
  const place = command === undefined ? originOf(url) : 'a command';
  return `of kind ${JSON.stringify(kind)}${place === '' ? '' : ` (${place})`}`;
}

function freeName(sql: SqlStorage, kind: ProjectKind, name: string, what: string): string {
  const base = `${name.slice(0, 31 - what.length - 3)}-${what}`;
  let free = base;
  for (let number = 2; findRow(sql, kind, free) !== null; number += 1) free = `${base}-${number}`;
  return free;
}

/** Whether a document is of no use, or means another thing, without the server or provider. Toolsets lose entries only. */
function dependsOn(
  { kind, name, body }: DocumentWrite,
  missing: string,
  of: string,
  writes: readonly DocumentWrite[],
  found: ReadonlyMap<string, string>,
): boolean {
  if (kind === 'secret') {
    const users = writes.filter((write) => canonicalJson(write.body).includes(`ecret":${JSON.stringify(name)}`));
    return users.length > 0 && users.every((write) => found.has(keyOf(write)));
  }
  if (missing !== 'provider' || (kind !== 'agent' && kind !== 'model-alias')) return false;
  return refsIn(body).some((model) => model.startsWith(`${of}/`));
}

/** Leaves out the entries of servers that are left out: a stored server of the same name has other tools. */
function withoutServers(toolset: Json, conflicts: ReadonlyMap<string, string>): { body: Json; parts: DocumentPart[] } {
  const parts: DocumentPart[] = [];
  const tools = listOf(toolset.tools).filter((entry, index) => {
    const named = recordOf(entry).tool;
    const tool = [named]
      .flat()
      .map(stringOf)
      .find((one) => conflicts.has(`server ${one.slice(0, one.indexOf('.'))}`));
    if (tool === undefined) return true;
    parts.push({ path: `tools[${index}] (${tool})`, reason: 'its server is left out' });
    return false;
  });
  return { body: parts.length === 0 ? toolset : { ...toolset, tools }, parts };
}

// ---- Forms of documents ----

function entriesOf(context: CatalogContext, { tools }: Json, row: DocumentRow | null): ReturnType<typeof readEntries> {
  // Parsed by the schema of toolsets.
  return readEntries(tools as ToolsetEntry[], () => knownTools(context).all(), row?.body.revoked as string[] | undefined);
}

function givenForm(kind: ProjectKind, body: Json): Json {
  if (kind === 'skill') return { ...body, resources: sortedResources(listOf(body.resources)) };
  return withKeyedTools(Object.fromEntries(Object.entries(body).filter(([member]) => !isUncompared(kind, member))));
}

/** Members that GET does not show: the file's are written. */
function isUncompared(kind: ProjectKind, member: string): boolean {
  return kind === 'provider' ? member === 'apiKey' : kind === 'made-tool' && (member === 'by' || member === 'pin');
}

/** A stored document as a file would give it. */
function storedForm(context: CatalogContext, row: DocumentRow): Json {
  const { kind, name, body } = row;
  if (kind === 'skill') return { content: body.content, resources: sortedResources(listOf(body.resources)) };
  if (kind !== 'server') return withKeyedTools(kind === 'made-tool' ? toStoredDocument(row).body : body);
  const { listing: _listing, givenDocument: _given, ...server } = withDocument(context.sql, name, body);
  if (server.kind !== 'static') return server;
  const tools = readTools(context.sql, name).flatMap(({ listed, accepted }) => {
    const one = listed ?? accepted;
    return one === null ? [] : [rawOf(one)];
  });
  return withKeyedTools({ ...server, tools });
}

function sortedResources(given: readonly unknown[]): unknown[] {
  // Both are checked: stored ones when they were written, those of the file when this document is.
  return (given as GivenResource[]).map(toResource).sort((one, other) => (canonicalJson(one) < canonicalJson(other) ? -1 : 1));
}

/** A stored value that may be a credential is kept by its hidden form, so that it is not sent to the new address of a server. */
function withHidden(kind: ProjectKind, merged: Json, given: Json, shown: Json): Json {
  if (kind !== 'server' && kind !== 'provider') return merged;
  const { records, lists } = hidingMembers[kind];
  const hidden = { ...merged };
  for (const member of records)
    if (merged[member] !== undefined)
      hidden[member] = Object.fromEntries(
        Object.entries(recordOf(merged[member])).map(([name, value]) => {
          const isGiven = canonicalJson(ownMember(recordOf(given[member]), name) ?? null) === canonicalJson(value);
          return [name, isGiven ? value : ownMember(recordOf(shown[member]), name)];
        }),
      );
  for (const member of lists)
    if (merged[member] !== undefined && canonicalJson(merged[member]) !== canonicalJson(given[member])) hidden[member] = shown[member];
  return hidden;
}

// ---- Secrets ----

type SecretMerge = { before: Marks | undefined; mark: ValueMark; kept: DocumentPart[]; done(body: Json): MergedWrite };

/** A value that the file gives anew is taken; the hosts are added to the stored ones. A value that was changed here stays where it is. */
async function mergeSecret(
  { master, workspace }: CatalogContext,
  { name, body }: DocumentWrite,
  { body: stored, sealed }: DocumentRow,
  { before, mark, kept, done }: SecretMerge,
): Promise<MergedWrite> {
  // The hosts that the file gave before may have been changed here.
  const isKnown = memberMarks(before, 'hosts') === mark(body.hosts);
  const given = isKnown ? [] : listOf(body.hosts);
  const hosts = [...new Set([...listOf(stored.hosts), ...given])];
  const missing = listOf(body.hosts).filter((host) => !hosts.includes(host));
  if (missing.length > 0) kept.push({ path: 'hosts', reason: `they are without ${missing.join(', ')} here` });
  const tools = stored.tools === undefined ? {} : { tools: stored.tools };
  if (body.value === undefined) return done(hosts.length === listOf(stored.hosts).length ? { ...tools, hosts } : body);
  const value = sealed === null ? null : await openValue(master, { workspace, kind: 'secret', name }, sealed);
  const isNew = before !== undefined && memberMarks(before, 'value') !== mark(body.value);
  if (value === body.value || isNew) return done({ value: body.value, hosts, ...tools });
  kept.push({ path: 'value', reason: 'it was given here; the file has another one' });
  const added = hosts.slice(listOf(stored.hosts).length);
  if (added.length > 0) kept.push({ path: 'hosts', reason: `the stored value is not sent to ${added.join(', ')}, which the file adds` });
  return { ...done(body), stays: { action: 'unchanged', reason: '' } };
}

// ---- Rows ----

function readMarks(sql: SqlStorage, { source }: ImportOrigin, kind: ProjectKind, name: string): Marks | undefined {
  const query = 'SELECT marks FROM imported WHERE kind = ? AND name = ? AND source = ?';
  const [row] = sql.exec<{ marks: string }>(query, kind, name, source).toArray();
  return row === undefined ? undefined : (JSON.parse(row.marks) as Marks); // Written only below.
}

/** Files that are remembered for one document. */
const maxSources = 20;

function storeMarks(
  { sql, now }: CatalogContext,
  { source }: ImportOrigin,
  { kind, name }: Pick<DocumentWrite, 'kind' | 'name'>,
  marks: Marks,
): void {
  const put = 'INSERT OR REPLACE INTO imported (kind, name, source, marks, imported_at) VALUES (?, ?, ?, ?, ?)';
  sql.exec(put, kind, name, source, JSON.stringify(marks), now());
  const rest = `DELETE FROM imported WHERE kind = ? AND name = ? AND source NOT IN
    (SELECT source FROM imported WHERE kind = ? AND name = ? ORDER BY imported_at DESC, rowid DESC LIMIT ?)`;
  sql.exec(rest, kind, name, kind, name, maxSources);
}

function keyOf({ kind, name }: Pick<DocumentWrite, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}
