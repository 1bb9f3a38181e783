import { parseInput, quoted, type Warning } from '../../../core/problem.ts';
import { maxModelAliases, ModelAlias, ModelAliasName } from '../../../core/model/model-alias.ts';
import { splitModelRef } from '../../../core/turn/agent.ts';
import type { CatalogContext } from '../context.ts';
import { builtinProvider } from '../../../storage/providers.ts';
import { findRow, requireCapacity } from './documents.ts';
import { checkNameInBody, type DocumentWriter } from './write-document.ts';

export const modelAliasWriter: DocumentWriter = {
  nameFault: (_context, name) => ModelAliasName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const alias = parseInput(ModelAlias, body);
    checkNameInBody(name, alias);
    if (previous === null) requireCapacity(context.sql, 'model-alias', maxModelAliases, 'model aliases');
    return { body: { ...alias, name }, warnings: [...shadowWarnings(context, name), ...targetWarnings(context, alias)] };
  },
};

/** Models of providers that do not exist are asked all the same, and fail. */
function targetWarnings(context: CatalogContext, alias: ModelAlias): Warning[] {
  const { targets = [], fallbacks = [], contextFallback } = alias;
  const models = [
    ...targets.map(({ model }, index) => ({ path: `targets[${index}].model`, model })),
    ...fallbacks.map((model, index) => ({ path: `fallbacks[${index}]`, model })),
    ...(contextFallback === undefined ? [] : [{ path: 'contextFallback', model: contextFallback }]),
  ];
  return models.flatMap(({ path, model }) => {
    const { provider } = splitModelRef(model);
    if (hasProvider(context, provider)) return [];
    return [{ path, message: `The provider ${quoted(provider)} does not exist yet. Until then, the other models get the requests.` }];
  });
}

function hasProvider({ sql, settings }: CatalogContext, name: string): boolean {
  return findRow(sql, 'provider', name) !== null || builtinProvider(settings, name) !== null;
}

/** A name such as `openai/gpt-4o` takes precedence over the provider's model. */
function shadowWarnings(context: CatalogContext, name: string): Warning[] {
  const [provider = '', model] = name.split('/', 2);
  if (model === undefined) return [];
  if (!hasProvider(context, provider)) return [];
  const message = `takes precedence over models of the provider ${quoted(provider)}, except in agents`;
  return [{ path: 'name', message }];
}
