/** `/v1/providers`: model providers with URLs and keys. Keys can be written but not read. */
import { z } from 'zod';
import { Provider, ProviderName } from '../../core/model/provider.ts';
import { documentRoutes } from '../document-routes.ts';
import { requireSameName, storedBody } from '../documents.ts';
import type { Route } from '../route.ts';

/** The output of GET can be sent back: `hasApiKey` is accepted and ignored. */
const ProviderInput = Provider.safeExtend({
  name: ProviderName.optional().meta({ description: 'Optional. Must equal the name in the path.' }),
  hasApiKey: z.boolean().optional().meta({ readOnly: true, description: 'Shown by GET; ignored here.' }),
}).meta({ id: 'Provider', example: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', models: ['llama3.2'] } });

const { apiKey: _apiKey, ...shown } = Provider.shape;
const ProviderView = z.object({ name: ProviderName, ...shown, hasApiKey: z.boolean() }).meta({ id: 'ProviderView' });

export const providerRoutes: readonly Route[] = [
  ...documentRoutes({
    kind: 'provider',
    noun: 'provider',
    tag: 'Providers',
    scopes: ['admin'],
    name: ProviderName,
    body: ProviderInput,
    view: ProviderView,
    unshown: { kept: ['apiKey', 'apiKeySecret'], removable: ['apiKey', 'apiKeySecret'] },
    toView: (document) => {
      const { apiKey: _key, ...body } = storedBody<z.infer<typeof Provider> & { hasApiKey?: boolean }>(document);
      return { name: document.name, ...body, hasApiKey: body.hasApiKey ?? false };
    },
    toDocument: (name, { hasApiKey: _shown, name: given, ...body }) => {
      requireSameName(name, { name: given });
      return body;
    },
  }),
];
