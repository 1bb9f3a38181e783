/** `moniker import`: files that it finds on the machine, URLs, and names of files. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findClientFiles, shellPath } from '../../src/cli/import/client-files.ts';
import { readImport } from '../../src/formats/read-import.ts';
import { runCommand } from './run-command.ts';

const mcp = (...names: string[]) => {
  const servers = names.map((name) => [name, { url: `https://${name}.example.com/mcp` }]);
  return JSON.stringify({ mcpServers: Object.fromEntries(servers) });
};
const emptyReport = { created: [], updated: [], unchanged: [], removed: [], kept: [], skipped: [], waiting: [], changes: [], warnings: [] };

let home = '';
let server: Server;
let url = '';
/** The requests, and the bodies of imports. */
let heard: string[] = [];
let imported: { servers?: Record<string, unknown> }[] = [];
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'moniker-test-')));
  mkdirSync(join(home, 'project'));
  [heard, imported] = [[], []];
  server = createServer(async (request, response) => {
    const sent = await buffer(request);
    heard.push(`${request.method} ${request.url}`);
    if (request.method === 'GET') return response.end(request.url === '/page' ? '<html></html>' : mcp('remote'));
    // As the service reads it.
    const fileName = new URL(request.url ?? '', url).searchParams.get('fileName') ?? '';
    try {
      imported.push(readImport(new Uint8Array(sent), { format: 'moniker', fileName }).project);
    } catch (error) {
      return response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify({ detail: String(error) }));
    }
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(emptyReport));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true, force: true });
});

const put = (path: string, text: string): string => {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};
const run = (parameters: string[], typed?: string) =>
  runCommand(['import', ...parameters], {
    folder: join(home, 'project'),
    environment: {
      ...{ HOME: home, XDG_CONFIG_HOME: undefined, CODEX_HOME: undefined, XDG_STATE_HOME: join(home, 'state') },
      ...{ MONIKER_URL: url, MONIKER_KEY: 'key', MONIKER_DATA_DIR: join(home, 'data') },
    },
    ...(typed !== undefined && { isTerminal: true, stdin: typed }),
  });

describe('moniker import without a file', () => {
  it('lists the files of MCP clients with the command for each, and fails without a terminal', async () => {
    put('.cursor/mcp.json', mcp('docs'));
    put('project/.vscode/mcp.json', JSON.stringify({ servers: { notes: { url: 'https://notes.example.com/mcp' } } }));
    put('.gemini/settings.json', '{"theme": "dark"}');
    put('.kiro/settings/mcp.json', '{"mcpServers": {');
    const { error, stdout, stderr } = await run([]);
    expect(error).toMatchObject({ exitCode: 2 });
    expect(stdout).toBe(
      'Cursor, 1 server:\n  moniker import ~/.cursor/mcp.json\nVS Code, 1 server:\n  moniker import ~/project/.vscode/mcp.json\n',
    );
    expect(stderr).toMatch(/Gemini CLI: .*no servers[\s\S]*Kiro: .*is not valid JSON/);
    expect(heard).toEqual([]);
  });

  it('says that there is none', async () => {
    expect((await run([])).error).toMatchObject({ exitCode: 2, message: expect.stringContaining('No file of an MCP client') });
  });

  it.each([
    ['y\n', 1],
    ['\n', 0],
  ])('asks at a terminal, and takes %j as an answer', async (typed, count) => {
    put('.cursor/mcp.json', mcp('docs', 'notes'));
    const { error, stderr } = await run(['--dry-run'], typed);
    expect([error, stderr]).toEqual([null, expect.stringContaining('Import 2 servers of Cursor')]);
    expect(imported).toHaveLength(count);
  });
});

describe('moniker import of a file', () => {
  it.each([
    ['.codex/config.toml', '[mcp_servers.docs]\nurl = "https://docs.example.com/mcp"\n'],
    ['.config/goose/config.yaml', 'extensions:\n  docs: {type: streamable_http, enabled: true, uri: "https://docs.example.com/mcp"}\n'],
    ['.cursor/mcp.json', mcp('docs')],
  ])('sends what it read of %s in a form that the service can read', async (path, text) => {
    const { error, stderr } = await run([put(path, text), '--trust']);
    expect([error, stderr]).toEqual([null, '']);
    expect(imported.map(({ servers }) => Object.keys(servers ?? {}))).toEqual([['docs']]);
  });
});

describe('the files of MCP clients', () => {
  it('are those of the user and of the folder that exist', () => {
    const files = [
      '.claude.json',
      '.codeium/windsurf/mcp_config.json',
      '.lmstudio/mcp.json',
      '.config/amp/settings.json',
      'here/.roo/mcp.json',
    ];
    const made = files.map((path) => put(path, '{}'));
    expect(findClientFiles(join(home, 'here'), { HOME: home }).map(({ file }) => file)).toEqual(made);
  });

  it('are written as one argument of a shell', () => {
    expect([shellPath('/opt/it/mcp.json', {}, false), shellPath("/opt/my file's.json", {}, false)]).toEqual([
      '/opt/it/mcp.json',
      String.raw`'/opt/my file'\''s.json'`,
    ]);
    expect(shellPath(String.raw`C:\Users\A B\mcp.json`, {}, true)).toBe(String.raw`"C:\Users\A B\mcp.json"`);
  });
});

describe('moniker import of a URL', () => {
  it('imports what it has once it is accepted, also if there is no terminal to ask at', async () => {
    const refused = await run([`${url}/mcp.json`]);
    expect([refused.error, imported]).toEqual([expect.objectContaining({ message: expect.stringContaining('nothing was done') }), []]);
    expect((await run([`${url}/mcp.json`, '--trust'])).error).toBeNull();
    expect(imported).toMatchObject([{ servers: { remote: { url: 'https://remote.example.com/mcp' } } }]);
    expect(heard.at(-1)).toContain(encodeURIComponent(`${url}/mcp.json`));
  });

  it('refuses a page, and an address of another machine without encryption', async () => {
    expect((await run([`${url}/page`])).error).toMatchObject({ message: expect.stringContaining('is a page of HTML') });
    expect((await run(['http://files.example.com/mcp.json'])).error).toMatchObject({ exitCode: 2 });
    expect(imported).toEqual([]);
  });
});

it('replaces stored documents only when asked', async () => {
  const file = put('mcp.json', mcp('docs'));
  await run([file]);
  await run([file, '--replace']);
  expect(heard.filter((line) => line.includes('/v1/import')).map((line) => /replace=(\w+)/.exec(line)?.[1])).toEqual(['false', 'true']);
});
