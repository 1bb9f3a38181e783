/**
 * Returns the settings of a request that its model supports. Removes what the profile marks as unsupported, for all APIs, so that the
 * adapters only rename the rest.
 */
import type { ModelSettings } from '../../core/turn/plan.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { isRecord, type Json } from '../../core/json/wire-value.ts';

export function supportedSettings(settings: ModelSettings, profile: Profile, hasTools: boolean): ModelSettings {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, stop, parallelToolCalls, responseFormat, ...taken } = settings;
  if (!profile.noSampling) Object.assign(taken, defined({ temperature, topP, topK }));
  if (!profile.noPenalties) Object.assign(taken, defined({ frequencyPenalty, presencePenalty }));
  if (!profile.noStop && stop !== undefined && stop.length > 0) Object.assign(taken, { stop });
  // Settings about tools are rejected if there are no tools.
  if (hasTools && profile.parallelToolCalls) Object.assign(taken, defined({ parallelToolCalls }));
  if (!hasTools || profile.formatWithTools) Object.assign(taken, defined({ responseFormat }));
  return { ...defined({ maxOutputTokens: profile.defaultMaxTokens ?? undefined }), ...taken };
}

/** Removes undefined settings, which would hide inherited ones. */
function defined(settings: { [Name in keyof ModelSettings]: ModelSettings[Name] | undefined }): ModelSettings {
  // Without undefined values it matches the type.
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as ModelSettings;
}

/** Returns the requested output format, for APIs that differ from Chat Completions. null: any; `schema` null: any JSON. */
export function requestedFormat({ responseFormat: format }: ModelSettings): { schema: Json | null } | null {
  if (!isRecord(format)) return null;
  if (format.type === 'json_object') return { schema: null };
  if (format.type !== 'json_schema') return null;
  const named = format.json_schema;
  return { schema: isRecord(named) && isRecord(named.schema) ? named.schema : null };
}
