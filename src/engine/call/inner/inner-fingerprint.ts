/**
 * Identifies a nested call at its position: a hash of the name and arguments the code gave and the tool's toolset entry. An approval or a
 * recorded result applies only to a call with the same fingerprint. Aliases and descriptions are not part of it.
 */
import type { EditionTool } from '../../../core/toolset/edition-tool.ts';
import { canonicalJson, sha256Hex } from '../../../core/hash.ts';

export async function innerFingerprint(name: string, args: unknown, tool: EditionTool | null): Promise<string> {
  const entry = tool === null ? null : await entryHash(tool);
  return await sha256Hex(canonicalJson({ name, arguments: args ?? null, entry }));
}

/** Cached, since a made tool contains its code and its tools and may be called often. */
const hashes = new WeakMap<EditionTool, Promise<string>>();

function entryHash(tool: EditionTool): Promise<string> {
  const before = hashes.get(tool);
  if (before !== undefined) return before;
  const { aliases: _aliases, description: _description, ...entry } = tool;
  const hash = sha256Hex(canonicalJson(entry));
  hashes.set(tool, hash);
  return hash;
}
