/**
 * Each member of the objects of an OpenAPI document, from the tables of fixed fields of OpenAPI 3.0.4, 3.1.1, 3.2.0 and Swagger 2.0: what is
 * not used is reported with its path, and what is used is not.
 */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json/wire-value.ts';
import { documentOf, imported } from './documents.ts';

/** A member that is reported: its value, and a part of the message. */
type Lost = [value: unknown, words: string];
type Row = {
  object: string;
  /** A document with these members in the object, and the path of the object in warnings. */
  place(members: Json): { document: Json; path: string };
  /** Of the specifications; each with a value that is not empty. */
  used: Json;
  lost: Record<string, Lost>;
};

const schema = { type: 'string' };
const body = (media: Json, type = 'application/json'): Json => ({ requestBody: { content: { [type]: media } } });
const inPost = (operation: Json, more: Json = {}): Json =>
  documentOf({ '/things/{id}': { post: { parameters: [{ name: 'id', in: 'path', required: true, schema }], ...operation } } }, more);
const post = 'paths./things/{id}.post';
const inSchema = (members: Json): Json => inPost(body({ schema: { type: 'object', properties: { a: members } } }));

const swaggerOf = (operation: Json, more: Json = {}): Json => ({
  ...{ swagger: '2.0', info: { title: 'T', version: '1' }, host: 'a.example', schemes: ['https'] },
  ...{ paths: { '/things': { post: operation } }, ...more },
});
const postThings = 'paths./things.post';

const rows: Row[] = [
  {
    object: 'OpenAPI',
    place: (members) => ({ document: inPost({}, members), path: '' }),
    used: {
      ...{ openapi: '3.2.0', info: { title: 'T', version: '1' }, servers: [{ url: 'https://a.example' }], tags: [{ name: 't' }] },
      ...{
        components: { schemas: {} },
        externalDocs: { url: 'https://a.example' },
        jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
      },
    },
    lost: { webhooks: [{ a: {} }, 'are skipped'], $self: ['https://b.example/openapi.json', 'the URL that the document was read from'] },
  },
  {
    object: 'Info',
    place: (members) => ({ document: inPost({}, { info: members }), path: 'info' }),
    used: {
      title: 'T',
      summary: 'S',
      description: 'D',
      termsOfService: 'https://a.example',
      version: '1',
      contact: { name: 'N', url: 'U', email: 'E' },
      license: { name: 'N', identifier: 'I', url: 'U' },
    },
    lost: {},
  },
  {
    object: 'Server',
    place: (members) => ({ document: inPost({}, { servers: [{ url: 'https://a.example', ...members }] }), path: 'servers[0]' }),
    used: { url: 'https://a.example/v1', description: 'D', name: 'production' },
    lost: {},
  },
  {
    object: 'Path Item',
    place: (members) => ({ document: documentOf({ '/a': members }), path: 'paths./a' }),
    used: {
      ...{ summary: 'S', description: 'D', get: {}, put: {}, post: {}, delete: {}, options: {}, head: {}, patch: {} },
      ...{ servers: [{ url: 'https://b.example' }], parameters: [{ name: 'q', in: 'query', schema }] },
    },
    lost: {
      trace: [{}, 'TRACE requests cannot be sent'],
      query: [{}, 'QUERY requests cannot be sent'],
      additionalOperations: [{ COPY: {} }, 'COPY requests cannot be sent'],
    },
  },
  {
    object: 'Operation',
    place: (members) => ({ document: inPost(members), path: post }),
    used: {
      ...{
        tags: ['t'],
        summary: 'S',
        description: 'D',
        externalDocs: { url: 'U' },
        operationId: 'do',
        responses: { 204: { description: 'D' } },
      },
      ...{ deprecated: true, security: [{}], servers: [{ url: 'https://b.example' }], ...body({ schema }) },
      parameters: [{ name: 'id', in: 'path', required: true, schema }],
    },
    lost: { callbacks: [{ onDone: {} }, 'requests that the API sends later are not received'] },
  },
  {
    object: 'Parameter',
    place: (members) => ({ document: inPost({ parameters: [{ name: 'q', in: 'query', ...members }] }), path: `${post}.parameters.q` }),
    used: {
      ...{
        name: 'q',
        in: 'query',
        description: 'D',
        required: true,
        deprecated: true,
        allowEmptyValue: true,
        style: 'deepObject',
        explode: true,
      },
      ...{ schema, example: 'e', examples: { e: { value: 'e' } } },
    },
    lost: { allowReserved: [true, 'reserved characters are percent-encoded'] },
  },
  {
    object: 'Parameter with content',
    place: (members) => ({
      document: inPost({ parameters: [{ name: 'q', in: 'query', content: { 'application/json': members } }] }),
      path: `${post}.parameters.q.content`,
    }),
    used: { schema, example: 'e', examples: { e: {} } },
    lost: {},
  },
  {
    object: 'Request Body',
    place: (members) => ({
      document: inPost({ requestBody: { ...(body({ schema }).requestBody as Json), ...members } }),
      path: `${post}.requestBody`,
    }),
    used: { description: 'D', content: { 'application/json': { schema } }, required: true },
    lost: {},
  },
  {
    object: 'Media Type',
    place: (members) => ({ document: inPost(body(members)), path: `${post}.requestBody.content.application/json` }),
    used: { schema, example: 'e', examples: { e: {} }, encoding: { a: { contentType: 'text/plain' } } },
    lost: {
      itemSchema: [schema, 'as one value'],
      prefixEncoding: [[{}], 'as one value'],
      itemEncoding: [{ style: 'form' }, 'as one value'],
    },
  },
  {
    object: 'Encoding',
    place: (members) => ({
      document: inPost(body({ schema: { type: 'object', properties: { a: {} } }, encoding: { a: members } }, 'multipart/form-data')),
      path: `${post}.requestBody.content.multipart/form-data.encoding.a`,
    }),
    used: { contentType: 'text/csv', style: 'form', explode: true },
    lost: {
      headers: [{ 'X-Part': {} }, 'are not sent with the part'],
      allowReserved: [true, 'percent-encoded'],
      encoding: [{ b: {} }, 'as one value'],
      prefixEncoding: [[{}], 'as one value'],
      itemEncoding: [{ style: 'form' }, 'as one value'],
    },
  },
  {
    object: 'Response',
    place: (members) => ({ document: inPost({ responses: { 200: members } }), path: `${post}.responses.200` }),
    used: { summary: 'S', description: 'D', headers: { 'X-A': {} }, content: { 'application/json': { schema } }, links: { a: {} } },
    lost: {},
  },
  {
    object: 'Components',
    place: (members) => ({ document: inPost({ security: [{}] }, { components: members }), path: 'components' }),
    used: Object.fromEntries(
      [
        ...['schemas', 'responses', 'parameters', 'examples', 'requestBodies', 'headers', 'securitySchemes', 'links', 'callbacks'],
        ...['pathItems', 'mediaTypes'],
      ].map((name) => [name, { a: {} }]),
    ),
    lost: {},
  },
  {
    object: 'Security Scheme',
    place: (members) => ({
      document: inPost({ security: [{}] }, { components: { securitySchemes: { a: members } } }),
      path: 'components.securitySchemes.a',
    }),
    used: {
      ...{ type: 'oauth2', description: 'D', name: 'N', in: 'header', scheme: 'bearer', bearerFormat: 'JWT', openIdConnectUrl: 'U' },
      ...{ oauth2MetadataUrl: 'U', deprecated: true },
      flows: Object.fromEntries(
        ['implicit', 'password', 'clientCredentials', 'authorizationCode', 'deviceAuthorization'].map((flow) => [
          flow,
          { authorizationUrl: 'U', deviceAuthorizationUrl: 'U', tokenUrl: 'U', refreshUrl: 'U', scopes: { a: 'A' } },
        ]),
      ),
    },
    lost: {},
  },
  {
    object: 'Reference',
    place: (members) => ({
      document: inPost(
        { requestBody: { $ref: '#/components/requestBodies/A', ...members } },
        { components: { requestBodies: { A: { content: { 'application/json': { schema } } } } } },
      ),
      path: `${post}.requestBody`,
    }),
    used: { summary: 'S', description: 'D' },
    lost: {},
  },
  {
    object: 'Schema',
    place: (members) => ({ document: inSchema(members), path: `${post}.a` }),
    used: {
      ...{
        title: 'T',
        description: 'D',
        default: 'a',
        example: 'a',
        examples: ['a'],
        deprecated: true,
        writeOnly: true,
        externalDocs: { url: 'U' },
      },
      ...{
        xml: { name: 'x' },
        nullable: true,
        type: 'string',
        enum: ['a'],
        format: 'date',
        pattern: 'a',
        minLength: 1,
        maxLength: 2,
        const: 'a',
      },
      ...{ multipleOf: 1, minimum: 1, maximum: 2, exclusiveMinimum: 0, exclusiveMaximum: 3, minItems: 1, maxItems: 2, uniqueItems: true },
      ...{ minContains: 1, maxContains: 2, minProperties: 1, maxProperties: 2, required: ['b'], dependentRequired: { b: ['c'] } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      ...{ allOf: [{}], anyOf: [{}], oneOf: [{}], not: { type: 'null' }, if: {}, then: {}, else: {}, dependentSchemas: { b: {} } },
      ...{ prefixItems: [{}], items: {}, contains: {}, properties: { b: {} }, patternProperties: { '^c': {} }, additionalProperties: true },
      ...{
        propertyNames: {},
        unevaluatedItems: true,
        unevaluatedProperties: true,
        contentEncoding: 'base64',
        contentMediaType: 'image/png',
      },
      ...{
        contentSchema: {},
        $comment: 'C',
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $anchor: 'a',
        $dynamicAnchor: 'b',
        $defs: { d: {} },
      },
    },
    lost: {
      $id: ['https://a.example/a', 'references are resolved from the root of the document'],
      $dynamicRef: ['#a', 'any value is accepted'],
      discriminator: [{ propertyName: 'kind' }, 'list the schemas that extend this one in oneOf'],
    },
  },
  {
    object: 'Swagger 2.0',
    place: (members) => ({ document: swaggerOf({}, members), path: '' }),
    used: {
      ...{
        swagger: '2.0',
        info: { title: 'T', version: '1' },
        host: 'b.example',
        basePath: '/v1',
        schemes: ['http', 'https'],
        consumes: ['a/b'],
      },
      ...{ produces: ['a/b'], definitions: { a: {} }, parameters: { a: {} }, responses: { a: {} }, security: [{}], tags: [{ name: 't' }] },
      ...{ externalDocs: { url: 'U' }, paths: {}, securityDefinitions: { a: { type: 'basic' } } },
    },
    lost: { schemes: [['ws'], 'ws cannot be used'] },
  },
  {
    object: 'Operation of Swagger 2.0',
    place: (members) => ({ document: swaggerOf(members), path: postThings }),
    used: {
      ...{ tags: ['t'], summary: 'S', description: 'D', externalDocs: { url: 'U' }, operationId: 'do', consumes: ['application/json'] },
      ...{ produces: ['a/b'], parameters: [{ name: 'q', in: 'query', type: 'string' }], responses: { 200: {} }, schemes: ['http'] },
      ...{ deprecated: true, security: [{}] },
    },
    lost: { schemes: [['wss'], 'wss cannot be used'] },
  },
  {
    object: 'Parameter of Swagger 2.0',
    place: (members) => ({
      document: swaggerOf({ parameters: [{ name: 'q', in: 'query', type: 'array', items: { type: 'string' }, ...members }] }),
      path: `${postThings}.parameters.q`,
    }),
    used: {
      ...{ name: 'q', in: 'query', description: 'D', required: true, type: 'string', format: 'date', allowEmptyValue: true, default: 'a' },
      ...{ items: { type: 'string', collectionFormat: 'csv' }, collectionFormat: 'multi', maximum: 1, exclusiveMaximum: true, minimum: 0 },
      ...{
        exclusiveMinimum: true,
        maxLength: 1,
        minLength: 1,
        pattern: 'a',
        maxItems: 1,
        minItems: 1,
        uniqueItems: true,
        enum: ['a'],
        multipleOf: 1,
      },
    },
    lost: { collectionFormat: ['tsv', 'values are joined with commas'] },
  },
  {
    object: 'Security Scheme of Swagger 2.0',
    place: (members) => ({
      document: swaggerOf({}, { security: [{}], securityDefinitions: { a: { type: 'oauth2', ...members } } }),
      path: 'components.securitySchemes.a',
    }),
    used: {
      type: 'apiKey',
      description: 'D',
      name: 'N',
      in: 'header',
      flow: 'application',
      authorizationUrl: 'U',
      tokenUrl: 'U',
      scopes: { a: 'A' },
    },
    lost: {},
  },
];

describe.each(rows)('$object', ({ place, used, lost }) => {
  const reported = (members: Json) => {
    const { document, path } = place(members);
    const at = (member: string): string => (path === '' ? member : `${path}.${member}`);
    return { warnings: imported(document).warnings, at };
  };

  it.each(Object.entries(used))('uses %s', (member, value) => {
    const { warnings, at } = reported({ [member]: value });
    expect(warnings.filter(({ path }) => path === at(member) || path.startsWith(`${at(member)}.`))).toEqual([]);
  });

  it.each([...Object.entries(lost), ['unknownMember', [true, 'ignored']] as const])(
    'reports %s with its path',
    (member, [value, words]) => {
      const { warnings, at } = reported({ [member]: value });
      expect(warnings).toContainEqual({ path: at(member), message: expect.stringContaining(words) });
    },
  );

  it('has extensions, which are not reported', () => {
    const { warnings } = reported({ 'x-anything': { a: 1 } });
    expect(warnings.filter(({ path, message }) => path.includes('x-anything') || message.includes('ignored'))).toEqual([]);
  });
});
