/** What the names in the code of a made tool mean, when tools with the same names come, change places and leave. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createNodeCatalog, type NodeCatalog } from '../../../fakes/node-catalog.ts';
import { toolOf } from '../../../fakes/known-tools.ts';

const definitions = [
  toolOf('builtin', 'bash', { kind: 'builtin', aliases: ['shell'] }),
  toolOf('builtin', 'read_file', { kind: 'builtin' }),
];
const code = (implementation: string, more: object = {}) => ({ description: 'Does it.', implementation, ...more });
const reader = code('return await tools.read_file({ path: "a" })');

let catalog: NodeCatalog;
beforeEach(() => {
  catalog = createNodeCatalog({ definitions });
});

async function connect(server: string, ...names: string[]): Promise<void> {
  const tools = names.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } }));
  await catalog.put('server', server, { kind: 'static', url: `https://${server}.example.com/call`, tools });
}

async function write(tool: object, name = 'made.tool') {
  const { document, changed, warnings } = await catalog.put('made-tool', name, { ...tool });
  return { changed, uses: document.body.uses, messages: warnings.map(({ message }) => message) };
}

/** The tools that the published code can call, by the names that it uses. */
async function published() {
  const tool = (await catalog.directory.made('default'))?.names.tools[0];
  return (tool?.made?.uses ?? []).map(({ canonical, state, aliases }) => [canonical, state, ...aliases.map(({ name }) => name)]);
}

describe('a name in the code of a made tool', () => {
  it('keeps its tool when a server brings another tool of that name, with a warning that names both', async () => {
    expect(await write(reader)).toEqual({ changed: true, uses: ['builtin.read_file'], messages: [] });
    await connect('filesystem', 'read_file');
    const both = expect.stringMatching(/^line 1: "read_file" means builtin\.read_file, and is a name of filesystem\.read_file too/);
    expect(await write(reader)).toEqual({ changed: false, uses: ['builtin.read_file'], messages: [both] });
    expect(await write({ ...reader, description: 'Reads it.' })).toEqual({ changed: true, uses: ['builtin.read_file'], messages: [both] });
    expect(await write({ ...reader, uses: ['read_file'] })).toMatchObject({
      uses: ['builtin.read_file'],
      messages: [expect.stringContaining('"read_file" means')],
    });
  });

  it('means the built-in tool in new code, and another one by its canonical name', async () => {
    await connect('filesystem', 'read_file');
    expect(await write(reader)).toMatchObject({
      uses: ['builtin.read_file'],
      messages: [expect.stringContaining('built-in tools take precedence')],
    });
    expect(await write(code('return await tools.filesystem.read_file({})'), 'made.other')).toEqual({
      ...{ changed: true, uses: ['filesystem.read_file'] },
      messages: [],
    });
  });

  it('keeps the tool of a server when a third one comes, and is refused in new code', async () => {
    await connect('docs', 'search');
    const asker = code('return await tools.search({})');
    await write(asker);
    await connect('web', 'search');
    expect(await write({ ...asker, description: 'Asks.' })).toMatchObject({
      uses: ['docs.search'],
      messages: [expect.stringMatching(/means docs\.search.*web\.search too; it keeps the meaning/)],
    });
    await expect(write(asker, 'made.fresh')).rejects.toMatchObject({ detail: expect.stringContaining('means docs.search, web.search') });
  });

  it('keeps an alias that belongs to another tool by now, also when two tools have swapped their aliases', async () => {
    await connect('docs', 'find_one', 'find_two');
    await catalog.put('tool-aliases', 'docs.find_one', { aliases: ['seek'] });
    await catalog.put('tool-aliases', 'docs.find_two', { aliases: ['hunt'] });
    const both = code('return [await tools.seek({}), await tools.hunt({})]');
    await write(both);
    await catalog.put('tool-aliases', 'docs.find_one', { aliases: [] });
    await catalog.put('tool-aliases', 'docs.find_two', { aliases: ['seek'] });
    await catalog.put('tool-aliases', 'docs.find_one', { aliases: ['hunt'] });
    const swapped = [expect.stringContaining('"seek" means docs.find_one'), expect.stringContaining('"hunt" means docs.find_two')];
    expect(await write(both)).toMatchObject({ changed: false, messages: swapped });
    expect(await published()).toEqual([
      ['docs.find_one', 'ready', 'seek'],
      ['docs.find_two', 'ready', 'hunt'],
    ]);
  });

  it('keeps its tool by id when a server swaps two names, and when the code changes', async () => {
    await connect('docs', 'first', 'second');
    await write(code('return await tools.first({})'));
    await connect('docs', 'second', 'first');
    expect(await write(code('return await tools.first({ again: true })'))).toEqual({ changed: true, uses: ['docs.first'], messages: [] });
  });

  it('stays bound to a tool that is gone, which is named as missing', async () => {
    await connect('filesystem', 'stat_file');
    const asker = code('return await tools.stat_file({})');
    await write(asker);
    await catalog.remove('server', 'filesystem');
    expect(await write({ ...asker, description: 'Asks.' })).toEqual({
      ...{ changed: true, uses: ['filesystem.stat_file'] },
      messages: ['filesystem.stat_file is missing; calls to it return an error until then'],
    });
    expect(await published()).toEqual([['filesystem.stat_file', 'missing']]);
    await connect('other', 'stat_file');
    expect(await write(asker)).toMatchObject({
      uses: ['filesystem.stat_file'],
      messages: [expect.stringContaining('other.stat_file'), expect.stringContaining('is missing')],
    });
  });

  it('follows `uses` and `names` that say something else', async () => {
    await connect('filesystem', 'read_file');
    await write(reader);
    expect(await write({ ...reader, uses: ['filesystem.read_file'] })).toEqual({
      changed: true,
      uses: ['filesystem.read_file'],
      messages: [],
    });
    expect(await write({ ...reader, names: { read_file: 'builtin.read_file' } })).toEqual({
      changed: true,
      uses: ['builtin.read_file'],
      messages: [],
    });
  });

  it('is bound in what was read and written to another workspace', async () => {
    await connect('docs', 'search');
    await write(code('return [await tools.search({}), await tools.shell({})]'));
    const { body } = await catalog.get('made-tool', 'made.tool');
    catalog = createNodeCatalog({ definitions });
    await connect('web', 'search', 'shell');
    await connect('docs', 'search');
    const { pin: _pin, by: _by, ...document } = body;
    expect(await write(document)).toEqual({ changed: true, uses: ['builtin.bash', 'docs.search'], messages: [] });
    expect(await published()).toEqual([
      ['builtin.bash', 'ready', 'shell'],
      ['docs.search', 'ready'],
    ]);
  });

  it('is not read from a row that was changed in the table', async () => {
    await connect('filesystem', 'read_file');
    await write(reader);
    catalog.sql.exec(`UPDATE documents SET body = replace(body, 'builtin.read_file', 'filesystem.read_file') WHERE kind = 'made-tool'`);
    expect(await write(reader)).toMatchObject({ uses: ['builtin.read_file'] });
  });
});

describe('the name and the aliases of a stored made tool', () => {
  it('stay when another tool takes them, with a warning that names it', async () => {
    const tool = code('return 1', { aliases: ['adder'] });
    await write(tool, 'made.sum');
    await catalog.put('tool-aliases', 'builtin.bash', { aliases: ['shell', 'sum', 'adder'] });
    expect(await write({ ...tool, description: 'Adds.' }, 'made.sum')).toMatchObject({
      changed: true,
      messages: ['"sum" is also an alias of builtin.bash', '"adder" is also an alias of builtin.bash'],
    });
  });
});
