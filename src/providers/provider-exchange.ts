/** One exchange with a provider, before it is sent. */
import type { ProviderAccess } from '../core/model/provider.ts';
import type { AttemptLimits } from '../core/model/timeouts.ts';

/** `headers`: besides the provider's own, which take precedence. */
export type ProviderExchange = {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  path: string;
  /** Default: POST. */
  method?: 'GET' | 'POST' | 'DELETE' | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** A stream is of the content type in `headers`. null: none. */
  body: unknown;
  /** The agent's or route's. */
  timeouts?: AttemptLimits | undefined;
};

/** Returns the access with one key: what a provider stores belongs to the account of its key. */
export function ofFirstKey({ keys, ...access }: ProviderAccess): ProviderAccess {
  return keys === undefined ? access : { ...access, headers: { ...access.headers, ...keys[0] } };
}
