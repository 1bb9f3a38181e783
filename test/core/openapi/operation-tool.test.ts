/** The arguments of an operation as one schema, and where each argument is sent. */
import { describe, expect, it } from 'vitest';
import { documentOf, imported, jsonBody, toolFrom } from './documents.ts';

describe('parameters', () => {
  it('become arguments with their descriptions, in the order of their locations', () => {
    const { schema, operation } = toolFrom(
      {
        parameters: [
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          {
            name: 'tags',
            in: 'query',
            description: 'Any of them.',
            required: true,
            style: 'pipeDelimited',
            explode: false,
            schema: { type: 'array', items: { type: 'string' } },
          },
          { name: 'session', in: 'cookie', schema: { type: 'string' } },
          { name: 'filter', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
        ],
      },
      { path: '/things/{id}', method: 'get' },
    );
    expect(schema).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' }, description: 'Any of them.' },
        filter: { type: 'object' },
        'X-Trace': { type: 'string' },
        session: { type: 'string' },
      },
      required: ['id', 'tags'],
      additionalProperties: false,
    });
    expect(operation.parameters).toEqual([
      { argument: 'id', name: 'id', in: 'path', style: 'simple', explode: false },
      { argument: 'tags', name: 'tags', in: 'query', style: 'pipeDelimited', explode: false },
      { argument: 'filter', name: 'filter', in: 'query', style: 'form', explode: true, isJson: true },
      { argument: 'X-Trace', name: 'X-Trace', in: 'header', style: 'simple', explode: false },
      { argument: 'session', name: 'session', in: 'cookie', style: 'form', explode: true },
    ]);
  });

  it('that cannot be sent as described are reported', () => {
    const { schema, warnings } = toolFrom(
      {
        parameters: [
          { name: 'other', in: 'path', required: true },
          { name: 'all', in: 'querystring', content: { 'application/json': {} } },
          { name: 'a', in: 'query', style: 'matrix' },
          { name: 'b', in: 'query', content: { 'application/xml': { schema: { type: 'object' } }, 'text/plain': {} } },
          { name: 'c d', in: 'cookie' },
          { name: 'User-Agent', in: 'header' },
          { $ref: '#/components/parameters/E', description: 'Mine.' },
        ],
      },
      { path: '/things/{id}', components: { parameters: { E: { name: 'e', in: 'query', description: 'Theirs.', deprecated: true } } } },
    );
    expect(schema.properties).toEqual({
      id: { type: 'string' },
      a: {},
      b: { type: 'string' },
      e: { description: 'Mine.', deprecated: true },
    });
    const at = 'paths./things/{id}.post.parameters';
    expect(warnings.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      `${at}: has a parameter with \`in\` "querystring"; skipped`,
      `${at}.a.style: "matrix" is not a style for in: query; form is used`,
      `${at}.b.content: has several types; "application/xml" is used`,
      `${at}.b.content: is sent as text, which the caller writes as "application/xml"`,
      `${at}.c d: is skipped: its name is not valid in a cookie`,
      expect.stringContaining(`${at}.User-Agent: is no argument: this header is set for each call.`),
      `${at}.other: is skipped: the path does not contain it`,
    ]);
  });

  it('of the operation override those of its path, and need no schema', () => {
    const path = {
      parameters: [
        { name: 'a', in: 'query', required: true },
        { name: 'b', in: 'query', description: 'B.' },
      ],
    };
    const { tools } = imported(
      documentOf({ '/x': { ...path, get: { parameters: [{ name: 'a', in: 'query', schema: { type: 'integer' } }] } } }),
    );
    expect(tools[0]?.inputSchema).toEqual({
      type: 'object',
      properties: { a: { type: 'integer' }, b: { description: 'B.' } },
      additionalProperties: false,
    });
  });

  it('get legal names if theirs are invalid or taken', () => {
    const { schema, operation } = toolFrom(
      {
        parameters: [
          ...['filter[name]', 'filter-name', 'id', 'x'.repeat(80), '☃', '☂'].map((name) => ({ name, in: 'query' })),
          { name: 'id', in: 'header' },
        ],
        ...jsonBody({ type: 'object', properties: { id: { type: 'integer' }, body: { type: 'string' }, 'a b': {} }, required: ['id'] }),
      },
      { path: '/things/{id}' },
    );
    const names = Object.keys(schema.properties);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(names).toEqual(expect.arrayContaining(['id', 'filter_name', 'filter-name', 'query_id', 'header_id', 'body_id', 'body', 'a_b']));
    expect(names).toHaveLength(11);
    expect(schema.required).toEqual(['id', 'body_id']);
    expect(operation.body?.members).toEqual({ id: 'body_id', body: 'body', 'a b': 'a_b' });
  });

  it('are skipped if they belong to the connection, the service, or the server’s document', () => {
    const header = (name: string) => ({ name, in: 'header', required: true, schema: { type: 'string' } });
    const operation = {
      parameters: ['Accept', 'content-type', 'Authorization', 'Idempotency-Key', 'Host', 'bad name', 'X-Api-Key', 'X-Other'].map(header),
    };
    const { tools } = imported(documentOf({ '/x': { get: operation } }), { headers: ['x-api-key'] });
    expect(Object.keys((tools[0]?.inputSchema as { properties: object } | undefined)?.properties ?? {})).toEqual(['X-Other']);
  });
});

describe('a body', () => {
  const components = {
    schemas: {
      Base: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'string', readOnly: true },
          kind: { $ref: '#/components/schemas/Kind' },
          made: { $ref: '#/components/schemas/Made' },
        },
      },
      Kind: { type: 'string', enum: ['a', 'b'] },
      Made: { type: 'string', readOnly: true },
    },
  };

  it('that is an object has its properties as arguments, except read-only ones', () => {
    const { schema, operation } = toolFrom(
      jsonBody({
        allOf: [
          { $ref: '#/components/schemas/Base' },
          { type: 'object', required: ['kind', 'name'], properties: { name: { type: 'string' } } },
        ],
      }),
      { components },
    );
    expect(schema).toEqual({
      type: 'object',
      properties: { kind: { $ref: '#/$defs/Kind' }, name: { type: 'string' } },
      required: ['kind', 'name'],
      $defs: { Kind: { type: 'string', enum: ['a', 'b'] } },
    });
    expect(operation.body).toEqual({
      contentType: 'application/json',
      argument: null,
      members: { kind: 'kind', name: 'name' },
      isRequired: true,
    });
  });

  it('keeps its additional properties', () => {
    const of = (additionalProperties: unknown) =>
      toolFrom(jsonBody({ type: 'object', properties: { a: {} }, additionalProperties }), { components }).schema.additionalProperties;
    expect([of(undefined), of(false), of(true), of({ $ref: '#/components/schemas/Kind' })]).toEqual([
      undefined,
      false,
      true,
      { $ref: '#/$defs/Kind' },
    ]);
  });

  it.each([
    ['a list', { type: 'array', items: { type: 'string' } }],
    ['alternatives', { oneOf: [{ type: 'object', properties: { a: {} } }, { type: 'string' }] }],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['rules over properties', { type: 'object', properties: { a: {} }, minProperties: 1 }],
    ['nothing described', {}],
  ])('of %s is one argument', (_what, body) => {
    const { schema, operation } = toolFrom(jsonBody(body), { components });
    expect(schema).toEqual({ type: 'object', properties: { body }, required: ['body'], additionalProperties: false });
    expect(operation.body).toEqual({ contentType: 'application/json', argument: 'body', isRequired: true });
  });

  it('that is optional requires no member, unless it is invalid without them', () => {
    const optional = (required?: string[]) =>
      toolFrom(jsonBody({ type: 'object', properties: { a: {} }, ...(required && { required }) }, { required: false }));
    expect([optional().schema.required, optional().operation.body?.isRequired]).toEqual([undefined, false]);
    expect([optional(['a']).schema.required, optional(['a']).operation.body?.isRequired]).toEqual([['a'], true]);
  });

  it('uses the best content type: JSON, then forms, text, bytes', () => {
    const of = (...types: string[]) => {
      const content = Object.fromEntries(
        types.map((type) => [type, { schema: { type: 'object', properties: { a: { type: 'string' } } } }]),
      );
      const { operation, schema } = toolFrom({ requestBody: { content } });
      return [operation.body?.contentType, Object.keys(schema.properties).join()];
    };
    expect(of('text/plain', 'application/vnd.api+json', 'application/json; charset=utf-8')).toEqual(['application/json', 'a']);
    expect(of('multipart/form-data', 'application/x-www-form-urlencoded')).toEqual(['application/x-www-form-urlencoded', 'a']);
    expect(of('*/*')).toEqual(['application/json', 'a']);
    expect(of('application/xml', 'application/octet-stream')).toEqual(['application/xml', 'body']);
    expect(of('image/*')).toEqual(['application/octet-stream', 'body']);
    expect(of('no type', 'bad/ty pe')).toEqual([undefined, '']);
  });

  it('as a form marks file members, and how others are encoded', () => {
    const properties = {
      note: { type: 'string' },
      photo: { type: 'string', format: 'binary', description: 'A photo.' },
      more: { type: 'array', items: { type: 'string', contentMediaType: 'image/png' } },
    };
    const form = toolFrom({ requestBody: { content: { 'multipart/form-data': { schema: { type: 'object', properties } } } } });
    expect(form.schema.properties).toMatchObject({
      photo: { type: 'string', contentEncoding: 'base64', description: 'A photo. (The file’s bytes, in base64.)' },
      more: { type: 'array', items: { type: 'string', contentEncoding: 'base64' } },
    });
    expect(form.operation.body).toMatchObject({ contentType: 'multipart/form-data', files: ['photo', 'more'] });
    const encoding = { a: { style: 'pipeDelimited', explode: false }, b: { contentType: 'text/plain' } };
    const coded = toolFrom({
      requestBody: {
        content: { 'application/x-www-form-urlencoded': { encoding, schema: { type: 'object', properties: { a: {}, b: {} } } } },
      },
    });
    expect(coded.operation.body?.styles).toEqual({ a: { style: 'pipeDelimited', explode: false } });
  });

  it('reports content types with another schema, those that it cannot send, and texts whose schema is not shown', () => {
    const object = { type: 'object', properties: { a: {} } };
    const of = (content: object) => toolFrom({ requestBody: { content } }).warnings.map(({ path, message }) => `${path}: ${message}`);
    const at = 'paths./things.post.requestBody.content';
    expect(of({ 'application/json': { schema: object }, 'application/x-www-form-urlencoded': { schema: object } })).toEqual([]);
    expect(
      of({ 'application/json': { schema: object }, 'multipart/form-data': { schema: { type: 'object', properties: { file: {} } } } }),
    ).toEqual([`${at}.multipart/form-data: is not used, although its schema differs: the body is sent as application/json`]);
    expect(of({ 'application/json': {}, 'no type': {} })).toEqual([`${at}: "no type" is not a content type that can be sent; skipped`]);
    expect(of({ 'multipart/mixed': { schema: object } })).toEqual([`${at}.multipart/mixed: is sent as multipart/form-data`]);
    expect(of({ 'application/xml': { schema: object } })).toEqual([
      `${at}.application/xml: its schema is not shown: the caller writes the body as text`,
    ]);
  });

  it('whose schema others extend reports that these are not shown', () => {
    const { warnings } = toolFrom(jsonBody({ type: 'object', properties: { kind: {} }, discriminator: { propertyName: 'kind' } }));
    expect(warnings).toEqual([{ path: 'paths./things.post.requestBody.discriminator', message: expect.stringContaining('oneOf') }]);
  });

  it('beside whose reference are other keywords is one argument, so that they apply', () => {
    const written = { $ref: '#/components/schemas/Base', required: ['kind'] };
    expect(toolFrom(jsonBody(written), { components }).schema.properties).toEqual({ body: { $ref: '#/$defs/Base', required: ['kind'] } });
    const old = toolFrom(jsonBody(written), { components, openapi: '3.0.3' });
    expect(Object.keys(old.schema.properties)).toEqual(['kind']);
    expect(old.warnings).toEqual([
      { path: 'paths./things.post.requestBody', message: 'keywords beside $ref are ignored, as OpenAPI 3.0 requires' },
    ]);
  });

  it('never belongs to a GET, which is reported', () => {
    const { operation, warnings } = toolFrom(jsonBody({ type: 'object', properties: { a: {} } }), { method: 'get' });
    expect(operation.body).toBeNull();
    expect(warnings).toEqual([{ path: 'paths./things.get.requestBody', message: 'is skipped: a GET request cannot have a body' }]);
  });
});

describe('an OpenAPI 3.0 schema', () => {
  const read = (schema: object) =>
    toolFrom(jsonBody({ type: 'object', properties: { a: schema } }), {
      openapi: '3.0.3',
      components: { schemas: { A: { type: 'string' } } },
    }).schema.properties.a;

  it.each([
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      { type: 'string', nullable: true, enum: ['x'] },
      { type: ['string', 'null'], enum: ['x', null] },
    ],
    [
      { $ref: '#/components/schemas/A', nullable: true, description: 'D', type: 'integer' },
      { description: 'D', anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] },
    ],
    [{ allOf: [{ $ref: '#/components/schemas/A' }], nullable: true }, { anyOf: [{ allOf: [{ $ref: '#/$defs/A' }] }, { type: 'null' }] }],
    [
      { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { type: 'integer', exclusiveMinimum: 1, maximum: 9 },
    ],
    [
      { type: 'string', example: 'e', xml: {}, externalDocs: {}, discriminator: {}, 'x-a': 1, 'x-mcp-header': 'Host', readOnly: false },
      { type: 'string', examples: ['e'] },
    ],
    [{ type: 'string', required: true }, { type: 'string' }],
    [{ type: 'object', example: { a: 'x'.repeat(600) }, default: [[[[[[[[[1]]]]]]]]] }, { type: 'object' }],
  ])('%j becomes %j', (written, told) => {
    expect(read(written)).toEqual(told);
  });
});
