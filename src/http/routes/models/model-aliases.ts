/** `/v1/model-aliases`: further names of models and agents, for clients whose model names are fixed. */
import * as z from 'zod';
import { ModelAlias, ModelAliasName } from '../../../core/model/model-alias.ts';
import { documentRoutes } from '../../document-routes.ts';

const ModelAliasView = z.object({ ...ModelAlias.shape, name: ModelAliasName }).meta({ id: 'ModelAliasView' });

export const modelAliasRoutes = [
  ...documentRoutes({
    kind: 'model-alias',
    noun: 'alias',
    words: { one: 'model alias', many: 'model aliases', path: 'model-aliases', id: 'ModelAlias', ids: 'ModelAliases' },
    tag: 'Providers',
    scopes: ['admin'],
    name: ModelAliasName,
    body: ModelAlias,
    view: ModelAliasView,
  }),
];
