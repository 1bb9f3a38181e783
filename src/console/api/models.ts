/** The agents and models that the key may use. */
import { signal } from '@preact/signals';
import { moniker } from './moniker.ts';

export const models = signal<readonly string[]>([]);
/** With which a new chat begins; null: the first. */
export const chosenModel = signal<string | null>(null);

/** Returns the list, agents first; rejects with the error of the request. */
export async function loadModels(): Promise<readonly string[]> {
  const { data } = await moniker.value.get('/v1/models');
  const ids = data.map(({ id }) => id);
  models.value = [...ids.filter((id) => id.startsWith('agent/')), ...ids.filter((id) => !id.startsWith('agent/'))];
  return models.value;
}
