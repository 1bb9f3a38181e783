/** Made tools as documents of the Catalog: toolsets follow each change, and rows edited in the tables never run. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { EditionTool } from '../../../../src/core/toolset/edition-tool.ts';
import type { CatalogPort } from '../../../../src/ports/catalog.ts';
import { emptyWorkspace, testEnv } from '../../../storage/workspace.ts';
import { waitFor } from '../../../wait-for.ts';
import { takeErrors } from '../../../service-errors.ts';

const replace = {
  description: 'Replaces a text in a file.',
  parameters: [
    { name: 'path', type: 'string', description: 'The file', required: true },
    { name: 'find', type: 'string' },
    { name: 'replace', type: 'string', default: '' },
  ],
  implementation:
    'const read = await tools.read_file({ path: args.path });\nconst parts = read.output.split(args.find);\nawait tools.write_file({ path: args.path, content: parts.join(args.replace) });\nreturn { replaced: parts.length - 1 };',
  aliases: ['find_replace'],
};
const desk = { tools: [{ tool: 'made.find_and_replace', aliases: ['swap'] }, { tool: 'builtin.bash' }] };

async function made() {
  const parts = await emptyWorkspace();
  await parts.catalog.put('made-tool', 'made.find_and_replace', replace);
  const seen = async (name = 'desk') => {
    const { pointer, names } = await parts.directory.toolset(parts.workspace, name);
    return { revision: pointer.revision, tool: names.tools.find(({ kind }) => kind === 'made') as EditionTool };
  };
  return { ...parts, seen };
}

const faults = async (work: Promise<unknown>): Promise<string[]> => {
  try {
    await work;
  } catch (error) {
    const { extra } = error as { extra: { issues: { path: string; message: string }[] } };
    return extra.issues.map(({ path, message }) => `${path}: ${message}`);
  }
  throw new Error('It was taken, and was to be refused.');
};
const calls = (name: string) => ({ description: 'Calls.', implementation: `return await tools.${name}({})` });
const putAll = async (catalog: CatalogPort, tools: Record<string, string>) => {
  for (const [name, calls_] of Object.entries(tools)) await catalog.put('made-tool', `made.${name}`, calls(calls_));
};

describe('a made tool', () => {
  it('stores the tools that its code uses, and has a schema of its parameters', async () => {
    const { catalog } = await made();
    const document = await catalog.get('made-tool', 'made.find_and_replace');
    expect(document).toMatchObject({ version: 1, body: { uses: ['builtin.read_file', 'builtin.write_file'], aliases: ['find_replace'] } });
    expect(Object.keys(document.body)).not.toContain('pin');
    expect(await catalog.tool('made.find_and_replace')).toMatchObject({
      kind: 'made',
      server: 'made',
      name: 'find_and_replace',
      aliases: ['find_replace'],
      inputSchema: {
        properties: { path: { type: 'string', description: 'The file' }, replace: { type: 'string', default: '' } },
        required: ['path', 'find'],
        additionalProperties: false,
      },
    });
  });

  it('is in a toolset with all tools that it may call, and each change makes a new revision', async () => {
    const { catalog, seen } = await made();
    await catalog.put('toolset', 'desk', desk);
    const first = await seen();
    expect(first.tool).toMatchObject({ canonical: 'made.find_and_replace', wireName: 'swap', state: 'ready', kind: 'made' });
    expect(first.tool.made?.uses.map(({ canonical, wireName, state }) => [canonical, wireName, state])).toEqual([
      ['builtin.read_file', 'read_file', 'ready'],
      ['builtin.write_file', 'write_file', 'ready'],
    ]);
    await catalog.put('made-tool', 'made.find_and_replace', { ...replace, implementation: 'return (await tools.read_file(args)).output' });
    const second = await seen();
    expect([first.revision, second.revision]).toEqual([1, 2]);
    expect(second.tool.made).toMatchObject({
      implementation: 'return (await tools.read_file(args)).output',
      uses: [{ ownName: 'read_file' }],
    });
    expect(second.tool.pin).not.toBe(first.tool.pin);
    expect(
      (
        await catalog.put('made-tool', 'made.find_and_replace', {
          ...replace,
          implementation: 'return (await tools.read_file(args)).output',
        })
      ).changed,
    ).toBe(false);
    expect((await seen()).revision).toBe(2);
  });

  it('is missing after it was deleted, and its version numbers are never reused', async () => {
    const { catalog, seen } = await made();
    await catalog.put('toolset', 'desk', desk);
    await catalog.remove('made-tool', 'made.find_and_replace', { ifMatch: 1 });
    expect((await seen()).tool).toMatchObject({ state: 'missing' });
    expect((await catalog.put('made-tool', 'made.find_and_replace', replace)).document.version).toBe(3);
    expect((await seen()).tool).toMatchObject({ state: 'ready' });
  });

  it('follows its nested tools at any depth: a toolset with the outermost is recompiled', async () => {
    const { catalog, directory, workspace } = await emptyWorkspace();
    await putAll(catalog, { inner: 'read_file', outer: 'inner' });
    await catalog.put('toolset', 'desk', { tools: [{ tool: 'made.outer' }] });
    const beneath = async () =>
      (await directory.toolset(workspace, 'desk')).names.tools[0]?.made?.uses[0]?.made?.uses.map(({ canonical }) => canonical);
    expect(await beneath()).toEqual(['builtin.read_file']);
    await catalog.put('made-tool', 'made.inner', calls('write_file'));
    expect(await beneath()).toEqual(['builtin.write_file']);
    await catalog.remove('made-tool', 'made.inner');
    const [outer] = (await directory.toolset(workspace, 'desk')).names.tools;
    expect([outer?.state, outer?.made?.uses[0]?.state]).toEqual(['ready', 'missing']);
  });

  it('has a server tool that it uses held when that changes, and ready when it is accepted', async () => {
    const { catalog, directory, workspace } = await emptyWorkspace();
    const server = (description: string) => ({
      kind: 'static',
      updates: 'review',
      url: 'https://docs.example.com/call',
      tools: [{ name: 'search', description, inputSchema: { type: 'object' } }],
    });
    await catalog.put('server', 'docs', server('Searches.'));
    await putAll(catalog, { asker: 'search' });
    await catalog.put('toolset', 'desk', { tools: [{ tool: 'made.asker' }] });
    const used = async () => {
      const { names } = await directory.toolset(workspace, 'desk');
      const all = await directory.made(workspace);
      return [names.tools[0]?.made?.uses[0]?.state, all?.names.tools[0]?.made?.uses[0]?.state];
    };
    expect(await used()).toEqual(['ready', 'ready']);
    await catalog.put('server', 'docs', server('Searches, and sends it on.'));
    expect(await used()).toEqual(['held', 'held']);
    await catalog.acceptTool('docs', 'search');
    expect(await used()).toEqual(['ready', 'ready']);
    await catalog.remove('server', 'docs');
    expect(await used()).toEqual(['missing', 'missing']);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['made.bash', replace, 'name: "bash" is the name of builtin.bash'],
    ['made.shell', replace, 'name: "shell" is an alias of builtin.bash'],
    ['made.read-file', replace, 'name: "read-file" is the name of builtin.read_file'],
    ['made.use_skill', replace, 'name: "use_skill" is the name of builtin.use_skill'],
    ['made.build-toolset', replace, 'name: "build-toolset" is the name of builtin.build-toolset'],
    ['made.constructor', replace, 'name: "constructor" is a member of every JavaScript object'],
    ['made.x', replace, 'name: must be "made." and 2 to 64'],
    ['builtin.bash', replace, 'name: must be "made." and 2 to 64'],
    ['made.adder', { ...replace, name: 'other' }, 'name: differs from the name in the path'],
    ['made.adder', { ...replace, aliases: ['bash'] }, 'aliases[0]: "bash" is the name of builtin.bash'],
    ['made.adder', { ...replace, aliases: ['sum', 'sum'] }, 'aliases[1]: "sum" is listed twice'],
    [
      'made.adder',
      { ...replace, parameters: [...replace.parameters, { name: 'path', type: 'string' }] },
      'parameters[3].name: "path" is already used by parameters[0]',
    ],
    [
      'made.adder',
      { ...replace, parameters: [{ name: 'n', type: 'number', default: 'one' }] },
      'parameters[0].default: is not of type number',
    ],
    ['made.adder', calls('no_such_tool'), 'implementation: line 1: there is no tool "no_such_tool"'],
    ['made.adder', calls('serach_files.x'), 'implementation: line 1: there is no tool "serach_files.x"'],
    ['made.adder', calls('run_code'), 'implementation: line 1: builtin.run_code cannot be called from code'],
    ['made.adder', calls('adder'), 'implementation: line 1: there is no tool "adder"'],
    ['made.adder', { ...replace, implementation: 'return tools[args.path]()' }, 'implementation: line 1 uses `tools` in another form than'],
    ['made.adder', { ...replace, uses: ['builtin.read_file'] }, 'uses: line 3 of the code calls builtin.write_file, which is not listed'],
    [
      'made.adder',
      { ...replace, uses: ['builtin.raed_file', 'write_file', 'read_file'] },
      'uses[0]: there is no tool "builtin.raed_file"; did you mean builtin.read_file',
    ],
    ['made.adder', { ...replace, shiny: true }, 'shiny: unknown field'],
  ])('is rejected as %s with the path of the fault', async (name, body, fault) => {
    const { catalog } = await emptyWorkspace();
    const found = await faults(catalog.put('made-tool', name, body));
    expect(found.join('\n')).toContain(fault);
    await expect(catalog.get('made-tool', name)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('cannot have a name or alias of another made tool, in any spelling', async () => {
    const { catalog } = await made();
    expect(await faults(catalog.put('made-tool', 'made.find-and-replace', replace))).toEqual([
      expect.stringContaining('name: "find-and-replace" is the name of made.find_and_replace'),
      expect.stringContaining('aliases[0]: "find_replace" is an alias of made.find_and_replace'),
    ]);
  });

  it('can call declared tools that its code does not name statically, by any name', async () => {
    const { catalog } = await emptyWorkspace();
    const body = { description: 'Picks.', implementation: 'return await tools[args.which]({})', uses: ['readFile', 'shell'] };
    const { document } = await catalog.put('made-tool', 'made.picker', body);
    expect(document.body).toMatchObject({ uses: ['builtin.bash', 'builtin.read_file'] });
  });

  it('keeps the tool names in its code, whatever default aliases are set later', async () => {
    const { catalog, directory, workspace } = await emptyWorkspace();
    await putAll(catalog, { runner: 'shell' });
    await catalog.put('tool-aliases', 'builtin.bash', { aliases: [] });
    const tools = (await directory.made(workspace))?.names.tools ?? [];
    expect(tools[0]?.made?.uses[0]).toMatchObject({ canonical: 'builtin.bash', aliases: [{ name: 'shell', mode: 'hidden' }] });
  });

  it('never calls itself or nests too deeply, and the error shows the path', async () => {
    const { catalog } = await emptyWorkspace();
    await putAll(catalog, { aa: 'read_file', bb: 'aa', cc: 'bb' });
    expect(await faults(catalog.put('made-tool', 'made.aa', calls('cc')))).toEqual([
      'uses: it would call itself: made.aa → made.cc → made.bb → made.aa',
    ]);
    expect(await faults(catalog.put('made-tool', 'made.dd', calls('cc')))).toEqual([
      'uses: calls would nest 5 deep; the maximum is 4: made.dd → made.cc → made.bb → made.aa → builtin.read_file',
    ]);
    await putAll(catalog, { zz: 'read_file' });
    expect(await faults(catalog.put('made-tool', 'made.aa', calls('zz')))).toEqual([
      'uses: calls would nest 5 deep; the maximum is 4: made.cc → made.bb → made.aa → made.zz → builtin.read_file',
    ]);
  });
});

describe('all made tools of a workspace', () => {
  it('are one published edition without an accessible name', async () => {
    const { catalog, directory, workspace } = await made();
    await putAll(catalog, { other: 'read_file' });
    const all = await directory.made(workspace);
    expect(all?.pointer).toMatchObject({ toolset: '.made', version: 1, revision: 2 });
    expect(all?.names.tools.map(({ canonical, wireName }) => [canonical, wireName])).toEqual([
      ['made.find_and_replace', 'find_and_replace'],
      ['made.other', 'other'],
    ]);
    expect((await catalog.list('toolset', { limit: 10 })).items).toEqual([]);
    await expect(catalog.get('toolset', '.made')).rejects.toMatchObject({ code: 'not_found' });
    await expect(catalog.remove('toolset', '.made')).rejects.toMatchObject({ code: 'not_found' });
    await expect(catalog.put('toolset', '.made', desk)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(directory.toolset(workspace, '.made')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are current at once where they were written and for readers that need the newest, elsewhere when the cached ones expire', async () => {
    const { catalog, clock, directory, isolate, workspace } = await made();
    const other = isolate();
    expect((await other.made(workspace))?.names.tools).toHaveLength(1);
    await putAll(catalog, { other: 'read_file' });
    expect((await directory.made(workspace))?.names.tools).toHaveLength(2);
    expect((await other.made(workspace))?.names.tools).toHaveLength(1);
    expect((await other.made(workspace, { newest: true }))?.names.tools).toHaveLength(2);
    await waitFor(async () => {
      await clock.advance(limits.publishedTtlMs);
      expect((await other.made(workspace))?.names.tools).toHaveLength(2);
    });
  });

  it('have configured default aliases, and their own again when those are removed', async () => {
    const { catalog, directory, workspace } = await made();
    const aliases = async () => (await directory.made(workspace))?.names.tools[0]?.aliases.map(({ name }) => name);
    expect(await aliases()).toEqual(['find_replace']);
    await catalog.put('tool-aliases', 'made.find_and_replace', { aliases: ['swap', 'bash'] });
    expect(await aliases()).toEqual(['swap', 'bash']);
    await catalog.remove('tool-aliases', 'made.find_and_replace');
    expect(await aliases()).toEqual(['find_replace']);
  });

  it('are empty before the first is created', async () => {
    const { directory, workspace } = await emptyWorkspace();
    expect(await directory.made(workspace)).toBeNull();
  });
});

describe('an agent with `made: true`', () => {
  it('has warnings about made tools that it is not offered, when it is written and read', async () => {
    const { catalog } = await made();
    await putAll(catalog, { runner: 'bash' });
    await catalog.put('toolset', 'files', { tools: [{ tool: 'builtin.read_file' }, { tool: 'builtin.write_file' }] });
    const why = {
      path: 'made',
      message: 'made.runner is not offered: it calls builtin.bash, which is not one of the agent’s tools.',
    };
    const agent = { model: 'rehearsal/default', toolset: 'files', made: true };
    expect((await catalog.put('agent', 'helper', agent)).warnings).toEqual([why]);
    expect((await catalog.get('agent', 'helper')).warnings).toEqual([why]);
    expect((await catalog.put('agent', 'plain', { ...agent, made: false })).warnings).toEqual([]);
  });
});

describe('a stored row that was modified', () => {
  it.each([
    ['whose code was changed', "json_set(body, '$.implementation', 'return await tools.bash({command: args.path})')"],
    ['that may call more', "json_set(body, '$.uses[2]', 'builtin.bash')"],
    ['that is no JSON', 'substr(body, 2)'],
    ['that is no made tool', "'{}'"],
  ])('%s is held when it is loaded, until it is written again', async (_what, change) => {
    const { catalog, object, workspace, isolate, directory } = await made();
    await catalog.put('toolset', 'desk', desk);
    await runInDurableObject(object, (_instance, state) => {
      state.storage.sql.exec(`UPDATE documents SET body = ${change} WHERE kind = 'made-tool'`);
    });
    await expect(runInDurableObject(object, (_instance, state) => state.abort('moved'))).rejects.toThrow('moved');
    expect(await catalog.tool('made.find_and_replace')).toMatchObject({ source: { state: 'held' }, description: '' });
    expect(takeErrors()).toMatchObject([
      { message: 'made tools are held: stored rows do not match their checksums', tools: ['made.find_and_replace'] },
    ]);
    // The earlier stub died with the object.
    await runDurableObjectAlarm(testEnv.CATALOG.get(object.id));
    const elsewhere = isolate();
    const { names } = await elsewhere.edition(workspace, (await elsewhere.toolset(workspace, 'desk')).pointer);
    expect(names.tools[0]).toMatchObject({
      state: 'held',
      held: { reason: 'changed', findings: [{ message: expect.stringContaining('PUT /v1/tools/made.find_and_replace') }] },
    });
    expect(names.tools[0]?.made).toBeUndefined();
    expect((await elsewhere.made(workspace))?.names.tools).toEqual([]);
    await catalog.put('made-tool', 'made.find_and_replace', { ...replace, description: 'Replaces.' });
    expect((await directory.toolset(workspace, 'desk')).names.tools[0]).toMatchObject({ state: 'ready' });
  });
});
