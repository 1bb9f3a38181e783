/** After the service answers: the demo is there, the models are known, the screen is printed. Shared by start and dev. */
import { relative } from 'node:path';
import { readSettings } from '../core/settings.ts';
import { builtinProviders } from '../storage/builtin-providers.ts';
import { prepareDemo } from './demo.ts';
import type { LocalEnvironment } from './environment.ts';
import { renderScreen } from './screen.ts';
import { createApiClient } from './api-client.ts';

export async function welcome(url: string, rootKey: string, local: LocalEnvironment): Promise<void> {
  const client = createApiClient(url, rootKey);
  const demoSession = await prepareDemo(client, local.dataDir);
  const models = await client.get<{ data: { id: string }[] }>('/v1/models');
  const shownDir = relative(process.cwd(), local.dataDir);
  console.log(
    renderScreen({
      url,
      rootKey,
      dataDir: shownDir.startsWith('..') ? local.dataDir : shownDir,
      models: [...models.data.map((model) => model.id), ...modelsByKey(local)],
      demoSession,
      unknownSettings: local.unknown,
    }),
  );
}

/** A provider whose key was found in the environment has more models than anybody lists. */
function modelsByKey({ settings }: LocalEnvironment): string[] {
  return builtinProviders(readSettings(settings)).flatMap(({ name, models }) => (models.length === 0 ? [`${name}/<model>`] : []));
}
