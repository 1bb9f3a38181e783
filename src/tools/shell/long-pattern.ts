/** Patterns that are too much for any engine, a linear one too: by their length and by how deep their groups nest. */
import { limits } from '../../core/limits.ts';

export function isLongPattern(pattern: string): boolean {
  if (pattern.length > limits.maxShellPatternLength) return true;
  let depth = 0;
  for (const character of pattern) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (depth > limits.maxShellPatternDepth) return true;
  }
  return false;
}
