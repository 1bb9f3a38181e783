/** `/v1/secrets`: values that tools and providers can use, and that cannot be read back. */
import * as z from 'zod';
import { parseInput } from '../../../core/problem.ts';
import { Secret, SecretName } from '../../../core/secrets/secret.ts';
import { documentRoutes } from '../../document-routes.ts';

const Binding = z.object({ hosts: Secret.shape.hosts, tools: Secret.shape.tools });
const SecretView = Binding.extend({ name: SecretName, createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() }).meta({
  id: 'SecretView',
  description: 'A secret without its value.',
});

export const secretRoutes = [
  ...documentRoutes({
    kind: 'secret',
    noun: 'secret',
    tag: 'Secrets',
    scopes: ['admin'],
    name: SecretName,
    body: Secret,
    view: SecretView,
    // Only fields that may be shown, so that no value can leak, whatever the store returns.
    toView: ({ name, body, createdAt, updatedAt }) => ({ name, ...parseInput(Binding, body), createdAt, updatedAt }),
  }),
];
