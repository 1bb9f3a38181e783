/** What an administrator writes is accepted, by every way of writing a server, and plans say which tools it changes. */
import { describe, expect, it } from 'vitest';
import { send } from '../objects/catalog/real-service.ts';
import { bodyOf } from './harness.ts';

const tool = (name: string, type: string) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { id: { type } }, required: ['id'] },
});
const operation = (operationId: string, type: string) => ({
  get: {
    operationId,
    parameters: [{ name: 'id', in: 'query', required: true, schema: { type } }],
    responses: { 200: { description: 'ok' } },
  },
});
const documented = (paths: object) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example.com' }],
  paths,
});

/** `first`: two tools. `second`: one changes so that callers notice, one goes, one comes. */
const kinds = {
  static: {
    first: { kind: 'static', url: 'https://tools.example.com/call', tools: [tool('kept', 'string'), tool('gone', 'string')] },
    second: { kind: 'static', url: 'https://tools.example.com/call', tools: [tool('kept', 'integer'), tool('came', 'string')] },
  },
  'an openapi document': {
    first: { kind: 'openapi', document: documented({ '/a': operation('kept', 'string'), '/b': operation('gone', 'string') }) },
    second: { kind: 'openapi', document: documented({ '/a': operation('kept', 'integer'), '/c': operation('came', 'string') }) },
  },
} as const;
type Kind = keyof typeof kinds;

const write = async (method: string, path: string, body: unknown) => {
  const answer = await send(method, path, body);
  const read = await bodyOf(answer);
  expect([read.detail, answer.ok]).toEqual([undefined, true]);
  return read;
};
const ways: Readonly<Record<string, (name: string, body: object) => Promise<unknown>>> = {
  PUT: (name, body) => write('PUT', `/v1/servers/${name}`, body),
  // As text, since a document as JSON would be merged.
  PATCH: (name, body) =>
    write('PATCH', `/v1/servers/${name}`, { ...body, ...('document' in body && { document: JSON.stringify(body.document) }) }),
  'a project': (name, body) => write('PUT', `/v1/projects/${name}`, { servers: { [name]: body } }),
  'an import': (name, body) => write('POST', '/v1/import?format=moniker', { servers: { [name]: body } }),
  // As the console does: what it read, with the changes of the form.
  'the console': async (name, body) => {
    const { headers } = await send('GET', `/v1/servers/${name}`);
    const etag = headers.get('etag');
    return await bodyOf(await send('PUT', `/v1/servers/${name}`, body, etag === null ? {} : { 'if-match': etag }));
  },
};
const table = Object.keys(ways).flatMap((way) => (Object.keys(kinds) as Kind[]).map((kind) => [way, kind] as const));

const toolsOf = async (name: string) =>
  (await bodyOf(await send('GET', `/v1/servers/${name}`))).tools as { name: string; state: string; decisions?: { by: string }[] }[];

describe('a change that an administrator writes', () => {
  it.each(table)('by %s to %s is in force, with the key as who accepted it', async (way, kind) => {
    const name = `own-${Object.keys(ways).indexOf(way)}${Object.keys(kinds).indexOf(kind)}`;
    const { first, second } = kinds[kind];
    await ways[way === 'PATCH' ? 'PUT' : way]?.(name, first);
    await ways[way]?.(name, second);
    const tools = await toolsOf(name);
    expect(tools.map(({ name: own, state }) => [own, state])).toEqual([
      ['came', 'ready'],
      ['kept', 'ready'],
    ]);
    expect(tools.map(({ decisions }) => decisions?.map(({ by }) => by).includes('updates'))).toEqual([false, false]);
    await ways[way]?.(name, { ...first, updates: 'review' });
    expect((await toolsOf(name)).map(({ name: own, state }) => [own, state])).toEqual([
      ['gone', 'held'],
      ['kept', 'held'],
    ]);
  });

  it('by the selection of operations is in force', async () => {
    const { first } = kinds['an openapi document'];
    await ways.PUT?.('own-selected', { ...first, include: ['kept'] });
    await ways.PATCH?.('own-selected', { include: ['kept', 'gone'] });
    expect((await toolsOf('own-selected')).map(({ state }) => state)).toEqual(['ready', 'ready']);
  });
});

describe('a plan', () => {
  const changes = async (query: string, body: object) => {
    const report = await write('PUT', `/v1/projects/planned${query}`, { servers: { planned: body } });
    return report.changes.map(({ path, before, after }: Record<string, string>) => [path, before, after]);
  };

  it.each<Kind>(['static', 'an openapi document'])('of %s names the tools that are added, removed and changed', async (kind) => {
    const { first, second } = kinds[kind];
    expect(await changes('', first)).toEqual([]);
    const isStatic = kind === 'static';
    const expected = [
      ...(isStatic ? [] : [['document', undefined, undefined]]),
      ['tools.gone', expect.stringContaining('"inputSchema"'), undefined],
      ['tools.kept.inputSchema.properties.id.type', '"string"', '"integer"'],
      ['tools.came', undefined, expect.stringContaining('"inputSchema"')],
    ];
    const planned = await changes('?dryRun=true', second);
    expect(planned).toHaveLength(expected.length);
    expect(planned).toEqual(expect.arrayContaining(expected));
    expect((await toolsOf('planned')).map(({ name }) => name)).toEqual(['gone', 'kept']);
    const done = await changes('', second);
    expect(done.map(([path]: string[]) => path).filter((path: string) => /^tools\.\w+/.test(path))).toEqual(
      expect.arrayContaining([expect.stringMatching(/^tools\.kept/), 'tools.came', 'tools.gone']),
    );
    await send('DELETE', '/v1/projects/planned?documents=true');
  });

  it('says what it cannot know', async () => {
    const body = { kind: 'openapi', url: 'https://10.0.0.1/openapi.json' };
    await write('PUT', '/v1/projects/unknown', { servers: { unknown: body } });
    const report = await write('PUT', '/v1/projects/unknown?dryRun=true', {
      servers: { unknown: { ...body, include: ['a'], updates: 'review' } },
    });
    expect(report.warnings).toContainEqual({
      path: 'servers.unknown',
      message: 'Its tools are listed when this is applied. Those that change are held, since `updates` is "review".',
    });
  });
});
