/**
 * The models of providers, for `GET /v1/models`, and what is known of each: what its document says, else what the provider's own list says,
 * else the built-in table. A document with `models` is not asked. Lists are cached in the isolate; a provider that does not respond has no
 * models until it is asked again, and is named.
 */
import { limits } from '../../core/limits/limits.ts';
import { MB } from '../../core/limits/units.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { type ModelFacts, modelFacts, modelName } from '../../core/model/model-facts.ts';
import { calledName } from '../../core/model/model-name.ts';
import { tabledFacts } from '../../core/model/model-table.ts';
import { type ModelPrice, priceOf } from '../../core/model/price.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { splitModelRef } from '../../core/turn/agent.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { readBounded } from '../../net/read-bounded.ts';
import type { Directory } from '../../ports/directory.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { readListedFacts } from './listed-facts.ts';
import { profileFor } from '../profiles.ts';
import { withoutKey } from '../provider-secrets.ts';
import { adapters } from '../registry.ts';

/** `created`: Unix time in seconds; 0: not known. */
export type ListedModel = { provider: string; model: string; created: number; displayName?: string };
/** `capabilities`: as Anthropic's API reports them. `sampling`, `stops`: whether the model takes these settings. */
export type KnownModel = ModelFacts & { price: ModelPrice | null; capabilities?: object; sampling: boolean; stops: boolean };
/** `describe`: null for a model of which nothing is known. `unavailable`: the providers whose models could not be listed, with the reason. */
export type ModelLists = {
  listed: ListedModel[];
  unavailable: { provider: string; reason: string }[];
  describe(ref: string): Promise<KnownModel | null>;
};

type OwnModel = Omit<ListedModel, 'provider'> & { facts: ModelFacts; capabilities?: object };
type OwnList = { models: ReadonlyMap<string, OwnModel>; fault: string | null };
type Deps = { directory: Directory; outbound: OutboundHttp; clock: Clock; log: Logger };

const listTtlMs = 5 * 60_000;
const failedListTtlMs = 30_000;
const listTimeoutMs = 5_000;
const maxListBytes = 4 * MB;
/** The largest known list, of a router, has about 500. */
const maxListedModels = 2_000;
const maxCachedLists = 500;

export function createModelLists(deps: Deps) {
  const lists = new Map<string, OwnList & { until: number }>();

  // Only settled lists are shared: a load ends with the request that started it.
  const listOf = async (workspace: string, access: ProviderAccess): Promise<OwnList> => {
    const key = JSON.stringify([workspace, access.name, access.kind, access.baseUrl]);
    const cached = lists.get(key);
    if (cached !== undefined && cached.until > deps.clock.now()) return cached;
    let list: OwnList = noList;
    try {
      list = { models: await loadList(deps, access), fault: null };
    } catch (error) {
      deps.log.info('the models of a provider could not be listed', { provider: access.name, cause: String(error) });
      list = { models: new Map(), fault: error instanceof ListFault ? error.message : 'could not be read' };
    }
    if (lists.size >= maxCachedLists) lists.clear();
    lists.set(key, { until: deps.clock.now() + (list.fault === null ? listTtlMs : failedListTtlMs), ...list });
    return list;
  };

  /** The access of a provider, and its own list if its document has no `models`. */
  const read = async (workspace: string, name: string): Promise<{ access: ProviderAccess | null; list: OwnList }> => {
    const access = await deps.directory.provider(workspace, name).catch(() => null);
    if (access === null) return { access, list: { models: new Map(), fault: 'is not configured completely' } };
    // Clouds list what could be deployed, or nothing at all.
    const isAsked = access.models.length === 0 && access.kind !== 'rehearsal' && access.cloud === undefined;
    return { access, list: isAsked ? await listOf(workspace, access) : noList };
  };

  return {
    async models(workspace: string): Promise<ModelLists> {
      const providers = await deps.directory.providers(workspace);
      const known = new Map(providers.map(({ name }) => [name, read(workspace, name)]));
      const unavailable: ModelLists['unavailable'] = [];
      const all = providers.map(async ({ name, models }): Promise<ListedModel[]> => {
        if (models.length > 0) return models.map((model) => ({ provider: name, model, created: 0 }));
        const list = (await known.get(name))?.list ?? noList;
        if (list.fault !== null) unavailable.push({ provider: name, reason: list.fault });
        return Array.from(list.models.values(), ({ model, created, displayName }) => ({
          ...{ provider: name, model, created },
          ...(displayName !== undefined && { displayName }),
        }));
      });
      return {
        listed: (await Promise.all(all)).flat(),
        unavailable,
        async describe(ref) {
          const { provider, model } = splitModelRef(ref);
          const { access, list } = (await known.get(provider)) ?? { access: null, list: noList };
          return access === null ? null : describeModel(access, model, list.models.get(model));
        },
      };
    },
  };
}

const noList: OwnList = { models: new Map(), fault: null };

function describeModel(access: ProviderAccess, model: string, own: OwnModel | undefined): KnownModel | null {
  const written = modelFacts(access.models.find((entry) => modelName(entry) === model));
  const facts = { ...tabledFacts(access.baseUrl, calledName({ kind: access.kind, model })), ...own?.facts, ...written };
  const price = priceOf(access, model);
  if (Object.keys(facts).length === 0 && price === null) return null;
  const { noSampling, noStop } = profileFor(access, model);
  return { ...facts, price, ...(own?.capabilities && { capabilities: own.capabilities }), sampling: !noSampling, stops: !noStop };
}

/** Its message may be shown. */
class ListFault extends Error {}

async function loadList({ outbound, clock }: Deps, access: ProviderAccess): Promise<OwnList['models']> {
  const { headers: own, modelsUrl } = adapters[access.kind];
  const headers = { accept: 'application/json', ...own, ...access.headers, ...access.keys?.[0] };
  const request = new Request(modelsUrl(access.baseUrl), { headers, redirect: 'manual' });
  const late = (): never => {
    throw new ListFault('did not respond in time');
  };
  const load = async (): Promise<unknown> => {
    const response = await outbound(request, { purpose: 'provider' });
    const { bytes, truncated } = await readBounded(response, maxListBytes);
    if (!response.ok) throw new ListFault(`responded with ${response.status}`);
    if (truncated) throw new ListFault(`sent more than ${maxListBytes} bytes`);
    return JSON.parse(withoutKey(access, new TextDecoder().decode(bytes)));
  };
  return readList(await withTimeout(clock, load(), listTimeoutMs, late));
}

/** `data` (OpenAI, Anthropic), `models` (Gemini, Cohere, Ollama), or a list (Together). Names of Gemini begin with `models/`. */
function readList(value: unknown): OwnList['models'] {
  const { data, models } = recordOf(value);
  const list = [value, data, models].find((candidate): candidate is unknown[] => Array.isArray(candidate)) ?? [];
  const found = new Map<string, OwnModel>();
  for (const item of list.slice(0, maxListedModels)) {
    const row = recordOf(item);
    const { id, name, created, created_at: at, display_name: display, displayName = display } = row;
    const model = typeof id === 'string' ? id : typeof name === 'string' ? name.replace(/^models\//, '') : '';
    if (model === '' || model.length > 200) continue;
    const seconds = typeof created === 'number' ? created : typeof at === 'string' ? Date.parse(at) / 1000 : 0;
    found.set(model, {
      model,
      created: Number.isFinite(seconds) && seconds > 0 && seconds < 1e11 ? Math.floor(seconds) : 0,
      ...(typeof displayName === 'string' && displayName !== '' && { displayName: displayName.slice(0, limits.maxQuotedLength) }),
      ...readListedFacts(row),
    });
  }
  return found;
}
