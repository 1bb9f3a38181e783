/** A path as a model wrote it, for the file tools: resolved from `/workspace`, and near names where nothing is there. */
import { baseName, parentPath, resolvePath, workspace } from '../core/path.ts';
import { nearNames } from '../core/suggest.ts';
import type { FileSystem } from '../ports/file-system.ts';
import { ToolFault } from './define-tool.ts';

export function sessionPath(input: string): string {
  const resolved = resolvePath(input, workspace);
  if (!resolved.ok) throw new ToolFault(`${resolved.reason} Use another path.`);
  return resolved.path;
}

/** What to say when there is nothing at `path`: the nearest directory that is there, and near names in it. */
export function notFound(files: FileSystem, path: string): ToolFault {
  const parent = parentPath(path);
  const directory = files.stat(parent);
  if (directory === null) return new ToolFault(`There is no ${path}, nor a directory ${parent}. list_directory shows what there is.`);
  if (directory.kind === 'file') return new ToolFault(`There is no ${path}: ${parent} is a file.`);
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
        : `${parent} has: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}.`;
  return new ToolFault(`There is no ${path}. ${shown}`);
}
