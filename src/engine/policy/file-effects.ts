/**
 * The effects that a change of files would have, computed before it is made, on the files or the overlay it is made on. A change that will
 * fail anyway has no effects. Judges nothing; `policy-guard.ts` and `judge-call.ts` pass the effects to the policy.
 */
import { joinPath, permanentFolders } from '../../core/text/path.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import type { FileStat, FileSystem } from '../../ports/file-system.ts';

type WriteFile = Extract<Effect, { kind: 'write-file' }>;

/** Writing the same bytes again only changes attributes, and writing to an empty or missing file loses nothing. */
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

/** `mkdir -p` of an existing directory has no effect. */
export function makeDirectoryEffect(files: FileSystem, path: string): WriteFile[] {
  return files.stat(path) === null ? [{ kind: 'write-file', path, change: 'create', own: true }] : [];
}

/** For changes of mode or time. */
export function attributesEffect(files: FileSystem, path: string): WriteFile[] {
  const stat = files.stat(path);
  return stat === null ? [] : [{ kind: 'write-file', path, change: 'attributes', own: isOwn(stat) }];
}

/** One effect per deleted file, and one per emptied directory. Files the same call created are skipped, since deleting them loses nothing. */
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
    // Files of skills are an overlay on the session's files and cannot be deleted.
    if (files.isReadOnly?.(child) !== true) yield* removeEffects(files, child, true);
  }
  if (stat.fresh !== true && !permanentFolders.includes(path)) yield { kind: 'write-file', path, change: 'attributes', own: true };
}

/** `deep`: includes everything inside a moved directory, which only rules need. */
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
  // Not compared by content: the file that is there afterwards belongs to the session, which may overwrite it.
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
