/** The authenticated caller: what a key represents once it has been checked (contract §9). Handlers get this, never the header. */
import * as z from 'zod';
import { IpRange } from '../ip-address.ts';
import { CachePolicy } from '../model/cache/cache-policy.ts';
import { ModelPatterns } from '../model/model-name.ts';
import { SecretHost } from '../secrets/secret.ts';
import { type CallerLimits, UsageLimits } from '../usage-limits.ts';

const maxCallerFields = 20;
const maxCallerFieldLength = 256;
const maxEgressHosts = 100;
const maxIps = 100;

export const Scope = z.enum(['chat', 'tools', 'toolsets', 'approve', 'admin']).meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

/** What a member of a workspace may do there. */
export const Role = z.enum(['owner', 'editor', 'user', 'approver']).meta({ id: 'Role' });
export type Role = z.infer<typeof Role>;

export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  owner: Scope.options,
  editor: ['chat', 'tools', 'toolsets'],
  user: ['chat', 'tools'],
  approver: ['tools', 'approve'],
};

/** A person who signs in. `id`: stable and opaque, `[A-Za-z0-9-]{1,64}`. */
export const User = z
  .object({ id: z.string(), name: z.string(), email: z.string().optional() })
  .meta({ id: 'User', example: { id: '3f1c…', name: 'Ada Lovelace', email: 'ada@example.com' } });
export type User = z.infer<typeof User>;

export type Principal = {
  workspace: string;
  /** `rootKeyId`, the id part of a created key, or `user-<id>` of a person. Owns the sessions it creates. */
  keyId: string;
  scopes: readonly Scope[];
  /** Absent: all toolsets of the workspace. */
  toolsets?: readonly string[];
  agents?: readonly string[];
  /** The caller fields set when the key was created, for presets of toolsets. */
  caller?: Readonly<Record<string, string>>;
  /** Set if a person is signed in, with their role in the workspace. */
  user?: User;
  role?: Role;
  limits?: CallerLimits;
  /** Patterns of the models that the key may use. Absent: all. */
  models?: ModelPatterns;
  /** Whether its requests to models may be answered from the cache. Absent: if a request or an alias asks for it. */
  cache?: CachePolicy;
  /** Patterns of the hosts that tools called with the key may reach. Absent: all. */
  egressHosts?: readonly string[];
  /** Addresses and CIDR ranges that requests with the key may come from. Absent: all. */
  ips?: readonly string[];
  /** Of the root key, and of a person who signed in with it: proof of the key (`storage/keys/root-proof.ts`). */
  rootProof?: string;
  /** Of an access token (OAuth): the URL of the only MCP endpoint that accepts it. */
  audience?: string;
};

export const KeyRequest = z
  .strictObject({
    name: z.string().min(1).max(100),
    scopes: z.array(Scope).min(1),
    toolsets: z.array(z.string()).max(100).optional().meta({
      description:
        'Restricts the key to these toolsets, each in its current version, or in exactly one version (`support@3`). Absent: all, or those of `agents`.',
    }),
    agents: z
      .array(z.string())
      .max(100)
      .optional()
      .meta({ description: 'Restricts the key to these agents and to the tools that they use. Absent: all.' }),
    models: ModelPatterns.optional().meta({
      description:
        'Patterns of the only models that the key may use, after aliases, also through agents: `<provider>/<model>` with `*` for any text. Absent: all.',
    }),
    caller: z
      .record(
        z.string().regex(/^[a-z][a-z0-9_]{0,49}$/, { message: 'must be a field name such as team' }),
        z.string().max(maxCallerFieldLength),
      )
      .refine((fields) => Object.keys(fields).length <= maxCallerFields, {
        message: `must be at most ${maxCallerFields} fields`,
      })
      .refine((fields) => !('key' in fields) && !('workspace' in fields), { message: '`key` and `workspace` are set automatically' })
      .optional()
      .meta({ description: 'Fields for presets of toolsets: `{"caller": "team"}` inserts `team`.', example: { team: 'payments' } }),
    expiresAt: z.iso
      .datetime()
      .nullable()
      .optional()
      .meta({ description: 'Absent: after `settings.keys.expiryDays` of the workspace, if set. null: never, also where that is set.' }),
    egressHosts: z
      .array(SecretHost)
      .max(maxEgressHosts)
      .optional()
      .meta({
        description:
          'The only hosts that tools called with this key may reach, in the form of the hosts of a secret. `[]`: none. Absent: all. Model providers are not limited.',
        example: ['api.example.com', '*.example.org'],
      }),
    ips: z
      .array(IpRange)
      .min(1)
      .max(maxIps)
      .optional()
      .meta({
        description: 'Addresses and CIDR ranges, IPv4 and IPv6, that requests with this key may come from; others get 403. Absent: all.',
        example: ['203.0.113.7', '2001:db8::/32'],
      }),
    cache: CachePolicy.optional(),
    limits: UsageLimits.optional().meta({ description: 'Limits of this key. The limits of the workspace apply as well.' }),
  })
  .meta({ id: 'KeyRequest', example: { name: 'my app', scopes: ['chat'], agents: ['demo'] } });
export type KeyRequest = z.infer<typeof KeyRequest>;

/** The key from the settings: it is in no table, cannot be revoked, and has every scope. */
export const rootKeyId = 'root';

/** False for the root key itself, which no request can revoke. A person who signed in with it can sign out. */
export function isRevocable(keyId: string | undefined, user: unknown): boolean {
  return keyId !== rootKeyId || user !== undefined;
}

const userKeyPrefix = 'user-';

/** The key id of a person; no created key contains a hyphen. */
export function keyIdOfUser(userId: string): string {
  return `${userKeyPrefix}${userId}`;
}

/** Returns the id of the person; null: another kind of key. */
export function userOfKeyId(keyId: string): string | null {
  return keyId.startsWith(userKeyPrefix) ? keyId.slice(userKeyPrefix.length) : null;
}

/** In the audit: the service itself. */
export const systemKeyId = 'system';

/** Returns the fields that presets can insert. */
export function callerFields({
  keyId,
  workspace,
  role,
  caller = {},
}: Pick<Principal, 'keyId' | 'workspace' | 'role' | 'caller'>): Record<string, string> {
  return { ...caller, key: keyId, workspace, ...(role !== undefined && { role }) };
}

/**
 * The credential that something was made with, such as the link of an approval or the access of an MCP client. It is stored beside it: what
 * descends from a credential ends with it (`objects/catalog/keys/origin-rights.ts`; the table of all kinds is in docs/credentials.md).
 */
export type Origin = {
  /** As in `Principal`. */
  keyId: string;
  /** When it was made. */
  at: number;
  /** As in `Principal`. */
  rootProof?: string;
};

/**
 * A sign-in, for the redirect, which has no API key. The grant of the server has the nonce (`mcp/oauth/sign-in.ts`). `owner`: the user or key
 * that signs in to a server with `oauth.per: "user"`; null: the workspace does. `browser`: the hash of what the browser was given that started a
 * user's sign-in; null: any browser may finish it. `origin`: who started it.
 */
export type SignInState = {
  workspace: string;
  server: string;
  nonce: string;
  expiresAt: number;
  owner: string | null;
  browser: string | null;
  origin: Origin;
};

export function originOf({ keyId, rootProof }: Pick<Principal, 'keyId' | 'rootProof'>, at: number): Origin {
  return { keyId, at, ...(rootProof !== undefined && { rootProof }) };
}
