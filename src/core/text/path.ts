/**
 * Paths of a session's file system: pure text, resolved segment by segment. A path is not a URL (nothing is decoded), and the file
 * system has no links, so the resolved path is the location of the file. The policy decides which operations are allowed.
 */
import { limits } from '../limits/limits.ts';
import { utf8Length } from './utf8.ts';

/** One segment of a path, as on common file systems. */
export const maxFileNameBytes = 255;

/** Home and working directory of a session. */
export const workspace = '/workspace';

/** Folders that are part of every session, stored or not: they can be emptied, but not removed. */
export const permanentFolders: readonly string[] = ['/', workspace, '/tmp'];

export type ResolvedPath = { ok: true; path: string } | { ok: false; reason: string };

/**
 * Returns the absolute path of `input` relative to `cwd` (absolute and resolved): `.` and empty segments are dropped, `..` goes up
 * and stops at `/`. Refuses characters that break listings, logs and terminals (controls, bidi overrides, tag characters, broken
 * surrogates) and paths that are too long.
 */
export function resolvePath(input: string, cwd: string = workspace): ResolvedPath {
  if (input.length > limits.maxPathBytes) return tooLong;
  const control = unsafeCharacter.exec(input);
  if (control !== null) {
    const code = control[0].codePointAt(0) ?? 0;
    return {
      ok: false,
      reason: `The path contains a character that file names cannot have (U+${code.toString(16).toUpperCase().padStart(4, '0')}).`,
    };
  }
  if (!input.isWellFormed()) return { ok: false, reason: 'The path is not valid Unicode.' };
  const segments = input.startsWith('/') ? [] : cwd.split('/').filter((segment) => segment !== '');
  for (const segment of input.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else if (utf8Length(segment) > maxFileNameBytes) {
      return { ok: false, reason: `A name in the path is longer than ${maxFileNameBytes} bytes.` };
    } else segments.push(segment);
  }
  const path = `/${segments.join('/')}`;
  return utf8Length(path) > limits.maxPathBytes ? tooLong : { ok: true, path };
}

const tooLong: ResolvedPath = { ok: false, reason: `The path is longer than ${limits.maxPathBytes} bytes.` };

// C0, DEL and C1 controls, line and paragraph separators, bidi embeddings, overrides and isolates, tag characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point.
const unsafeCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** True for `root` itself and everything below it, by whole segments: `/workspace2` is not inside `/workspace`. */
export function isInside(path: string, root: string = workspace): boolean {
  return root === '/' || path === root || path.startsWith(`${root}/`);
}

/** Returns the directory of a resolved path; the parent of `/` is `/`. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the path of a child of a resolved directory. */
export function joinPath(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}
