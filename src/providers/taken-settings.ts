/**
 * The settings of a request that its model takes: what its profile says is refused is left out, here and for every API, so that the
 * adapters only put the rest in their API's words.
 */
import type { ModelSettings } from '../core/plan.ts';
import type { Profile } from '../core/provider-profile.ts';
import { isRecord, type Json } from '../core/wire-value.ts';

export function takenSettings(settings: ModelSettings, profile: Profile, hasTools: boolean): ModelSettings {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, stop, parallelToolCalls, responseFormat, ...taken } = settings;
  if (!profile.noSampling) Object.assign(taken, said({ temperature, topP, topK }));
  if (!profile.noPenalties) Object.assign(taken, said({ frequencyPenalty, presencePenalty }));
  if (!profile.noStop && stop !== undefined && stop.length > 0) Object.assign(taken, { stop });
  // A word about the tools is refused where there are none.
  if (hasTools && profile.parallelToolCalls) Object.assign(taken, said({ parallelToolCalls }));
  if (!hasTools || profile.formatWithTools) Object.assign(taken, said({ responseFormat }));
  return { ...said({ maxOutputTokens: profile.defaultMaxTokens ?? undefined }), ...taken };
}

/** Only what there is: a setting of `undefined` would hide one below it. */
function said(settings: { [Name in keyof ModelSettings]: ModelSettings[Name] | undefined }): ModelSettings {
  // Without its holes it is what the type says.
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as ModelSettings;
}

/** What form the answer must have, for APIs that do not take the words of Chat Completions. null: any; `schema` null: any JSON. */
export function askedFormat({ responseFormat: format }: ModelSettings): { schema: Json | null } | null {
  if (!isRecord(format)) return null;
  if (format.type === 'json_object') return { schema: null };
  if (format.type !== 'json_schema') return null;
  const named = format.json_schema;
  return { schema: isRecord(named) && isRecord(named.schema) ? named.schema : null };
}
