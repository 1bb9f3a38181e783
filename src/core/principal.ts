/** Who asks: what a key stands for once it has been checked (DESIGN §9). Handlers get this, never the header. */
import { z } from 'zod';

export const Scope = z.enum(['chat', 'tools', 'toolsets', 'approve', 'admin']).meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

export type Principal = {
  workspace: string;
  /** `rootKeyId`, or the id part of a created key. Owns the sessions it makes. */
  keyId: string;
  scopes: readonly Scope[];
  /** Absent: all of the workspace's. */
  toolsets?: readonly string[];
  agents?: readonly string[];
};

export const KeyRequest = z
  .strictObject({
    name: z.string().min(1).max(100),
    scopes: z.array(Scope).min(1),
    toolsets: z.array(z.string()).max(100).optional().meta({ description: 'Only these toolsets. Absent: all.' }),
    agents: z.array(z.string()).max(100).optional().meta({ description: 'Only these agents. Absent: all.' }),
    expiresAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'KeyRequest', example: { name: 'my app', scopes: ['chat'], agents: ['demo'] } });
export type KeyRequest = z.infer<typeof KeyRequest>;

/** The key that is a setting: it is in no table, cannot be revoked, and has every scope. */
export const rootKeyId = 'root';

/** `admin` stands for every scope. */
export function hasScope(principal: Pick<Principal, 'scopes'>, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('admin');
}
