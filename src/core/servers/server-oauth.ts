/** The member `oauth` of an MCP server's document. */
import * as z from 'zod';

/** How tokens for the server are obtained (MCP authorization, OAuth 2.1). The grant is stored separately (`objects/catalog/servers/server-grants.ts`). */
export const ServerOAuth = z
  .strictObject({
    grant: z
      .enum(['client_credentials', 'authorization_code'])
      .default('authorization_code')
      .meta({ description: 'With `authorization_code` a user signs in once: POST …/authorize returns the URL to open.' }),
    per: z.enum(['workspace', 'user']).optional().meta({
      description:
        '`workspace` (default): all calls use one sign-in. `user`: each user, or each key, connects an account (`/v1/me/connections`); POST …/authorize then signs in for the tool list only.',
    }),
    clientId: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .meta({ description: 'Absent: the client registers itself (RFC 7591), if the server allows it.' }),
    clientSecret: z
      .strictObject({ secret: z.string().min(1).max(128) })
      .optional()
      .meta({
        description: 'Must be bound to the host of the token endpoint.',
      }),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/))
      .max(50)
      .optional(),
  })
  .refine(({ grant, clientId }) => grant !== 'client_credentials' || clientId !== undefined, {
    message: 'is required with client_credentials',
    path: ['clientId'],
  })
  .refine(({ grant, per }) => grant !== 'client_credentials' || per !== 'user', {
    message: 'must be "workspace" with client_credentials, which has no user sign-in',
    path: ['per'],
  })
  .meta({ id: 'ServerOAuth' });
export type ServerOAuth = z.infer<typeof ServerOAuth>;

/** Of a server whose document has no `oauth`, and at which a user can sign in for the workspace. */
export const impliedOAuth: ServerOAuth = { grant: 'authorization_code' };
