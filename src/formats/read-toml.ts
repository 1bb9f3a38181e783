/** Reads TOML, in which Codex has its settings, as values of JSON. Only imports use it. */
import { parse, TomlError } from 'smol-toml';
import { isDeeperThan, isRecord, mapMembers, tryParse } from '../core/json/wire-value.ts';
import { TextFault } from './read-yaml.ts';

/** Throws `TextFault`. Dates become texts. */
export function readTomlValue(text: string, { maxDepth }: { maxDepth: number }): unknown {
  try {
    const value = parse(text, { maxDepth });
    // The parser bounds arrays and inline tables, not dotted names.
    if (isDeeperThan(value, maxDepth)) throw new TextFault('depth', `tables nest deeper than ${maxDepth} levels`, { line: 1, column: 1 });
    return plain(value);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The other lines of the message show the text, which may contain a credential.
    throw new TextFault('syntax', (error.message.split('\n', 1)[0] ?? '').replace(/^Invalid TOML document: /, ''), error);
  }
}

/** Whether a text begins as TOML: with a table or a pair, and is no JSON. */
export function looksLikeToml(text: string): boolean {
  const first = text.split('\n', 2_000).find((line) => line.trim() !== '' && !line.trim().startsWith('#')) ?? '';
  const isStart = /^\s*\[\[?[^[\]{}]{1,200}\]\]?\s*(?:#.*)?$/.test(first) || /^\s*[\w."'-]{1,200}\s*=\s*\S/.test(first);
  return isStart && tryParse(text) === undefined;
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isRecord(value) ? mapMembers(value, plain) : value;
}
