/** What a file says of tools and servers that may not be used, in each spelling and of each type: an import never offers more. */
import { describe, expect, it } from 'vitest';
import { readImport } from '../../../src/formats/read-import.ts';

type File = Record<string, unknown>;

const url = 'https://mcp.example.com/mcp';
const read = (file: File, fileName = 'mcp.json') => {
  const { project, skipped, warnings } = readImport(new TextEncoder().encode(JSON.stringify(file)), { fileName });
  const told = [...skipped.map(({ name }) => name), ...warnings.map(({ path }) => path)];
  const toolsets = Object.values(project.toolsets ?? {}) as { tools: unknown[] }[];
  return { servers: Object.keys(project.servers ?? {}), tools: toolsets[0]?.tools, told };
};
const readServer = (entry: File, more: File = {}) => read({ mcpServers: { a: { url, ...entry } }, ...more });

describe('the tools of a server', () => {
  it.each([
    [{ include_tools: ['read'] }, [{ tool: 'a.read' }]],
    [{ IncludeTools: 'read, write' }, [{ tool: 'a.read' }, { tool: 'a.write' }]],
    [{ includeTools: [' read '] }, [{ tool: 'a.read' }]],
    [{ exclude_tools: ['drop'] }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ 'disabled-tools': 'drop,delete' }, [{ tool: 'a.*', except: ['drop', 'delete'] }]],
    [{ tools: ['*', '!drop'] }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ tools: { drop: { enabled: 0 } } }, [{ tool: 'a.*', except: ['drop'] }]],
  ])('are filtered by %j', (entry, expected) => {
    expect(readServer(entry).tools).toEqual(expected);
  });

  it.each([
    [{ toolFilter: { include: ['read'] } }],
    [{ allowed: ['read'] }],
    [{ blocked_tools: [{ name: 'drop' }] }],
    [{ excludeTools: ['(delete|drop)_file'] }],
    [{ excludeTools: ['!read'] }],
    [{ tools: ['!drop'] }],
  ])('are left out, which is said, if the filter %j cannot be read', (entry) => {
    const { servers, tools, told } = readServer(entry);
    expect([servers, tools]).toEqual([['a'], undefined]);
    expect(told.some((path) => path.startsWith('mcpServers.a'))).toBe(true);
  });

  it.each([
    { disabled: 1 },
    { disabled: 'maybe' },
    { Disabled: true },
    { enabled: 0 },
    { isEnabled: false },
    { active: 'no' },
    { status: 'INACTIVE' },
  ])('are left out with a server that %j switches off', (entry) => {
    expect(readServer(entry)).toMatchObject({ servers: [], told: expect.arrayContaining(['mcpServers.a']) });
  });

  it.each([
    [{ deny: { mcp__a__drop: true } }, undefined],
    [{ deny: ['mcp__a__drop', {}] }, undefined],
    [{ deny: ['*'] }, undefined],
    [{ deny: ['mcp__*__drop', 'mcp__a*'] }, undefined],
    [{ deny: ['mcp__*__drop'] }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ deny: ['mcp__a__drop(path)'] }, undefined],
    [{ ask: ['mcp__a__*_write'] }, [{ tool: 'a.*', approval: 'always' }]],
    [{ ask: { mcp__a__write: true } }, [{ tool: 'a.*', approval: 'always' }]],
  ])('follow the permissions %j', (permissions, expected) => {
    expect(readServer({}, { permissions }).tools).toEqual(expected);
  });

  it.each([{ disabledMcpServers: { a: true } }, { mcp: { excluded: ['b', {}] } }, { mcp: { allowed: { a: true } } }])(
    'are left out if the list of servers %j cannot be read',
    (more) => {
      expect(readServer({}, more)).toMatchObject({ servers: [], told: expect.arrayContaining(['mcpServers.a']) });
    },
  );

  it.each([
    [{ '*_drop': false }, undefined],
    [{ 'a*p': false }, undefined],
    [{ 'a_?rop': false }, undefined],
    [{ 'a*': false }, undefined],
    [{ a_drop: false }, [{ tool: 'a.*', except: ['drop'] }]],
  ])('follow the switches %j of opencode', (tools, expected) => {
    expect(read({ mcp: { a: { type: 'remote', url } }, tools }, 'opencode.json').tools).toEqual(expected);
  });

  it.each([
    [{ tool: '*', action: 'reject' }, undefined],
    [{ tool: 'mcp__a__drop', action: 'Reject' }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ tool: 'mcp__a__drop', action: 'forbid' }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ tool: 'mcp__a__drop', action: 'reject', matches: { path: '/etc/*' } }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ tool: 'mcp__a__drop', action: 'delegate', to: 'judge' }, [{ tool: 'a.*' }, { tool: 'a.drop', approval: 'always' }]],
  ])('follow the permission %j of Amp', (rule, expected) => {
    const file = { 'amp.mcpServers': { a: { url } }, 'amp.permissions': [rule] };
    expect(read(file, 'amp/settings.json').tools).toEqual(expected);
  });

  it.each([
    [{ tools: { 'mcp:a:drop': { default: 'deny' } } }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ tools: { 'mcp:a:drop': { default: 'allow', always_deny: [{ pattern: '/etc' }] } } }, [{ tool: 'a.*', except: ['drop'] }]],
    [{ tools: { 'mcp:a:drop': { default: 'confirm' } } }, [{ tool: 'a.*' }, { tool: 'a.drop', approval: 'always' }]],
    [{ default: 'deny' }, undefined],
  ])('follow the permissions %j of Zed', (permissions, expected) => {
    const file = { context_servers: { a: { url } }, agent: { tool_permissions: permissions } };
    expect(read(file, 'zed/settings.json').tools).toEqual(expected);
  });

  it('are filtered by names with the prefix that LiteLLM adds', () => {
    const file = { model_list: [], mcp_servers: { a: { url, disallowed_tools: ['a-drop'] } } };
    expect(read(file, 'config.yaml').tools).toEqual([{ tool: 'a.*', except: ['drop', 'a-drop'] }]);
  });

  it('are left out if a list of Bifrost cannot be read', () => {
    const client = { name: 'a', connection_type: 'http', connection_string: url, tools_to_execute: ['*'] };
    const ofClient = (more: File) => read({ mcp: { client_configs: [{ ...client, ...more }] } }, 'config.json').tools;
    expect(ofClient({ tools_to_skip: ['drop'] })).toEqual([{ tool: 'a.*', except: ['drop'] }]);
    expect(ofClient({ tools_to_execute: { read: true } })).toBeUndefined();
    expect(ofClient({ tools_to_skip: { drop: true } })).toBeUndefined();
  });

  it('are left out with more exceptions than a toolset may have, and those of other servers stay', () => {
    const deny = Array.from({ length: 1_001 }, (_, index) => `mcp__a__t${index}`);
    const file = { mcpServers: { a: { url }, b: { url } }, permissions: { deny } };
    expect(read(file)).toMatchObject({ servers: ['a', 'b'], tools: [{ tool: 'b.*' }], told: ['mcpServers.a'] });
  });

  it('need approval if the mode of Codex is not known', () => {
    const file = { mcp_servers: { a: { url, tools: { drop: { approval_mode: 'Prompt' }, read: { approval_mode: 'manual' } } } } };
    expect(read(file, '.codex/config.toml.json').tools).toEqual([
      { tool: 'a.*' },
      { tool: 'a.drop', approval: 'always' },
      { tool: 'a.read', approval: 'always' },
    ]);
  });
});
