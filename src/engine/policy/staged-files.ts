/**
 * Files that can be staged: after `hold`, every change stays in an overlay until `release`. A tool that changes files without an overlay of
 * its own runs on these, so that it has done nothing if its effects are not approved. Used by `policy-guard.ts`.
 */
import type { FileOverlay, FileSystem } from '../../ports/file-system.ts';

export type StagedFiles = {
  files: FileSystem;
  /** Stages all further changes in an overlay. */
  stage(): void;
  /** Commits the staged changes; throws a `FileError` if they conflict with changes made meanwhile. */
  commit(): void;
};

export function createStagedFiles(base: FileSystem): StagedFiles {
  let overlay: FileOverlay | null = null;
  const current = (): FileSystem => overlay ?? base;
  return {
    stage() {
      overlay ??= base.overlay();
    },
    commit() {
      const staged = overlay;
      overlay = null;
      staged?.commit();
    },
    files: {
      isReadOnly: (path) => current().isReadOnly?.(path) === true,
      stat: (path) => current().stat(path),
      read: (path) => current().read(path),
      write: (path, content, options) => current().write(path, content, options),
      append: (path, content) => current().append(path, content),
      makeDirectory: (path, options) => current().makeDirectory(path, options),
      list: (path) => current().list(path),
      remove: (path, options) => current().remove(path, options),
      rename: (from, to) => current().rename(from, to),
      setMode: (path, mode) => current().setMode(path, mode),
      setModifiedAt: (path, modifiedAt) => current().setModifiedAt(path, modifiedAt),
      paths: () => current().paths(),
      overlay: () => current().overlay(),
    },
  };
}
