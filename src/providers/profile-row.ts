/** The shape of a profile's rows: which providers and models one is about, what they do differently, and how that is known. */
import type { ProviderAccess } from '../core/provider.ts';
import type { Profile } from '../core/provider-profile.ts';

/** All that match apply. */
export type ProfileRow = {
  kind?: ProviderAccess['kind'] | readonly ProviderAccess['kind'][];
  /** The base URL's host name, or the end of it behind a dot. */
  host?: string | readonly string[];
  /** Of the base URL: what a server on somebody's own machine listens at unless told otherwise. */
  port?: string;
  /** The model half of the ref. */
  model?: RegExp;
  /** What was seen, and where it is written: an API reference, a thread, or a recorded reply of the corpus. */
  because: string;
  profile: Partial<Profile>;
};
