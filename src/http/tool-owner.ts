/** `?owner=` on `/v1/tools`: made tools that are private to one key or trigger. */
import { z } from 'zod';
import { requireAllowed } from '../core/authority.ts';
import type { Principal } from '../core/principal.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import type { Catalog } from '../ports/catalog.ts';

export const ownerQuery = {
  owner: z.string().min(1).max(100).optional().meta({
    description:
      'Only made tools that are private to this key: its id, or `me`. Those of another key or a trigger (`webhook:NAME`, `schedule:NAME`) require an administrator key of the whole workspace.',
    example: 'me',
  }),
};

/** Returns the key id. Throws `forbidden` before any lookup, so that the response reveals nothing about other keys. */
export function readOwner(principal: Principal, owner: string): string {
  const isOwn = owner === 'me' || owner === principal.keyId;
  requireAllowed(principal, { act: 'use-private-tools', isOwn });
  return isOwn ? principal.keyId : owner;
}

/** Returns null if the key has no private tool with this name. */
export async function findPrivateTool(catalog: Catalog, owner: string, canonical: string): Promise<ToolDefinition | null> {
  if (!canonical.startsWith('made.')) return null;
  return (await catalog.privateTools(owner)).find((tool) => tool.canonical === canonical) ?? null;
}
