import { expect, it } from 'vitest';
import { createDocumentCheck } from './document-check.ts';

const Thing = { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer' } }, required: ['name'] };
const check = createDocumentCheck({
  paths: {
    '/things/{thing}': {
      get: {
        operationId: 'getThing',
        responses: {
          200: { headers: { etag: {} }, content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
        },
      },
    },
  },
  components: { schemas: { Thing } },
});
const json = { 'content-type': 'application/json' };
const differences = (body: unknown, status = 200, headers: Record<string, string> = json): string[] => {
  const operation = check.find('GET', '/things/a');
  if (operation === null) throw new Error('The path is in the document.');
  return check.differences(operation, new Response(null, { status, headers }), JSON.stringify(body));
};

it('accepts a response that is as documented', () => {
  expect(differences({ name: 'a', size: 1 })).toEqual([]);
  expect(differences({ name: 'a' }, 200, { ...json, etag: '"1"' })).toEqual([]);
});

it.each([
  ['an undocumented status', { name: 'a' }, 201, json, 'status 201'],
  ['an undocumented header', { name: 'a' }, 200, { ...json, 'x-other': '1' }, 'x-other'],
  ['an undocumented content type', { name: 'a' }, 200, { 'content-type': 'text/plain' }, 'text/plain'],
  ['a missing field', { size: 1 }, 200, json, 'name'],
  ['a field of another type', { name: 1 }, 200, json, '/name'],
  ['an undocumented field', { name: 'a', colour: 'red' }, 200, json, 'colour'],
])('reports %s', (_what, body, status, headers, part) => {
  expect(differences(body, status, headers)).toEqual([expect.stringContaining(part)]);
});

it('does not know other paths and methods', () => {
  expect([check.find('PUT', '/things/a'), check.find('GET', '/things/a/b')]).toEqual([null, null]);
});
