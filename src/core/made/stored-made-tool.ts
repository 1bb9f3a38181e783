/**
 * A made tool as stored: pinned when it was checked, and verified when it is loaded. A row that differs from what was checked is held
 * and never runs (SEC-48).
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { type StoredMadeTool, WrittenMadeTool } from './made-tool.ts';
import { Alias, CanonicalName } from '../names/names.ts';
import { z } from 'zod';

const Stored = WrittenMadeTool.omit({ name: true }).extend({
  uses: z.array(CanonicalName),
  aliases: z.array(Alias).optional(),
  pin: z.string(),
});

/** `name`: that of the document. The hash covers it together with everything stored. */
export async function pinned(name: string, tool: Omit<StoredMadeTool, 'pin'>): Promise<StoredMadeTool> {
  return { ...tool, pin: await pinOf(name, tool) };
}

/** Reads a stored row. Returns null if it differs from what was written. */
export async function readStored(name: string, body: Record<string, unknown>): Promise<StoredMadeTool | null> {
  const { pin, ...tool } = body;
  const parsed = Stored.safeParse(body);
  return parsed.success && pin === (await pinOf(name, tool)) ? parsed.data : null;
}

async function pinOf(name: string, tool: Record<string, unknown>): Promise<string> {
  return await sha256Hex(canonicalJson({ canonical: name, ...tool }));
}
