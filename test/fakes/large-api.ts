/**
 * The document of a large API, generated in the shape of real ones: hundreds of operations over resources that refer to one another and to
 * themselves, shared parameters and responses, bodies that are merged from several.
 */
import type { Json } from '../../src/core/json/wire-value.ts';

/** Six operations per resource. */
export function largeApiDocument(resources: number, servers: readonly string[] = ['https://api.example.com/v1']): Json {
  const names = Array.from({ length: resources }, (_, index) => `resource${index}`);
  return {
    openapi: '3.0.3',
    info: { title: 'A large API', version: '1.0.0', description: 'x'.repeat(500) },
    servers: servers.map((url) => ({ url })),
    tags: names.map((name) => ({ name })),
    paths: Object.fromEntries(names.flatMap((name, index) => pathsOf(name, index))),
    components: {
      parameters: {
        Page: { name: 'page', in: 'query', description: 'Which page.', schema: { type: 'integer', default: 1, minimum: 1 } },
        Labels: { name: 'labels', in: 'query', explode: false, schema: { type: 'array', items: { type: 'string' } } },
      },
      schemas: Object.fromEntries([['Fault', fault], ...names.flatMap((name, index) => schemasOf(name, index, resources))]),
      responses: { Fault: { description: 'It failed.', content: { 'application/json': { schema: ref('schemas/Fault') } } } },
    },
  };
}

const fault = { type: 'object', properties: { message: { type: 'string' }, code: { type: 'integer', nullable: true } } };

function ref(path: string): Json {
  return { $ref: `#/components/${path}` };
}

function json(schema: Json): Json {
  return { description: 'Fine.', content: { 'application/json': { schema } } };
}

function pathsOf(name: string, index: number): [string, Json][] {
  const operation = (verb: string, more: Json): Json => ({
    operationId: `${name}/${verb}`,
    tags: [name],
    summary: `${verb} ${name}`,
    description: `Does what ${verb} does to ${name}. ${'It takes some words to say so. '.repeat(5)}`,
    ...more,
    responses: { ...(more.responses as Json), default: ref('responses/Fault') },
  });
  const one = json(ref(`schemas/${name}`));
  const body = { required: true, content: { 'application/json': { schema: ref(`schemas/new-${name}`) } } };
  const id = { name: 'id', in: 'path', required: true, schema: { type: index % 2 === 0 ? 'string' : 'integer' } };
  return [
    [
      `/${name}`,
      {
        get: operation('list', {
          parameters: [ref('parameters/Page'), ref('parameters/Labels')],
          responses: { 200: json({ type: 'array', items: ref(`schemas/${name}`) }) },
        }),
        post: operation('create', { requestBody: body, responses: { 201: one } }),
      },
    ],
    [
      `/${name}/{id}`,
      {
        parameters: [id],
        get: operation('get', { responses: { 200: one } }),
        put: operation('replace', { requestBody: body, responses: { 200: one } }),
        patch: operation('update', {
          requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
          responses: { 200: one },
        }),
        delete: operation('remove', { responses: { 204: { description: 'Gone.' } } }),
      },
    ],
  ];
}

function schemasOf(name: string, index: number, resources: number): [string, Json][] {
  const text = { type: 'string', description: 'Some text of it. '.repeat(4), example: 'text' };
  const base = {
    type: 'object',
    required: ['title'],
    properties: { id: { type: 'string', readOnly: true }, title: text, note: { ...text, nullable: true } },
  };
  const links = {
    type: 'object',
    properties: {
      parent: ref(`schemas/new-${name}`),
      related: { type: 'array', items: ref(`schemas/resource${(index + 1) % resources}`) },
      kind: { type: 'string', enum: ['a', 'b', 'c'] },
    },
  };
  return [
    [`base-${name}`, base],
    [`new-${name}`, { allOf: [ref(`schemas/base-${name}`), links] }],
    [name, { type: 'object', required: ['id'], properties: { id: { type: 'string' }, self: ref(`schemas/${name}`), title: text } }],
  ];
}
