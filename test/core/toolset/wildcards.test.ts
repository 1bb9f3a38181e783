import { describe, expect, it } from 'vitest';
import { compileEdition } from '../../../src/core/toolset/edition.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { knownTools, refusalOf, toolOf } from '../../fakes/known-tools.ts';

const source = { trusted: false, pin: '' };
const known = knownTools([
  ...['read_file', 'write_file', 'delete_file', 'list'].map((name) => toolOf('fs', name, { description: `Does ${name} with files.` })),
  toolOf('fs', 'gone', { source: { ...source, state: 'missing' } }),
  toolOf('fsx', 'other'),
  ...['bash', 'create_tool', 'build-toolset'].map((name) => toolOf('builtin', name)),
]);
const stored = async (tools: unknown[]): Promise<unknown> => {
  const toolset = Toolset.parse({ tools });
  return (await compileEdition({ workspace: 'default', name: 'test', toolset, known })).toolset.tools;
};
const issuesOf = async (...tools: unknown[]) => (await refusalOf({ tools }, known)).extra.issues;

describe('a wildcard', () => {
  it('is replaced by the listed tools of its server, with the other members of the entry', async () => {
    expect(await stored([{ tool: 'builtin.bash' }, { tool: 'fs.*', approval: 'always' }])).toEqual([
      { tool: 'builtin.bash' },
      ...['delete_file', 'list', 'read_file', 'write_file'].map((name) => ({ tool: `fs.${name}`, approval: 'always' })),
    ]);
  });

  it('leaves out exceptions, tools with their own entry, and tools that turns add', async () => {
    const own = { tool: 'fs.list', name: 'ls' };
    expect(await stored([{ tool: 'fs.*', except: ['delete_file', 'fs.write*'] }, own])).toEqual([{ tool: 'fs.read_file' }, own]);
    expect(await stored([{ tool: 'fs.read*' }, { tool: 'fs.*', except: ['delete_*'] }])).toEqual(
      ['read_file', 'list', 'write_file'].map((name) => ({ tool: `fs.${name}` })),
    );
    expect(await stored([{ tool: 'builtin.*' }])).toEqual([{ tool: 'builtin.bash' }]);
    // At the end, a pattern whose tools are all listed leaves the rest as it is.
    expect(await stored([{ tool: 'builtin.bash' }, { tool: 'builtin.*' }])).toEqual([{ tool: 'builtin.bash' }]);
  });

  it('is refused if it, or an exception, matches nothing', async () => {
    expect(await issuesOf({ tool: 'fz.*' }, { tool: 'fs.*', except: ['list', 'delte_file'] }, { tool: '*' })).toEqual([
      { path: 'tools[0].tool', message: expect.stringContaining('"fz.*" matches no tool') },
      { path: 'tools[1].except[1]', message: expect.stringContaining('"delte_file" matches no tool of fs.*; did you mean delete_file') },
      { path: 'tools[2].tool', message: expect.stringContaining('has no server') },
    ]);
    expect(await issuesOf({ tool: 'fs.list*', except: ['list'] })).toEqual([
      { path: 'tools', message: 'are all excluded by except, or were revoked' },
    ]);
  });

  it('has no names, and except needs a wildcard', () => {
    const pathsOf = (entry: object) => Toolset.safeParse({ tools: [entry] }).error?.issues.map(({ path }) => path.join('.'));
    expect(pathsOf({ tool: 'fs.*', name: 'x', aliases: ['y'], arguments: {} })).toEqual([
      'tools.0.name',
      'tools.0.aliases',
      'tools.0.arguments',
    ]);
    expect(pathsOf({ tool: 'fs.list', except: ['x'] })).toEqual(['tools.0.except']);
  });

  it('gives at most as many entries as a toolset may have', async () => {
    const many = knownTools(Array.from({ length: 1_001 }, (_, index) => toolOf('big', `t${index}`)));
    const { extra } = await refusalOf({ tools: [{ tool: 'big.*' }] }, many);
    expect(extra.issues).toEqual([{ path: 'tools', message: expect.stringContaining('give 1001 entries') }]);
  });
});
