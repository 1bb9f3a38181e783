/** Resolves paths in the file tools' arguments against `/workspace`, and suggests similar names for missing files. */
import { baseName, parentPath, resolvePath, workspace } from '../core/text/path.ts';
import { nearNames } from '../core/names/suggest.ts';
import type { FileSystem } from '../ports/file-system.ts';
import { ToolFault } from './define-tool.ts';

export function sessionPath(input: string): string {
  const resolved = resolvePath(input, workspace);
  if (!resolved.ok) throw new ToolFault(`${resolved.reason} Use another path.`);
  return resolved.path;
}

/** Returns the error for a missing path, with the nearest existing directory and similar names in it. */
export function fileNotFound(files: FileSystem, path: string): ToolFault {
  const parent = parentPath(path);
  const directory = files.stat(parent);
  if (directory === null)
    return new ToolFault(`${path} does not exist, nor does the directory ${parent}. Use list_directory to see existing files.`);
  if (directory.kind === 'file') return new ToolFault(`${path} does not exist: ${parent} is a file.`);
  const names = files.list(parent).map((entry) => entry.name);
  const near = nearNames(
    baseName(path),
    names.map((name) => [name, name] as const),
  );
  const shown =
    near.length > 0
      ? `Did you mean ${near.join(', ')}?`
      : names.length === 0
        ? `${parent} is empty.`
        : `${parent} contains: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}.`;
  return new ToolFault(`${path} does not exist. ${shown}`);
}
