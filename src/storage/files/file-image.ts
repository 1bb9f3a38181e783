/** Copies the files of a file system, and the changes that a call made to a copy. */
import { Problem } from '../../core/problem.ts';
import type { FileChange, FileSpace, StoredFile } from '../../ports/file-space.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import { MB } from '../../core/limits/units.ts';
import { isPermanentFolder } from './file-store.ts';
import { createMemoryFiles } from './memory-files.ts';

/** A call holds a copy of the files several times, and an RPC carries 32 MB. */
const maxImageBytes = 16 * MB;

/** Returns all files and directories, parents first. Throws `body_too_large`. */
export function copyFiles(files: FileSystem): StoredFile[] {
  const { bytes = 0 } = files.usage?.() ?? {};
  if (bytes > maxImageBytes)
    throw new Problem(
      'body_too_large',
      `The files have ${bytes} bytes, and an MCP call can use at most ${maxImageBytes}. Delete some, or call the tool with \`session\` (POST /v1/toolsets/{toolset}/calls).`,
    );
  return [...storedFiles(files)];
}

/** Parents first. */
function* storedFiles(files: FileSystem): Generator<StoredFile> {
  for (const path of files.paths()) {
    const stat = isPermanentFolder(path) ? null : files.stat(path);
    if (stat !== null) yield { path, stat, content: stat.kind === 'file' ? files.read(path) : new Uint8Array() };
  }
}

/** Copies all files as they are now, in parts of which each fits in an RPC. `apply` stores a part. */
export async function copyInParts(files: FileSystem, apply: (part: readonly FileChange[]) => Promise<void>): Promise<void> {
  let part: FileChange[] = [];
  let bytes = 0;
  for (const file of storedFiles(files)) {
    if (part.length > 0 && bytes + file.content.length > maxImageBytes) {
      await apply(part);
      [part, bytes] = [[], 0];
    }
    part.push({ path: file.path, file });
    bytes += file.content.length;
  }
  if (part.length > 0) await apply(part);
}

/** Copies the loaded files into memory; `save` passes on what has changed since, if anything has. */
export async function openImage(
  { load, apply }: { load(): Promise<StoredFile[]>; apply(changes: readonly FileChange[]): Promise<void> },
  now: () => number,
): ReturnType<FileSpace['open']> {
  const image = await load();
  const files = createMemoryFiles(now);
  for (const file of image) writeFile(files, file);
  return {
    files,
    async save() {
      const changes = changesSince(files, image);
      if (changes.length > 0) await apply(changes);
    },
  };
}

/** Returns what differs from the image: removals first, the deepest paths first, then writes, parents first. */
function changesSince(files: FileSystem, image: readonly StoredFile[]): FileChange[] {
  const before = new Map(image.map((file) => [file.path, file]));
  const now = copyFiles(files);
  const paths = new Set(now.map(({ path }) => path));
  const removed = image.filter(({ path }) => !paths.has(path)).map(({ path }): FileChange => ({ path, file: null }));
  const written = now.filter((file) => !isSame(before.get(file.path), file)).map((file): FileChange => ({ path: file.path, file }));
  return [...removed.reverse(), ...written];
}

/** Another call may have changed the same files meanwhile: the last change of each path counts. */
export function applyChanges(files: FileSystem, changes: readonly FileChange[]): void {
  // All of them or none.
  const overlay = files.overlay();
  for (const { path, file } of changes) {
    const known = overlay.stat(path);
    if (known !== null && (file === null || file.stat.kind !== known.kind)) overlay.remove(path, { recursive: true });
    if (file !== null) writeFile(overlay, file);
  }
  overlay.commit();
}

function writeFile(files: FileSystem, { path, stat, content }: StoredFile): void {
  const { kind, mode, modifiedAt, own } = stat;
  if (kind === 'file') {
    files.write(path, content, { mode, modifiedAt, own });
    return;
  }
  files.makeDirectory(path, { recursive: true });
  files.setMode(path, mode);
  files.setModifiedAt(path, modifiedAt);
}

function isSame(one: StoredFile | undefined, other: StoredFile): boolean {
  if (one === undefined) return false;
  const { stat } = one;
  if (stat.kind !== other.stat.kind || stat.size !== other.stat.size || stat.mode !== other.stat.mode || stat.own !== other.stat.own)
    return false;
  return stat.modifiedAt === other.stat.modifiedAt && one.content.every((byte, index) => byte === other.content[index]);
}
