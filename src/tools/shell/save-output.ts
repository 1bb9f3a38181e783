/**
 * Saves output that is too long to be shown as a file of the session, which the model can read with the usual tools. Only a few files are
 * stored: a new one replaces the oldest.
 */
import { joinPath } from '../../core/text/path.ts';
import { FileError, type FileSystem } from '../../ports/file-system.ts';

/** Long outputs of a session that are stored as files; the oldest are deleted. */
export const maxStoredOutputs = 8;

/** `callId` names the file. Returns its path, or null if the session has no space for it. */
export function saveOutput(files: FileSystem, directory: string, callId: string, output: string): string | null {
  const path = joinPath(directory, `output-${callId.replace(/[^\w.-]/g, '_').slice(-100)}.txt`);
  try {
    files.makeDirectory(directory, { recursive: true });
    giveWay(files, directory, path);
    files.write(path, new TextEncoder().encode(output));
    return path;
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}

/** Moves the oldest file to the new path. Nothing is deleted, since a deletion requires approval. */
function giveWay(files: FileSystem, directory: string, path: string): void {
  if (files.stat(path) !== null) return;
  // Only files written by this module: moving or overwriting others requires approval.
  const isOurs = (name: string): boolean => /^output-.+\.txt$/.test(name) && files.stat(joinPath(directory, name))?.own === true;
  const kept = files.list(directory).filter(({ name, kind }) => kind === 'file' && isOurs(name));
  if (kept.length < maxStoredOutputs) return;
  const [oldest] = kept.sort((a, b) => a.modifiedAt - b.modifiedAt);
  if (oldest !== undefined) files.rename(joinPath(directory, oldest.name), path);
}
