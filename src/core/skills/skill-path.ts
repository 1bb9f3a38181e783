/**
 * Paths of a skill's resource files: relative, with `/`, below the skill's folder. They come from JSON, zip archives and local
 * folders, with the same rules.
 */
import { resolvePath } from '../text/path.ts';

/** Returns why the path is invalid in a skill, apart from its length; null if it is valid. The message follows the path. */
export function skillPathFault(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.includes('\\')) return 'has a backslash: separate folders with /';
  if (path.startsWith('/')) return 'is absolute: make it relative to the folder of SKILL.md';
  if (/^[a-zA-Z]:/.test(path)) return 'begins with a drive letter: make it relative to the folder of SKILL.md';
  if (path.endsWith('/')) return 'names a folder: list files only';
  const segments = path.split('/');
  if (segments.includes('..')) return 'leaves its folder with ..';
  if (segments.includes('') || segments.includes('.')) return 'has an empty part or a "."';
  const resolved = resolvePath(path, '/');
  return resolved.ok ? null : resolved.reason;
}

/** Files that operating systems and tools create: skipped with a warning, not refused. */
export function isStray(path: string): boolean {
  return path.split('/').some((segment) => segment.startsWith('.') || strayNames.has(segment));
}

const strayNames: ReadonlySet<string> = new Set(['__MACOSX', '__pycache__', 'node_modules', 'Thumbs.db', 'desktop.ini']);
