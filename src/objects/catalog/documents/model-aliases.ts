/** Writes model aliases (`core/model/model-alias.ts`), and lists them for the read side. */
import { parseInput } from '../../../core/problem.ts';
import { maxModelAliases, ModelAlias, ModelAliasName, type NamedModel } from '../../../core/model/model-alias.ts';
import type { CatalogContext } from '../context.ts';
import { allRows, requireCapacity } from './documents.ts';
import { checkNameInBody, type DocumentWriter } from './write-document.ts';

export const modelAliasWriter: DocumentWriter = {
  nameFault: (_context, name) => ModelAliasName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const alias = parseInput(ModelAlias, body);
    checkNameInBody(name, alias);
    if (previous === null) requireCapacity(context.sql, 'model-alias', maxModelAliases, 'model aliases');
    return { body: { ...alias, name } };
  },
};

export function listModelAliases(context: CatalogContext): NamedModel[] {
  // Bodies were parsed by the schema when they were written.
  return allRows(context.sql, 'model-alias').map(({ name, body }) => ({ name, model: String(body.model) }));
}
