/** The providers of the switching tests: for each a strict fake, its most demanding kind of model, and what is specific to its API. */
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { fakeAnthropic, signatureOf } from '../fakes/upstreams/anthropic.ts';
import { fakeCohere } from '../fakes/upstreams/cohere.ts';
import { fakeGemini } from '../fakes/upstreams/gemini.ts';
import { fakeOpenAiResponses } from '../fakes/upstreams/openai-responses.ts';
import { fakeOpenAi } from '../fakes/upstreams/openai.ts';
import type { Habits } from './switching-check.ts';
import type { Speaker } from './switching-turn.ts';

export type Participant = Speaker & Habits;

function at(name: string, kind: ProviderAccess['kind'], path: string, fields: Partial<ProviderAccess> = {}): ProviderAccess {
  const headers = { authorization: 'Bearer test', 'x-api-key': 'test', 'x-goog-api-key': 'test' };
  return { name, kind, baseUrl: `https://${name}.example${path}`, headers, models: [], profile: {}, ...fields };
}

/** The values of a field, as they are written in JSON. */
function valuesOf(field: string, reply: string): string[] {
  return [...reply.matchAll(new RegExp(`"${field}": ?"([^"]+)"`, 'g'))].map(([, value = '']) => value);
}

const none = (): string[] => [];

export const openai: Participant = {
  access: at('openai', 'openai', '/v1'),
  model: 'gpt-5.2',
  create: (script) => fakeOpenAi(script),
  ids: /^[A-Za-z0-9_-]{1,40}$/,
  secrets: none,
  returns: none,
};

/** All reasoning of turns with calls is sent back, from any provider. */
export const deepseek: Participant = {
  access: at('deepseek', 'openai-compatible', '', { baseUrl: 'https://deepseek.api.deepseek.com' }),
  model: 'deepseek-v4-flash',
  create: (script) => fakeOpenAi(script, { wantsReasoning: true }),
  ids: /^[A-Za-z0-9_-]{1,40}$/,
  secrets: none,
  returns: ({ says: { reasoning } }) => (reasoning === undefined ? [] : [reasoning]),
  takesReasoning: true,
};

export const responses: Participant = {
  access: at('responses', 'openai-responses', '/v1'),
  model: 'gpt-5.2',
  create: fakeOpenAiResponses,
  ids: /^[A-Za-z0-9_-]{1,64}$/,
  secrets: (reply) => [...new Set(valuesOf('encrypted_content', reply))],
  returns({ reply }, own) {
    // The last event repeats the items.
    const phases = own ? valuesOf('phase', reply).slice(-1) : [];
    return own ? [...new Set(valuesOf('encrypted_content', reply)), ...phases] : [];
  },
};

export const anthropic: Participant = {
  access: at('anthropic', 'anthropic', '/v1'),
  model: 'claude-sonnet-4-5',
  create: fakeAnthropic,
  ids: /^[A-Za-z0-9_-]{1,64}$/,
  secrets: (reply) => valuesOf('signature', reply),
  returns: ({ says: { reasoning } }, own) => (own && reasoning !== undefined ? [signatureOf(reasoning)] : []),
};

export const gemini: Participant = {
  access: at('gemini', 'gemini', '', { baseUrl: 'https://gemini.generativelanguage.googleapis.com/v1beta' }),
  model: 'gemini-3-flash-preview',
  create: fakeGemini,
  ids: /^[A-Za-z0-9_-]{1,64}$/,
  secrets: (reply) => valuesOf('thoughtSignature', reply),
  returns({ reply, says: { reasoning } }, own, fits) {
    if (!own) return [];
    return [...(reasoning === undefined ? [] : [reasoning]), ...(fits ? valuesOf('thoughtSignature', reply) : [])];
  },
  signsCalls: true,
};

/** Calls have no ids in this API. */
export const vertex: Participant = {
  ...gemini,
  access: at('vertex', 'gemini', '/v1/projects/p/locations/global/publishers/google'),
  model: 'gemini-3-pro-preview',
  ids: null,
};

export const cohere: Participant = {
  access: at('cohere', 'cohere', '/v2'),
  model: 'command-a-reasoning-08-2025',
  create: fakeCohere,
  ids: /^[A-Za-z0-9_-]{1,64}$/,
  secrets: none,
  returns({ says: { reasoning, text, calls = [] } }, own) {
    return [...(own && reasoning !== undefined ? [reasoning] : []), ...(calls.length > 0 ? [text] : [])];
  },
  plansBesideCalls: true,
};

/** A model without native tools. */
export const text: Participant = {
  access: at('text', 'openai-compatible', '/v1', { profile: { protocol: 'text' } }),
  model: 'hermes-2',
  create: (script) => fakeOpenAi(script),
  speaksText: true,
  ids: null,
  secrets: none,
  returns: none,
};
