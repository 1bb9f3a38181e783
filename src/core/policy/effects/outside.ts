/** The effects on what is outside of a session: requests to hosts, reading secrets, and changing tools and toolsets (the registry). */
import * as z from 'zod';
import { limits } from '../../limits/limits.ts';
import { requestHost } from '../host.ts';
import { beforeSending, effectKind } from './effect-kind.ts';

/** `host` as returned by `requestHost`, `method` in capitals. */
const NetworkEffect = z.strictObject({
  kind: z.literal('network'),
  host: z
    .string()
    .min(1)
    .max(limits.maxUrlLength)
    .transform((text, context) => {
      const host = /[/?#@\\\s]/.test(text) ? null : requestHost(`https://${text}/`);
      if (host !== null) return host;
      context.addIssue({ code: 'custom', message: 'must be a host, with :port if it is not the default port' });
      return z.NEVER;
    }),
  method: z
    .string()
    .regex(/^[A-Z]{1,16}$/, { message: 'must be an HTTP method in capitals' })
    .default('GET'),
});

export const networkKind = effectKind(NetworkEffect, {
  subject: ({ host, method }) => ({ host, method }),
  action: () => 'send',
  describe: ({ host, method }) => `${method} requests to ${host}`,
  change({ method }) {
    if (method === 'DELETE') return 'destroy';
    return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'write';
  },
  sends: () => true,
  questions({ host }, { taint }) {
    const reason = `It sends a request to ${host}, which is new to this workspace`;
    return beforeSending({ kind: 'network', reason, target: host }, taint, { what: `sends a request to ${host}`, target: host });
  },
  raises: (_effect, kind, tainted) => kind === 'network' || (kind === 'taint' && tainted),
  examples: ({ host = 'a.example', method }) =>
    (method === undefined ? ['GET', 'POST', 'DELETE'] : [method]).map((method) => ({
      kind: 'network',
      host: host.replace(/^\*/, 'a'),
      method,
    })),
});

export const secretKind = effectKind(z.strictObject({ kind: z.literal('secret'), name: z.string().min(1).max(128) }), {
  subject: ({ name }) => ({ secret: name }),
  action: () => 'use-secret',
  describe: ({ name }) => `reading the secret ${name}`,
  change: () => 'read',
  examples: ({ secret }) => [{ kind: 'secret' as const, name: secret ?? 'a' }],
});

const changes = ['create-tool', 'share-tool', 'replace-tool', 'write-toolset', 'delete-toolset'] as const;
const RegistryEffect = z.strictObject({
  kind: z.literal('registry'),
  change: z.enum(changes),
  name: z.string().min(1).max(limits.maxCanonicalNameLength),
});

export const registryKind = effectKind(RegistryEffect, {
  subject: ({ name }) => ({ name }),
  action: () => 'change-registry',
  describe: ({ name }) => `changing ${name}`,
  change: ({ change }) => (change === 'delete-toolset' ? 'destroy' : 'write'),
  questions: ({ change, name }) =>
    change === 'create-tool' ? [] : [{ kind: 'registry', reason: `It ${verbs[change]} ${name}`, target: name }],
  raises: (_effect, kind) => kind === 'registry',
  examples: ({ name }) => changes.map((change) => ({ kind: 'registry', change, name: name ?? 'made.a' })),
});

const verbs = {
  'share-tool': 'shares with the whole workspace the tool',
  'replace-tool': 'replaces the tool',
  'write-toolset': 'changes the toolset',
  'delete-toolset': 'deletes the toolset',
} as const;
