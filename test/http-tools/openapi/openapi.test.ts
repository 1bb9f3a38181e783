/** Reads an API's document and calls its operations, over HTTP against an API on this machine and through the outbound client. */
import { afterEach, describe, expect, it } from 'vitest';
import { dump } from 'js-yaml';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { contentText } from '../../../src/core/tools/tool.ts';
import { createOpenApiExecutor } from '../../../src/http-tools/executor.ts';
import { createOpenApiSource, maxOpenApiYamlSeparators, openApiTtlMs } from '../../../src/http-tools/openapi/source.ts';
import { createOutbound } from '../../../src/net/outbound.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import type { UpstreamContext } from '../../../src/ports/upstream.ts';
import { documentOf } from '../../core/openapi/documents.ts';
import { listenApi, type ApiAnswers, type ApiServer } from '../../fakes/api-server.ts';
import { largeApiDocument } from '../../fakes/large-api.ts';
import { keptLog } from '../../fakes/runtime.ts';

const running: ApiServer[] = [];
afterEach(() => {
  for (const server of running.splice(0)) server.close();
});

async function listen(document: (origin: string) => string | Response, answers?: ApiAnswers): Promise<ApiServer> {
  const server = await listenApi(document, answers);
  running.push(server);
  return server;
}

const secrets: Record<string, string> = { TOKEN: 'Bearer the-token' };

function accessOf(more: Partial<ServerAccess>): ServerAccess {
  return {
    name: 'api',
    kind: 'openapi',
    url: '',
    trusted: true,
    ready: [],
    held: [],
    version: 1,
    connection: null,
    staleAt: null,
    openapi: {},
    ...more,
  };
}

function contextOf(allowed = ['servers:127.0.0.1:*']) {
  const outbound = createOutbound({ allowPrivateHosts: allowed, publicUrl: null });
  const asked: unknown[] = [];
  const signal = new AbortController().signal;
  return {
    asked,
    signal,
    now: systemClock.now,
    log: keptLog(),
    conversation: 'c',
    idempotencyKey: 'call_7',
    fetch: (request: Request) => outbound(request, { purpose: 'server', signal }),
    secret: async (name: string, host?: string) => {
      asked.push([name, host]);
      const value = secrets[name];
      if (value === undefined) throw new Problem('not_found', `There is no secret "${name}".`);
      return value;
    },
  };
}

function discover(
  server: Partial<ServerAccess>,
  { text = null, ...more }: { text?: string | null } & Partial<ReturnType<typeof contextOf>> = {},
) {
  const context: UpstreamContext = { ...contextOf(), ...more, document: async () => text };
  return createOpenApiSource().discover(accessOf(server), context);
}

/** Calls the only operation, at `/things/{id}`, of a document. */
async function door(
  operation: Record<string, unknown>,
  answers?: ApiAnswers,
  { method = 'post', path = '/things/{id}', ...more }: Partial<ServerAccess> & { method?: string; path?: string } = {},
) {
  const api = await listen(
    (origin) =>
      JSON.stringify(documentOf({ [path]: { [method]: { operationId: 'do', ...operation } } }, { servers: [{ url: `${origin}/v1` }] })),
    answers,
  );
  const access = accessOf({ url: api.documentUrl, ...more });
  const { operations } = await discover(access);
  const executor = createOpenApiExecutor({
    server: async () => access,
    operation: async ({ ownName: name }) => {
      const found = operations?.[name];
      if (found === undefined) throw new Problem('not_found', `There is no operation "${name}".`);
      return found;
    },
  });
  const tool = { server: 'api', ownName: 'do', canonical: 'api.do', kind: 'openapi' } as EditionTool; // Only the fields in use.
  const context = contextOf();
  const call = async (args: Record<string, unknown> = { id: '1' }) => {
    const result = await executor.execute(tool, args, context as unknown as ToolContext);
    return { ...result, text: contentText(result.content) };
  };
  return { api, call, executor, tool, asked: context.asked };
}

const body = (contentType: string, schema: unknown, more = {}) => ({ requestBody: { content: { [contentType]: { schema, ...more } } } });
const properties = (...names: string[]) => ({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) });

describe('an API’s document', () => {
  it('is read from its URL, with the headers that are for its host', async () => {
    const api = await listen((origin) => JSON.stringify(largeApiDocument(3, [`${origin}/v1`])));
    const context = contextOf();
    const headers = { authorization: { secret: 'TOKEN' }, 'x-team': 'a' };
    const read = await discover({ url: api.documentUrl, headers }, context);
    expect(read.tools).toHaveLength(18);
    expect(read).toMatchObject({
      connection: null,
      warnings: [],
      ttlMs: openApiTtlMs,
      operations: { resource0_list: { baseUrl: `${api.origin}/v1`, path: '/resource0' } },
    });
    expect(api.reads).toMatchObject([{ authorization: 'Bearer the-token', 'x-team': 'a', 'user-agent': 'moniker' }]);
    expect(context.asked).toEqual([['TOKEN', api.host]]);
    await discover({ url: api.documentUrl, headers, baseUrl: 'https://api.example.com' }, context);
    expect(api.reads[1]).not.toHaveProperty('authorization');
    expect(api.reads[1]).not.toHaveProperty('x-team');
    await discover({ url: api.documentUrl, headers: { authorization: { secret: 'NONE' }, 'x-team': 'a' } });
    expect(api.reads[2]).toMatchObject({ 'x-team': 'a' });
  });

  it('gives the same tools as YAML, and inline', async () => {
    const document = largeApiDocument(2);
    const read = await discover({}, { text: JSON.stringify(document) });
    expect(await discover({}, { text: dump(document, { noRefs: true }) })).toEqual(read);
    expect(await discover({}, { text: `\ufeff${dump(document)}` })).toEqual(read);
    const large = `${dump(document)}x-more: `;
    expect(await discover({}, { text: large.padEnd(limits.maxOpenApiBytes, 'x') })).toEqual(read);
    expect(await discover({ openapi: { include: ['tag:resource1'] } }, { text: JSON.stringify(document) })).toMatchObject({
      tools: { length: 6 },
    });
  });

  it.each([
    ['', 'is empty'],
    ['<!doctype html><p>Sign in', 'is a page of HTML'],
    ['{"openapi": "3.0.0", "paths": {', 'is neither JSON nor YAML'],
    ['a: [', 'is neither JSON nor YAML'],
    // Without a limit, each of these took about a minute or more.
    [`a: [${','.repeat(200_000)}`, 'at line 1, column 5'],
    [`a: [\n${'} '.repeat(200_000)}`, 'at line 2, column 1'],
    ['- '.repeat(100_000), 'nested too deeply'],
    ['%\n'.repeat(1_000_000), 'has too many values for a YAML document'],
    ['%\n'.repeat(300_000), 'at line 1, column 2'],
    ['--- {}\n'.repeat(100_000), 'more than one document'],
    [Array.from({ length: 90_000 }, (_, index) => `p${index}: &a${index} 1\nq${index}: *a${index}\n`).join(''), 'no `openapi` field'],
    ['just text', 'is not an object with fields'],
    ['{"swagger": "1.2"}', 'Swagger 2.0 and OpenAPI 3 are supported'],
    [
      `a: &a [x]\n${Array.from(
        { length: 9 },
        (_, index) =>
          `b${index}: &b${index} [${Array(9)
            .fill(index === 0 ? '*a' : `*b${index - 1}`)
            .join(', ')}]`,
      ).join('\n')}`,
      'its aliases (*name) expand to too much at line 8, column',
    ],
    [`openapi: 3.1.0\na: &a [${Array(12_000).fill('[]').join()}]\nb: [${Array(90).fill('*a').join()}]`, 'has more than 1000000 parts'],
    [`${'['.repeat(20_000)}`, 'The OpenAPI document'],
    [`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 'The OpenAPI document'],
    [`a: {${'b,'.repeat(maxOpenApiYamlSeparators)}}`, 'Convert it to JSON'],
    ['a: &a [*a]', 'the alias *a refers to a value that contains it at line 1, column 8'],
    ['a: *b', 'the alias *b has no anchor before it at line 1, column 4'],
    ['a: 1\nb:\n  c: 1\n  "c": 2', '"c" is given twice at line 4, column 3'],
  ])('that begins %.30j is a problem with words', async (text, words) => {
    const failure = await discover({}, { text }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Problem);
    expect(failure).toMatchObject({ code: 'upstream_error', detail: expect.stringContaining(words) });
  });

  it('that cannot be read gives the reason', async () => {
    const of = async (answer: Response) => {
      const api = await listen(() => answer);
      return await discover({ url: api.documentUrl }).catch((error: unknown) => error);
    };
    expect(await of(new Response('no', { status: 401 }))).toMatchObject({
      detail: expect.stringContaining('returned status 401. It requires credentials'),
      extra: { unauthorized: true },
    });
    expect(await of(new Response('no', { status: 503 }))).toMatchObject({
      detail: expect.stringContaining('returned status 503. Try again later'),
    });
    expect(await of(new Response('no', { status: 404 }))).toMatchObject({
      detail: expect.stringContaining('returned status 404. Set url to the URL of the document itself'),
    });
    expect(await of(new Response(new Uint8Array([0x7b, 0xff])))).toMatchObject({ detail: expect.stringContaining('is not UTF-8') });
    expect(await of(new Response(`{"a":"${'x'.repeat(limits.maxOpenApiBytes)}"}`))).toMatchObject({
      detail: expect.stringContaining(`more than ${limits.maxOpenApiBytes} bytes`),
    });
    const api = await listen(() => '{}');
    const refused = discover({ url: api.documentUrl }, contextOf([]));
    await expect(refused).rejects.toMatchObject({ detail: expect.stringContaining('127.0.0.1') });
    expect(api.reads).toEqual([]);
  });
});

describe('a call of an operation', () => {
  it('is one request with each argument in its place, the server’s headers and the idempotency key', async () => {
    const parameters = [
      { name: 'q', in: 'query', schema: {} },
      { name: 'X-Mode', in: 'header', schema: {} },
      { name: 'seen', in: 'cookie', schema: {} },
    ];
    const headers = { authorization: { secret: 'TOKEN' }, cookie: { secret: 'TOKEN' } };
    const { call, api, asked } = await door({ parameters, ...body('application/json', properties('name', 'id')) }, () => ({ made: true }), {
      headers,
    });
    expect(await call({ id: 'a/b', q: ['x', 'y z'], 'X-Mode': 'fast', seen: 'a;b', name: 'N', body_id: 7, more: 1 })).toMatchObject({
      isError: false,
      text: '{"made":true}',
      structuredContent: { made: true },
    });
    expect(api.calls).toMatchObject([
      {
        method: 'POST',
        path: '/v1/things/a%2Fb',
        query: '?q=x&q=y%20z',
        body: '{"name":"N","id":7,"more":1}',
        headers: {
          authorization: 'Bearer the-token',
          'x-mode': 'fast',
          cookie: 'Bearer the-token; seen=a%3Bb',
          'idempotency-key': 'call_7',
          'content-type': 'application/json',
        },
      },
    ]);
    expect(asked).toEqual([
      ['TOKEN', api.host],
      ['TOKEN', api.host],
    ]);
  });

  it('uses the base URL of the server’s document before that of the API', async () => {
    const other = await listen(
      () => '{}',
      () => 'there',
    );
    const { call, api, executor, tool } = await door({}, undefined, { baseUrl: `${other.origin}/base/` });
    expect((await call()).text).toBe('"there"');
    expect([api.calls.length, other.calls[0]?.path]).toEqual([0, '/base/things/1']);
    expect(await executor.host?.(tool)).toBe(other.host);
  });

  it.each([
    ['application/x-www-form-urlencoded', { a: 'x y', b: [1, 2], c: { d: { e: 1 } } }, 'a=x+y&b=1&b=2&c%5Bd%5D%5Be%5D=1'],
    ['text/plain', { body: 'Hello\n' }, 'Hello\n'],
    ['application/octet-stream', { body: btoa('bytes') }, 'bytes'],
    ['application/merge-patch+json', { a: null, b: 2, c: {} }, '{"a":null,"b":2,"c":{}}'],
  ])('has its body as %s', async (contentType, args, sent) => {
    const { call, api } = await door(body(contentType, properties('a', 'b', 'c')));
    await call({ id: '1', ...args });
    expect(api.calls).toMatchObject([{ body: sent, headers: { 'content-type': contentType } }]);
  });

  it('sends its body as a form with files', async () => {
    const schema = {
      type: 'object',
      properties: { note: { type: 'string' }, photo: { type: 'string', format: 'binary' }, meta: { type: 'object' } },
    };
    const { call, api } = await door(body('multipart/form-data', schema));
    expect((await call({ id: '1', note: 'n', photo: btoa('\x00\xff'), meta: { a: 1 } })).isError).toBe(false);
    const form = (await api.calls[0]?.request.formData()) ?? new FormData();
    // A part with a file name would be a file.
    expect([form.get('note'), form.get('meta')]).toEqual(['n', '{"a":1}']);
    expect(new Uint8Array(await (form.get('photo') as File).arrayBuffer())).toEqual(new Uint8Array([0, 255]));
    expect(await call({ id: '1', photo: 'no base64!' })).toMatchObject({
      code: 'invalid_arguments',
      text: expect.stringContaining('photo: must be base64'),
    });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    [
      'objects as JSON without a file name',
      { properties: { meta: { type: 'object' }, list: { type: 'array', items: { type: 'object' } } } },
      { meta: { a: 1 }, list: [{ b: 2 }, { c: 3 }] },
      [
        'content-disposition: form-data; name="meta"\r\ncontent-type: application/json\r\n\r\n{"a":1}',
        'content-disposition: form-data; name="list"\r\ncontent-type: application/json\r\n\r\n{"b":2}',
        'content-disposition: form-data; name="list"\r\ncontent-type: application/json\r\n\r\n{"c":3}',
      ],
    ],
    [
      'texts without a type, and nothing for null',
      { properties: { 'a"b': {}, n: {}, none: {} } },
      { a_b: 'ü\r\n--', n: 7, none: null },
      [
        'content-disposition: form-data; name="a%22b"\r\n\r\nü\r\n--',
        'content-disposition: form-data; name="n"\r\n\r\n7',
        'content-disposition: form-data; name="none"\r\n\r\n',
      ],
    ],
    [
      'files with a name, and the content types of the document',
      {
        properties: {
          photo: { type: 'string', contentMediaType: 'image/png' },
          pages: { type: 'array', items: { type: 'string', format: 'binary' } },
          table: { type: 'string' },
          title: { type: 'string' },
        },
        encoding: {
          pages: { contentType: 'application/pdf' },
          table: { contentType: 'text/csv' },
          title: { contentType: 'application/json' },
        },
      },
      { photo: btoa('P'), pages: [btoa('1'), btoa('2')], table: 'a,b', title: 'T' },
      [
        'content-disposition: form-data; name="photo"; filename="photo"\r\ncontent-type: image/png\r\n\r\nP',
        'content-disposition: form-data; name="pages"; filename="pages"\r\ncontent-type: application/pdf\r\n\r\n1',
        'content-disposition: form-data; name="pages"; filename="pages"\r\ncontent-type: application/pdf\r\n\r\n2',
        'content-disposition: form-data; name="table"\r\ncontent-type: text/csv\r\n\r\na,b',
        'content-disposition: form-data; name="title"\r\ncontent-type: application/json\r\n\r\n"T"',
      ],
    ],
    [
      'lists that the document joins',
      {
        properties: { tags: { type: 'array' }, sizes: { type: 'array' } },
        encoding: { tags: { explode: false }, sizes: { style: 'pipeDelimited', explode: false } },
      },
      { tags: ['a', 'b'], sizes: [1, 2] },
      ['content-disposition: form-data; name="tags"\r\n\r\na,b', 'content-disposition: form-data; name="sizes"\r\n\r\n1|2'],
    ],
  ])('sends %s in a multipart form', async (_what, { encoding, ...schema }, args, parts) => {
    const { call, api } = await door(
      body('multipart/form-data', { type: 'object', ...schema }, encoding === undefined ? {} : { encoding }),
    );
    expect((await call({ id: '1', ...args })).isError).toBe(false);
    const [sent] = api.calls;
    const [, boundary = ''] = /^multipart\/form-data; boundary=(moniker-[0-9a-f-]{36})$/.exec(sent?.headers['content-type'] ?? '') ?? [];
    expect(sent?.body).toBe(`${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`);
  });

  it('sends members of a form as JSON where the document says so', async () => {
    const encoding = { filter: { contentType: 'application/json' }, tags: { style: 'form', explode: false } };
    const { call, api } = await door(body('application/x-www-form-urlencoded', properties('filter', 'tags', 'q'), { encoding }));
    await call({ id: '1', filter: { a: [1] }, tags: ['x', 'y'], q: 'z' });
    expect(api.calls).toMatchObject([{ body: 'filter=%7B%22a%22%3A%5B1%5D%7D&tags=x,y&q=z' }]);
  });

  it('has the query of its path', async () => {
    const parameters = [{ name: 'q', in: 'query', schema: {} }];
    const { call, api } = await door({ parameters }, undefined, { path: '/things/{id}?beta=true&kind=a%26b', query: { key: 'k' } });
    await call({ id: '1', q: 'z' });
    expect(api.calls).toMatchObject([{ path: '/v1/things/1', query: '?beta=true&kind=a%26b&q=z&key=k' }]);
  });

  it('has no body if none is given and none is required', async () => {
    const { call, api } = await door(body('application/json', properties('a')));
    await call({ id: '1' });
    expect(api.calls).toMatchObject([{ body: '' }]);
    expect(api.calls[0]?.headers).not.toHaveProperty('content-type');
  });

  it('is rejected with the path of an argument that cannot be sent', async () => {
    const { call, api } = await door({ parameters: [{ name: 'X-Mode', in: 'header', schema: {} }] });
    expect(await call({ id: '..' })).toMatchObject({
      isError: true,
      code: 'invalid_arguments',
      issues: [{ path: 'id', message: expect.stringContaining('..') }],
    });
    expect(await call({ id: '1', 'X-Mode': 'a\r\nb: c' })).toMatchObject({
      code: 'invalid_arguments',
      text: expect.stringContaining('X-Mode: contains a line break'),
    });
    expect(api.calls).toEqual([]);
  });

  it('names what is missing in its server', async () => {
    expect(await (await door({}, undefined, { headers: { a: { secret: 'NONE' } } })).call()).toMatchObject({
      code: 'tool_error',
      text: expect.stringContaining('no secret "NONE"'),
    });
    const executor = createOpenApiExecutor({
      server: async () => accessOf({}),
      operation: async () => ({ method: 'GET', path: '/', parameters: [], body: null }),
    });
    const result = await executor.execute(
      { server: 'api', ownName: 'do', canonical: 'api.do' } as EditionTool,
      {},
      contextOf() as unknown as ToolContext,
    );
    expect(contentText(result.content)).toContain('Set its baseUrl, or refresh it');
  });
});

describe('an API response', () => {
  const answered = async (answer: () => unknown, method = 'get') => await (await door({}, answer, { method })).call();

  it('in JSON becomes text and structured content, and is never read as an MCP result', async () => {
    const content = [{ type: 'text', text: 'not a block' }];
    expect(await answered(() => ({ content, isError: true }))).toMatchObject({
      isError: false,
      structuredContent: { content, isError: true },
    });
    const many = await answered(() => [1, 2]);
    expect([many.text, many.structuredContent]).toEqual(['[1,2]', undefined]);
  });

  it('becomes text, an image, nothing, or a description', async () => {
    expect((await answered(() => new Response('a,b', { headers: { 'content-type': 'text/csv' } }))).text).toBe('a,b');
    expect((await answered(() => new Response(new Uint8Array([1, 2]), { headers: { 'content-type': 'image/png' } }))).content).toEqual([
      { type: 'image', data: 'AQI=', mimeType: 'image/png' },
    ]);
    expect((await answered(() => new Response(null, { status: 204 }))).content).toEqual([]);
    expect((await answered(() => new Response(new Uint8Array([0, 1]), { headers: { 'content-type': 'application/zip' } }))).text).toBe(
      '[2 bytes of application/zip, not shown]',
    );
    expect((await answered(() => new Response(null, { headers: { etag: 'x' } }), 'head')).isError).toBe(false);
  });

  it('with an error status is an error with the body of the API', async () => {
    expect(await answered(() => Response.json({ message: 'No such thing' }, { status: 404 }))).toMatchObject({
      isError: true,
      code: 'tool_error',
      text: 'api.do failed: its server returned status 404.\n{"message":"No such thing"}',
    });
  });

  it('is not read beyond its limit', async () => {
    const result = await answered(
      () => new Response('x'.repeat(limits.maxToolReplyBytes + 1), { headers: { 'content-type': 'text/plain' } }),
    );
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(`more than ${limits.maxToolReplyBytes} bytes`) });
  });
});
