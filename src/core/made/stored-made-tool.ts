/**
 * A made tool between two lives of the service: pinned when it was checked, and looked at again when it is loaded. A row that is not what was
 * checked is held, and never runs (SEC-48).
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { MadeTool, type StoredMadeTool } from '../made-tool.ts';
import { Alias, CanonicalName } from '../names.ts';
import { z } from 'zod';

const Stored = MadeTool.omit({ name: true }).extend({ uses: z.array(CanonicalName), aliases: z.array(Alias).optional(), pin: z.string() });

/** The hash covers all that is stored, and whose it is. */
export async function pinned(canonical: string, tool: Omit<StoredMadeTool, 'pin'>): Promise<StoredMadeTool> {
  return { ...tool, pin: await pinOf(canonical, tool) };
}

/** As the tables have it. null: it is not what was written. */
export async function readStored(canonical: string, body: Record<string, unknown>): Promise<StoredMadeTool | null> {
  const { pin, ...tool } = body;
  const parsed = Stored.safeParse(body);
  return parsed.success && pin === (await pinOf(canonical, tool)) ? parsed.data : null;
}

async function pinOf(canonical: string, tool: Record<string, unknown>): Promise<string> {
  return await sha256Hex(canonicalJson({ canonical, ...tool }));
}
