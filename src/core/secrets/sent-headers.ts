/**
 * The schemas of headers and query parameters that an administrator configures for requests to a provider or server. `net/headers.ts` defines the headers that a
 * model may set.
 */
import * as z from 'zod';
import { isCredentialFor } from './credentials.ts';

/** Headers that carry credentials: plain-text values are rejected, because GET would show them. */
const credentialHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'x-auth-token',
]);
/** Headers that belong to the connection or are set by the service. */
const reservedHeaders = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

/** `value`: a text, or an object in its place, such as the name of a secret. `remedy`: where a credential belongs. */
export function sentHeaders<Value extends z.ZodType<string | object>>(value: Value, remedy: string) {
  return z.record(z.string(), value).check((context) => {
    const seen = new Set<string>();
    for (const [name, given] of Object.entries(context.value)) {
      const lower = name.toLowerCase();
      const refuse = (message: string) => context.issues.push({ code: 'custom', message, path: [name], input: given });
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) refuse('is not a valid header name');
      else if (reservedHeaders.has(lower)) refuse('is set by the service');
      else if (seen.has(lower)) refuse('is given twice');
      else if (typeof given === 'string' && credentialHeaders.has(lower)) refuse(`carries a credential: ${remedy}`);
      else if (typeof given === 'string' && !/^[\t\x20-\x7e\x80-\xff]*$/.test(given))
        refuse('contains characters that are invalid in a header');
      seen.add(lower);
    }
  });
}

const maxQueryParameters = 20;

/** Query parameters of a server. `value`: as for headers. Plain-text credentials are rejected, because GET would show them. */
export function sentQuery<Value extends z.ZodType<string | object>>(value: Value) {
  return z
    .record(z.string().regex(/^[\x21-\x7e]{1,100}$/, { message: 'must be 1 to 100 visible ASCII characters' }), value)
    .refine((query) => Object.keys(query).length <= maxQueryParameters, { message: `must have at most ${maxQueryParameters} entries` })
    .check((context) => {
      for (const [name, given] of Object.entries(context.value)) {
        if (typeof given !== 'string' || !isCredentialFor(name, given)) continue;
        context.issues.push({ code: 'custom', message: 'carries a credential: give {"secret": NAME}', path: [name], input: given });
      }
    });
}
