/**
 * What a policy decides on: the effects that a call can have, as a table of their kinds (`effects/`). Effects are declared at the capability
 * (file system, network, secrets, registry), and by the call path for calls that leave the service, so that no spelling of a call avoids
 * the policy. `evaluate-policy.ts` decides.
 */
import * as z from 'zod';
import { callKind } from './effects/call.ts';
import type { EffectRules } from './effects/effect-kind.ts';
import { deleteFileKind, readFileKind, writeFileKind } from './effects/files.ts';
import { promptKind, resourceKind } from './effects/offers.ts';
import { networkKind, registryKind, secretKind } from './effects/outside.ts';

const kinds = {
  call: callKind,
  'read-file': readFileKind,
  'write-file': writeFileKind,
  'delete-file': deleteFileKind,
  network: networkKind,
  secret: secretKind,
  registry: registryKind,
  resource: resourceKind,
  prompt: promptKind,
};

const [firstSchema, ...otherSchemas] = Object.values(kinds).map(({ schema }) => schema);
if (firstSchema === undefined) throw new Error('there are no kinds of effect');
export const PolicyEffect = z.discriminatedUnion('kind', [firstSchema, ...otherSchemas]).meta({ id: 'PolicyEffect' });
export type Effect = z.infer<typeof PolicyEffect>;

/** Returns what the policy knows about the kind of an effect. */
export function rulesOfEffect({ kind }: Effect): EffectRules<Effect> {
  // The rules of a kind only get effects of that kind.
  return kinds[kind].rules as EffectRules<Effect>;
}

/** All kinds, for examples of everything that a tool can do. */
export const effectRules: readonly EffectRules<Effect>[] = Object.values(kinds).map(({ rules }) => rules as EffectRules<Effect>);
