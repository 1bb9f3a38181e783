/** Runs when the service is healthy: prepares the demo, lists the models, and prints the screen. */
import { relative } from 'node:path';
import { readSettings } from '../core/settings.ts';
import { builtinProviders } from '../storage/builtin-providers.ts';
import { prepareDemo } from './demo.ts';
import type { LocalEnvironment } from './environment.ts';
import type { Keys } from './keys.ts';
import { renderStartScreen } from './start-screen.ts';
import { loadSkills } from './skills.ts';
import { createApiClient } from './api-client.ts';

export async function printWelcome(url: string, keys: Keys, local: LocalEnvironment): Promise<void> {
  const client = createApiClient(url, keys.rootKey);
  const skills = local.skillsDir === null ? null : await loadSkills(client, local.skillsDir);
  const demoSession = await prepareDemo(client, local.dataDir);
  const models = await client.get<{ data: { id: string }[] }>('/v1/models');
  console.log(
    renderStartScreen({
      url,
      newKey: keys.isNew ? keys.rootKey : null,
      keyFile: keys.rootKeyFile === null ? null : shown(keys.rootKeyFile),
      dataDir: shown(local.dataDir),
      models: [...models.data.map((model) => model.id), ...modelsByKey(local)],
      demoSession,
      unknownSettings: local.unknown,
      skills: skills === null ? null : { ...skills, folder: shown(skills.folder) },
    }),
  );
}

/** Returns a path as a user would type it. */
function shown(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere || '.';
}

/** Models are not listed for providers whose key was found in the environment: they have too many. */
function modelsByKey({ settings }: LocalEnvironment): string[] {
  return builtinProviders(readSettings(settings)).flatMap(({ name, models }) => (models.length === 0 ? [`${name}/<model>`] : []));
}
