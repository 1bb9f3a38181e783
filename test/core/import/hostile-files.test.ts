// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the files
/** Files of any shape: the house's error or a result, in linear time; each named thing is created or skipped with a reason. */
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { importFormats } from '../../../src/core/import/names.ts';
import { Problem } from '../../../src/core/problem.ts';
import { Project } from '../../../src/core/project/project.ts';
import { type ImportOptions, readImport } from '../../../src/formats/read-import.ts';
import { runs } from '../../selection.ts';

const read = (content: unknown, options: ImportOptions = {}) =>
  readImport(
    typeof content === 'string' ? strToU8(content) : content instanceof Uint8Array ? content : strToU8(JSON.stringify(content)),
    options,
  );

function problemOf(content: unknown, options?: ImportOptions): Problem {
  try {
    read(content, options);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('no problem');
}

const archive = (files: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])));

it('says which members are in a file twice, and takes the last one, as its program does', () => {
  const text = '{"mcpServers": {"a": {"url": "https://one.example/mcp"}, /* again */ "a": {"url": "https://two.example/mcp"}}}';
  const { project, warnings } = readImport(new TextEncoder().encode(text), { fileName: 'mcp.json' });
  expect(project.servers?.a).toMatchObject({ url: 'https://two.example/mcp' });
  expect(warnings).toContainEqual({ path: 'mcpServers.a', message: 'is in the file twice: the last one was taken' });
});

it('reads names with a line break, which YAML allows and JSON does not', () => {
  const { project } = read('{"mcpServers": {"a\n b": {command: "x"}, "c": {"command": "y"}}}');
  expect(Object.keys(project.servers ?? {})).toEqual(['a-b', 'c']);
});

describe('a file', () => {
  it.each([
    ['', 'is empty'],
    ['   \n', 'is empty'],
    ['<html>', 'HTML'],
    ['{"mcpServers": {', 'is not valid JSON in line'],
    ['a: b: c', 'is not valid YAML in line 1'],
    ['just words', 'of no known format'],
    ['null', 'of no known format'],
    ['[1, 2, 3]', 'of no known format'],
    ['{"some": {"thing": 1}}', 'of no known format'],
    [new Uint8Array([0xff, 0xff, 0x00, 0xd8]), 'neither text'],
    [new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), 'is not a zip archive'],
    ['['.repeat(5_000), 'deeper than'],
    [`{"mcpServers": ${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`, 'deeper than'],
    [
      `${'a: &a [x, x, x, x, x, x, x, x, x]\n'}${Array.from({ length: 12 }, (_, i) => `b${i}: &b${i} [${'*a, '.repeat(9)}*a]`).join('\n')}`,
      'no known format',
    ],
  ])('%.40j is an error that says what is wrong', (content, expected) => {
    expect(problemOf(content).detail).toContain(expected);
  });

  it('whose YAML aliases expand without end is rejected', () => {
    const bomb = [
      'a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]',
      ...Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`),
    ].join('\n');
    expect(problemOf(bomb).detail).toContain('expand to too much');
  });

  it('larger than 10 MB, or with too many values, is rejected', () => {
    expect(problemOf(new Uint8Array(10_485_761)).code).toBe('body_too_large');
    expect(problemOf(`[${'{},'.repeat(400_000)}1]`).code).toBe('body_too_large');
    expect(
      problemOf({ mcpServers: Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`s${i}`, { command: 'x' }])) }).detail,
    ).toContain('Split it');
  });

  it('of 10 MB with one long text, or full of comments, is read', () => {
    expect(read({ mcpServers: { a: { command: 'x'.repeat(1_000), note: '/'.repeat(9_000_000) } } }).format).toBe('claude');
    expect(read(`{"mcpServers": {"a": {"command": "x"} ${'/* */,'.replace(',', ' ').repeat(900_000)} } }`).format).toBe('claude');
  });

  it('may be UTF-16, as Windows writes it, and have a byte order mark', () => {
    const text = '{"mcpServers": {"a": {"command": "x"}}}';
    const wide = new Uint8Array([0xff, 0xfe, ...Array.from(text).flatMap((character) => [character.charCodeAt(0), 0])]);
    expect(read(wide).project.servers).toHaveProperty('a');
    expect(read(`\ufeff${text}`).project.servers).toHaveProperty('a');
  });

  it('with names of JavaScript objects changes nothing but its own documents', () => {
    const result = read(
      '{"mcpServers": {"__proto__": {"command": "x"}, "constructor": {"command": "y"}, "toString": {"url": "https://a.example/mcp", "headers": {"__proto__": "z"}}}}',
    );
    expect(Object.keys(result.project.servers ?? {}).sort()).toEqual(['constructor', 'proto', 'tostring']);
    expect(({} as Record<string, unknown>).command).toBeUndefined();
  });

  it('with two names that become one numbers the second', () => {
    const { project, warnings } = read({
      mcpServers: { 'My Server': { command: 'a' }, 'my-server': { command: 'b' }, MY_SERVER: { command: 'c' } },
    });
    expect(Object.keys(project.servers ?? {}).sort()).toEqual(['my-server', 'my-server-2', 'my-server-3']);
    expect(warnings.map(({ message }) => message).join('\n')).toContain('is the name of two');
  });

  it('gives a name to the server that has it, whatever the order', () => {
    const [first, second] = [{ 'My Server': { command: 'a' } }, { 'my-server': { command: 'b' } }];
    for (const mcpServers of [
      { ...first, ...second },
      { ...second, ...first },
    ])
      expect(read({ mcpServers }).project.servers).toMatchObject({ 'my-server': { command: 'b' }, 'my-server-2': { command: 'a' } });
  });

  it('never shows a credential that it names in a message', () => {
    const secret = 'sk-proj-0123456789abcdefghijklmnop';
    const result = read({
      mcpServers: { a: { url: `ftp://${secret}` }, b: { url: 'https://x.example/mcp', headers: { 'bad header': secret } } },
    });
    expect(result.project.secrets).toBeUndefined();
    expect(JSON.stringify(result.warnings)).not.toContain(secret);
  });
});

describe('an archive', () => {
  const skill = '---\nname: release-notes\ndescription: Writes release notes.\n---\nDo it.\n';

  it('with skill folders and tool lists gives skills and tools', () => {
    const result = read(
      archive({
        'pack/tools.json': JSON.stringify({
          tools: [{ name: 'webFetch', description: 'Fetches.', schema: { type: 'object' } }],
          aliases: { webFetch: 'fetch' },
        }),
        'pack/skills/release-notes/SKILL.md': skill,
        'pack/skills/release-notes/scripts/run.sh': 'echo hi\n',
        'pack/skills/bad name/SKILL.md': skill.replace('release-notes', 'Bad Name'),
        'pack/README.md': '# Pack',
        '__MACOSX/x': 'x',
      }),
    );
    expect(result.format).toBe('sisu');
    expect(result.project.skills).toEqual({ 'release-notes': { content: skill, resources: { 'scripts/run.sh': 'echo hi\n' } } });
    expect(result.project.toolsets?.sisu?.tools).toEqual([{ tool: 'sisu.webFetch', aliases: ['fetch'] }]);
    expect(result.skipped.map(({ name }) => name)).toEqual(['pack/skills/bad name/SKILL.md', 'pack/README.md']);
  });

  it('with a folder of made tools gives each of them', () => {
    const tool = (name: string) => JSON.stringify({ name, description: 'x', parameters: {}, implementation: 'return 1;' });
    const result = read(archive({ 'tools/one.json': tool('one'), 'tools/two.json': tool('two'), 'tools/broken.json': '{' }));
    expect(result.format).toBe('albert');
    expect(Object.keys(result.project.tools ?? {})).toEqual(['made.one', 'made.two']);
    expect(result.skipped).toEqual([{ name: 'tools/broken.json', reason: expect.stringContaining('not valid JSON') }]);
  });

  it('with a project file contains the folders of its skills', () => {
    const project = 'skills:\n  release-notes: { path: skills/release-notes }\n';
    const result = read(archive({ 'moniker.yaml': project, 'skills/release-notes/SKILL.md': skill }));
    expect(result).toMatchObject({ format: 'moniker', project: { skills: { 'release-notes': { content: skill } } } });
    expect(problemOf(project).detail).toContain('a folder beside the project file');
  });

  it('that leaves its folder, or unpacks to more than 20 MB, is rejected', () => {
    expect(problemOf(archive({ '../etc/x.json': '{}' })).detail).toContain('..');
    const zeros = new Uint8Array(11_000_000);
    expect(problemOf(zipSync({ 'a.json': zeros, 'b.json': zeros })).code).toBe('body_too_large');
  });
});
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    'npx',
    'https://a.example/mcp?api_key=1',
    '${env:X}',
    '${input:y}',
    'server.tool',
    '__proto__',
    'os.environ/K',
    'gpt-4o',
    '@a/b',
    '*',
  ),
);
const member = fc.oneof(
  text,
  fc.constantFrom(
    'mcpServers',
    'servers',
    'command',
    'args',
    'env',
    'url',
    'headers',
    'tools',
    'toolsets',
    'name',
    'namespacedName',
    'alias',
    'aliases',
    'model_list',
    'model_name',
    'litellm_params',
    'model',
    'targets',
    'provider',
    'strategy',
    'function',
    'parameters',
    'implementation',
    'toolAliases',
    'inputs',
    'context_servers',
    'openapi',
    'swagger',
    'paths',
    'fallbacks',
    'router_settings',
    'mcp_servers',
  ),
);
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(member, tie('value'), { maxKeys: 5 }),
  ),
}));

describe('any value', () => {
  it.each([undefined, ...importFormats])('read as %s is a result or a problem, and its documents are valid', (format) => {
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const { project } = read(value, { format });
          if (format !== 'moniker') expect(Project.safeParse(project).error?.issues ?? []).toEqual([]);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          expect(['invalid_request', 'invalid_json', 'body_too_large']).toContain(error.code);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('as a server is created under its name, or is skipped under it', () => {
    fc.assert(
      fc.property(fc.dictionary(text, anything, { maxKeys: 6 }), (servers) => {
        const { project, skipped } = read({ mcpServers: servers });
        const made = Object.keys(project.servers ?? {}).length;
        const named = Object.keys(servers).filter((written) => skipped.some(({ name }) => name === `mcpServers.${written}`));
        expect(made + named.length).toBe(Object.keys(servers).length);
        for (const { name } of skipped) expect(Object.keys(servers).some((written) => name.startsWith(`mcpServers.${written}`))).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  it('as a definition is a tool, or is skipped', () => {
    fc.assert(
      fc.property(fc.array(anything, { minLength: 1, maxLength: 6 }), (tools) => {
        const { project, skipped } = read([{ type: 'function', name: 'first', parameters: {} }, ...tools]);
        const servers = Object.values(project.servers ?? {}) as { tools: unknown[] }[];
        expect((servers[0]?.tools.length ?? 0) + skipped.filter(({ reason }) => !/alias/.test(reason)).length).toBeGreaterThanOrEqual(
          tools.length,
        );
      }),
      { numRuns: runs(150) },
    );
  });
});
