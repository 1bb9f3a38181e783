/**
 * `/v1/providers`: model providers with URLs and keys. Keys can be written but not read. Built-in providers and those of the settings are
 * listed too; a document of the same name replaces one of the settings.
 */
import * as z from 'zod';
import { Provider, ProviderName, type ProviderAccess } from '../../../core/model/provider.ts';
import { ProviderKind } from '../../../core/names/provider-kind.ts';
import { documentRoutes } from '../../document-routes.ts';
import { storedBody } from '../../conditions.ts';
import { builtinProviders } from '../../../storage/providers.ts';
import type { Sent } from '../../route.ts';

const Source = z.enum(['document', 'settings', 'builtin']);

/** The output of GET can be sent back: `hasApiKey` and `source` are accepted and ignored. */
const ProviderInput = Provider.safeExtend({
  name: ProviderName.optional().meta({ description: 'Optional. Must equal the name in the path.' }),
  hasApiKey: z.boolean().optional().meta({ readOnly: true, description: 'Shown by GET; ignored here.' }),
  source: Source.optional().meta({ readOnly: true, description: 'Shown by GET; ignored here.' }),
}).meta({ id: 'Provider', example: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', models: ['llama3.2'] } });

const { apiKey: _apiKey, ...shown } = Provider.shape;
const ProviderView = z
  .object({
    name: ProviderName,
    ...shown,
    kind: z.enum([...ProviderKind.options, 'rehearsal']),
    hasApiKey: z.boolean(),
    source: Source.meta({
      description:
        '`document`: written here. `settings`: from the settings of the service, such as `OPENAI_API_KEY`; a PUT of its name replaces it. `builtin`: cannot be changed.',
    }),
  })
  .meta({ id: 'ProviderView' });

export const providerRoutes = [
  ...documentRoutes({
    kind: 'provider',
    noun: 'provider',
    tag: 'Providers',
    scopes: ['admin'],
    name: ProviderName,
    body: ProviderInput,
    view: ProviderView,
    unshown: { kept: ['apiKey', 'apiKeySecret', 'apiKeySecrets'], removable: ['apiKey', 'apiKeySecret', 'apiKeySecrets'] },
    toView: (document) => {
      const { apiKey: _key, ...body } = storedBody<z.infer<typeof Provider> & { hasApiKey?: boolean }>(document);
      return { name: document.name, ...body, hasApiKey: body.hasApiKey ?? false, source: 'document' as const };
    },
    unstored: ({ settings }) => builtinProviders(settings).map(toBuiltinView),
    shown: ['hasApiKey', 'source'],
  }),
];

/** Fields are copied one by one: the headers contain the key. An address in the settings may contain a password. */
function toBuiltinView({ name, kind, baseUrl, headers, models }: ProviderAccess): Sent<z.infer<typeof ProviderView>> {
  const listed = models.length === 0 ? {} : { models };
  if (kind === 'rehearsal') return { name, kind, ...listed, hasApiKey: false, source: 'builtin' };
  const url = URL.parse(baseUrl);
  const address = url === null ? {} : { baseUrl: `${url.origin}${url.pathname}` };
  return { name, kind, ...address, ...listed, hasApiKey: Object.keys(headers).length > 0, source: 'settings' };
}
