/** `POST /v1/toolsets/{toolset}/preview`: a draft as PUT would judge it, all faults at once, positions, rights, and nothing stored. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

const preview = async (draft: unknown, query = '', headers?: Record<string, string>) =>
  await bodyOf(await h.send('POST', `/v1/toolsets/draft/preview${query}`, draft, headers));
const paths = (issues: readonly { path: string }[]) => issues.map(({ path }) => path);
const entries = (tools: readonly { canonical: string; entry: string }[]) => tools.map(({ canonical, entry }) => [canonical, entry]);

describe('a valid draft', () => {
  const draft = { tools: [{ tool: 'builtin.bash', name: 'run', aliases: ['sh'] }, { tool: 'builtin.read_file' }] };

  it('is shown as the stored toolset would be, and is not stored', async () => {
    const shown = await preview(draft, '?provider=anthropic');
    expect((await h.send('GET', '/v1/toolsets/draft')).status).toBe(404);
    expect(shown).toMatchObject({ valid: true, issues: [], conflicts: [], toolset: 'draft', provider: 'anthropic' });
    const written = await bodyOf(await h.send('PUT', '/v1/toolsets/draft', draft));
    const stored = await bodyOf(await h.send('GET', '/v1/toolsets/draft/tools?provider=anthropic'));
    for (const field of ['tools', 'tokens', 'promptTokens', 'prompt', 'tokenizer'])
      expect([field, shown[field]]).toEqual([field, stored[field]]);
    expect(shown.warnings).toEqual(expect.arrayContaining([...written.warnings, ...stored.warnings]));
    expect((await preview(draft, '?provider=text')).prompt).toContain('run');
    expect((await h.send('POST', '/v1/toolsets/draft/preview?provider=none', draft)).status).toBe(404);
  });

  it('may copy another toolset', async () => {
    await h.send('PUT', '/v1/toolsets/draft', draft);
    expect(entries((await preview({ from: 'draft' })).tools)).toEqual([
      ['builtin.bash', 'tools[0]'],
      ['builtin.read_file', 'tools[1]'],
    ]);
    expect((await h.send('POST', '/v1/toolsets/draft/preview', { from: 'none' })).status).toBe(404);
  });
});

describe('a draft with faults', () => {
  it('lists all of them at once, of every kind, at their positions, and shows the rest', async () => {
    const shown = await preview({
      surprise: 1,
      announce: 'loud',
      tools: [
        { tool: 'builtin.bash', aliases: [7] },
        { tool: 'builtin.nothing' },
        { tool: 'docs.search', name: 'go' },
        { tool: 'builtin.bash', arguments: { preset: { nothing: 1 } } },
        { tool: 'web.search', name: 'go' },
        { tool: 'none.*' },
        { refId: 'f'.repeat(64) },
        { tool: 'builtin.read_file' },
      ],
    });
    expect(shown.valid).toBe(false);
    expect(paths(shown.issues).toSorted()).toEqual([
      'announce',
      'surprise',
      'tools[0].aliases[0]',
      'tools[1].tool',
      'tools[3].arguments.preset.nothing',
      'tools[5].tool',
      'tools[6].refId',
    ]);
    expect(shown.conflicts).toMatchObject([
      {
        name: 'go',
        claims: [{ path: expect.stringMatching(/^tools\[[24]\]\.name$/) }, { path: expect.stringMatching(/^tools\[[24]\]\.name$/) }],
      },
    ]);
    expect(new Set(shown.conflicts[0].claims.map(({ entry }: { entry: string }) => entry))).toEqual(new Set(['tools[2]', 'tools[4]']));
    expect(entries(shown.tools)).toContainEqual(['builtin.read_file', 'tools[7]']);
    expect(shown.tools).toHaveLength(2);
  });

  it('keeps the positions of the draft behind a pattern', async () => {
    const { tools, issues } = await preview({
      tools: [{ tool: 'builtin.read_*' }, { tool: 'builtin.bash', name: '!' }, { tool: 'local.roll_dice' }],
    });
    expect(paths(issues)).toEqual(['tools[1].name']);
    const at = new Map<string, string>(entries(tools) as [string, string][]);
    expect([at.get('builtin.read_file'), at.get('local.roll_dice')]).toEqual(['tools[0]', 'tools[2]']);
  });

  it('leaves out a name map of tools that are left out', async () => {
    const { valid, tools, issues } = await preview({
      nameMap: { other: 'builtin.nothing', fine: 'builtin.bash' },
      tools: [{ tool: 'builtin.nothing' }, { tool: 'builtin.bash' }],
    });
    expect([valid, tools.length]).toEqual([false, 1]);
    expect(paths(issues)).toContain('tools[0].tool');
  });

  it.each([
    [{}, ['tools']],
    [{ tools: [] }, ['tools']],
    [{ tools: 'all' }, ['tools']],
    [{ tools: [null] }, ['tools[0]']],
    [{ tools: [{ tool: '__proto__' }] }, ['tools[0].tool']],
    [{ tools: [{ tool: 'builtin.bash', constructor: 1 }] }, ['tools[0].constructor']],
    [{ tools: [{ tool: 'builtin.*', except: ['*'] }] }, ['tools']],
  ])('shows no tools of %j', async (draft, at) => {
    const shown = await preview(draft);
    expect([shown.valid, shown.tools, shown.tokens, paths(shown.issues)]).toEqual([false, [], 0, at]);
  });
});

it('refuses other names, other bodies and toolsets that the key must not write', async () => {
  const tools = [{ tool: 'builtin.bash' }];
  expect((await preview({ name: 'other', tools })).issues[0].path).toBe('name');
  for (const body of [[], null, 7])
    expect(await problemIn(await h.send('POST', '/v1/toolsets/draft/preview', body))).toBe('422 invalid_request');
  const bound = await h.key({ scopes: ['toolsets'], toolsets: ['own'] });
  expect((await h.send('POST', '/v1/toolsets/draft/preview', { tools }, bound)).status).toBe(403);
  expect((await h.send('POST', '/v1/toolsets/draft/preview', { tools }, await h.key({ scopes: ['tools'] }))).status).toBe(403);
  const writer = await h.key({ scopes: ['toolsets'] });
  expect((await preview({ tools: [{ tool: 'builtin.bash', approval: 'never' }] }, '', writer)).code).toBe('forbidden');
});

it('answers a draft of the largest size', async () => {
  const tools = Array.from({ length: 1_000 }, (_, index) => ({
    tool: 'builtin.bash',
    name: `same_name`,
    aliases: [`alias_${index % 10}`],
  }));
  const shown = await preview({ tools });
  expect(shown.valid).toBe(false);
  expect(shown.issues.length + shown.conflicts.length).toBeGreaterThan(0);
  expect(shown.conflicts.length).toBeLessThanOrEqual(1_000);
  expect((await h.send('POST', '/v1/toolsets/draft/preview', { tools: [{ tool: 'x'.repeat(2_000_000) }] })).status).toBe(413);
});

it('shows the only entry of a draft that is right', async () => {
  const shown = await preview({ tools: [{ tool: 'builtin.bash', aliases: [7] }, { tool: 'builtin.read_file' }] });
  expect([paths(shown.issues), entries(shown.tools)]).toEqual([['tools[0].aliases[0]'], [['builtin.read_file', 'tools[1]']]]);
});
