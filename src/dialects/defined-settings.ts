/** Removes unset settings of a request (null or absent), which is the form that all provider adapters expect. */
import type { ModelSettings } from '../core/turn/plan.ts';

export type DefinedSettings = { readonly [Name in keyof ModelSettings]: ModelSettings[Name] | null };

/** Returns the settings without null values. */
export function definedSettings(given: DefinedSettings): ModelSettings {
  // The same names; only values that are set.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as ModelSettings;
}
