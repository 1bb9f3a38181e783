/**
 * Paths of a skill's resource files: relative, with `/`, below the skill's folder. They come from JSON, from zip archives and
 * from folders on a disk, and the same rules hold for all three.
 */
import { resolvePath } from '../path.ts';

/** Why a path cannot be one of a skill's, its length apart; null when it can. Speaks of the path as "it", to stand behind its name. */
export function skillPathFault(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.includes('\\')) return 'has a backslash: separate folders with /';
  if (path.startsWith('/')) return 'is absolute: give it from the folder of SKILL.md on';
  if (/^[a-zA-Z]:/.test(path)) return 'begins with a drive letter: give it from the folder of SKILL.md on';
  if (path.endsWith('/')) return 'names a folder: list files only';
  const segments = path.split('/');
  if (segments.includes('..')) return 'climbs out of its folder with ..';
  if (segments.includes('') || segments.includes('.')) return 'has an empty part or a "."';
  const resolved = resolvePath(path, '/');
  return resolved.ok ? null : resolved.reason;
}

/** What systems and tools leave lying about, and no skill means: left out with a warning, not refused. */
export function isStray(path: string): boolean {
  return path.split('/').some((segment) => segment.startsWith('.') || strayNames.has(segment));
}

const strayNames: ReadonlySet<string> = new Set(['__MACOSX', '__pycache__', 'node_modules', 'Thumbs.db', 'desktop.ini']);
