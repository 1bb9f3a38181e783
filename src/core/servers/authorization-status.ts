/** Whether there are tokens for a server with `oauth`: what GET of it shows, and no more of them. Getting them is `mcp/oauth/`. */
import { z } from 'zod';

export const AuthorizationStatus = z
  .object({
    status: z.enum(['signed-in', 'signed-out', 'expired']).meta({
      description: '`expired`: its tokens have ended and cannot be renewed. With `authorization_code` a person has to sign in (again).',
    }),
    expiresAt: z.iso.datetime().optional().meta({ description: 'Of the token that is there; it is renewed by itself.' }),
    scopes: z.array(z.string()).optional(),
  })
  .meta({ id: 'AuthorizationStatus' });
export type AuthorizationStatus = z.infer<typeof AuthorizationStatus>;
