/**
 * What tells one inner call from another at the same place: the name and the arguments as code gave them, and the tool as its entry has it. A
 * person's yes, and an answer from before, are for exactly that. What a tool is called besides, and how it is described, is no part of it.
 */
import type { EditionTool } from '../../core/edition-tool.ts';
import { canonicalJson, sha256Hex } from '../../core/hash.ts';

export async function innerFingerprint(name: string, args: unknown, tool: EditionTool | null): Promise<string> {
  const entry = tool === null ? null : await entryHash(tool);
  return await sha256Hex(canonicalJson({ name, arguments: args ?? null, entry }));
}

/** A made tool has its code and its own tools in it, and is called often. */
const hashes = new WeakMap<EditionTool, Promise<string>>();

function entryHash(tool: EditionTool): Promise<string> {
  const before = hashes.get(tool);
  if (before !== undefined) return before;
  const { aliases: _aliases, description: _description, ...entry } = tool;
  const hash = sha256Hex(canonicalJson(entry));
  hashes.set(tool, hash);
  return hash;
}
