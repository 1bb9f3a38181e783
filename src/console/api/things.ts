/** Names of the documents that have a page, for searches. */
import { signal } from '@preact/signals';
import { moniker } from './moniker.ts';

export type Thing = { view: string; kind: string; name: string };

export const things = signal<readonly Thing[]>([]);

const params = { query: { limit: 100 } };
type Source = { view: string; kind: string; list(): Promise<{ items: readonly { name: string }[] }> };

const sources: readonly Source[] = [
  { view: 'toolsets', kind: 'Toolset', list: () => moniker.value.get('/v1/toolsets', { params }) },
  { view: 'agents', kind: 'Agent', list: () => moniker.value.get('/v1/agents', { params }) },
  {
    view: 'made',
    kind: 'Made tool',
    list: () => moniker.value.get('/v1/tools', { params: { query: { ...params.query, kind: 'made', fields: 'summary' } } }),
  },
  { view: 'skills', kind: 'Skill', list: () => moniker.value.get('/v1/skills', { params }) },
  { view: 'suites', kind: 'Suite', list: () => moniker.value.get('/v1/suites', { params }) },
  { view: 'servers', kind: 'Server', list: () => moniker.value.get('/v1/servers', { params }) },
  { view: 'providers', kind: 'Provider', list: () => moniker.value.get('/v1/providers', { params }) },
  { view: 'secrets', kind: 'Secret', list: () => moniker.value.get('/v1/secrets', { params }) },
  { view: 'webhooks', kind: 'Webhook', list: () => moniker.value.get('/v1/webhooks', { params }) },
  { view: 'schedules', kind: 'Schedule', list: () => moniker.value.get('/v1/schedules', { params }) },
];

/** Loads the newest names of the views. A list that the key may not read, or that fails, stays empty. */
export async function loadThings(views: readonly string[]): Promise<void> {
  const lists = await Promise.all(
    sources
      .filter(({ view }) => views.includes(view))
      .map(async ({ view, kind, list }) => {
        const { items } = await list().catch(() => ({ items: [] }));
        return items.map(({ name }) => ({ view, kind, name }));
      }),
  );
  things.value = lists.flat();
}
