/**
 * What a change of files would do, by what is there: said before it is done, on the files or the overlay that it would be done to. A change
 * that will be refused anyway has no effect. Nothing is judged here; `ask-first.ts` and `foresee.ts` have it judged.
 */
import { joinPath, permanentFolders } from '../../core/path.ts';
import type { Effect } from '../../core/policy-effect.ts';
import type { FileStat, FileSystem } from '../../ports/file-system.ts';

type WriteFile = Extract<Effect, { kind: 'write-file' }>;

/** The same bytes again are no change, and who puts something where nothing stood loses nothing. */
export function writeEffect(files: FileSystem, path: string, content: Uint8Array): WriteFile[] {
  const stat = files.stat(path);
  if (stat === null) return [{ kind: 'write-file', path, change: 'create', own: true }];
  if (stat.kind === 'directory') return [];
  const own = isOwn(stat);
  const change = stat.size === 0 ? 'append' : !own && isSame(files, path, stat, content) ? 'attributes' : 'overwrite';
  return [{ kind: 'write-file', path, change, own }];
}

export function appendEffect(files: FileSystem, path: string): WriteFile[] {
  const stat = files.stat(path);
  if (stat?.kind === 'directory') return [];
  return [{ kind: 'write-file', path, change: stat === null ? 'create' : 'append', own: stat === null || isOwn(stat) }];
}

/** `mkdir -p` of what is there does nothing. */
export function makeDirectoryEffect(files: FileSystem, path: string): WriteFile[] {
  return files.stat(path) === null ? [{ kind: 'write-file', path, change: 'create', own: true }] : [];
}

/** Mode and time. */
export function attributesEffect(files: FileSystem, path: string): WriteFile[] {
  const stat = files.stat(path);
  return stat === null ? [] : [{ kind: 'write-file', path, change: 'attributes', own: isOwn(stat) }];
}

/** A file for each that would be gone, and the directories on the way. What the same call made is nothing that anybody could miss. */
export function* removeEffects(files: FileSystem, path: string, recursive: boolean): Generator<Effect> {
  const stat = files.stat(path);
  if (stat === null) return;
  if (stat.kind === 'file') {
    if (stat.fresh !== true) yield { kind: 'delete-file', path };
    return;
  }
  const entries = files.list(path);
  if (entries.length > 0 && !recursive) return;
  for (const { name } of entries) {
    const child = joinPath(path, name);
    // Files of skills lie over the session's, and stay.
    if (files.isReadOnly?.(child) !== true) yield* removeEffects(files, child, true);
  }
  if (stat.fresh !== true && !permanentFolders.includes(path)) yield { kind: 'write-file', path, change: 'attributes', own: true };
}

/** `deep`: also of what lies beneath a directory that is moved, which matters to rules only. */
export function* renameEffects(files: FileSystem, from: string, to: string, deep: boolean): Generator<Effect> {
  const source = files.stat(from);
  if (source === null || from === to) return;
  yield { kind: 'write-file', path: from, change: 'move-away', own: isOwn(source) };
  yield targetEffect(files, to);
  if (!deep || source.kind === 'file') return;
  for (const { name } of files.list(from)) yield* renameEffects(files, joinPath(from, name), joinPath(to, name), true);
}

function targetEffect(files: FileSystem, to: string): WriteFile {
  const target = files.stat(to);
  if (target === null || target.kind === 'directory' || target.size === 0)
    return { kind: 'write-file', path: to, change: 'create', own: true };
  // The same bytes too: what lies there then is the session's, which may write over it.
  return { kind: 'write-file', path: to, change: 'overwrite', own: isOwn(target) };
}

function isOwn({ own, fresh }: FileStat): boolean {
  return own || fresh === true;
}

function isSame(files: FileSystem, path: string, stat: FileStat, content: Uint8Array): boolean {
  if (stat.size !== content.byteLength) return false;
  const there = files.read(path);
  return there.every((byte, index) => byte === content[index]);
}
