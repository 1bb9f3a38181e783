// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the files
/** Servers in files of MCP clients: which tools they offer, what their variables stand for, where their credentials go, and bridges. */
import { describe, expect, it } from 'vitest';
import type { ImportResult } from '../../../src/core/import/draft.ts';
import { expandVariables } from '../../../src/core/project/expand-variables.ts';
import { readImport } from '../../../src/formats/read-import.ts';

type File = Record<string, unknown>;

const importFile = (file: File | string, fileName = 'mcp.json'): ImportResult =>
  readImport(new TextEncoder().encode(typeof file === 'string' ? file : JSON.stringify(file)), { fileName });
const importServer = (entry: File, more: File = {}): ImportResult => importFile({ mcpServers: { a: entry }, ...more });
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests check
const serverOf = (result: ImportResult): any => result.project.servers?.a;
const toolsOf = ({ project }: ImportResult) => Object.values(project.toolsets ?? {})[0]?.tools;
const told = ({ skipped, warnings }: ImportResult): string =>
  [...skipped.map(({ name, reason }) => `${name} ${reason}`), ...warnings.map(({ path, message }) => `${path} ${message}`)].join('\n');

const url = 'https://mcp.example.com/mcp';

describe('the tools that a file offers of a server', () => {
  it.each([
    [{ tools: ['*'] }, [{ tool: 'a.*' }]],
    [{ tools: ['read'] }, [{ tool: 'a.read' }]],
    [{ includeTools: ['read', 'list_*'] }, [{ tool: 'a.read' }, { tool: 'a.list_*' }]],
    [{ enabledTools: ['read'] }, [{ tool: 'a.read' }]],
    [{ enabled_tools: ['read', 'write'], disabled_tools: ['write'] }, [{ tool: 'a.read' }]],
    [{ allowedTools: ['read'], tools: ['read', 'write'] }, [{ tool: 'a.read' }]],
    [{ allowed_tools: ['read_*'], includeTools: ['read_a', 'write'] }, [{ tool: 'a.read_a' }]],
    [{ disabledTools: ['drop'], excludeTools: ['delete'] }, [{ tool: 'a.*', except: ['drop', 'delete'] }]],
    [{ disallowed_tools: ['delete_*'] }, [{ tool: 'a.*', except: ['delete_*'] }]],
    [
      { tools: { drop: { enabled: false }, read: { description: 'Reads.' } } },
      [
        { tool: 'a.*', except: ['drop'] },
        { tool: 'a.read', description: 'Reads.' },
      ],
    ],
    [
      { autoApprove: ['read', 'drop'], disabledTools: ['drop'] },
      [
        { tool: 'a.*', except: ['drop'] },
        { tool: 'a.read', approval: 'never' },
      ],
    ],
    [{ alwaysAllow: ['get_*'] }, [{ tool: 'a.get_*', approval: 'never' }, { tool: 'a.*' }]],
    [{ trust: true, includeTools: ['read'] }, [{ tool: 'a.read', approval: 'never' }]],
    [{ alwaysLoad: true }, [{ tool: 'a.*', alwaysOffered: true }]],
  ])('with %j are those entries', (members, expected) => {
    const result = importServer({ url, ...members });
    expect(toolsOf(result)).toEqual(expected);
    expect(result.skipped).toEqual([]);
  });

  it.each([
    [{ tools: [] }],
    [{ includeTools: [] }],
    [{ tools: 5 }],
    [{ allowedTools: { read: true } }],
    [{ enabledTools: ['read'], disabledTools: ['read'] }],
  ])('with %j are none, and that is said', (members) => {
    const result = importServer({ url, ...members });
    expect([Object.keys(result.project.servers ?? {}), result.project.toolsets]).toEqual([['a'], undefined]);
    expect(told(result)).toContain('mcpServers.a the file offers none of its tools');
  });

  it('are none if they are filtered by a pattern that has no counterpart', () => {
    const result = importServer({ url, excludeTools: ['*delete*'] });
    expect(result.project.toolsets).toBeUndefined();
    expect(told(result)).toContain(
      'mcpServers.a none of its tools is in the toolset: tools can be left out by name or beginning, not by *delete*',
    );
  });

  it('follow the permissions of Claude Code, of which those for other tools are listed', () => {
    const permissions = {
      allow: ['mcp__a__read', 'Bash(ls:*)'],
      ask: ['mcp__a__write'],
      deny: ['mcp__a__drop', 'mcp__b'],
      defaultMode: 'plan',
    };
    const result = importServer({ url }, { permissions });
    expect(toolsOf(result)).toEqual([
      { tool: 'a.*', except: ['drop'] },
      { tool: 'a.read', approval: 'never' },
      { tool: 'a.write', approval: 'always' },
    ]);
    expect(result.skipped.map(({ name }) => name)).toEqual(['permissions.defaultMode', 'permissions.allow[1]', 'permissions.deny[1]']);
  });

  it('follow a rule for the server with the longest name that it begins with', () => {
    const servers = {
      mcpServers: { my: { url }, 'my server': { url } },
      permissions: { deny: ['mcp__my_server__drop', 'mcp__my__erase'] },
    };
    expect(toolsOf(importFile(servers))).toEqual([
      { tool: 'my.*', except: ['erase'] },
      { tool: 'my-server.*', except: ['drop'] },
    ]);
  });
});

describe('a server that a list of the file leaves out', () => {
  it.each([
    ['mcp.json', { mcp: { allowed: ['b'] } }, 'is not in mcp.allowed of the file'],
    ['mcp.json', { mcp: { excluded: ['a'] } }, 'is in mcp.excluded of the file'],
    ['settings.json', { excludeMCPServers: ['a'] }, 'is in excludeMCPServers of the file'],
    ['settings.json', { disabledMcpjsonServers: ['a'] }, 'is in disabledMcpjsonServers of the file'],
  ])('in %s, %j, is skipped', (fileName, lists, reason) => {
    const result = importFile({ mcpServers: { a: { url } }, ...lists }, fileName);
    expect(result.project.servers).toBeUndefined();
    expect(result.skipped).toEqual([{ name: 'mcpServers.a', reason }]);
  });
});

describe('variables in an entry', () => {
  it.each([
    ['${env:PLACE}', '${PLACE}'],
    ['${env:PLACE:-here}', '${PLACE:-here}'],
    ['${PLACE:-here}', '${PLACE:-here}'],
    ['${BASE:-${HOME}/x}', '${BASE:-${HOME}/x}'],
    ['{env:PLACE}', '${PLACE}'],
    ['$PLACE', '${PLACE}'],
    ['%PLACE%', '${PLACE}'],
    ['os.environ/PLACE', '${PLACE}'],
    ['${workspaceFolder}/x', '${PWD}/x'],
    ['price: $5 and 100%', 'price: $5 and 100%'],
    ['${ not closed', '${ not closed'],
    ['a$PLACE', 'a$PLACE'],
  ])('%s is %s', (written, expected) => {
    expect(serverOf(importServer({ command: 'x', args: [written] })).args).toEqual([expected]);
  });

  it('may stand within texts without braces in files of Gemini CLI', () => {
    const { project } = importFile({ mcpServers: { a: { command: 'x', args: ['$ROOT/data'] } } }, '.gemini/settings.json');
    expect(project.servers?.a).toMatchObject({ args: ['${ROOT}/data'] });
  });

  it('are not the dollar signs of other values in files of Gemini CLI', () => {
    const [args, env] = [['pa$$word1', '^a$b', '$$HOME', 'cost $5'], { PASSWORD: 'pa$word1' }];
    const { project } = importFile({ mcpServers: { a: { command: 'x', args, env } } }, '.gemini/settings.json');
    expect([project.servers?.a, project.secrets]).toMatchObject([{ args }, { PASSWORD: { value: 'pa$word1' } }]);
  });

  it.each([
    ['${A:-${B:-${C}}}'],
    ['${file:~/.token}'],
    ['{file:~/.token}'],
    ['${A:?missing}'],
    ['${A:-{x}}'],
    ['${env:ProgramFiles(x86)}'],
  ])('that only the program can fill in, such as %s, skip the server', (written) => {
    const result = importServer({ command: 'x', args: [written] });
    expect([result.project.servers, result.skipped.map(({ name }) => name)]).toEqual([undefined, ['mcpServers.a']]);
  });

  it('with a default that names another variable are expanded by the command line', () => {
    const { project } = importServer({ command: 'x', args: ['${BASE:-${HOME}/x}'] });
    const args = (environment: Record<string, string>): unknown =>
      (expandVariables(project, environment).project as typeof project).servers?.a;
    expect(args({ HOME: '/home/ada' })).toMatchObject({ args: ['/home/ada/x'] });
    expect(args({ BASE: '/srv' })).toMatchObject({ args: ['/srv'] });
    expect(expandVariables(project, {}).issues).toHaveLength(1);
  });

  it('that the entry defines are left to the program, and no secret of them is in the arguments', () => {
    const env = { AUTH: 'Bearer abcdef0123456789', KEY: '${KEY}' };
    const result = importServer({
      command: 'serve',
      args: ['--header', 'Authorization:${AUTH}', '--auth', '$AUTH', '--key', '${KEY}'],
      env,
    });
    expect(serverOf(result).args).toEqual(['--header', 'Authorization:$${AUTH}', '--auth', '$AUTH', '--key', { secret: 'A_KEY' }]);
    expect(serverOf(result).env).toEqual({ AUTH: { secret: 'AUTH' }, KEY: { secret: 'KEY' } });
    expect(JSON.stringify(result.project.servers)).not.toContain('abcdef0123456789');
  });

  it('in a URL that is none do not show its credentials in messages', () => {
    for (const bad of [
      'https://ada:pw0123456789@${HOST}/x',
      'https://${HOST}/sk-live-0123456789abcdef/mcp?key=0123456789',
      'sk-live-0123456789abcdef0123',
    ])
      expect(told(importServer({ url: bad }))).toMatch(/^mcpServers\.a has a url that is no URL(?!.*0123456789)/);
  });

  it('of a default do not show it in messages, since it may be a credential', () => {
    expect(told(importServer({ command: 'x', args: ['${KEY:=sk-live-0123456789abcdef}'] }))).not.toContain('0123456789');
  });
});

it('reads long texts and many rules in time that grows with the file', () => {
  // Quadratic costs would take minutes, which is longer than a test may.
  for (const part of ['${A}', '${A:-', '${', '{env:', '$A ', 'your-']) {
    importServer({ command: 'x', args: Array.from({ length: 20 }, () => part.repeat(99_000 / part.length)) });
    importServer({ command: 'x', args: [part.repeat(1_000_000)] });
  }
  const servers = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`s${index}`, { url }]));
  const deny = Array.from({ length: 1_500 }, (_, index) => `mcp__s${index}__drop`);
  expect(Object.keys(importFile({ mcpServers: servers, permissions: { deny } }).project.servers ?? {})).toHaveLength(2_000);
});

describe('credentials in an entry', () => {
  it.each([
    ['env', { command: 'x', env: { WALLET_SEED: 'abc' } }, 'mcpServers.a.env.WALLET_SEED'],
    ['env by its form', { command: 'x', env: { THING: '4eC39HqLyjWDarjtT1zdp7dc5Zr8Bq' } }, 'mcpServers.a.env.THING'],
    ['an argument', { command: 'x', args: ['--api-key', 'abc'] }, 'mcpServers.a.args[1]'],
    ['an argument of a list', { command: ['x', '--token=abc'] }, 'mcpServers.a.command[1]'],
    ['JSON in an argument', { command: 'x', args: ['--config', '{"apiKey": "abc"}'] }, 'mcpServers.a.args[1]'],
    ['a script of a shell', { command: 'sh', args: ['-c', 'TOKEN=abc exec serve'] }, 'mcpServers.a.args[1]'],
    ['the query', { url: `${url}?api_key=abc` }, 'mcpServers.a.url'],
    ['the user', { url: 'https://ada:abc@mcp.example.com/mcp' }, 'mcpServers.a.url'],
    ['a header', { url, headers: { 'X-Auth': 'abc' } }, 'mcpServers.a.headers.X-Auth'],
  ])('in %s become a secret, and the place and its name are said', (_where, entry, path) => {
    const result = importServer(entry);
    const [name = ''] = Object.keys(result.project.secrets ?? {});
    expect(result.warnings).toContainEqual({ path, message: `is a credential, and became the secret ${name}` });
    expect(JSON.stringify([result.project.servers, result.warnings])).not.toMatch(/abc|4eC39/);
  });

  it('in the path of a URL stay there, which is said', () => {
    const result = importServer({ url: 'https://mcp.example.com/mcp/sk-ak-000/sse' });
    expect(result.warnings).toEqual([{ path: 'mcpServers.a.url', message: expect.stringContaining('contains a credential in its path') }]);
    expect(told(result)).not.toContain('sk-ak-000');
  });

  it.each([
    'your-api-key',
    '<TOKEN>',
    'xxx',
    'YOUR_KEY_HERE',
    'sk-...',
    'sk-xxxxxxxx',
    'ghp_xxxxxxxxxxxx',
    'Bearer <token>',
    '${YOUR_TOKEN}',
    'REPLACE_ME',
    '{{API_KEY}}',
  ])('that are a placeholder (%s) are a secret without a value', (value) => {
    const result = importServer({ command: 'x', env: { API_KEY: value } });
    const [secret] = Object.values(result.project.secrets ?? {});
    expect(serverOf(result).env.API_KEY).toHaveProperty('secret');
    // A variable has the value that the command line finds.
    if (!value.startsWith('${')) expect(secret).toEqual({ hosts: ['a.stdio'] });
  });

  it.each(['PUBLIC_KEY', 'TOKEN_LIMIT', 'LOG_LEVEL'])('are not in %s', (name) => {
    expect(serverOf(importServer({ command: 'x', env: { [name]: 'abc' } })).env).toEqual({ [name]: 'abc' });
  });

  it('that a variable without the name of one has as a placeholder are named as missing', () => {
    const result = importServer({ command: 'x', env: { TEAM: '<your team>' } });
    expect([serverOf(result).env, result.skipped]).toEqual([
      undefined,
      [{ name: 'mcpServers.a.env.TEAM', reason: 'is a placeholder, so that it was left out: set its value' }],
    ]);
  });
});

describe('a program that only connects to a remote server', () => {
  it.each([
    ['npx', ['mcp-remote', url]],
    ['npx', ['-y', 'mcp-remote@latest', url, '9696', '--host', '127.0.0.1', '--debug', '--auth-timeout', '60']],
    ['bunx', ['mcp-remote', url]],
    ['pnpm', ['dlx', 'mcp-remote', url]],
    ['npm', ['exec', '--', 'mcp-remote', url]],
    ['cmd', ['/c', 'npx', '-y', 'mcp-remote', url]],
    ['/usr/local/bin/mcp-remote', [url, '--allow-http']],
    ['npx', ['-y', 'supergateway', '--streamableHttp', url]],
    ['npx', ['-y', 'supergateway', '--sse', url, '--logLevel', 'none']],
  ])('%s %j becomes that server, which is said', (command, args) => {
    const result = importServer({ command, args });
    expect(serverOf(result)).toEqual({ kind: 'mcp', url });
    expect(result.skipped).toEqual([]);
    expect(told(result)).toContain('only to reach mcp.example.com: the server is connected directly');
  });

  it('keeps its headers with the variables of the entry, its ignored tools, its transport and its OAuth client', () => {
    const args = [
      'mcp-remote',
      url,
      '--header',
      'Authorization:${AUTH}',
      '--header',
      'X-Team: core',
      '--ignore-tool',
      'delete*',
      '--transport',
      'sse-only',
    ];
    const info = [
      '--static-oauth-client-info',
      '{"client_id": "c", "client_secret": "s3cret-of-client"}',
      '--static-oauth-client-metadata',
      '{"scope": "a b"}',
    ];
    const result = importServer({ command: 'npx', args: [...args, ...info], env: { AUTH: 'Bearer abcdef0123456789' } });
    expect(serverOf(result)).toEqual({
      kind: 'mcp',
      url,
      headers: { Authorization: { secret: 'A_TOKEN' }, 'X-Team': 'core' },
      transport: 'sse',
      oauth: { grant: 'authorization_code', clientId: 'c', clientSecret: { secret: 'A_CLIENT_SECRET' }, scopes: ['a', 'b'] },
    });
    expect(result.project.secrets).toMatchObject({ A_TOKEN: { value: 'Bearer abcdef0123456789', hosts: ['mcp.example.com:443'] } });
    expect(toolsOf(result)).toEqual([{ tool: 'a.*', except: ['delete*'] }]);
  });

  it('names the options and variables that have no counterpart', () => {
    const args = [
      'mcp-remote',
      url,
      '--resource',
      'https://tenant.example.com',
      '--new-option',
      'x',
      '--static-oauth-client-info',
      '@/tmp/info.json',
    ];
    const result = importServer({ command: 'npx', args, env: { HTTPS_PROXY: 'http://proxy:3128' }, cwd: '/srv' });
    expect(result.skipped.map(({ name }) => name).toSorted()).toEqual([
      'mcpServers.a.args[3]',
      'mcpServers.a.args[5]',
      'mcpServers.a.args[7]',
      'mcpServers.a.cwd',
      'mcpServers.a.env.HTTPS_PROXY',
    ]);
  });

  it.each([
    ['npx', ['mcp-remote-client', url]],
    ['npx', ['-y', 'supergateway', '--stdio', 'serve']],
    ['npx', ['--node-options', 'x', 'mcp-remote', url]],
    ['docker', ['run', 'mcp-remote', url]],
  ])('is not %s %j, which stays a command', (command, args) => {
    expect(serverOf(importServer({ command, args }))).toMatchObject({ command, args });
  });
});

describe('a filter that cannot be read', () => {
  it.each([[{ disabledTools: { drop: true } }], [{ excludeTools: 5 }], [{ disabled_tools: ['drop', {}] }]])(
    'such as %j leaves out all tools',
    (filter) => {
      const result = importServer({ url, ...filter });
      expect(result.project.toolsets).toBeUndefined();
      expect(told(result)).toContain(`mcpServers.a.${Object.keys(filter)[0]}`);
    },
  );

  it('of single tools leaves out those tools', () => {
    const result = importServer({ url, tools: { drop: 'off', erase: false, read: true } });
    expect(toolsOf(result)).toEqual([{ tool: 'a.*', except: ['drop', 'erase'] }]);
  });
});

describe('an entry with members of both kinds', () => {
  it('is what its type says, and the others are listed', () => {
    const both = importServer({ type: 'stdio', command: 'x', url, headers: { a: 'b' } });
    expect(serverOf(both)).toEqual({ kind: 'mcp', command: 'x' });
    expect(both.skipped.map(({ name }) => name)).toEqual(['mcpServers.a.url', 'mcpServers.a.headers']);
    const remote = importServer({ command: 'x', url, env: { A: 'b' } });
    expect(serverOf(remote)).toEqual({ kind: 'mcp', url });
    expect(remote.skipped.map(({ name }) => name)).toEqual(['mcpServers.a.command', 'mcpServers.a.env.A']);
  });

  it('of a transport or type that is not supported is skipped', () => {
    for (const type of ['ws', 'openapi', 'REST_API']) expect(importServer({ type, url }).skipped).toMatchObject([{ name: 'mcpServers.a' }]);
  });
});

it('a map of servers alone is read as those of a client', () => {
  const result = importFile({ a: { url }, b: { command: 'x', odd: 1 } }, '.mcp.json');
  expect([result.format, Object.keys(result.project.servers ?? {}), result.skipped.map(({ name }) => name)]).toEqual([
    'claude',
    ['a', 'b'],
    ['b.odd'],
  ]);
});

describe('TOML', () => {
  it('is read with tables, dotted names, inline tables and dates, also without a file name', () => {
    const text =
      'mcp_servers.a.command = "x"\nmcp_servers.a.env = { LEVEL = "debug", "SINCE" = "x" }\n[mcp_servers.b]\nurl = "https://b.example.com/mcp"\nhttp_headers = { "x-a" = "1" }\n[notes]\nsince = 2025-01-01\n';
    const result = importFile(text, '');
    expect(result.format).toBe('codex');
    expect(result.project.servers).toMatchObject({
      a: { command: 'x', env: { LEVEL: 'debug', SINCE: 'x' } },
      b: { headers: { 'x-a': '1' } },
    });
  });

  it.each([
    ['[mcp_servers.a\ncommand = "x"', 'config.toml', /not valid TOML in line 1/],
    ['[mcp_servers.a]\ncommand = "sk-live-0123456789abcdef', 'config.toml', /not valid TOML in line 2/],
    [`[${'a.'.repeat(5_000)}a]\nb = 1`, 'config.toml', /nest deeper than/],
  ])('that is broken (%.20s) is an error with its line, without its text', (text, fileName, expected) => {
    const detail = ((): string => {
      try {
        importFile(text, fileName);
      } catch (error) {
        return (error as { detail: string }).detail;
      }
      return '';
    })();
    expect(detail).toMatch(expected);
    expect(detail).not.toContain('0123456789');
  });
});
