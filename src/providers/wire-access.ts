/** The API of a model of a cloud, which has several: its kind decides on the adapter, the profile and the dialect of a request. */
import { isBedrockClaude, vertexModel } from '../core/model/cloud-access.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { getOrBuild, memoizeByObject } from '../core/memoize.ts';

/** By the access, which lives as long as the directory caches it, and by the kind and the path of the API: a few for each. */
const made = memoizeByObject((_access: ProviderAccess) => new Map<string, ProviderAccess>());

/** Returns the access of the API that has the model. That of a provider with one API is returned unchanged, and so is one of a cloud's API. */
export function wireAccess(access: ProviderAccess, model: string): ProviderAccess {
  switch (access.kind) {
    case 'azure-openai':
      return withKind(access, 'openai', '');
    case 'bedrock':
      return isBedrockClaude(model) ? withKind(access, 'anthropic', '') : access;
    case 'vertex': {
      const { publisher } = vertexModel(model);
      if (publisher === 'google') return withKind(access, 'gemini', '/publishers/google');
      if (publisher === 'anthropic') return withKind(access, 'anthropic', '/publishers/anthropic');
      // Endpoints of tuned Gemini models; models of other publishers have Chat Completions (guide "Call open models").
      return publisher === null ? withKind(access, 'gemini', '') : withKind(access, 'openai-compatible', '/endpoints/openapi');
    }
    default:
      return access;
  }
}

function withKind(access: ProviderAccess, kind: ProviderAccess['kind'], path: string): ProviderAccess {
  return getOrBuild(made(access), kind + path, 8, () => ({ ...access, kind, baseUrl: access.baseUrl + path }));
}
