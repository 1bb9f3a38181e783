/**
 * Providers that are not stored: `rehearsal`, and those whose key or address is in the operator's settings. A stored provider of the
 * same name takes precedence, except over `rehearsal`.
 */
import { rehearsalAccess } from '../core/model/provider.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { credentialHeaders, providerBaseUrl, type ProviderKind } from '../core/model/provider-kind.ts';
import type { Settings } from '../core/settings.ts';

/** Cannot be written or deleted, so that one provider always works. */
export const rehearsalProviderName = 'rehearsal';

/** Provider name → its wire, and the name of its key in the settings. */
const hosted: ReadonlyMap<string, { kind: ProviderKind; key: string }> = new Map([
  ['anthropic', { kind: 'anthropic', key: 'anthropic' }],
  ['cohere', { kind: 'cohere', key: 'cohere' }],
  ['gemini', { kind: 'gemini', key: 'gemini' }],
  ['openai', { kind: 'openai', key: 'openai' }],
  ['openai-responses', { kind: 'openai-responses', key: 'openai' }],
]);

export function builtinProvider(settings: Settings, name: string): ProviderAccess | null {
  if (name === rehearsalProviderName) return rehearsalAccess;
  if (name === 'ollama' && settings.ollamaUrl !== null) {
    const baseUrl = `${settings.ollamaUrl.replace(/\/+$/, '')}/v1`;
    return { name, kind: 'openai-compatible', baseUrl, headers: {}, models: [], profile: {} };
  }
  const host = hosted.get(name);
  const key = host === undefined ? undefined : settings.providerKeys.get(host.key);
  if (host === undefined || key === undefined) return null;
  const { kind } = host;
  const baseUrl = providerBaseUrl({ kind });
  return { name, kind, baseUrl, headers: credentialHeaders(kind, baseUrl, key), models: [], profile: {} };
}

export function builtinProviders(settings: Settings): ProviderAccess[] {
  return [...hosted.keys(), 'ollama', rehearsalProviderName]
    .map((name) => builtinProvider(settings, name))
    .filter((access) => access !== null);
}
