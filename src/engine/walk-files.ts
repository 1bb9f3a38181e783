/** Lists a directory, optionally with its subdirectories. Used for models and users. */
import { joinPath } from '../core/text/path.ts';
import type { DirectoryEntry, FileSystem } from '../ports/file-system.ts';

/** Returns at most `most` entries. Names are relative to `root`, which is a directory; a directory comes directly before its content. */
export function walkFiles(
  files: FileSystem,
  root: string,
  { recursive, most }: { recursive: boolean; most: number },
): { entries: DirectoryEntry[]; truncated: boolean } {
  const entries: DirectoryEntry[] = [];
  const pending = files.list(root).reverse();
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    if (entries.length === most) return { entries, truncated: true };
    entries.push(entry);
    if (!recursive || entry.kind === 'file') continue;
    const { name } = entry;
    for (const child of files.list(joinPath(root, name)).reverse()) pending.push({ ...child, name: `${name}/${child.name}` });
  }
  return { entries, truncated: false };
}
