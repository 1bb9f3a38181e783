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
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>> | undefined;
  body: unknown;
  /** The agent's or route's. */
  timeouts?: AttemptLimits | undefined;
};
