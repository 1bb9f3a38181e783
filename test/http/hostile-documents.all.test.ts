/** Mutated documents over HTTP and the in-memory catalog. */
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';
import { checkWrite, hostileTexts, placesOf, prepareDocuments, spoiling, spoilt, valid } from './hostile-documents.ts';
import { plainTool, serverOf } from './hostile-rows.ts';
import { printStatistics } from '../statistics.ts';

let h: Harness;
beforeAll(async () => {
  h = createHarness();
  await prepareDocuments(h.send);
});

describe.each(Object.entries(valid))('a %s', (_kind, { path, body }) => {
  it('with any value in any place is rejected with its path, or stored and read back', async () => {
    const counts = { stored: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(spoiling, { minLength: 1, maxLength: 2 }), async (spoilings) => {
        counts[await checkWrite(h.send, path, spoilings.reduce(spoilt, body))] += 1;
        await h.send('PUT', path, body);
      }),
      { numRuns: 60 },
    );
    printStatistics(`${path}: ${counts.stored} stored, ${counts.refused} refused`);
    expect(counts.refused).toBeGreaterThan(0);
    expect(h.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is stored as sent or refused, whatever names of Object.prototype or invalid names it has', async () => {
    for (const at of placesOf(body).keys()) {
      // In rotation, so that every place and every name is combined with some of the others.
      for (const name of [0, 7, 13].map((step) => hostileTexts[(at + step) % hostileTexts.length] ?? '')) {
        await checkWrite(h.send, path, spoilt(body, { at, how: 'replace', name, value: name }));
        await checkWrite(h.send, path, spoilt(body, { at, how: 'add', name, value: { polluted: true } }));
      }
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(h.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('a listing without valid names', () => {
  it.each([
    [[{ name: 42 }], ['tools[0].name']],
    [
      [{ description: 'x' }, { name: '\u202e' }],
      ['tools[0].name', 'tools[1].name'],
    ],
  ])('%j is rejected like an empty one, and the stored one stays', async (tools, paths) => {
    const before = await (await h.send('GET', '/v1/servers/weather')).text();
    for (const path of ['/v1/servers/weather', '/v1/servers/nameless']) {
      const answer = await h.send('PUT', path, serverOf(tools));
      const { issues } = await bodyOf(answer);
      expect([answer.status, issues.map(({ path: at }: { path: string }) => at)]).toEqual([422, paths]);
    }
    expect(await (await h.send('GET', '/v1/servers/weather')).text()).toBe(before);
    expect((await h.send('GET', '/v1/servers/nameless')).status).toBe(404);
  });
});

describe('conditions', () => {
  it.each([
    ...['"1"', '1', '*', ' "1" '].map((tag) => [tag, 200] as const),
    ...['"2"', 'W/"1"', '"abc"', '"0"', '""', '"01"', '1.0', '-1', '"99999999999"', 'null', '"1'].map((tag) => [tag, 412] as const),
    ['"1", "2"', 422] as const,
  ])('If-Match: %s on version 1 is %i for every kind, and a 412 changes nothing', async (tag, status) => {
    const { send } = createHarness();
    await prepareDocuments(send);
    for (const { path, body } of Object.values(valid)) {
      const before = await (await send('GET', path)).text();
      const lost = await send('PUT', path, body, { 'if-match': tag });
      expect([path, lost.status]).toEqual([path, status]);
      expect(await (await send('GET', path)).text()).toBe(before);
      const removed = await send('DELETE', path, undefined, { 'if-match': tag });
      expect([path, removed.status]).toEqual([path, status === 200 ? 204 : status]);
    }
  });
});

describe('rules of an entry that name missing things', () => {
  beforeEach(async () => {
    h = createHarness();
    await prepareDocuments(h.send);
  });

  const put = async (entry: Record<string, unknown>) => {
    const answer = await h.send('PUT', '/v1/toolsets/rules', { tools: [{ tool: 'weather.get_weather', ...entry }] });
    const { issues, warnings } = await bodyOf(answer);
    return [answer.status, (issues ?? warnings).map(({ path, message }: { path: string; message: string }) => `${path}: ${message}`)];
  };
  const preset = { arguments: { preset: { token: { secret: 'GH' } } } };

  it('a missing secret, one bound to another host, and a usable one', async () => {
    const at = 'tools[0].arguments.preset.token';
    expect(await put(preset)).toEqual([422, [`${at}: there is no secret "GH"`]]);
    await h.send('PUT', '/v1/secrets/GH', { value: 'canary', hosts: ['other.example.com'] });
    expect(await put(preset)).toEqual([422, [expect.stringMatching(/^tools\[0\]\.arguments\.preset\.token: .*not bound to the host/)]]);
    await h.send('PUT', '/v1/secrets/GH', { value: 'canary', hosts: ['tools.example.com'] });
    expect(await put(preset)).toEqual([201, []]);
    // After it is removed again, the stored document would be rejected.
    await h.send('DELETE', '/v1/secrets/GH');
    const shown = await bodyOf(await h.send('GET', '/v1/toolsets/rules'));
    expect(await problemIn(await h.send('PUT', '/v1/toolsets/rules', shown))).toBe(
      '422 invalid_request at tools[0].arguments.preset.token',
    );
    expect((await h.send('GET', '/v1/toolsets/rules')).headers.get('etag')).toBe('"1"');
  });

  it('a pointer that is not in the outputSchema is stored with a warning, an invalid one is rejected', async () => {
    expect(await put({ result: { pick: ['/degrees', '/nothing'] } })).toEqual([
      201,
      [expect.stringMatching(/^tools\[0\]\.result\.pick\[1\]: "\/nothing"/)],
    ]);
    expect(await put({ result: { pick: ['/degrees', 'degrees', '/~2'] } })).toEqual([
      422,
      [expect.stringContaining('tools[0].result.pick[1]: '), expect.stringContaining('tools[0].result.pick[2]: ')],
    ]);
  });
});

describe('a skill', () => {
  const body = '\n---\nUse the `bash` tool.\n';
  it.each([
    ['no frontmatter', '# Notes', 'SKILL.md'],
    ['no end of it', '---\nname: notes\ndescription: x\n', 'SKILL.md'],
    ['a tab in it', `---\nname: notes\n\tdescription: x${body}`, 'SKILL.md'],
    ['a list', `---\n- name${body}`, 'SKILL.md'],
    ['a flow that is not closed', `---\nname: [notes${body}`, 'SKILL.md'],
    ['a field twice', `---\nname: notes\nname: notes\ndescription: x${body}`, 'SKILL.md'],
    ['an alias of YAML', `---\nname: &n notes\ndescription: *n${body}`, 'SKILL.md'],
    ['a bomb of aliases', `---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nname: notes\ndescription: x${body}`, 'SKILL.md'],
    ['no instructions', '---\nname: notes\ndescription: x\n---\n \n', 'SKILL.md'],
    ['another name', `---\nname: other\ndescription: x${body}`, 'SKILL.md: name'],
    ['a name that is none', `---\nname: constructor.prototype\ndescription: x${body}`, 'SKILL.md: name'],
    ['no description', `---\nname: notes${body}`, 'SKILL.md: description'],
    ['a description that is a number', `---\nname: notes\ndescription: 42${body}`, 'SKILL.md: description'],
    ['a bracket that is not closed', `---\nname: notes\ndescription: x\nallowed-tools: Bash(git:*${body}`, 'SKILL.md: allowed-tools'],
    ['a member of every object', `---\nname: notes\ndescription: x\nmetadata: {constructor: a}${body}`, 'SKILL.md: metadata'],
    ['a control character', `---\nname: notes\ndescription: x${body}\u0007`, 'SKILL.md'],
  ])('with %s in SKILL.md is rejected with its path, and the stored one stays', async (_what, content, at) => {
    const before = await (await h.send('GET', '/v1/skills/notes')).text();
    const answer = await h.send('PUT', '/v1/skills/notes', { content });
    const { issues } = await bodyOf(answer);
    expect([answer.status, issues.map(({ path }: { path: string }) => path)]).toEqual([422, [at]]);
    expect(await (await h.send('GET', '/v1/skills/notes')).text()).toBe(before);
  });

  it.each(['../x', 'a/../../x', '/x', '..\\x', 'a//x', './x', 'C:x', 'a/', '', 'a/./b', 'a\u0000b', '..'])(
    'with a resource at %j is refused at its path',
    async (path) => {
      const { content } = await bodyOf(await h.send('GET', '/v1/skills/notes'));
      const answer = await h.send('PUT', '/v1/skills/notes', { content, resources: { [path]: 'x' } });
      expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, `resources.${path}`]);
    },
  );
});

it.each(['constructor', 'prototype', 'then', 'tostring'])(
  'a name such as %s is a name like any other, of every kind of document',
  async (name) => {
    const { send } = createHarness();
    const documents: [path: string, body: unknown][] = [
      [`/v1/servers/${name}`, serverOf([plainTool('constructor'), plainTool('toString'), plainTool('get_city')])],
      [`/v1/tools/ui.${name}`, valid['ui-tool']?.body],
      [`/v1/skills/${name}`, { content: `---\nname: ${name}\ndescription: Names.\nallowed-tools: constructor\n---\nUse it.\n` }],
      [`/v1/toolsets/${name}`, { tools: ['constructor', 'toString', 'get_city'].map((tool) => ({ tool: `${name}.${tool}` })) }],
      [
        `/v1/agents/${name}`,
        { model: 'rehearsal/default', toolset: name, skills: [name], tools: ['constructor', 'get_city', '__proto__'] },
      ],
    ];
    for (const [path, body] of documents) {
      expect([path, (await send('PUT', path, body)).status]).toEqual([path, 201]);
      expect([path, (await send('GET', path)).status]).toEqual([path, 200]);
    }
    const { tools } = await bodyOf(await send('GET', `/v1/toolsets/${name}/tools?provider=openai`));
    expect(tools.map(({ wireName }: { wireName: string }) => wireName)).toEqual([
      expect.stringMatching(/^constructor_[0-9a-f]{10}$/),
      expect.stringMatching(/^toString_[0-9a-f]{10}$/),
      'get_city',
    ]);
    const resolve = async (called: string) => await bodyOf(await send('GET', `/v1/toolsets/${name}/resolve?name=${called}`));
    expect(await resolve('constructor')).toMatchObject({ canonical: `${name}.constructor`, via: 'own' });
    expect(await resolve('__proto__')).toMatchObject({ code: 'unknown_tool' });
    expect(await resolve('hasOwnProperty')).toMatchObject({ code: 'unknown_tool' });
    const agent = await bodyOf(await send('GET', `/v1/agents/${name}`));
    expect(agent.warnings).toMatchObject([{ path: 'tools[2]', message: expect.stringContaining('__proto__') }]);
    for (const [path] of documents.toReversed()) expect([path, (await send('DELETE', path)).status]).toEqual([path, 204]);
  },
);
