/**
 * A layer over a store of files: reads look through it, changes stay in it until they are committed in one step or the
 * layer is dropped. Content that a script never read is not copied: an append keeps its bytes only, a moved file stays where
 * it is until the commit. It keeps rows and bytes and decides nothing but what it may hold; the rules are `file-rules.ts`.
 */
import { joinBytes } from '../core/bytes.ts';
import { limits } from '../core/limits.ts';
import { parentPath } from '../core/path.ts';
import { FileError } from '../ports/file-system.ts';
import { isPermanent, type FileRow, type FileStore } from './file-store.ts';

/** `from`: where the store beneath has the beginning of the content, if it has any; null: it has none of it. `pieces`, `own` bytes together, come after that. */
type Entry = { row: FileRow; from: string | null; pieces: Uint8Array[]; own: number };

export type StoreOverlay = FileStore & {
  /** Writes all of it to the store, or throws a `FileError` before it has written anything. The layer is used up then. */
  commit(): void;
};

export function overlayStore(base: FileStore): StoreOverlay {
  /** null: what the store has at this path is gone. */
  const entries = new Map<string, Entry | null>();
  /** What the store had at a path when it was first changed here. */
  const found = new Map<string, FileRow | null>();
  const tree = createTree();
  const delta = { files: 0, bytes: 0 };
  const basedOn = base.changes();
  let held = 0;
  let changes = 0;

  const get = (path: string): FileRow | undefined => {
    const entry = entries.get(path);
    return entry === undefined ? base.get(path) : entry?.row;
  };

  /** What stands at a path, in the layer's terms. */
  const at = (path: string): Entry | undefined => {
    const entry = entries.get(path);
    if (entry !== undefined) return entry ?? undefined;
    const row = base.get(path);
    return row === undefined ? undefined : { row, from: path, pieces: [], own: 0 };
  };

  function set(path: string, entry: Entry | null): void {
    const added = (entry?.own ?? 0) - (entries.get(path)?.own ?? 0);
    if (added > 0 && held + added > limits.maxOverlayBytes) {
      throw new FileError(
        'ENOSPC',
        path,
        `No room for ${path}: one call may write at most ${limits.maxOverlayBytes} bytes. Do it in several calls.`,
      );
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

  /** Whether it is this layer that made it goes with it, wherever it is moved. */
  const dated = ({ fresh: _given, ...row }: FileRow): FileRow => {
    const before = get(row.path);
    return before === undefined || before.fresh === true ? { ...row, fresh: true } : row;
  };

  const isBeneath = ({ path }: FileRow): boolean => !entries.has(path);
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
      // Of a file that is not there, too, the beginning is left to the store: somebody else may append to it meanwhile.
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
    children: (path) => [...base.children(path).filter(isBeneath), ...tree.children(path).flatMap(ownRow)],
    descendants: (path) => [...base.descendants(path).filter(isBeneath), ...tree.descendants(path).flatMap(ownRow)],
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
 * Somebody else wrote meanwhile. Of two writes the later one stands and appends are both kept, as without a layer; what
 * cannot be put together is refused here, before anything is written.
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
    // The caller's file would go, and nobody was asked about that one.
    if ((entry === null || entry.from !== path) && isCallers(now) && !isSameVersion(now, found.get(path))) throw changedMeanwhile(path);
    if (entry === null) {
      if (now?.kind === 'directory' && base.children(path).some((child) => !entries.has(child.path))) throw changedMeanwhile(path);
      files -= now === undefined ? 0 : 1;
      bytes -= now?.size ?? 0;
      continue;
    }
    if (now !== undefined && now.kind !== entry.row.kind && now.kind !== found.get(path)?.kind) throw changedMeanwhile(path);
    const source = entry.from === null ? undefined : base.get(entry.from);
    const isNew = entry.from === path && source === undefined && found.get(path) === null;
    if (entry.from !== null && source?.kind !== entry.row.kind && !isNew) throw changedMeanwhile(entry.from);
    if (entry.row.kind === 'file' && now?.kind === 'directory' && base.children(path).some((child) => entries.get(child.path) !== null))
      throw changedMeanwhile(path);
    for (let parent = parentPath(path); parent !== '/'; parent = parentPath(parent)) {
      const kind = kindAt(parent);
      if (kind === 'file' || (kind === undefined && !isPermanent(parent))) throw changedMeanwhile(path);
    }
    files += now === undefined ? 1 : 0;
    bytes += (source?.size ?? 0) + entry.own - (now?.size ?? 0);
    if ((source?.size ?? 0) + entry.own > limits.maxFileBytes) throw changedMeanwhile(path);
  }
  // Less than there was is always right: a session may already be full.
  if ((files > limits.maxSessionFiles && files > used.files) || (bytes > limits.maxSessionFilesBytes && bytes > used.bytes)) {
    throw new FileError(
      'ENOSPC',
      '/',
      'No room: another call filled the session meanwhile, so nothing of this one was kept. Delete files first.',
    );
  }
}

/** Moved content first goes where nothing is, since two files may have changed places. */
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

function changedMeanwhile(path: string): FileError {
  return new FileError(
    'EEXIST',
    path,
    `${path} was changed by another call meanwhile, in a way that does not go together; nothing of this one was kept. Look again, then repeat it.`,
  );
}

/** The paths of the layer by directory, the directories on the way included: what is beneath one is found without looking at all. */
function createTree() {
  const byDirectory = new Map<string, Set<string>>();
  const children = (path: string): string[] => [...(byDirectory.get(path) ?? [])];
  return {
    add(path: string): void {
      for (let child = path; child !== '/'; child = parentPath(child)) {
        const siblings = byDirectory.get(parentPath(child));
        if (siblings?.has(child) === true) return;
        if (siblings === undefined) byDirectory.set(parentPath(child), new Set([child]));
        else siblings.add(child);
      }
    },
    children,
    descendants(path: string): string[] {
      const found: string[] = [];
      const pending = children(path);
      for (let child = pending.pop(); child !== undefined; child = pending.pop()) {
        found.push(child);
        pending.push(...children(child));
      }
      return found;
    },
  };
}
