/** The type of profile rows: the providers and models that a row applies to, their differences, and the evidence. */
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Profile } from '../../core/model/provider-profile.ts';

/** All matching rows apply. */
export type ProfileRow = {
  kind?: ProviderAccess['kind'] | readonly ProviderAccess['kind'][];
  /** The base URL's host name, or a domain that it belongs to. */
  host?: string | readonly string[];
  /** The port of the base URL: the default port of a local server. */
  port?: string;
  /** The model half of the ref. */
  model?: RegExp;
  /** What was observed, and the source: an API reference, a thread, or a recorded reply of the corpus. */
  because: string;
  profile: Partial<Profile>;
};
