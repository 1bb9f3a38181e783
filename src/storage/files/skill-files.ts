/**
 * Resources of skills as read-only files over a session's own: `/skills/<name>/…`. They are not stored in the session, and hide what the
 * session itself has under `/skills`. Used for runs whose plan has skills.
 */
import { baseName, isInside, parentPath } from '../../core/text/path.ts';
import { skillFile, skillFolder, skillsFolder, type Skill, resourceBytes } from '../../core/skills/skill.ts';
import { FileError, type DirectoryEntry, type FileOverlay, type FileStat, type FileSystem } from '../../ports/file-system.ts';

/** Returns the session's files with those of the skills; unchanged without skills. */
export function withSkillFiles(files: FileSystem, skills: readonly Skill[]): FileSystem {
  return skills.length === 0 ? files : layOver(files, treeOf(skills));
}

type Node = { stat: FileStat; children: DirectoryEntry[]; content(): Uint8Array };
type Tree = ReadonlyMap<string, Node>;

function treeOf(skills: readonly Skill[]): Tree {
  const nodes = new Map<string, Node>();
  const addDirectory = (path: string): Node => {
    const known = nodes.get(path);
    if (known !== undefined) return known;
    const node: Node = {
      stat: { kind: 'directory', size: 0, modifiedAt: 0, mode: 0o555, own: false },
      children: [],
      content: () => new Uint8Array(),
    };
    nodes.set(path, node);
    if (path !== skillsFolder)
      addDirectory(parentPath(path)).children.push({ name: baseName(path), kind: 'directory', size: 0, modifiedAt: 0 });
    return node;
  };
  addDirectory(skillsFolder);
  for (const { name, resources, content } of skills) {
    for (const resource of [{ path: skillFile, text: content }, ...resources]) {
      const path = `${skillFolder(name)}/${resource.path}`;
      const size = 'bytes' in resource ? resource.bytes : new TextEncoder().encode(content).byteLength;
      // A script may be executed by its path.
      const mode = resource.text?.startsWith('#!') ? 0o555 : 0o444;
      nodes.set(path, {
        stat: { kind: 'file', size, modifiedAt: 0, mode, own: false },
        children: [],
        content: () => resourceBytes(resource),
      });
      addDirectory(parentPath(path)).children.push({ name: baseName(path), kind: 'file', size, modifiedAt: 0 });
    }
  }
  for (const { children } of nodes.values()) children.sort((a, b) => (a.name < b.name ? -1 : 1));
  return nodes;
}

function layOver(files: FileSystem, tree: Tree): FileSystem {
  const isReadOnly = (path: string): boolean => isInside(path, skillsFolder);
  const existing = (path: string): Node => {
    const node = tree.get(path);
    if (node !== undefined) return node;
    if (tree.get(parentPath(path))?.stat.kind === 'file') throw notDirectory(path);
    throw new FileError('ENOENT', path, `There is no ${path}.`);
  };
  const checkWrite = (path: string): void => {
    if (isReadOnly(path))
      throw new FileError('EROFS', path, `${path}: files of skills are read-only. Copy the file to /workspace and change it there.`);
  };
  return {
    isReadOnly: (path) => isReadOnly(path) || files.isReadOnly?.(path) === true,
    stat: (path) => (isReadOnly(path) ? (tree.get(path)?.stat ?? null) : files.stat(path)),
    read(path) {
      if (!isReadOnly(path)) return files.read(path);
      const node = existing(path);
      if (node.stat.kind === 'directory') throw new FileError('EISDIR', path, `${path} is a directory, not a file.`);
      return node.content();
    },
    list(path) {
      if (isReadOnly(path)) {
        const { stat, children } = existing(path);
        if (stat.kind === 'file') throw notDirectory(path);
        return [...children];
      }
      const own = files.list(path);
      if (path !== '/') return own;
      const rest = own.filter(({ name }) => `/${name}` !== skillsFolder);
      return [...rest, { name: baseName(skillsFolder), kind: 'directory' as const, size: 0, modifiedAt: 0 }].sort((a, b) =>
        a.name < b.name ? -1 : 1,
      );
    },
    paths: () => [...files.paths().filter((path) => !isReadOnly(path)), ...tree.keys()].sort(),
    write(path, content, options) {
      checkWrite(path);
      files.write(path, content, options);
    },
    append(path, content) {
      checkWrite(path);
      files.append(path, content);
    },
    makeDirectory(path, options) {
      // `mkdir -p` of an existing directory does nothing.
      if (options?.recursive === true && tree.get(path)?.stat.kind === 'directory') return;
      checkWrite(path);
      files.makeDirectory(path, options);
    },
    remove(path, options) {
      if (isReadOnly(path)) existing(path);
      checkWrite(path);
      files.remove(path, options);
    },
    rename(from, to) {
      checkWrite(from);
      checkWrite(to);
      files.rename(from, to);
    },
    setMode(path, mode) {
      checkWrite(path);
      files.setMode(path, mode);
    },
    setModifiedAt(path, modifiedAt) {
      checkWrite(path);
      files.setModifiedAt(path, modifiedAt);
    },
    overlay(): FileOverlay {
      const overlay = files.overlay();
      return { ...layOver(overlay, tree), commit: () => overlay.commit() };
    },
  };
}

function notDirectory(path: string): FileError {
  return new FileError('ENOTDIR', path, `${path}: a part of the path is a file, not a directory.`);
}
