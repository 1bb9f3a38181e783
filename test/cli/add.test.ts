import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEntry, parseExpiry } from '../../src/cli/add.ts';
import { toServer } from '../../src/cli/add-server.ts';

describe('moniker add server', () => {
  it('stores credentials of headers as secrets that are bound to the host', () => {
    const added = toServer('docs', ['https://mcp.example.com:8443/mcp'], { header: ['Authorization: Bearer a:b', 'X-Region: eu'] }, {});
    expect(added).toEqual({
      document: {
        kind: 'mcp',
        url: 'https://mcp.example.com:8443/mcp',
        headers: { Authorization: { secret: 'DOCS_AUTHORIZATION' }, 'X-Region': 'eu' },
      },
      secrets: [{ name: 'DOCS_AUTHORIZATION', value: 'Bearer a:b', hosts: ['mcp.example.com:8443'] }],
    });
  });

  it('takes a command with its arguments and variables', () => {
    const target = ['C:\\Program Files\\node.exe', 'server.js', '--root', 'C:\\notes'];
    expect(toServer('my-fs', target, { env: ['GITHUB_TOKEN', 'MODE=a=b'], cwd: '/srv', trusted: true }, { GITHUB_TOKEN: 'ghp_1' })).toEqual(
      {
        document: {
          kind: 'mcp',
          command: 'C:\\Program Files\\node.exe',
          args: ['server.js', '--root', 'C:\\notes'],
          env: { GITHUB_TOKEN: { secret: 'MY_FS_GITHUB_TOKEN' }, MODE: 'a=b' },
          cwd: resolve('/srv'),
          trusted: true,
        },
        secrets: [{ name: 'MY_FS_GITHUB_TOKEN', value: 'ghp_1', hosts: ['my-fs.stdio'] }],
      },
    );
  });

  it.each([
    ['https://api.example.com/openapi.json', 'openapi'],
    ['https://api.example.com/v3/api.yaml?v=1', 'openapi'],
    ['https://mcp.example.com/sse', 'mcp'],
  ])('takes %s as a server of kind %s', (url, kind) => {
    expect(toServer('one', [url], {}, {}).document).toEqual({ kind, url });
  });

  it.each([
    [['https://mcp.example.com', 'more'], {}, '"more" follows the URL'],
    [['https://'], {}, 'not a valid URL'],
    [['npx'], { header: ['A: b'] }, '--header is only for a server with a URL'],
    [['https://mcp.example.com'], { env: ['A=b'] }, '--env is only for a server with a command'],
    [['https://mcp.example.com'], { cwd: '/tmp' }, '--cwd is only for a server with a command'],
    [['https://mcp.example.com'], { header: ['nothing'] }, '"nothing" is not a header'],
    [['npx'], { env: ['MISSING'] }, 'The variable MISSING is not set'],
  ])('refuses %j with %j: %s', (target, options, message) => {
    expect(() => toServer('one', target, options, {})).toThrow(message);
  });
});

describe('moniker add toolset', () => {
  it('takes a tool with a name and aliases', () => {
    expect(parseEntry('builtin.bash')).toEqual({ tool: 'builtin.bash' });
    expect(parseEntry('fs.*')).toEqual({ tool: 'fs.*' });
    expect(parseEntry('builtin.bash=shell')).toEqual({ tool: 'builtin.bash', name: 'shell' });
    expect(parseEntry('builtin.bash=shell, sh,run')).toEqual({ tool: 'builtin.bash', name: 'shell', aliases: ['sh', 'run'] });
  });

  it.each(['', '=shell', 'builtin.bash=', 'builtin.bash=a,,b', 'builtin.bash=a=b'])('refuses "%s"', (text) => {
    expect(() => parseEntry(text)).toThrow('is not a tool with names');
  });
});

describe('the expiry of a key', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it('is a number of days, or a time', () => {
    expect(parseExpiry('30d', now)).toBe('2026-01-31T00:00:00.000Z');
    expect(parseExpiry('2030-01-01T00:00:00Z', now)).toBe('2030-01-01T00:00:00.000Z');
  });

  it.each(['soon', '0d', '2020-01-01', '-3d', ''])('is not "%s"', (text) => {
    expect(() => parseExpiry(text, now)).toThrow('is not a time in the future');
  });
});
