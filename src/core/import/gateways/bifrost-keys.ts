/** Virtual keys of Bifrost: each is named with the request that makes a key like it, since the text of a key is made by Moniker. */
import { type Json, stringOf } from '../../json/wire-value.ts';
import type { Members } from '../members.ts';
import { unmapped } from './unmapped.ts';

/** Limits of Moniker by the span of a limit of Bifrost. */
const costs: Readonly<Record<string, string>> = { '1d': 'dailyCost', '24h': 'dailyCost', '1M': 'monthlyCost', '30d': 'monthlyCost' };
const minutes = new Set(['1m', '60s']);

export function skipVirtualKeys(governance: Members): void {
  const budgets = governance.items('budgets').map((budget) => ({
    id: budget.text('id') ?? '',
    owner: budget.text('virtual_key_id') ?? '',
    max: budget.number('max_limit'),
    span: budget.text('reset_duration') ?? '',
    budget,
  }));
  const rates = new Map(governance.items('rate_limits').map((rate) => [rate.text('id') ?? '', rate]));
  const used = new Set<Members>();
  for (const key of governance.items('virtual_keys')) {
    const id = key.text('id') ?? '';
    const budgetId = key.text('budget_id') ?? '';
    const rate = rates.get(key.text('rate_limit_id') ?? '');
    const own = budgets.filter((budget) => budget.owner === id || (budgetId !== '' && budget.id === budgetId));
    const limits: Json = {};
    for (const { max, span, budget } of own) {
      used.add(budget);
      const name = costs[span];
      if (name === undefined || max === null) budget.skipWhole(`is no budget of a day or a month, which a key can have`);
      else limits[name] = max;
    }
    if (rate !== undefined) {
      used.add(rate);
      Object.assign(limits, rateLimits(rate));
    }
    const request = {
      name: key.text('name') ?? 'client',
      scopes: ['chat'],
      ...modelsOf(key),
      ...(Object.keys(limits).length > 0 && { limits }),
    };
    key.skipWhole(
      key.peek('is_active') === false
        ? 'is not active'
        : `is not imported, since Moniker makes the keys of clients: POST /v1/keys ${JSON.stringify(request)}`,
    );
  }
  for (const member of [...budgets.map(({ budget }) => budget), ...rates.values()])
    if (used.has(member)) member.ignore(...member.names());
    else member.skipWhole('is used by no key of the file: limits are those of keys, agents and the workspace');
  governance.skip(
    ['virtual_keys', 'budgets', 'rate_limits'].filter((name) => !Array.isArray(governance.peek(name))),
    unmapped.clientKey,
  );
}

function rateLimits(rate: Members): Json {
  const limits: Json = {};
  for (const [what, name] of [
    ['request', 'requestsPerMinute'],
    ['token', 'tokensPerMinute'],
  ] as const) {
    const max = rate.number(`${what}_max_limit`);
    if (max === null) continue;
    if (minutes.has(rate.text(`${what}_reset_duration`) ?? '')) limits[name] = max;
    else rate.fault(`${what}_max_limit`, 'is no limit of a minute, which a key can have');
  }
  return limits;
}

/** The models that the key may use; `provider_configs` empty: none, which a key cannot have. */
function modelsOf(key: Members): Json {
  const configs = key.items('provider_configs');
  const models = configs.flatMap((config) => {
    const provider = config.text('provider') ?? '*';
    return (config.texts('allowed_models') ?? ['*']).map((model) => `${provider}/${stringOf(model)}`);
  });
  return models.length > 0 ? { models } : {};
}
