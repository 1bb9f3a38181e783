/**
 * A made tool between two lives of the service: pinned when it was checked, and looked at again when it is loaded. A row that is not what was
 * checked is held, and never runs (SEC-48).
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { type StoredMadeTool, WrittenMadeTool } from '../made-tool.ts';
import { Alias, CanonicalName } from '../names.ts';
import { z } from 'zod';

const Stored = WrittenMadeTool.omit({ name: true }).extend({
  uses: z.array(CanonicalName),
  aliases: z.array(Alias).optional(),
  pin: z.string(),
});

/** `name`: of its document. The hash covers it with all that is stored. */
export async function pinned(name: string, tool: Omit<StoredMadeTool, 'pin'>): Promise<StoredMadeTool> {
  return { ...tool, pin: await pinOf(name, tool) };
}

/** As the tables have it. null: it is not what was written. */
export async function readStored(name: string, body: Record<string, unknown>): Promise<StoredMadeTool | null> {
  const { pin, ...tool } = body;
  const parsed = Stored.safeParse(body);
  return parsed.success && pin === (await pinOf(name, tool)) ? parsed.data : null;
}

async function pinOf(name: string, tool: Record<string, unknown>): Promise<string> {
  return await sha256Hex(canonicalJson({ canonical: name, ...tool }));
}
