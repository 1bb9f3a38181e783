/**
 * A layer over a file store: reads go through it, and changes stay in it until they are committed in one step or the layer is dropped.
 * Content that a script never reads is not copied: an append stores only its bytes, and a moved file stays in place until the commit.
 * It stores rows and bytes and checks nothing but its size limit; the rules are in `file-rules.ts`.
 */
import { joinBytes } from '../../core/text/bytes.ts';
import { limits } from '../../core/limits/limits.ts';
import { parentPath } from '../../core/text/path.ts';
import { FileError } from '../../ports/file-system.ts';
import { createPathTree, isPermanentFolder, type FileRow, type FileStore } from './file-store.ts';
import { MB } from '../../core/limits/units.ts';

/** Data that one script may write: it is held in memory until the script ends, in addition to the rest of the object. */
export const maxOverlayBytes = 32 * MB;

/** `from`: path of the beginning of the content in the base store; null without one. `pieces`, `own` bytes in total, follow it. */
type Entry = { row: FileRow; from: string | null; pieces: Uint8Array[]; own: number };

export type StoreOverlay = FileStore & {
  /** Writes all changes to the store, or throws a `FileError` before it writes anything. The layer cannot be used afterwards. */
  commit(): void;
};

export function createOverlayStore(base: FileStore): StoreOverlay {
  /** null for a path that was removed in the layer. */
  const entries = new Map<string, Entry | null>();
  /** The row of the base store when a path was first changed here. */
  const found = new Map<string, FileRow | null>();
  const tree = createPathTree();
  const delta = { files: 0, bytes: 0 };
  const basedOn = base.changes();
  let held = 0;
  let changes = 0;

  const get = (path: string): FileRow | undefined => {
    const entry = entries.get(path);
    return entry === undefined ? base.get(path) : entry?.row;
  };

  /** Returns the entry at a path, from the layer or the base store. */
  const at = (path: string): Entry | undefined => {
    const entry = entries.get(path);
    if (entry !== undefined) return entry ?? undefined;
    const row = base.get(path);
    return row === undefined ? undefined : { row, from: path, pieces: [], own: 0 };
  };

  function set(path: string, entry: Entry | null): void {
    const added = (entry?.own ?? 0) - (entries.get(path)?.own ?? 0);
    if (added > 0 && held + added > maxOverlayBytes) {
      throw new FileError('ENOSPC', path, `No space for ${path}: one call can write at most ${maxOverlayBytes} bytes. Use several calls.`);
    }
    const before = get(path);
    if (!entries.has(path)) found.set(path, before ?? null);
    held += added;
    delta.files += (entry === null ? 0 : 1) - (before === undefined ? 0 : 1);
    delta.bytes += (entry?.row.size ?? 0) - (before?.size ?? 0);
    changes += 1;
    tree.add(path);
    entries.set(path, entry);
  }

  /** Sets `fresh` on rows that this layer created; it stays set when they are moved. */
  const dated = ({ fresh: _given, ...row }: FileRow): FileRow => {
    const before = get(row.path);
    return before === undefined || before.fresh === true ? { ...row, fresh: true } : row;
  };

  const isInBase = ({ path }: FileRow): boolean => !entries.has(path);
  const ownRow = (path: string): FileRow[] => {
    const entry = entries.get(path) ?? null;
    return entry === null ? [] : [entry.row];
  };

  return {
    get,
    put(given, content) {
      const row = dated(given);
      if (content !== undefined) return set(row.path, { row, from: null, pieces: [content.slice()], own: content.byteLength });
      const { from = null, pieces = [], own = 0 } = at(row.path) ?? {};
      set(row.path, { row, from, pieces, own });
    },
    append(given, content) {
      const row = dated(given);
      // For a missing file, too, the beginning is read from the base store at the commit: another call may append to it in the meantime.
      const before: Omit<Entry, 'row'> = at(row.path) ?? { from: entries.has(row.path) ? null : row.path, pieces: [], own: 0 };
      const { from, pieces, own } = before;
      set(row.path, { row, from, pieces, own: own + content.byteLength });
      pieces.push(content.slice());
    },
    content(path) {
      const entry = at(path);
      if (entry === undefined) return new Uint8Array();
      if (entry.pieces.length > 1) entry.pieces = [joinBytes(entry.pieces)];
      const own = entry.pieces[0] ?? new Uint8Array();
      return entry.from === null ? own.slice() : joinBytes([base.content(entry.from), own]);
    },
    remove: (path) => set(path, null),
    children: (path) => [...base.children(path).filter(isInBase), ...tree.children(path).flatMap(ownRow)],
    descendants: (path) => [...base.descendants(path).filter(isInBase), ...tree.descendants(path).flatMap(ownRow)],
    move(from, to) {
      const entry = at(from);
      if (entry === undefined) return;
      const isThere = entry.from !== null && base.get(entry.from) !== undefined;
      set(from, null);
      set(to, { ...entry, row: { ...entry.row, path: to }, from: isThere ? entry.from : null });
    },
    paths: () => [
      ...base.paths().filter((path) => !entries.has(path)),
      ...[...entries].flatMap(([path, entry]) => (entry === null ? [] : path)),
    ],
    usage() {
      const { files, bytes } = base.usage();
      return { files: files + delta.files, bytes: bytes + delta.bytes };
    },
    changes: () => changes,
    commit() {
      if (base.changes() !== basedOn) checkFits(base, entries, found);
      write(base, entries);
      entries.clear();
    },
  };
}

/**
 * Checks the changes against a base store that another call has changed. Of two writes the later one wins, and appends are both kept,
 * as without a layer. Conflicting changes are refused here, before anything is written.
 */
function checkFits(base: FileStore, entries: ReadonlyMap<string, Entry | null>, found: ReadonlyMap<string, FileRow | null>): void {
  const used = base.usage();
  let { files, bytes } = used;
  const kindAt = (path: string): FileRow['kind'] | undefined => {
    const entry = entries.get(path);
    return entry === undefined ? base.get(path)?.kind : entry?.row.kind;
  };
  for (const [path, entry] of entries) {
    const now = base.get(path);
    // A file of the client would be lost that the approval did not cover.
    if ((entry === null || entry.from !== path) && isCallers(now) && !isSameVersion(now, found.get(path))) throw conflictError(path);
    if (entry === null) {
      if (now?.kind === 'directory' && base.children(path).some((child) => !entries.has(child.path))) throw conflictError(path);
      files -= now === undefined ? 0 : 1;
      bytes -= now?.size ?? 0;
      continue;
    }
    if (now !== undefined && now.kind !== entry.row.kind && now.kind !== found.get(path)?.kind) throw conflictError(path);
    const source = entry.from === null ? undefined : base.get(entry.from);
    const isNew = entry.from === path && source === undefined && found.get(path) === null;
    if (entry.from !== null && source?.kind !== entry.row.kind && !isNew) throw conflictError(entry.from);
    if (entry.row.kind === 'file' && now?.kind === 'directory' && base.children(path).some((child) => entries.get(child.path) !== null))
      throw conflictError(path);
    for (let parent = parentPath(path); parent !== '/'; parent = parentPath(parent)) {
      const kind = kindAt(parent);
      if (kind === 'file' || (kind === undefined && !isPermanentFolder(parent))) throw conflictError(path);
    }
    files += now === undefined ? 1 : 0;
    bytes += (source?.size ?? 0) + entry.own - (now?.size ?? 0);
    if ((source?.size ?? 0) + entry.own > limits.maxFileBytes) throw conflictError(path);
  }
  // A change that reduces the usage is always allowed, because the session may already be full.
  if ((files > limits.maxSessionFiles && files > used.files) || (bytes > limits.maxSessionFilesBytes && bytes > used.bytes)) {
    throw new FileError(
      'ENOSPC',
      '/',
      'No space: another call filled the session in the meantime, so the changes of this call were discarded. Delete files first.',
    );
  }
}

/** Moves content to temporary paths first, since two files may have swapped paths. */
function write(base: FileStore, entries: ReadonlyMap<string, Entry | null>): void {
  const moved = new Map<string, string>();
  for (const [path, entry] of entries) {
    if (entry === null || entry.from === null || entry.from === path) continue;
    const aside = `\0${moved.size}`;
    base.move(entry.from, aside);
    moved.set(path, aside);
  }
  for (const [path, entry] of entries) {
    const isReplaced = entry === null || moved.has(path) || base.get(path)?.kind !== entry.row.kind;
    if (isReplaced && base.get(path) !== undefined) base.remove(path);
  }
  for (const [path, entry] of entries) {
    if (entry === null) continue;
    const aside = moved.get(path);
    if (aside !== undefined) base.move(aside, path);
    const { fresh: _fresh, ...kept } = entry.row;
    if (kept.kind === 'directory') base.put(kept);
    else if (entry.from === null) base.put(kept, joinBytes(entry.pieces));
    else {
      const row = { ...kept, size: (base.get(path)?.size ?? 0) + entry.own };
      if (entry.pieces.length === 0) base.put(row);
      else base.append(row, joinBytes(entry.pieces));
    }
  }
}

function isCallers(row: FileRow | undefined): row is FileRow {
  return row?.kind === 'file' && !row.own && row.size > 0;
}

function isSameVersion(now: FileRow, before: FileRow | null | undefined): boolean {
  return before?.own === false && before.size === now.size && before.modifiedAt === now.modifiedAt;
}

function conflictError(path: string): FileError {
  return new FileError(
    'EEXIST',
    path,
    `${path} was changed by another call in the meantime, and the changes conflict. The changes of this call were discarded. Read the files again, then repeat it.`,
  );
}
