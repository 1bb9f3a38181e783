/** Settings of a request, which are told, null, or not there at all, as every provider's adapter reads them. */
import type { ModelSettings } from '../core/plan.ts';

export type GivenSettings = { readonly [Name in keyof ModelSettings]: ModelSettings[Name] | null };

/** What is null is not told. */
export function givenSettings(given: GivenSettings): ModelSettings {
  // The same names, and of the values those that are there.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as ModelSettings;
}
