/**
 * Providers that are there without being stored: `rehearsal` always, and those whose key or address the operator's
 * settings hold. A stored provider of the same name stands in front of it, except before `rehearsal`.
 */
import { openaiBaseUrl, rehearsalAccess } from '../core/provider.ts';
import type { ProviderAccess } from '../core/provider.ts';
import type { Settings } from '../core/settings.ts';

/** Cannot be written or deleted: it is what works when nothing else does. */
export const rehearsalProvider = 'rehearsal';

export function builtinProvider(settings: Settings, name: string): ProviderAccess | null {
  if (name === rehearsalProvider) return rehearsalAccess;
  if (name === 'openai') {
    const key = settings.providerKeys.get('openai');
    if (key === undefined) return null;
    return { name, kind: 'openai', baseUrl: openaiBaseUrl, headers: { authorization: `Bearer ${key}` }, models: [], profile: {} };
  }
  if (name === 'ollama' && settings.ollamaUrl !== null) {
    const baseUrl = `${settings.ollamaUrl.replace(/\/+$/, '')}/v1`;
    return { name, kind: 'openai-compatible', baseUrl, headers: {}, models: [], profile: {} };
  }
  return null;
}

export function builtinProviders(settings: Settings): ProviderAccess[] {
  return ['ollama', 'openai', rehearsalProvider].map((name) => builtinProvider(settings, name)).filter((access) => access !== null);
}
