/** Wraps a file system so that a `FileGuard` is called before every read and change, including those on overlays. */
import type { Effect } from '../../core/policy/policy-effect.ts';
import type { FileOverlay, FileSystem } from '../../ports/file-system.ts';
import { appendEffect, attributesEffect, makeDirectoryEffect, removeEffects, renameEffects, writeEffect } from './file-effects.ts';

export type FileGuard = {
  /**
   * Throws the error that the tool gets instead. `path`: the path of the operation. `effects`: computes the effects from the current files.
   * `files`: the files that are changed, which may be an overlay.
   */
  change(path: string, effects: () => Iterable<Effect>, files: FileSystem): void;
  /** Absent: everything may be read. `files`: the files that are read, which may be an overlay. */
  read?(path: string, files: FileSystem): void;
  /** Whether a tool's overlay may be committed; called when the tool commits it. */
  mayCommit(): boolean;
  /** Whether effects are needed for everything inside a moved directory. */
  deep: boolean;
};

/** The key of the guarded file system. A member, so that it survives wrapping by object spread. */
const behind = Symbol('behind');
type Guarded<Files extends FileSystem> = Files & { [behind]?: FileSystem };

/** Returns the files without any guards, for nested calls, which have their own policy check. */
export function withoutGuards(files: FileSystem): FileSystem {
  let plain: Guarded<FileSystem> = files;
  while (plain[behind] !== undefined) plain = plain[behind];
  return plain;
}

export function guardFiles(files: FileSystem, guard: FileGuard): FileSystem {
  const guarded: Guarded<FileSystem> = {
    [behind]: files,
    isReadOnly: (path) => files.isReadOnly?.(path) === true,
    stat: (path) => files.stat(path),
    read(path) {
      guard.read?.(path, files);
      return files.read(path);
    },
    list: (path) => files.list(path),
    paths: () => files.paths(),
    write(path, content, options) {
      guard.change(path, () => writeEffect(files, path, content), files);
      files.write(path, content, options);
    },
    append(path, content) {
      guard.change(path, () => appendEffect(files, path), files);
      files.append(path, content);
    },
    makeDirectory(path, options) {
      guard.change(path, () => makeDirectoryEffect(files, path), files);
      files.makeDirectory(path, options);
    },
    remove(path, options) {
      guard.change(path, () => removeEffects(files, path, options?.recursive === true), files);
      files.remove(path, options);
    },
    rename(from, to) {
      guard.change(from, () => renameEffects(files, from, to, guard.deep), files);
      files.rename(from, to);
    },
    setMode(path, mode) {
      guard.change(path, () => attributesEffect(files, path), files);
      files.setMode(path, mode);
    },
    setModifiedAt(path, modifiedAt) {
      guard.change(path, () => attributesEffect(files, path), files);
      files.setModifiedAt(path, modifiedAt);
    },
    overlay() {
      const overlay = files.overlay();
      const over: Guarded<FileOverlay> = {
        ...guardFiles(overlay, guard),
        commit() {
          if (guard.mayCommit()) overlay.commit();
        },
      };
      return over;
    },
  };
  return guarded;
}
