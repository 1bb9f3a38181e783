/**
 * Names of resources and prompts in rules and toolsets: `<server>.<URI>` or `<server>.<name>`, where a `*` at the end stands for any text.
 * `docs.*` is everything of the server docs.
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';

const form = /^[a-z][a-z0-9-]{0,31}\.[^\p{Cc}]+$/u;

/** The name of one resource or prompt. */
export const OfferName = z
  .string()
  .max(limits.maxUrlLength)
  .regex(form, { message: 'must be the name of a server, a dot, and the URI of the resource or the name of the prompt' });

export const OfferPattern = z.string().max(limits.maxUrlLength).regex(form, {
  message: 'must be the name of a server, a dot, and a URI or the name of a prompt; a * at the end stands for any text: docs.*',
});

export function matchesOffer(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** Server names have no dot. */
export function serverOfOffer(name: string): string {
  return name.slice(0, name.indexOf('.'));
}

/** The fragment names a server (`engine/mcp/offer-names.ts`). A server's own URI that ends like this gets the fragment of its server too. */
export function isOurUri(uri: string): boolean {
  return /[#~]moniker\.[a-z][a-z0-9-]*$/i.test(uri);
}
