/** The effects on the resources of a workspace: reading a secret, and changing tools and toolsets (the registry). */
import { z } from 'zod';
import { effectKind } from './effect-kind.ts';

export const secretKind = effectKind(z.strictObject({ kind: z.literal('secret'), name: z.string().min(1).max(128) }), {
  subject: ({ name }) => ({ secret: name }),
  action: () => 'use-secret',
  describe: ({ name }) => `reading the secret ${name}`,
  change: () => 'read',
  examples: ({ secret }) => [{ kind: 'secret' as const, name: secret ?? 'a' }],
});

const changes = ['create-tool', 'share-tool', 'replace-tool', 'write-toolset', 'delete-toolset'] as const;
const RegistryEffect = z.strictObject({ kind: z.literal('registry'), change: z.enum(changes), name: z.string().min(1).max(192) });

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
