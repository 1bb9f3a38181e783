/**
 * The format of a backup archive: NDJSON, one part per line, which may be damaged or forged when it is read. A line is
 * `{"number":1,"hash":"…","mac":"…","part":{…}}`, in this order and without white space. `hash` is the SHA-256 of the previous hash, the
 * number and the text of `part`, joined by line feeds, so that a change, a missing line and another order show without a key. `mac` is the
 * HMAC-SHA-256 of the hash under a key of the workspace: only the installation with the same master key writes archives that it restores.
 * The first part is the header, the last one the end. Written by `storage/backup/write-archive.ts`; read by the restore and the command.
 */
import * as z from 'zod';
import { tryParse } from '../json/wire-value.ts';
import { invalidRequest, Problem } from '../problem.ts';
import { sha256HexSync } from '../hash.ts';
import { MB } from '../limits/units.ts';

export const archiveFormat = 1;
/** A row has at most 2 MB, and JSON writes some characters as six. */
export const maxLineBytes = 16 * MB;

const identifier = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/);

/** Some rows of one table of an object; `column` → `rows[…][index]`. The values are checked against the table when they are written. */
export const TableRows = z.strictObject({
  name: identifier,
  columns: z.array(identifier).min(1).max(64),
  rows: z.array(z.array(z.unknown())),
});
export type TableRows = z.infer<typeof TableRows>;

/** A value of SQLite; bytes as base64. */
export type StoredValue = null | number | string | { base64: string };

/** The Durable Object that rows belong to. `id`: of a session, or the number of a shard; '' for the Catalog. */
export const BackedUpObject = z.strictObject({
  kind: z.enum(['catalog', 'session', 'audit', 'usage']),
  id: z.string().regex(/^(?:|\d{1,2}|[0-9a-f]{64})$/),
});
export type BackedUpObject = z.infer<typeof BackedUpObject>;

/** As it is named to people. */
export function nameOfObject({ kind, id }: BackedUpObject): string {
  if (kind === 'catalog') return 'catalog';
  return kind === 'session' ? `session ${id}` : `${kind} shard ${id}`;
}

/** `reason`: a sentence. */
export const LeftOut = z.strictObject({ object: BackedUpObject, reason: z.string().max(500) });
export type LeftOut = z.infer<typeof LeftOut>;

export const ArchivePart = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('header'),
    format: z.int(),
    release: z.string().max(100),
    workspace: z.string().max(64),
    createdAt: z.iso.datetime(),
    /** Identifies the master key and reveals nothing about it. */
    masterKey: z.string().max(100),
    auditShards: z.int().min(1).max(32),
  }),
  z.strictObject({
    kind: z.literal('object'),
    object: BackedUpObject,
    /** Number of migrations of the object's tables. */
    schema: z.int().min(1).max(10_000),
    /** The object starts anew: rows of it in earlier parts are void. */
    first: z.boolean(),
    last: z.boolean(),
    tables: z.array(TableRows).max(200),
  }),
  /** The object was deleted during the backup, or is in `leftOut` of the end: rows of it in earlier parts are void. */
  z.strictObject({ kind: z.literal('absent'), object: BackedUpObject }),
  z.strictObject({
    kind: z.literal('end'),
    sessions: z.int(),
    /** Rows of the Catalog about later sessions are void: they were created during the backup. */
    newestSession: z.int(),
    leftOut: z.array(LeftOut).max(100),
  }),
]);
export type ArchivePart = z.infer<typeof ArchivePart>;
export type ArchiveHeader = Extract<ArchivePart, { kind: 'header' }>;

/** `part`: its text. */
export type ArchiveLine = { number: number; hash: string; mac: string; part: string };

/** The hash before the first line. */
export const startHash = '';

export function chainHash(previous: string, number: number, part: string): string {
  return sha256HexSync(new TextEncoder().encode(`${previous}\n${number}\n${part}`));
}

export function writeLine({ number, hash, mac, part }: ArchiveLine): string {
  return `{"number":${number},"hash":"${hash}","mac":"${mac}","part":${part}}\n`;
}

const linePattern = /^\{"number":(\d{1,9}),"hash":"([0-9a-f]{64})","mac":"([0-9a-f]{64})","part":/;

/** Reads the line that follows `previous` (null: the first one) and checks its number and hash. Throws `invalid_request` with the line's number. */
export function readLine(text: string, previous: Pick<ArchiveLine, 'number' | 'hash'> | null): ArchiveLine {
  const expected = previous === null ? 0 : previous.number + 1;
  const [prefix, number = '', hash = '', mac = ''] = linePattern.exec(text) ?? [];
  if (prefix === undefined) throw damaged(expected, 'it is not a part of a backup');
  if (!text.endsWith('}')) throw damaged(expected, 'its line is cut off');
  if (Number(number) !== expected) throw damaged(expected, `found part ${number} instead, so parts are missing or in another order`);
  const part = text.slice(prefix.length, -1);
  if (chainHash(previous?.hash ?? startHash, expected, part) !== hash) throw damaged(expected, 'its content does not match its hash');
  return { number: expected, hash, mac, part };
}

/** Throws `invalid_request`. Rows are validated against their table when they are written. */
export function readArchivePart({ number, part }: Pick<ArchiveLine, 'number' | 'part'>): ArchivePart {
  const value = tryParse(part);
  requireKnownFormat(value);
  const parsed = ArchivePart.safeParse(value);
  if (!parsed.success) throw damaged(number, z.prettifyError(parsed.error).slice(0, 300));
  if ((number === 0) !== (parsed.data.kind === 'header')) throw damaged(number, 'only the first part is a header');
  return parsed.data;
}

const AnyFormat = z.object({ kind: z.literal('header'), format: z.int() });

function requireKnownFormat(value: unknown): void {
  const header = AnyFormat.safeParse(value);
  if (!header.success || header.data.format <= archiveFormat) return;
  throw new Problem(
    'conflict',
    `The archive has format ${header.data.format}; this release reads formats up to ${archiveFormat}. Restore it with the release that wrote it, or a newer one.`,
  );
}

export function damaged(number: number, reason: string): Problem {
  const message = `part ${number} (line ${number + 1}) of the archive is damaged: ${reason}. Use another copy of the archive.`;
  return invalidRequest([{ path: `parts[${number}]`, message }], message[0]?.toUpperCase() + message.slice(1));
}
