import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Entry, type McpClient, type McpClientName, mcpClients } from '../../src/cli/install/clients.ts';
import { editJsonc, readJsonc } from '../../src/cli/install/edit-jsonc.ts';
import { editToml } from '../../src/cli/install/edit-toml.ts';
import { changedLines, launchCommand } from '../../src/cli/install/install.ts';
import { root } from '../e2e/service.ts';

const byUrl: Entry = { url: 'http://127.0.0.1:8787/mcp/work', key: 'mk_default_x' };
const byCommand: Entry = { command: '/usr/bin/node', args: ['/opt/main.mjs', 'mcp', 'work'], env: { MONIKER_KEY: 'mk_"x' } };
const names = Object.keys(mcpClients) as McpClientName[];
const sections: Record<McpClientName, string> = {
  claude: 'mcpServers',
  'claude-desktop': 'mcpServers',
  cursor: 'mcpServers',
  vscode: 'servers',
  codex: '',
  zed: 'context_servers',
};

const zedSettings = `// Zed settings
{
    /* fonts */
    "buffer_font_size": 15, // large
    "context_servers": {
        // mine: "work": {}
        "other": { "command": "x", "args": ["a", /* b */ "b",], },
    },
    "theme": "One \\"Dark\\"",
}
`;
const codexSettings = `model = "gpt"  # the model
notes = """
[mcp_servers.work]
not a table
"""
list = [
  [1, 2],
]

[mcp_servers.other]
command = "x"
env = { A = "1" }

# for later
[mcp_servers.workshop]
url = "http://x"

[profiles."a.b"]
model = "o"
`;

const commented = `{
  "a": 1, // one
  "b": 2 // two
}
`;

/** Texts that an installation and a removal must leave as they were. */
const documents: Record<string, string> = {
  empty: '',
  'an empty object': '{}\n',
  'other members': '{\n  "a": [1, 2],\n  "b": {"c": "}"}\n}\n',
  'another server': '{\n\t"SECTION": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}',
  'one line': '{"SECTION": {"other": {"command": "x"}}, "z": 1}',
  'comments and trailing commas': zedSettings.replace('context_servers', 'SECTION'),
  'CRLF and a BOM': `\uFEFF${zedSettings.replace('context_servers', 'SECTION').replaceAll('\n', '\r\n')}`,
};

describe('the settings of a client', () => {
  const jsonNames = names.filter((name) => name !== 'codex');
  it.each(jsonNames.flatMap((name) => Object.keys(documents).map((kind) => [name, kind] as const)))(
    'of %s (%s) get the entry, lose it again, and keep every other byte',
    (name, kind) => {
      const client: McpClient = mcpClients[name];
      const before = documents[kind]?.replaceAll('SECTION', sections[name]) ?? '';
      for (const entry of [byUrl, byCommand]) {
        const after = client.edit(before, 'work', entry);
        expect(readJsonc(after, [sections[name], 'work'])).toMatchObject(
          'url' in entry ? { url: entry.url, headers: { Authorization: 'Bearer mk_default_x' } } : entry,
        );
        if (before.includes('"other"')) expect(readJsonc(after, [sections[name], 'other'])).toMatchObject({ command: 'x' });
        // Again: the same text.
        expect(client.edit(after, 'work', entry)).toBe(after);
        const removed = client.edit(after, 'work', null);
        if (before === '') expect(removed.trim()).toBe('{}');
        else expect(removed).toBe(before);
        // One insertion, and nothing else.
        const same = (one: string, other: string): number => [...one].findIndex((char, index) => char !== other[index]);
        const reversed = (text: string): string => [...text].reverse().join('');
        const [head, tail] = [same(after, before), same(reversed(after), reversed(before))];
        expect(head + tail).toBeGreaterThanOrEqual(before.length);
      }
    },
  );

  it('keep comments with the member that they are about', () => {
    const after = editJsonc(commented, ['s', 'work'], {});
    expect(after).toBe('{\n  "a": 1, // one\n  "b": 2, // two\n  "s": {\n    "work": {}\n  }\n}\n');
    expect(editJsonc(after, ['s', 'work'], undefined)).toBe(commented);
    const trailing = commented.replace('2 //', '2, //');
    expect(editJsonc(trailing, ['s', 'work'], {})).toContain('"b": 2, // two\n  "s": {');
    expect(editJsonc(editJsonc(trailing, ['s', 'work'], {}), ['s', 'work'], undefined)).toBe(trailing);
  });

  it('of Codex get the table, lose it again, and keep every other byte', () => {
    const { codex } = mcpClients;
    for (const before of ['', 'model = "gpt"', codexSettings, codexSettings.replaceAll('\n', '\r\n'), '[mcp_servers.other]\nurl = "x"\n'])
      for (const entry of [byUrl, byCommand]) {
        const after = codex.edit(before, 'work', entry);
        expect(after.startsWith(before)).toBe(true);
        expect(codex.read(after, 'work')).toContain('url' in entry ? 'Authorization' : 'MONIKER_KEY');
        expect(codex.edit(after, 'work', entry)).toBe(after);
        expect(codex.edit(after, 'work', null).trimEnd()).toBe(before.trimEnd());
      }
    const replaced = codex.edit(codexSettings, 'other', byUrl);
    expect(replaced).toBe(
      codexSettings.replace(
        'command = "x"\nenv = { A = "1" }\n',
        'url = "http://127.0.0.1:8787/mcp/work"\nhttp_headers = { "Authorization" = "Bearer mk_default_x" }\n',
      ),
    );
    expect(codex.edit(codexSettings, 'nothing', null)).toBe(codexSettings);
  });

  it('of Codex lose the tables within the entry, too', () => {
    const before = '[a]\nx = 1\n\n[mcp_servers."my server"]\ncommand = "x"\n[mcp_servers."my server".env]\nA = "1"\n\n[b]\ny = 2\n';
    expect(editToml(before, 'my server', null)).toBe('[a]\nx = 1\n\n[b]\ny = 2\n');
  });

  it.each([
    ['mcp_servers = { work = { url = "x" } }', /line 1/],
    ['[mcp_servers]\nwork = { url = "x" }\n', /line 2/],
    ['a = 1\nmcp_servers.work.url = "x"\n', /line 2/],
    ['[[mcp_servers.work]]\nurl = "x"\n', /line 1/],
    ['[mcp_servers.work]\nurl = "x"\n[b]\n[mcp_servers.work.env]\nA = "1"\n', /several places \(line 4\)/],
    ['a = """\nopen', /does not end \(it begins on line 1\)/],
  ])('of Codex are refused with the line in another form: %j', (text, message) => {
    expect(() => editToml(text, 'work', 'url = "x"')).toThrow(message);
  });

  it.each([
    ['{"a": 1,, }', /line 1, column 9/],
    ['{\n  "a": tru\n}', /line 2, column 8/],
    ['[]', /not a JSON object/],
    ['{} x', /more follows/],
    ['{"s": []}', /"s" is not an object/],
    ['{"a": "b', /line 1, column 7/],
    [`${'{"a":'.repeat(300)}`, /nested too deep/],
  ])('are refused with the place if they are not JSON: %s', (text, message) => {
    expect(() => editJsonc(text, ['s', 'work'], {})).toThrow(message);
  });

  it('are in the files of the documentation', () => {
    const environment = { APPDATA: 'C:\\a', XDG_CONFIG_HOME: '/config', CODEX_HOME: '/codex' };
    const files = Object.fromEntries(names.map((name) => [name, (mcpClients[name] as McpClient).userFile(environment)]));
    expect(files.codex).toBe(join('/codex', 'config.toml'));
    expect(files.claude).toMatch(/\.claude\.json$/);
    expect(files.cursor).toMatch(/\.cursor[\\/]mcp\.json$/);
    if (process.platform === 'linux')
      expect(files).toMatchObject({
        'claude-desktop': '/config/Claude/claude_desktop_config.json',
        vscode: '/config/Code/User/mcp.json',
        zed: '/config/zed/settings.json',
      });
  });
});

it('shows the lines that change, with one before and after', () => {
  expect(changedLines('a\nb\nc\nd\n', 'a\nb\nx\ny\nd\n')).toEqual(['  b', '- c', '+ x', '+ y', '  d']);
  expect(changedLines('', 'a\n')).toEqual(['+ a']);
  expect(changedLines('a\na\n', 'a\na\na\n')).toEqual(['  a', '+ a']);
});

it('starts the bridge with the full path of this program, and by npx from its cache', () => {
  expect(launchCommand('work')).toEqual({ command: process.execPath, args: [join(root, 'src/cli/main.ts'), 'mcp', 'work'] });
  const cached = launchCommand('work', '/home/me/.npm/_npx/1a2b/node_modules/moniker-gateway');
  expect(cached).toMatchObject({ command: 'npx', args: ['-y', expect.stringMatching(/^moniker-gateway@\d/), 'mcp', 'work'] });
});
