/**
 * The effects of requests for the resources and prompts of an MCP server: a client reads a resource, subscribes to it, gets a prompt, or
 * has an argument of one completed. The URI and the arguments reach the server, so a request to an untrusted server sends data.
 */
import * as z from 'zod';
import { OfferName } from '../../names/offer-pattern.ts';
import { beforeSending, effectKind, type EffectRules } from './effect-kind.ts';

const members = {
  name: OfferName.meta({ description: '`<server>.<URI>`, or `<server>.<name>` of a prompt.' }),
  trusted: z.boolean().default(false).meta({ description: 'Whether the server is trusted.' }),
};
const ResourceEffect = z.strictObject({ kind: z.literal('resource'), ...members });
const PromptEffect = z.strictObject({ kind: z.literal('prompt'), ...members });
type OfferEffect = z.infer<typeof ResourceEffect> | z.infer<typeof PromptEffect>;

const shared = {
  action: () => 'read',
  describe: ({ kind, name }: OfferEffect) => `the ${kind} ${name}`,
  change: () => 'read',
  sends: ({ trusted }: OfferEffect) => !trusted,
  questions({ kind, name, trusted }, { taint }) {
    const what = `requests the ${kind} ${name}`;
    const ask = trusted ? null : { kind: 'untrusted' as const, reason: `It ${what}, and its server is not trusted`, target: name };
    return beforeSending(ask, trusted ? null : taint, { what, target: name });
  },
  raises: ({ trusted }: OfferEffect, kind, tainted) => !trusted && (kind === 'untrusted' || (kind === 'taint' && tainted)),
} satisfies Partial<EffectRules<OfferEffect>>;

export const resourceKind = effectKind(ResourceEffect, {
  ...shared,
  subject: ({ name }) => ({ resource: name }),
  examples: ({ resource }) => exampleNames(resource).map((example) => ({ kind: 'resource', ...example })),
});

export const promptKind = effectKind(PromptEffect, {
  ...shared,
  subject: ({ name }) => ({ prompt: name }),
  examples: ({ prompt }) => exampleNames(prompt).map((example) => ({ kind: 'prompt', ...example })),
});

function exampleNames(pattern = 'server.a'): { name: string; trusted: boolean }[] {
  return [true, false].map((trusted) => ({ name: pattern.replace(/\*$/, 'a'), trusted }));
}
