import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importOpenApi } from '../../../src/core/openapi/import.ts';

const petstore = JSON.parse(readFileSync(join(import.meta.dirname, '../import/samples/swagger.json'), 'utf8')) as Record<string, unknown>;

it('gives the operations of a Swagger document, with bodies, forms and shared parameters', () => {
  const { tools, operations, warnings } = importOpenApi(petstore, { documentUrl: '' });
  expect(warnings).toEqual([{ path: 'components.securitySchemes', message: expect.stringContaining('Basic <base64 of user:password>') }]);
  expect(Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))).toMatchObject({
    addPet: { properties: { name: { type: 'string' } }, required: ['name'] },
    findPetsByStatus: { properties: { status: { type: 'array', items: { enum: ['available', 'sold'] } } }, required: ['status'] },
    uploadFile: { properties: { petId: { type: 'integer' }, note: { type: 'string' }, file: {} } },
    images: { properties: { limit: { maximum: 50 }, petId: {} } },
  });
  expect(operations.addPet).toMatchObject({ method: 'POST', path: '/pet', baseUrl: 'https://petstore.example.com/v2' });
  expect(JSON.stringify(operations.findPetsByStatus)).toContain('"explode":true');
});

it('joins lists as their collectionFormat says, also in forms, and calls an operation over the scheme of its own', () => {
  const list = (name: string, place: string, collectionFormat?: string) => ({
    name,
    in: place,
    type: 'array',
    items: { type: 'string' },
    ...(collectionFormat && { collectionFormat }),
  });
  const parameters = [list('a', 'query'), list('b', 'query', 'multi'), list('c', 'query', 'pipes'), list('d', 'header', 'ssv')];
  const form = [list('e', 'formData'), list('f', 'formData', 'multi'), list('g', 'formData', 'ssv')];
  const put = { operationId: 'put', schemes: ['http'], parameters: [...parameters, ...form] };
  const { operations, warnings } = importOpenApi(
    { swagger: '2.0', host: 'a.example', schemes: ['https'], paths: { '/a': { put } } },
    { documentUrl: '' },
  );
  expect(operations.put).toMatchObject({
    baseUrl: 'http://a.example/',
    parameters: [
      { name: 'a', style: 'form', explode: false },
      { name: 'b', style: 'form', explode: true },
      { name: 'c', style: 'pipeDelimited', explode: false },
      { name: 'd', style: 'simple', explode: false },
    ],
    body: {
      contentType: 'application/x-www-form-urlencoded',
      styles: { e: { style: 'form', explode: false }, f: { style: 'form', explode: true }, g: { style: 'spaceDelimited', explode: false } },
    },
  });
  expect(warnings).toEqual([
    { path: 'paths./a.put.parameters.d.collectionFormat', message: '"ssv" cannot be written in header: values are joined with commas' },
  ]);
});

it('calls operations below the URL of a document without a host', () => {
  const { operations } = importOpenApi({ ...petstore, host: undefined }, { documentUrl: 'https://api.example.org/docs/swagger.json' });
  expect(operations.addPet).toMatchObject({ baseUrl: 'https://api.example.org/v2' });
});

it.each([
  {},
  { paths: null },
  { paths: { '/a': { get: { parameters: [{ $ref: '#/parameters/none' }, null, { in: 'body' }] } } } },
  { definitions: [] },
])('reads %j without an exception', (parts) => {
  expect(() => importOpenApi({ swagger: 2, host: 'a.example', ...parts }, { documentUrl: '' })).not.toThrow();
});
