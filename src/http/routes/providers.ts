/** `/v1/providers`: where models are reached and with which key. Keys go in and never come out. */
import { z } from 'zod';
import { Provider, ProviderName } from '../../core/model/provider.ts';
import { mountDocumentRoutes } from '../document-routes.ts';
import { requireSameName } from '../documents.ts';
import type { App } from '../route.ts';

/** What GET shows may be sent back: `hasApiKey` is taken and means nothing. */
const ProviderInput = Provider.safeExtend({
  name: ProviderName.optional().meta({ description: 'If given, equals the name in the path.' }),
  hasApiKey: z.boolean().optional().meta({ readOnly: true, description: 'Shown by GET; ignored here.' }),
}).meta({ id: 'Provider', example: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', models: ['llama3.2'] } });

const { apiKey: _apiKey, ...shown } = Provider.shape;
const ProviderView = z.object({ name: ProviderName, ...shown, hasApiKey: z.boolean() }).meta({ id: 'ProviderView' });

export function mountProviders(app: App): void {
  mountDocumentRoutes(app, {
    kind: 'provider',
    noun: 'provider',
    tag: 'Providers',
    scopes: ['admin'],
    name: ProviderName,
    body: ProviderInput,
    view: ProviderView,
    toView: ({ name, body: { apiKey: _key, ...body } }) => ({ name, hasApiKey: false, ...body }),
    toDocument: (name, { hasApiKey: _shown, name: given, ...body }) => {
      requireSameName(name, { name: given });
      return body;
    },
  });
}
