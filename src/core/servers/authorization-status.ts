/** The authorization status of a server with `oauth`, as GET shows it. `mcp/oauth/` obtains the tokens. */
import { z } from 'zod';

export const AuthorizationStatus = z
  .object({
    status: z.enum(['signed-in', 'signed-out', 'expired']).meta({
      description: '`expired`: the tokens have expired and cannot be refreshed. With `authorization_code` a user has to sign in (again).',
    }),
    expiresAt: z.iso.datetime().optional().meta({ description: 'When the current token expires; it is refreshed automatically.' }),
    scopes: z.array(z.string()).optional(),
  })
  .meta({ id: 'AuthorizationStatus' });
export type AuthorizationStatus = z.infer<typeof AuthorizationStatus>;
