/**
 * Reads zip archives from their central directory (PKWARE APPNOTE 6.3.10, §4.3.12 and §4.3.16). Features that can hide content are rejected
 * with the entry's name: encryption, links, methods other than stored and deflate, zip64, multiple disks. Sizes are checked twice, from the
 * directory and while decompressing, so neither a zip bomb nor a false header can exceed the limits of the caller.
 */
import { Inflate } from 'fflate';
import { crc32 } from '../core/text/crc32.ts';
import { joinBytes } from '../core/text/bytes.ts';
import type { Issue } from '../core/problem.ts';
import { utf8Text } from '../core/text/utf8.ts';

export type ZipEntry = {
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
export function readZipDirectory(archive: Uint8Array, maxEntries: number): { entries: ZipEntry[]; issues: Issue[] } | string {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = findEnd(view);
  if (end === null) return 'is not a zip archive, or its end is missing';
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  const start = view.getUint32(end + 16, true);
  if (view.getUint16(end + 4, true) !== 0 || count !== view.getUint16(end + 8, true)) return 'is part of a multi-disk archive';
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff) return 'is in the zip64 format, which is not supported';
  if (count > maxEntries) return `has ${count} entries; at most ${maxEntries} are allowed`;
  if (start + size > end) return 'has a directory that extends beyond its end';
  const entries: ZipEntry[] = [];
  const issues: Issue[] = [];
  let at = start;
  for (let index = 0; index < count; index += 1) {
    const length = at + headerBytes > end || view.getUint32(at, true) !== headerSignature ? null : headerLength(view, at);
    if (length === null || at + length > end) return `has a broken directory at entry ${index + 1}`;
    const entry = readEntry(archive, view, at);
    if (entry === null) return `has an entry ${index + 1} whose name is not UTF-8`;
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

/** null: its name is not UTF-8. */
function readEntry(archive: Uint8Array, view: DataView, at: number): ZipEntry | null {
  const name = utf8Text(archive.subarray(at + headerBytes, at + headerBytes + view.getUint16(at + 28, true)));
  if (name === null) return null;
  return {
    name,
    isDirectory: name.endsWith('/'),
    deflated: view.getUint16(at + 10, true) === 8,
    crc: view.getUint32(at + 16, true),
    compressedBytes: view.getUint32(at + 20, true),
    bytes: view.getUint32(at + 24, true),
    offset: view.getUint32(at + 42, true),
  };
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

const localSignature = 0x04034b50;
const localBytes = 30;
const mismatch = 'does not match the directory of the archive';

/** Returns the bytes, or why they are invalid. */
export function unpackEntry(archive: Uint8Array, { offset, compressedBytes, bytes, deflated, crc }: ZipEntry): Uint8Array | string {
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
