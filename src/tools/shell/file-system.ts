/**
 * The shell's view of a session's files: just-bash's file system interface over our `FileSystem` port, which is the only store. The shell's
 * own `/bin`, `/usr`, `/dev` and `/proc` are created for each call and are read-only. Links are not supported. Error messages start with
 * the POSIX code, as the shell's commands expect.
 */
import {
  InMemoryFs,
  type CpOptions,
  type FileContent,
  type FsStat,
  type IFileSystem,
  type MkdirOptions,
  type RmOptions,
} from 'just-bash/browser';
import { fromLatin1 } from '../../core/text/bytes.ts';
import { joinPath, resolvePath } from '../../core/text/path.ts';
import { FileError, type FileErrorCode, type FileSystem } from '../../ports/file-system.ts';
import type { TimeSlices } from './time-slices.ts';

type EncodingOption = { encoding?: string | null } | string;

/** `turns`: called for every file that is read, so that a loop of greps yields to other requests. */
export function createBashFileSystem(files: FileSystem, turns: TimeSlices): IFileSystem {
  const system = new InMemoryFs();
  const shell: IFileSystem & SetUp = {
    // The shell creates its own folders with these while it is constructed.
    mkdirSync: (path, options) => (isSystem(path) ? system.mkdirSync(path, options) : undefined),
    writeFileSync: (path, content) => (isSystem(path) ? system.writeFileSync(path, content) : undefined),
    writeFileLazy: (path, lazy, metadata) => (isSystem(path) ? system.writeFileLazy(path, lazy, metadata) : undefined),

    async readFile(path, options) {
      if (isSystem(path)) return await system.readFile(path, options);
      return decode(await read('open', path), options);
    },
    async readFileBuffer(path) {
      return isSystem(path) ? await system.readFileBuffer(path) : await read('open', path);
    },
    async writeFile(path, content, options) {
      if (isSystem(path)) return discard('open', path);
      at('open', path, (place) => files.write(place, encode(content, options)));
    },
    async appendFile(path, content, options) {
      if (isSystem(path)) return discard('open', path);
      at('open', path, (place) => files.append(place, encode(content, options)));
    },
    async exists(path) {
      if (isSystem(path)) return await system.exists(path);
      const resolved = resolvePath(path, '/');
      return resolved.ok && files.stat(resolved.path) !== null;
    },
    stat,
    lstat: stat,
    async mkdir(path, options?: MkdirOptions) {
      if (isSystem(path)) throw posix('EACCES', 'mkdir', path);
      at('mkdir', path, (place) => files.makeDirectory(place, options));
    },
    readdir: async (path) => (await entries(path)).map((entry) => entry.name),
    readdirWithFileTypes: entries,
    async rm(path, options: RmOptions = {}) {
      if (isSystem(path)) throw posix('EACCES', 'rm', path);
      if (options.force === true && !(await shell.exists(path))) return;
      at('rm', path, (place) => files.remove(place, { recursive: options.recursive === true }));
    },
    async cp(from, to, options: CpOptions = {}) {
      const source = await stat(from);
      if (source.isFile) return await shell.writeFile(to, await shell.readFileBuffer(from));
      if (options.recursive !== true) throw posix('EISDIR', 'cp', from);
      if (`${to}/`.startsWith(`${from}/`)) throw posix('EINVAL', 'cp', to);
      await shell.mkdir(to, { recursive: true });
      for (const { name } of await entries(from)) await shell.cp(joinPath(from, name), joinPath(to, name), options);
    },
    async mv(from, to) {
      if (isSystem(from) || isSystem(to)) throw posix('EACCES', 'rename', from);
      at('rename', from, (source) => at('rename', to, (target) => files.rename(source, target)));
    },
    // Only joins the paths. The operation that uses an invalid path reports it, in the form that the commands expect.
    resolvePath: join,
    getAllPaths: () => [...files.paths(), ...system.getAllPaths()],
    async chmod(path, mode) {
      if (isSystem(path)) throw posix('EACCES', 'chmod', path);
      at('chmod', path, (place) => files.setMode(place, mode));
    },
    async symlink(_target, path) {
      throw posix('EOPNOTSUPP', 'symlink', path);
    },
    async link(_existing, path) {
      throw posix('EOPNOTSUPP', 'link', path);
    },
    async readlink(path) {
      await stat(path);
      throw posix('EINVAL', 'readlink', path);
    },
    async realpath(path) {
      await stat(path);
      return join('/', path);
    },
    async utimes(path, _accessed, modified) {
      if (isSystem(path)) return;
      at('utimes', path, (place) => files.setModifiedAt(place, modified.getTime()));
    },
  };
  return shell;

  async function read(operation: string, path: string): Promise<Uint8Array> {
    const bytes = at(operation, path, (place) => files.read(place));
    await turns.pass(bytes.byteLength);
    return bytes;
  }

  async function stat(path: string): Promise<FsStat> {
    // cp and mv use the inode to detect that two paths are the same file. There are no links, so it is derived from the path.
    const identity = join('/', path);
    if (isSystem(path)) return { ...(await system.stat(path)), identity };
    const found = at('stat', path, (place) => files.stat(place));
    if (found === null) throw posix('ENOENT', 'stat', path);
    const { kind, mode, size, modifiedAt } = found;
    const kinds = { isFile: kind === 'file', isDirectory: kind === 'directory', isSymbolicLink: false };
    return { ...kinds, mode, size, mtime: new Date(modifiedAt), identity };
  }

  async function entries(path: string): Promise<{ name: string; isFile: boolean; isDirectory: boolean; isSymbolicLink: boolean }[]> {
    if (isSystem(path)) return await system.readdirWithFileTypes(path);
    const own = at('scandir', path, (place) => files.list(place)).map(({ name, kind }) => ({ name, kind }));
    if (join('/', path) === '/') own.push(...systemFolders.map((name) => ({ name, kind: 'directory' as const })));
    return own
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, kind }) => ({ name, isFile: kind === 'file', isDirectory: kind === 'directory', isSymbolicLink: false }));
  }

  /** Discards writes to a device, and rejects writes to the other system folders. */
  async function discard(operation: string, path: string): Promise<void> {
    if (join('/', path).startsWith('/dev/') && (await system.exists(path))) return;
    throw posix('EACCES', operation, path);
  }
}

/** Optional methods of just-bash's own file systems, which the shell uses if they exist. */
type SetUp = Pick<InMemoryFs, 'mkdirSync' | 'writeFileSync' | 'writeFileLazy'>;

const systemFolders = ['bin', 'dev', 'proc', 'usr'];

function isSystem(path: string): boolean {
  const first = join('/', path).split('/', 2)[1] ?? '';
  return systemFolders.includes(first);
}

function join(base: string, path: string): string {
  const segments: string[] = [];
  for (const segment of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** Runs `work` on the resolved path, and converts our errors to the form that the shell's commands read. */
function at<Value>(operation: string, path: string, work: (place: string) => Value): Value {
  const resolved = resolvePath(path, '/');
  if (!resolved.ok) throw new Error(`EINVAL: ${resolved.reason}`);
  try {
    return work(resolved.path);
  } catch (error) {
    if (error instanceof FileError) throw posix(error.code, operation, path);
    throw error;
  }
}

const phrases: Record<FileErrorCode | 'EACCES' | 'EOPNOTSUPP', string> = {
  ENOENT: 'no such file or directory',
  EISDIR: 'illegal operation on a directory',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EEXIST: 'file already exists',
  EFBIG: 'file too large',
  ENOSPC: 'no space left on device',
  EINVAL: 'invalid argument',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
  EACCES: 'permission denied',
  EOPNOTSUPP: 'links are not supported here, copy the file instead',
};

function posix(code: keyof typeof phrases, operation: string, path: string): Error {
  return new Error(`${code}: ${phrases[code]}, ${operation} '${path}'`);
}

function decode(bytes: Uint8Array, options: EncodingOption | undefined): string {
  if (!isBinary(options)) return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
  return fromLatin1(bytes);
}

/** Encodes text as one byte per character if the encoding says so, otherwise as UTF-8. */
function encode(content: FileContent, options: EncodingOption | undefined): Uint8Array {
  if (typeof content !== 'string') return content;
  if (!isBinary(options)) return new TextEncoder().encode(content);
  const bytes = new Uint8Array(content.length);
  for (let index = 0; index < content.length; index += 1) bytes[index] = content.charCodeAt(index);
  return bytes;
}

function isBinary(options: EncodingOption | undefined): boolean {
  const encoding = typeof options === 'string' ? options : (options?.encoding ?? 'utf8');
  if (encoding === 'utf8' || encoding === 'utf-8') return false;
  if (encoding === 'binary' || encoding === 'latin1' || encoding === 'ascii') return true;
  throw new Error(`EINVAL: the encoding ${encoding} is not supported`);
}
