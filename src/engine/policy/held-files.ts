/**
 * Files that can be held: from then on every change stays in an overlay until it is released. A tool that changes files without an overlay of its
 * own is rehearsed on these, so that it has done nothing where its effects are not approved. Used by `ask-first.ts`.
 */
import type { FileOverlay, FileSystem } from '../../ports/file-system.ts';

export type HeldFiles = {
  files: FileSystem;
  /** Keeps what follows in an overlay. */
  hold(): void;
  /** Commits what was held; throws a `FileError` where it does not fit any more. */
  release(): void;
};

export function createHeldFiles(base: FileSystem): HeldFiles {
  let overlay: FileOverlay | null = null;
  const current = (): FileSystem => overlay ?? base;
  return {
    hold() {
      overlay ??= base.overlay();
    },
    release() {
      const held = overlay;
      overlay = null;
      held?.commit();
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
