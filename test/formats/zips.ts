/** Zip archives for tests, built byte by byte where a correct library would not write them. */
import { zipSync, type Zippable } from 'fflate';

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export function zipOf(files: Record<string, string | Uint8Array>): Uint8Array {
  const entries: Zippable = {};
  for (const [name, content] of Object.entries(files)) entries[name] = typeof content === 'string' ? bytesOf(content) : content;
  return zipSync(entries);
}

/** Changes one field of an entry's record in the directory. `at`: its offset there (APPNOTE §4.3.12). */
export function withField(archive: Uint8Array, name: string, at: number, value: number, size: 2 | 4): Uint8Array {
  const changed = archive.slice();
  const view = new DataView(changed.buffer);
  for (let offset = 0; offset + 46 <= changed.byteLength; offset += 1) {
    if (view.getUint32(offset, true) !== 0x02014b50) continue;
    const length = view.getUint16(offset + 28, true);
    if (new TextDecoder().decode(changed.subarray(offset + 46, offset + 46 + length)) !== name) continue;
    if (size === 2) view.setUint16(offset + at, value, true);
    else view.setUint32(offset + at, value, true);
    return changed;
  }
  throw new Error(`the archive has no ${name}`);
}

/** Replaces every occurrence of a name, in local headers and the directory, by another of the same length. */
export function renamed(archive: Uint8Array, from: string, to: string): Uint8Array {
  if (from.length !== to.length) throw new Error('names must be of one length');
  const [old, next, changed] = [bytesOf(from), bytesOf(to), archive.slice()];
  for (let offset = 0; offset + old.length <= changed.byteLength; offset += 1)
    if (old.every((byte, index) => changed[offset + index] === byte)) changed.set(next, offset);
  return changed;
}
