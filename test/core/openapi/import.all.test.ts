/** Importing OpenAPI documents as tools: selection, names, definitions, and faults of documents. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readListing } from '../../../src/core/listing/listing.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { isWireName } from '../../../src/core/names/names.ts';
import { evaluatePolicy } from '../../../src/core/policy/evaluate-policy.ts';
import { callEffect } from '../../../src/core/policy/effects/call.ts';
import { isRepeatable, type EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { address, documentOf, imported, jsonBody, toolFrom } from './documents.ts';

const names = (document: unknown, request = {}) => imported(document, request).tools.map(({ name }) => name);

describe('the names of operations', () => {
  it('are their ids in legal form, or method and path', () => {
    const paths = {
      '/repos/{owner}': { get: { operationId: 'repos/get-by owner' }, delete: {} },
      '/a': { get: { operationId: '1st' }, put: { operationId: '__proto__' }, post: { operationId: 'x'.repeat(90) } },
    };
    const [get, remove, first, proto, long] = names(documentOf(paths));
    expect([get, remove]).toEqual(['repos_get-by_owner', 'delete_repos_owner']);
    for (const name of [first, proto, long]) expect(isWireName(name ?? '')).toBe(true);
    expect(long).toHaveLength(64);
  });

  it('that two operations share get a hash of method and path, however the ids are spelled', () => {
    const paths = {
      '/a': { get: { operationId: 'getUser' } },
      '/b': { get: { operationId: 'get_user' } },
      '/c': { get: { operationId: 'other' } },
    };
    const [a, b, c] = names(documentOf(paths));
    expect(a).toMatch(/^getUser_[0-9a-f]{10}$/);
    expect(b).toMatch(/^get_user_[0-9a-f]{10}$/);
    expect(c).toBe('other');
  });

  it('are legal, unique and the same in any order, with or without include', () => {
    const operation = fc.record({
      path: fc.stringMatching(/^\/[a-z{}/-]{0,12}$/),
      id: fc.option(fc.string({ maxLength: 80 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(operation, { selector: ({ path }) => path, maxLength: 12 }), fc.nat(), (list, seed) => {
        const toDocument = (items: typeof list) =>
          documentOf(Object.fromEntries(items.map(({ path, id }) => [path, { get: { operationId: id } }])));
        const at = (items: typeof list, request = {}) =>
          new Map(Object.entries(imported(toDocument(items), request).operations).map(([name, { path }]) => [path, name]));
        const all = at(list);
        expect(new Set(all.values()).size).toBe(all.size);
        for (const name of all.values()) expect(isWireName(name)).toBe(true);
        const turned = [...list.slice(seed % Math.max(1, list.length)), ...list.slice(0, seed % Math.max(1, list.length))].reverse();
        expect(at(turned)).toEqual(all);
        for (const [path, name] of at(list, { include: ['GET /*a*'] })) expect(all.get(path)).toBe(name);
      }),
    );
  });
});

describe('the selection of operations', () => {
  const paths = {
    '/pets': { get: { operationId: 'listPets', tags: ['pets'] }, post: { operationId: 'add/pet', tags: ['pets', 'admin'] } },
    '/pets/{id}/toys': { get: { operationId: 'toys' } },
    '/shops': { get: { tags: ['shops'] } },
  };
  const take = (include?: string[], exclude?: string[]) => names(documentOf(paths), { include, exclude });

  it('is all, or what include names by tool, id, tag, or method and path', () => {
    expect(take()).toEqual(['listPets', 'add_pet', 'toys', 'get_shops']);
    expect(take(['add_pet'])).toEqual(['add_pet']);
    expect(take(['add/pet'])).toEqual(['add_pet']);
    expect(take(['tag:pets'])).toEqual(['listPets', 'add_pet']);
    expect(take(['get /pets'])).toEqual(['listPets']);
    expect(take(['GET /pets*'])).toEqual(['listPets', 'toys']);
    expect(take(['* /*s'])).toEqual(['listPets', 'add_pet', 'toys', 'get_shops']);
    expect(take(['GET /*{id}*s'])).toEqual(['toys']);
  });

  it('excludes what exclude names', () => {
    expect(take(['tag:pets'], ['tag:admin'])).toEqual(['listPets']);
    expect(take(undefined, ['GET *'])).toEqual(['add_pet']);
  });

  it('reports a pattern that matches nothing', () => {
    const { warnings } = imported(documentOf(paths), { include: ['tag:pets', 'tag:pests'], exclude: ['POST /shops'] });
    expect(warnings).toEqual([
      { path: 'include[1]', message: '"tag:pests" matches no operation of the document' },
      { path: 'exclude[0]', message: '"POST /shops" matches no operation of the document' },
    ]);
    expect(imported(documentOf(paths), { include: ['none'] }).warnings).toContainEqual({
      path: 'include',
      message: 'no operation is selected',
    });
  });

  it('is never larger than the limit of a server: include must select some', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`/a${index}`, { get: { tags: [`t${index % 100}`] } }]));
    expect(() => imported(documentOf(many))).toThrow(
      /has 10000 operations, .*at most 2000 tools\. List the operations you need in include/,
    );
    expect(names(documentOf(many), { include: ['tag:t7'] })).toHaveLength(100);
  });

  it('counts the bytes of its definitions, not their characters', () => {
    // Two bytes each: 12 million characters, 24 million bytes.
    const kind = { enum: Array.from({ length: 300 }, (_, index) => `${'é'.repeat(100)}${index}`) };
    const post = jsonBody({ type: 'object', properties: { kind } });
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`/a${index}`, { post }]));
    expect(() => imported(documentOf(many))).toThrow('produces definitions of more than');
  });
});

describe('a tool', () => {
  it('has its operation’s summary, and notes that it is deprecated', () => {
    const { tool } = toolFrom({ summary: 'Add a thing', description: 'To the list.', deprecated: true });
    expect(tool).toMatchObject({
      description: 'Deprecated.\n\nAdd a thing\n\nTo the list.',
      annotations: { title: 'Add a thing', openWorldHint: true },
    });
    expect(toolFrom({}).tool.description).toBe('POST /things');
    expect(toolFrom({ description: 'ä'.repeat(5_000) }).tool.description).toHaveLength(limits.maxOperationDescriptionBytes / 2);
  });

  it('has the hints of its method, and requires approval for DELETE even if the server is trusted', () => {
    const of = (method: string) => toolFrom({}, { method }).tool.annotations as EditionTool['annotations'];
    expect(of('get')).toEqual({ readOnlyHint: true, openWorldHint: true });
    expect(of('head')).toEqual({ readOnlyHint: true, openWorldHint: true });
    expect(of('put')).toEqual({ idempotentHint: true, openWorldHint: true });
    expect(of('patch')).toEqual({ openWorldHint: true });
    expect(of('delete')).toEqual({ destructiveHint: true, idempotentHint: true, openWorldHint: true });
    const asked = (method: string, trusted: boolean) => {
      const tool = { canonical: 'api.remove', ownName: 'remove', wireName: 'remove', kind: 'openapi', trusted, annotations: of(method) };
      const circumstances = { actor: { tool: tool.canonical, agent: null, key: 'k' }, taint: null };
      return evaluatePolicy([], callEffect(tool as unknown as EditionTool), circumstances).ask?.kind ?? null; // Only what is checked.
    };
    expect([asked('delete', true), asked('delete', false)]).toEqual(['destructive', 'untrusted']);
    expect([asked('get', true), asked('post', true), asked('post', false)]).toEqual([null, null, 'untrusted']);
    const safe = (method: string) =>
      [true, false].map((trusted) => isRepeatable({ ...(trusted && { trusted: true }), ...(of(method) && { annotations: of(method) }) }));
    expect(['get', 'head', 'put', 'delete', 'post', 'patch'].map((method) => safe(method)[0])).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(safe('get')[1]).toBe(false);
  });

  it('has an output schema if the result is one object, without enforcing it', () => {
    const schema = {
      type: 'object',
      required: ['id', 'owner'],
      additionalProperties: false,
      properties: { id: { type: 'integer' }, secret: { type: 'string', writeOnly: true }, owner: { $ref: '#/components/schemas/Owner' } },
    };
    const components = { schemas: { Owner: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } } };
    const answers = (responses: object) => toolFrom({ responses }, { components }).tool.outputSchema;
    const json = { content: { 'application/json': { schema } } };
    expect(answers({ 200: json, 404: {} })).toEqual({
      type: 'object',
      properties: { id: { type: 'integer' }, owner: { $ref: '#/$defs/Owner' } },
      $defs: { Owner: { type: 'object', properties: { name: { type: 'string' } } } },
    });
    expect(answers({ 200: json, 204: {} })).toBeUndefined();
    expect(answers({ 200: { content: { 'application/json': { schema: { type: 'array', items: schema } } } } })).toBeUndefined();
    expect(answers({ default: json })).toBeUndefined();
    const large = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, { type: 'string' }])),
    };
    expect(answers({ 200: { content: { 'application/json': { schema: large } } } })).toBeUndefined();
  });
});

describe('the base URL of operations', () => {
  const at = (operation: object, document: object, request = {}) => {
    const { operations } = imported(documentOf({ '/a': { get: operation } }, { ...document }), {
      documentUrl: 'https://docs.example.com/x/openapi.json',
      ...request,
    });
    return operations.get_a?.baseUrl;
  };

  it('is the nearest of servers, with variables at their defaults, relative to the document', () => {
    expect(at({}, {})).toBe(address);
    expect(at({ servers: [{ url: 'https://other.example.com' }] }, {})).toBe('https://other.example.com/');
    expect(at({}, { servers: [{ url: '../v2?x=1#y' }] })).toBe('https://docs.example.com/v2');
    expect(at({}, { servers: undefined })).toBe('https://docs.example.com/');
    expect(
      at(
        {},
        {
          servers: [
            {
              url: 'https://{region}.example.com:{port}/{base}',
              variables: { region: { default: 'eu' }, port: { enum: ['8443'] }, base: { default: 'v3' } },
            },
          ],
        },
      ),
    ).toBe('https://eu.example.com:8443/v3');
    expect(at({}, {}, { baseUrl: 'https://mine.example.com' })).toBeUndefined();
  });

  it('is reported if there is a choice, and if the server’s document has another one', () => {
    const servers = [
      { url: 'https://{region}.example.com', variables: { region: { default: 'eu', enum: ['eu', 'us'] } } },
      { url: 'https://sandbox.example.com' },
    ];
    const document = documentOf({ '/a': { get: {}, put: { servers: [{ url: 'https://other.example.com?x=1' }] } } }, { servers });
    expect(imported(document).warnings).toEqual([
      { path: 'servers[0].variables.region', message: expect.stringMatching(/^is "eu" instead of "us"\. Set baseUrl/) },
      { path: 'servers', message: expect.stringMatching(/the first of several; others: "https:\/\/sandbox\.example\.com"\. Set baseUrl/) },
      { path: 'paths./a.put.servers[0].url', message: 'is used without its query' },
    ]);
    expect(imported(document, { baseUrl: 'https://mine.example.com' }).warnings).toEqual([
      { path: 'paths./a.put.servers', message: expect.stringContaining('are not used') },
    ]);
  });

  it('must be an http URL without a password', () => {
    const refused =
      (url: string, documentUrl = '') =>
      () =>
        imported(documentOf({ '/a': { get: {} } }, { servers: [{ url }] }), { documentUrl });
    expect(refused('/v1')).toThrow(/"\/v1", which is not an absolute URL. Set baseUrl/);
    expect(refused('ftp://a.example')).toThrow(/only http and https/);
    expect(refused('https://u:p@a.example')).toThrow(/password/);
    expect(refused('https://{region}.example')).toThrow(/Set baseUrl/);
    expect(() => imported(documentOf({ '/a': { get: {} } }, { servers: undefined }))).toThrow(
      /does not say where its operations are called/,
    );
  });

  it('skips an operation with an invalid URL', () => {
    const { tools, warnings } = imported(documentOf({ '/a': { get: {}, put: { servers: [{ url: 'file:///etc' }] } } }));
    expect(tools.map(({ name }) => name)).toEqual(['get_a']);
    expect(warnings[0]).toMatchObject({ path: 'tools.put_a', message: expect.stringContaining('skipped') });
  });
});

describe('a document', () => {
  it('of another kind or version is rejected with a remedy', () => {
    expect(() => imported({ swagger: '1.2', paths: {} })).toThrow(/Swagger "1.2"; Swagger 2.0 and OpenAPI 3 are supported/);
    expect(() => imported({ openapi: '4.0.0' })).toThrow(/version "4.0.0", but only 3.0, 3.1 and 3.2 are supported/);
    for (const value of [null, [], 'text', 7, {}]) expect(() => imported(value)).toThrow(/The OpenAPI document/);
    expect(() => imported({ openapi: '3.1.0', paths: [] })).toThrow(/`paths` that are not an object/);
  });

  it('that is empty, or has only webhooks, has no tools and a warning', () => {
    const { tools, warnings } = imported(documentOf({ '/a': { trace: {} } }, { webhooks: { a: { post: { operationId: 'hook' } } } }));
    expect(tools).toEqual([]);
    expect(warnings).toEqual([
      { path: 'webhooks', message: expect.stringContaining('are skipped') },
      { path: 'paths./a.trace', message: expect.stringContaining('TRACE requests cannot be sent') },
      { path: 'include', message: 'the document has no operations' },
    ]);
  });

  it('may refer to its own parts anywhere, and to nothing else', () => {
    const { tools, operations, warnings } = imported(
      documentOf(
        {
          '/a/{id}': { $ref: '#/components/pathItems/A' },
          '/b': { $ref: 'https://evil.example/b.json' },
          '/c': {
            get: {
              parameters: [
                { $ref: '#/components/parameters/Loop' },
                { $ref: '#/none' },
                { name: 'x', in: 'query', schema: { $ref: './x.json' } },
              ],
            },
          },
        },
        {
          components: {
            pathItems: {
              A: {
                parameters: [{ $ref: '#/components/parameters/Id' }],
                put: { requestBody: { $ref: '#/components/requestBodies/Thing' } },
              },
            },
            parameters: {
              Id: { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
              Loop: { $ref: '#/components/parameters/Loop' },
            },
            requestBodies: {
              Thing: { content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } } },
            },
          },
        },
      ),
    );
    expect(tools[0]?.inputSchema).toEqual({
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: 'string' } },
      required: ['id'],
    });
    expect(operations.put_a_id?.parameters).toMatchObject([{ argument: 'id', in: 'path' }]);
    expect(tools[1]?.inputSchema).toMatchObject({ properties: { x: {} } });
    expect(warnings.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      expect.stringMatching(/^paths\.\/b: the reference "https:\/\/evil.example\/b.json" is outside the document and is never fetched/),
      expect.stringMatching(/is circular/),
      expect.stringMatching(/"#\/none" is not in the document/),
      expect.stringMatching(/"\.\/x\.json" is outside.*any value is accepted/),
    ]);
  });

  it('has paths with a leading slash, and none that lead elsewhere', () => {
    const { operations, warnings } = imported(
      documentOf({
        'no/slash': { get: {} },
        '/a/../b': { get: {} },
        '/%2E%2e': { get: {} },
        '/a\\b': { get: {} },
        '/\u0000': { get: {} },
        'x-y': { get: {} },
      }),
    );
    expect(Object.values(operations).map(({ path }) => path)).toEqual(['/no/slash']);
    expect(warnings).toHaveLength(4);
  });

  it('has paths whose query is fixed, or is a parameter, and whose fragment is not sent', () => {
    const parameters = [
      { name: 'term', in: 'query', schema: { type: 'integer' } },
      { name: 'beta', in: 'query', required: true },
    ];
    const { operations, tools, warnings } = imported(
      documentOf({
        '/a': { get: { operationId: 'plain' } },
        '/a?beta=true&x=%26': { get: { operationId: 'fixed', parameters } },
        '/a?q={term}&r={other}': { get: { operationId: 'templated', parameters } },
        '/a#Action': { get: { operationId: 'fragment' } },
      }),
    );
    expect(operations.plain).not.toHaveProperty('query');
    expect(operations.fixed).toMatchObject({
      path: '/a',
      query: [
        ['beta', 'true'],
        ['x', '&'],
      ],
      parameters: [{ name: 'term' }],
    });
    expect(operations.templated?.parameters.map(({ name, in: place, argument }) => [place, name, argument])).toEqual([
      ['query', 'beta', 'beta'],
      ['query', 'q', 'q'],
      ['query', 'r', 'r'],
    ]);
    expect(tools[2]?.inputSchema).toMatchObject({ properties: { q: { type: 'integer' }, r: { type: 'string' } }, required: ['beta', 'r'] });
    expect(operations.fragment).toMatchObject({ path: '/a', parameters: [] });
    expect(warnings.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'paths./a?beta=true&x=%26: the path has a query, which each call sends: "beta=true&x=%26"',
      'paths./a?q={term}&r={other}: the path has a query, which each call sends: "q={term}&r={other}"',
      'paths./a#Action: the part of the path after "#" is not sent',
      'paths./a?beta=true&x=%26.get.parameters.beta: is no argument: the query of the path has its value',
    ]);
  });

  it('may have `__proto__` and its like as any name', () => {
    const text = JSON.stringify(
      documentOf({ '/a/{__proto__}': { post: { operationId: 'constructor', ...jsonBody({ $ref: '#/components/schemas/PROTO' }) } } }),
    );
    const document = JSON.parse(
      text.replace(
        '"info"',
        '"components":{"schemas":{"PROTO":{"type":"object","properties":{"__proto__":{"type":"string"},"toString":{"$ref":"#/components/schemas/__proto__"}}},"__proto__":{"type":"string"}}},"info"',
      ),
    );
    const { tools, operations, warnings } = imported(document);
    expect(warnings).toEqual([]);
    expect(Object.prototype).not.toHaveProperty('type');
    const [tool] = tools;
    const operation = operations[tool?.name ?? ''];
    const members = Object.entries(operation?.body?.members ?? {});
    expect(members.map(([name]) => name)).toEqual(['__proto__', 'toString']);
    const listed = [...(operation?.parameters ?? []).map(({ argument }) => argument), ...members.map(([, argument]) => argument)];
    expect(Object.keys((tool?.inputSchema as { properties: object } | undefined)?.properties ?? {})).toEqual(listed);
    expect(new Set(listed).size).toBe(3);
    expect(readListing(tools)).toMatchObject([{ verdict: 'offer' }]);
  });

  it('that nests deeply is cut there, or rejected completely', () => {
    const deep = (levels: number): object => JSON.parse(`${'{"type":"object","properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`);
    const made = toolFrom(jsonBody(deep(60)));
    expect(made.warnings[0]?.message).toContain('nests more than 24 levels deep');
    expect(readListing([made.tool])).toMatchObject([{ verdict: 'offer' }]);
    expect(() => imported(documentOf({ '/a': { get: {} } }, { 'x-deep': deep(400) }))).toThrow(/nests deeper than 200 levels/);
  });

  it('names each invalid value that it removes from a schema, and not what it converts', () => {
    const age = { type: 'number', minimum: 1, exclusiveMinimum: true, nullable: true };
    const { schema, warnings } = toolFrom(
      jsonBody({ type: 'object', properties: { age, born: { type: 'date' }, pet: { $ref: '#/components/schemas/Pet' } } }),
      {
        components: {
          schemas: {
            Pet: { type: 'object', required: true, properties: { name: { type: 'string', maxLength: '9' }, kind: 'cat' } },
          },
        },
        openapi: '3.0.3',
      },
    );
    expect(schema.properties.age).toEqual({ type: ['number', 'null'], exclusiveMinimum: 1 });
    expect(warnings.toSorted((one, other) => (one.path + one.message < other.path + other.message ? -1 : 1))).toEqual([
      { path: 'components.schemas.Pet', message: '/properties/kind: is not a schema: any value is accepted' },
      { path: 'components.schemas.Pet', message: '/properties/name/maxLength: removed: 9 is not a valid value of this keyword' },
      { path: 'components.schemas.Pet', message: '/required: removed: a list of required names belongs next to properties' },
      { path: 'paths./things.post.born', message: '/type: removed: date is not a JSON Schema type, so any value is accepted' },
    ]);
  });

  it('whose operations share parts that are too large to read for each is rejected in seconds', () => {
    const parameters = Array.from({ length: 50_000 }, (_, index) => ({ name: `q${index}`, in: 'query' }));
    const paths = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`/a${index}`, { $ref: '#/components/pathItems/A' }]));
    const document = documentOf(paths, { components: { pathItems: { A: { parameters, get: {} } } } });
    expect(() => imported(document)).toThrow(/share very large parts\. List the operations you need in include/);
    expect(imported(document, { include: ['* /a1'] }).warnings[0]?.message).toBe('has more arguments than a definition may have; skipped');
  });

  it('keeps recursive schemas, and accepts any value for endless references', () => {
    const components = {
      schemas: {
        Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' }, odd: { $ref: '#/components/schemas/Odd' } } },
        Odd: { allOf: [{ $ref: '#/components/schemas/Even' }] },
        Even: { $ref: '#/components/schemas/Odd' },
      },
    };
    const { schema, tool } = toolFrom(jsonBody({ type: 'object', properties: { node: { $ref: '#/components/schemas/Node' } } }), {
      components,
    });
    expect(schema.properties).toEqual({ node: { $ref: '#/$defs/Node' } });
    expect(schema.$defs).toMatchObject({ Node: { properties: { next: { $ref: '#/$defs/Node' } } } });
    expect(readListing([tool])).toMatchObject([{ verdict: 'offer' }]);
  });

  it('whose definitions are too large for one tool keeps the operation with fewer details', () => {
    const part = (name: string, size: number) => ({
      type: 'object',
      description: 'x'.repeat(1_000),
      properties: Object.fromEntries(
        Array.from({ length: size }, (_, index) => [`${name}${index}`, { type: 'string', description: 'y'.repeat(500) }]),
      ),
    });
    const build = (count: number, size: number) => {
      const schemas = Object.fromEntries(Array.from({ length: count }, (_, index) => [`S${index}`, part(`f${index}_`, size)]));
      const properties = Object.fromEntries(Object.keys(schemas).map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
      return toolFrom(jsonBody({ type: 'object', properties }), { components: { schemas } });
    };
    for (const [count, size, words] of [
      [10, 10, 'its deeper fields are not described'],
      [40, 200, 'its deeper fields are removed'],
      [900, 1, 'its deeper fields are removed'],
    ] as const) {
      const { tool, schema, warnings } = build(count, size);
      expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
      expect(Object.keys(schema.properties)).toHaveLength(count);
      expect(readListing([tool])).toMatchObject([{ verdict: 'offer' }]);
    }
  });

  it('that multiplies by references is cut, and says so', () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => {
        const next = { $ref: `#/components/schemas/S${index + 1}` };
        return [`S${index}`, { type: 'object', properties: { a: next, b: next, c: next } }];
      }),
    );
    const { tool, warnings } = toolFrom(jsonBody({ type: 'object', properties: { first: { $ref: '#/components/schemas/S0' } } }), {
      components: { schemas },
    });
    expect(warnings.map(({ message }) => message)).toContainEqual(expect.stringContaining('its deeper fields are removed'));
    expect(readListing([tool])).toMatchObject([{ verdict: 'offer' }]);
  });

  it('gives valid tools or a problem, whatever its shape', () => {
    const schema = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom<unknown>(
          null,
          true,
          7,
          'x',
          {},
          [],
          { $ref: '#/components/schemas/A' },
          { $ref: '#/components/schemas/B' },
          { $ref: 'x.json' },
          { $ref: '#/a/%' },
        ),
        fc.record(
          {
            type: fc.constantFrom('object', 'array', 'string', 'file', ['string', 'null'], 3),
            nullable: fc.boolean(),
            readOnly: fc.boolean(),
            enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }),
            required: fc.oneof(fc.boolean(), fc.array(fc.constantFrom('a', 'b', '__proto__'), { maxLength: 3 })),
            properties: fc.oneof(
              fc.dictionary(fc.constantFrom('a', 'b', '', 'x y', '__proto__', 'constructor'), tie('any')),
              fc.constant([]),
            ),
            additionalProperties: tie('any'),
            items: tie('any'),
            allOf: fc.oneof(fc.array(tie('any'), { maxLength: 2 }), fc.constant('x')),
            anyOf: fc.array(tie('any'), { maxLength: 2 }),
            example: fc.jsonValue({ maxDepth: 2 }),
            exclusiveMinimum: fc.boolean(),
            minimum: fc.integer(),
          },
          { requiredKeys: [] },
        ),
      ),
    })).any;
    const parameter = fc.record(
      {
        name: fc.constantFrom('a', 'b', '', 'x[y]', '__proto__', 'body', 7),
        in: fc.constantFrom('path', 'query', 'header', 'cookie', 'body'),
        schema,
        style: fc.constantFrom('matrix', 'deepObject', 3),
        required: fc.boolean(),
      },
      { requiredKeys: ['name', 'in'] },
    );
    const media = fc.constantFrom('application/json', 'multipart/form-data', '*/*', 'text/plain', 'x', 'application/x-www-form-urlencoded');
    const operation = fc.record(
      {
        operationId: fc.constantFrom('a', 'A', '', 'x/y', 9),
        parameters: fc.oneof(fc.array(fc.oneof(parameter, schema), { maxLength: 3 }), fc.constant({})),
        requestBody: fc.oneof(fc.record({ content: fc.dictionary(media, fc.record({ schema })) }), schema),
        responses: fc.dictionary(
          fc.constantFrom('200', '2XX', 'default'),
          fc.oneof(schema, fc.record({ content: fc.dictionary(media, fc.record({ schema })) })),
        ),
      },
      { requiredKeys: [] },
    );
    const paths = fc.dictionary(
      fc.constantFrom('/a', '/a/{a}', 'b', '/{b}.{a}', '/x/{}'),
      fc.oneof(
        fc.record({ get: operation, post: operation, parameters: fc.array(parameter, { maxLength: 1 }) }, { requiredKeys: [] }),
        schema,
      ),
    );
    fc.assert(
      fc.property(paths, schema, schema, fc.constantFrom('3.0.3', '3.1.0'), (items, a, b, openapi) => {
        const { tools, operations } = imported(documentOf(items, { openapi, components: { schemas: { A: a, B: b } } }));
        expect(Object.keys(operations).sort()).toEqual(tools.map(({ name }) => name).sort());
        for (const listed of readListing(tools)) expect(listed, JSON.stringify(listed.findings)).toMatchObject({ verdict: 'offer' });
      }),
      { numRuns: 40 },
    );
  });
});
