/** Writes model aliases (`core/model/model-alias.ts`), and lists them for the read side. */
import type { CachePolicy } from '../../../core/model/cache-policy.ts';
import { parseInput, quoted, type Warning } from '../../../core/problem.ts';
import { maxModelAliases, ModelAlias, ModelAliasName, type NamedModel } from '../../../core/model/model-alias.ts';
import type { CatalogContext } from '../context.ts';
import { builtinProvider } from '../../../storage/providers.ts';
import { allRows, findRow, requireCapacity } from './documents.ts';
import { checkNameInBody, type DocumentWriter } from './write-document.ts';

export const modelAliasWriter: DocumentWriter = {
  nameFault: (_context, name) => ModelAliasName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const alias = parseInput(ModelAlias, body);
    checkNameInBody(name, alias);
    if (previous === null) requireCapacity(context.sql, 'model-alias', maxModelAliases, 'model aliases');
    return { body: { ...alias, name }, warnings: shadowWarnings(context, name) };
  },
};

/** A name such as `openai/gpt-4o` takes precedence over the provider's model. */
function shadowWarnings(context: CatalogContext, name: string): Warning[] {
  const [provider = '', model] = name.split('/', 2);
  if (model === undefined) return [];
  if (findRow(context.sql, 'provider', provider) === null && builtinProvider(context.settings, provider) === null) return [];
  const message = `takes precedence over models of the provider ${quoted(provider)}, except in agents`;
  return [{ path: 'name', message }];
}

export function listModelAliases(context: CatalogContext): NamedModel[] {
  // Bodies were parsed by the schema when they were written.
  return allRows(context.sql, 'model-alias').map(({ name, body }) => ({
    ...{ name, model: String(body.model) },
    ...(body.cache !== undefined && { cache: body.cache as CachePolicy }),
  }));
}
