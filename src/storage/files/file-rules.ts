/**
 * The rules of a session's file system (kinds, parents, limits, errors) over a store that only stores rows and bytes. Files in memory
 * and in SQLite use the same rules, so they behave the same.
 */
import { limits } from '../../core/limits/limits.ts';
import { baseName, isInside, parentPath, permanentFolders } from '../../core/text/path.ts';
import { FileError, type DirectoryEntry, type FileSystem } from '../../ports/file-system.ts';
import { createOverlayStore } from './file-overlay.ts';
import { isPermanentFolder, type FileRow, type FileStore } from './file-store.ts';

const fileMode = 0o644;
const directoryMode = 0o755;

export function createFileSystem(store: FileStore, now: () => number): FileSystem {
  const stat = (path: string): FileRow | null =>
    store.get(path) ??
    (isPermanentFolder(path) ? { path, kind: 'directory', size: 0, modifiedAt: 0, mode: directoryMode, own: false } : null);

  function existing(path: string): FileRow {
    const row = stat(path);
    if (row !== null) return row;
    throw isBeneathFile(path) ? notDirectory(path) : new FileError('ENOENT', path, `There is no ${path}.`);
  }

  function isBeneathFile(path: string): boolean {
    for (let parent = parentPath(path); parent !== '/'; parent = parentPath(parent)) {
      const row = stat(parent);
      if (row !== null) return row.kind === 'file';
    }
    return false;
  }

  function makeParents(path: string): void {
    const parent = parentPath(path);
    const row = stat(parent);
    if (row?.kind === 'file') throw notDirectory(path);
    if (row !== null) return;
    makeParents(parent);
    addDirectory(parent);
  }

  function addDirectory(path: string): void {
    reserve(path, 1, 0);
    store.put({ path, kind: 'directory', size: 0, modifiedAt: now(), mode: directoryMode, own: true });
  }

  /** Throws when the addition would exceed a limit, before anything is written. */
  function reserve(path: string, files: number, bytes: number): void {
    if (files <= 0 && bytes <= 0) return;
    const used = store.usage();
    const full = (rest: string) => new FileError('ENOSPC', path, `No space for ${path}: ${rest}. Delete some first.`);
    if (used.files + files > limits.maxSessionFiles)
      throw full(`a session can have at most ${limits.maxSessionFiles} files and directories, and has ${used.files}`);
    if (used.bytes + bytes > limits.maxSessionFilesBytes)
      throw full(`a session's files can have at most ${limits.maxSessionFilesBytes} bytes in total, and ${used.bytes} are used`);
  }

  /** Changes a row. Permanent folders have no row, and their mode and time never change. */
  function change(path: string, changes: Partial<FileRow>): void {
    const row = existing(path);
    if (!isPermanentFolder(path)) store.put({ ...row, ...changes });
  }

  /** Returns the row of a file to write. Creates its parents and checks kind and limits. */
  function writable(path: string, size: number): FileRow {
    const row = stat(path);
    if (row?.kind === 'directory') throw new FileError('EISDIR', path, `${path} is a directory.`);
    if (size > limits.maxFileBytes)
      throw new FileError('EFBIG', path, `${path} would be ${size} bytes; a file is at most ${limits.maxFileBytes}.`);
    if (row === null) makeParents(path);
    reserve(path, row === null ? 1 : 0, size - (row?.size ?? 0));
    return { path, kind: 'file', size, modifiedAt: now(), mode: row?.mode ?? fileMode, own: row?.own ?? true };
  }

  return {
    stat,
    read(path) {
      if (existing(path).kind === 'directory') throw new FileError('EISDIR', path, `${path} is a directory, not a file.`);
      return store.content(path);
    },
    write(path, content, options = {}) {
      const before = store.get(path);
      const row = writable(path, content.byteLength);
      const own = options.own ?? (before === undefined || before.own || !isSame(store, before, content));
      store.put({ ...row, mode: options.mode ?? row.mode, modifiedAt: options.modifiedAt ?? row.modifiedAt, own }, content);
    },
    append(path, content) {
      const before = stat(path);
      const row = writable(path, (before?.size ?? 0) + content.byteLength);
      store.append(row, content);
    },
    makeDirectory(path, options = {}) {
      const row = stat(path);
      if (row !== null) {
        if (row.kind === 'directory' && options.recursive === true) return;
        throw new FileError('EEXIST', path, `${path} already exists.`);
      }
      if (options.recursive === true) makeParents(path);
      else if (existing(parentPath(path)).kind === 'file') throw notDirectory(path);
      addDirectory(path);
    },
    list(path) {
      if (existing(path).kind === 'file') throw notDirectory(path);
      const entries = store.children(path).map(toEntry);
      if (path === '/') {
        for (const home of permanentFolders)
          if (home !== '/') entries.push({ name: baseName(home), kind: 'directory', size: 0, modifiedAt: 0 });
      }
      return entries.sort((a, b) => compare(a.name, b.name));
    },
    remove(path, options = {}) {
      const row = existing(path);
      if (isPermanentFolder(path) && options.recursive !== true)
        throw new FileError('EPERM', path, `${path} is part of every session and cannot be removed; remove its contents instead.`);
      if (row.kind === 'directory') {
        // Permanent folders may have no row that leads to their contents.
        const folders = path === '/' ? permanentFolders : [path];
        const beneath = new Set(folders.flatMap((folder) => store.descendants(folder).map((child) => child.path)));
        if (beneath.size > 0 && options.recursive !== true) throw notEmpty(path);
        for (const child of beneath) store.remove(child);
      }
      if (!isPermanentFolder(path)) store.remove(path);
    },
    rename(from, to) {
      const source = existing(from);
      if (isPermanentFolder(from) || isPermanentFolder(to))
        throw new FileError('EPERM', from, `${isPermanentFolder(from) ? from : to} is part of every session and cannot be moved.`);
      if (from === to) return;
      if (source.kind === 'directory' && isInside(to, from)) throw new FileError('EINVAL', from, `${from} cannot be moved into itself.`);
      if (existing(parentPath(to)).kind === 'file') throw notDirectory(to);
      const beneath = source.kind === 'directory' ? store.descendants(from) : [];
      if (beneath.some((row) => row.path.length - from.length + to.length > limits.maxPathBytes)) {
        throw new FileError('EINVAL', to, `After the move to ${to}, some paths would be longer than ${limits.maxPathBytes} bytes.`);
      }
      const target = stat(to);
      if (target !== null) {
        if (source.kind === 'file' && target.kind === 'directory') throw new FileError('EISDIR', to, `${to} is a directory.`);
        if (source.kind === 'directory' && target.kind === 'file') throw notDirectory(to);
        if (target.kind === 'directory' && store.children(to).length > 0) throw notEmpty(to);
        store.remove(to);
      }
      store.move(from, to);
      for (const row of beneath) store.move(row.path, to + row.path.slice(from.length));
    },
    setMode(path, mode) {
      change(path, { mode: mode & 0o7777 });
    },
    setModifiedAt(path, modifiedAt) {
      change(path, { modifiedAt });
    },
    usage: () => store.usage(),
    paths() {
      return [...new Set([...permanentFolders, ...store.paths()])].sort(compare);
    },
    overlay() {
      const layer = createOverlayStore(store);
      return { ...createFileSystem(layer, now), commit: () => layer.commit() };
    },
  };
}

/** Compares contents, reading them only if the sizes are equal. */
function isSame(store: FileStore, { path, kind, size }: FileRow, content: Uint8Array): boolean {
  if (kind !== 'file' || size !== content.byteLength) return false;
  const there = store.content(path);
  return there.every((byte, index) => byte === content[index]);
}

function toEntry(row: FileRow): DirectoryEntry {
  return { name: baseName(row.path), kind: row.kind, size: row.size, modifiedAt: row.modifiedAt };
}

function notDirectory(path: string): FileError {
  return new FileError('ENOTDIR', path, `${path}: a part of the path is a file, not a directory.`);
}

function notEmpty(path: string): FileError {
  return new FileError('ENOTEMPTY', path, `${path} is a directory that is not empty.`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
