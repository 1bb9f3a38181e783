/**
 * Output that is too long to be shown, kept whole as a file of the session, so that the model reads on with the tools it knows. A handful of
 * them: a new one takes the place of the oldest.
 */
import { limits } from '../../core/limits.ts';
import { joinPath } from '../../core/path.ts';
import { FileError, type FileSystem } from '../../ports/file-system.ts';

/** `callId` names the file. null: there is no room for it. */
export function keepOutput(files: FileSystem, directory: string, callId: string, output: string): string | null {
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

/** The oldest is moved to where the new one will be: nothing is deleted, so nobody has to be asked. */
function giveWay(files: FileSystem, directory: string, path: string): void {
  if (files.stat(path) !== null) return;
  // Only what is our own: moving and overwriting anything else would have to be asked for.
  const isOurs = (name: string): boolean => /^output-.+\.txt$/.test(name) && files.stat(joinPath(directory, name))?.own === true;
  const kept = files.list(directory).filter(({ name, kind }) => kind === 'file' && isOurs(name));
  if (kept.length < limits.maxKeptOutputs) return;
  const [oldest] = kept.sort((a, b) => a.modifiedAt - b.modifiedAt);
  if (oldest !== undefined) files.rename(joinPath(directory, oldest.name), path);
}
