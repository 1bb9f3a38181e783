/**
 * The models that providers list themselves, for `GET /v1/models`. A document with `models` is not asked. Lists are cached in the isolate;
 * a provider that does not respond has no models until it is asked again.
 */
import { limits } from '../core/limits/limits.ts';
import { MB } from '../core/limits/units.ts';
import { recordOf } from '../core/json/wire-value.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { withTimeout } from '../engine/timeout.ts';
import { readBounded } from '../net/read-bounded.ts';
import type { Directory } from '../ports/directory.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import { withoutKey } from './provider-secrets.ts';
import { adapters } from './registry.ts';

/** `created`: Unix time in seconds; 0: not known. */
export type ListedModel = { provider: string; model: string; created: number; displayName?: string };

type OwnModel = Omit<ListedModel, 'provider'>;
type Deps = { directory: Directory; outbound: OutboundHttp; clock: Clock; log: Logger };

const listTtlMs = 5 * 60_000;
const failedListTtlMs = 30_000;
const listTimeoutMs = 5_000;
const maxListBytes = 4 * MB;
/** The largest known list, of a router, has about 500. */
const maxListedModels = 2_000;
const maxCachedLists = 500;

export function createModelLists(deps: Deps) {
  const lists = new Map<string, { until: number; models: OwnModel[] }>();

  // Only settled lists are shared: a load ends with the request that started it.
  const listOf = async (workspace: string, access: ProviderAccess): Promise<OwnModel[]> => {
    const key = JSON.stringify([workspace, access.name, access.kind, access.baseUrl]);
    const cached = lists.get(key);
    if (cached !== undefined && cached.until > deps.clock.now()) return cached.models;
    let models: OwnModel[] = [];
    let ttlMs = listTtlMs;
    try {
      models = await loadList(deps, access);
    } catch (error) {
      deps.log.info('the models of a provider could not be listed', { provider: access.name, cause: String(error) });
      ttlMs = failedListTtlMs;
    }
    if (lists.size >= maxCachedLists) lists.clear();
    lists.set(key, { until: deps.clock.now() + ttlMs, models });
    return models;
  };

  return {
    async models(workspace: string): Promise<ListedModel[]> {
      const providers = await deps.directory.providers(workspace);
      const all = providers.map(async ({ name, models }): Promise<ListedModel[]> => {
        if (models.length > 0) return models.map((model) => ({ provider: name, model, created: 0 }));
        const access = await deps.directory.provider(workspace, name).catch(() => null);
        // Clouds list what could be deployed, or nothing at all.
        if (access === null || access.kind === 'rehearsal' || access.cloud !== undefined) return [];
        return (await listOf(workspace, access)).map((model) => ({ provider: name, ...model }));
      });
      return (await Promise.all(all)).flat();
    },
  };
}

async function loadList({ outbound, clock }: Deps, access: ProviderAccess): Promise<OwnModel[]> {
  const { headers: own, modelsUrl } = adapters[access.kind];
  const headers = { accept: 'application/json', ...own, ...access.headers };
  const request = new Request(modelsUrl(access.baseUrl), { headers, redirect: 'manual' });
  const late = (): never => {
    throw new Error('did not respond in time');
  };
  const load = async (): Promise<unknown> => {
    const response = await outbound(request, { purpose: 'provider' });
    const { bytes, truncated } = await readBounded(response, maxListBytes);
    if (!response.ok) throw new Error(`responded with ${response.status}`);
    if (truncated) throw new Error(`sent more than ${maxListBytes} bytes`);
    return JSON.parse(withoutKey(access, new TextDecoder().decode(bytes)));
  };
  return readList(await withTimeout(clock, load(), listTimeoutMs, late));
}

/** `data` (OpenAI, Anthropic), `models` (Gemini, Cohere, Ollama), or a list (Together). Names of Gemini begin with `models/`. */
function readList(value: unknown): OwnModel[] {
  const { data, models } = recordOf(value);
  const list = [value, data, models].find((candidate): candidate is unknown[] => Array.isArray(candidate)) ?? [];
  const found = new Map<string, OwnModel>();
  for (const item of list.slice(0, maxListedModels)) {
    const { id, name, created, created_at: at, display_name: display, displayName = display } = recordOf(item);
    const model = typeof id === 'string' ? id : typeof name === 'string' ? name.replace(/^models\//, '') : '';
    if (model === '' || model.length > 200) continue;
    const seconds = typeof created === 'number' ? created : typeof at === 'string' ? Date.parse(at) / 1000 : 0;
    found.set(model, {
      model,
      created: Number.isFinite(seconds) && seconds > 0 && seconds < 1e11 ? Math.floor(seconds) : 0,
      ...(typeof displayName === 'string' && displayName !== '' && { displayName: displayName.slice(0, limits.maxQuotedLength) }),
    });
  }
  return [...found.values()];
}
