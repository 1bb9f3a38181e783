/** The agents and models that the key may use. */
import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { moniker } from './moniker.ts';
import { chosenWorkspace } from './workspace.ts';

export const models = signal<readonly string[]>([]);
/** With which a new chat begins; null: the first. */
export const chosenModel = signal<string | null>(null);
effect(() => {
  // Another workspace has other agents.
  void chosenWorkspace.value;
  chosenModel.value = null;
});

/** Returns the list, agents first; rejects with the error of the request. */
export async function loadModels(): Promise<readonly string[]> {
  const { data } = await moniker.value.get('/v1/models');
  const ids = data.map(({ id }) => id);
  models.value = [...ids.filter((id) => id.startsWith('agent/')), ...ids.filter((id) => !id.startsWith('agent/'))];
  return models.value;
}

/** Models to choose from. Without the list, a name can still be typed. */
export function useModels(): readonly string[] {
  useEffect(() => void loadModels().catch(() => undefined), []);
  return models.value;
}
