/**
 * Reads a skill's files from a zip archive: `SKILL.md` at the top, or in the only folder there. Sizes are checked twice, from the directory
 * and while decompressing, so neither a zip bomb nor a false header can exceed the limits.
 */
import { Inflate } from 'fflate';
import { joinBytes, toBase64 } from '../core/text/bytes.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest, type Issue, quoted } from '../core/problem.ts';
import { skillFile } from '../core/skills/skill-file.ts';
import { isStray, skillPathFault, toPlainText } from '../core/skills/skill.ts';
import { strayFileWarnings, type SkillFiles } from './read-skill.ts';

/** Throws `invalid_request` with the names of the faulty entries. */
export function readSkillZip(archive: Uint8Array): SkillFiles & { warnings: Issue[] } {
  const directory = readZipDirectory(archive);
  if (typeof directory === 'string') throw invalidRequest([{ path: '', message: `the archive ${directory}` }]);
  const { entries } = directory;
  const issues = [...directory.issues, ...nameIssues(entries)];
  if (issues.length > 0) throw refused(issues);
  const files = entries.filter(({ name, isDirectory }) => !isDirectory && !isStray(name));
  const stray = entries.filter(({ name, isDirectory }) => !isDirectory && isStray(name));
  const top = topFolder(files);
  const sizes = sizeIssues(files);
  if (sizes.length > 0) throw refused(sizes);
  let content: string | null = null;
  const resources: SkillFiles['resources'][number][] = [];
  for (const entry of files) {
    const bytes = unpack(archive, entry);
    if (typeof bytes === 'string') throw refused([{ path: entry.name, message: bytes }]);
    const path = entry.name.slice(top.length);
    const text = toPlainText(bytes);
    if (path !== skillFile) resources.push({ path, ...(text === null ? { base64: toBase64(bytes) } : { text }) });
    else if (text === null) throw refused([{ path: entry.name, message: 'is not valid UTF-8 text' }]);
    else content = text;
  }
  if (content === null) throw new Error('readSkillZip: the top folder was chosen by its SKILL.md');
  return { content, resources, warnings: strayFileWarnings(stray.map(({ name }) => ({ path: name }))) };
}

/** Names in archives may have 64 kB each, so messages shorten them. */
function refused(found: readonly Issue[]) {
  const issues = found.map(({ path, message }) => ({ path: path.slice(0, limits.maxSkillPathBytes), message }));
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return invalidRequest(issues, `The archive was rejected: ${quoted(first?.path ?? '')} ${first?.message ?? ''}${more}.`);
}

function nameIssues(entries: readonly ZipEntry[]): Issue[] {
  const seen = new Set<string>();
  return entries.flatMap(({ name, isDirectory }) => {
    const path = isDirectory ? name.slice(0, -1) : name;
    const fault = seen.has(path) ? 'is in the archive twice' : skillPathFault(path);
    seen.add(path);
    return fault === null ? [] : [{ path: name, message: fault }];
  });
}

/** Returns '' if `SKILL.md` is at the top; the only folder with its slash if it is in that. */
function topFolder(files: readonly ZipEntry[]): string {
  if (files.some(({ name }) => name === skillFile)) return '';
  const tops = new Set(files.map(({ name }) => name.slice(0, name.indexOf('/') + 1)));
  const [top = ''] = tops;
  if (tops.size === 1 && files.some(({ name }) => name === top + skillFile)) return top;
  throw invalidRequest([{ path: skillFile, message: 'is not in the archive: it must be at the top, or in the only folder there' }]);
}

function sizeIssues(files: readonly ZipEntry[]): Issue[] {
  const large = files.flatMap(({ name, bytes }) =>
    bytes > limits.maxSkillFileBytes
      ? [{ path: name, message: `has ${bytes} bytes; a file of a skill may have at most ${limits.maxSkillFileBytes}` }]
      : [],
  );
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (large.length > 0 || total <= limits.maxSkillBytes) return large;
  return [{ path: '', message: `its files have ${total} bytes; a skill may have at most ${limits.maxSkillBytes}` }];
}

const localSignature = 0x04034b50;
const localBytes = 30;
const mismatch = 'does not match the directory of the archive';

/** Returns the bytes, or why they are invalid. */
function unpack(archive: Uint8Array, { offset, compressedBytes, bytes, deflated, crc }: ZipEntry): Uint8Array | string {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  if (offset + localBytes > archive.byteLength || view.getUint32(offset, true) !== localSignature) return mismatch;
  const start = offset + localBytes + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + compressedBytes > archive.byteLength) return 'is truncated';
  const data = archive.subarray(start, start + compressedBytes);
  const content = deflated ? inflate(data, bytes) : data;
  return content === null || content.byteLength !== bytes || crc32(content) !== crc ? mismatch : content;
}

/** Decompresses `data` in pieces, at most one piece beyond `max`. null: larger than that, or invalid. */
function inflate(data: Uint8Array, max: number): Uint8Array | null {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let ended = false;
  const stream = new Inflate((piece, final) => {
    size += piece.byteLength;
    ended ||= final;
    if (size <= max) pieces.push(piece.slice());
  });
  try {
    for (let at = 0; size <= max && at < Math.max(1, data.byteLength); at += inflatedAtOnce)
      stream.push(data.subarray(at, at + inflatedAtOnce), at + inflatedAtOnce >= data.byteLength);
  } catch {
    // The caller rejects an invalid or truncated stream with its name.
    return null;
  }
  return ended && size <= max ? joinBytes(pieces) : null;
}

/** Deflate expands a byte to at most about a thousand. */
const inflatedAtOnce = 4 * 1024;

const crcTable = Uint32Array.from({ length: 256 }, (_empty, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

// Reads the entries of a zip archive from its central directory (PKWARE APPNOTE 6.3.10, §4.3.12 and §4.3.16), without their content.
// Features that a skill does not need and that can hide content are rejected with the entry's name: encryption, links, methods other than
// stored and deflate, zip64, multiple disks.

/** Entries of a skill's archive, including folders and skipped files. */
export const maxZipEntries = 1_000;

type ZipEntry = {
  /** As written; not validated. */
  name: string;
  isDirectory: boolean;
  deflated: boolean;
  crc: number;
  compressedBytes: number;
  bytes: number;
  /** The offset of its local header. */
  offset: number;
};

/** A string: why the archive cannot be read. `issues`: faults of single entries. */
function readZipDirectory(archive: Uint8Array): { entries: ZipEntry[]; issues: Issue[] } | string {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = findEnd(view);
  if (end === null) return 'is not a zip archive, or its end is missing';
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  const start = view.getUint32(end + 16, true);
  if (view.getUint16(end + 4, true) !== 0 || count !== view.getUint16(end + 8, true)) return 'is part of a multi-disk archive';
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff) return 'is in the zip64 format, which is not supported';
  if (count > maxZipEntries) return `has ${count} entries; at most ${maxZipEntries} are allowed`;
  if (start + size > end) return 'has a directory that extends beyond its end';
  const entries: ZipEntry[] = [];
  const issues: Issue[] = [];
  let at = start;
  for (let index = 0; index < count; index += 1) {
    const length = at + headerBytes > end || view.getUint32(at, true) !== headerSignature ? null : headerLength(view, at);
    if (length === null || at + length > end) return `has a broken directory at entry ${index + 1}`;
    const entry = readEntry(archive, view, at);
    if (typeof entry === 'string') return `has an entry ${index + 1} whose name is not UTF-8`;
    const fault = faultOf(view, at);
    if (fault === null) entries.push(entry);
    else issues.push({ path: entry.name, message: fault });
    at += length;
  }
  return { entries, issues };
}

const endSignature = 0x06054b50;
const endBytes = 22;
const headerSignature = 0x02014b50;
const headerBytes = 46;

/** The end record is last, before a comment of at most 65,535 bytes that must end exactly at the end of the archive. */
function findEnd(view: DataView): number | null {
  const last = view.byteLength - endBytes;
  for (let at = last; at >= Math.max(0, last - 0xffff); at -= 1) {
    if (view.getUint32(at, true) === endSignature && at + endBytes + view.getUint16(at + 20, true) === view.byteLength) return at;
  }
  return null;
}

function headerLength(view: DataView, at: number): number {
  return headerBytes + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
}

function readEntry(archive: Uint8Array, view: DataView, at: number): ZipEntry | string {
  try {
    const bytes = archive.subarray(at + headerBytes, at + headerBytes + view.getUint16(at + 28, true));
    const name = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return {
      name,
      isDirectory: name.endsWith('/'),
      deflated: view.getUint16(at + 10, true) === 8,
      crc: view.getUint32(at + 16, true),
      compressedBytes: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    };
  } catch {
    // Decoding can only fail for the name.
    return 'name';
  }
}

function faultOf(view: DataView, at: number): string | null {
  if ((view.getUint16(at + 8, true) & 0x2041) !== 0) return 'is encrypted';
  const method = view.getUint16(at + 10, true);
  if (method !== 0 && method !== 8) return `is compressed with method ${method}: use deflate or no compression`;
  // The upper half contains Unix modes if the archive was created on Unix, otherwise mostly 0.
  const type = (view.getUint32(at + 38, true) >>> 16) & 0o170000;
  if (type === 0o120000) return 'is a symbolic link: include the file itself';
  return type === 0 || type === 0o100000 || type === 0o040000 ? null : 'is not a regular file';
}
