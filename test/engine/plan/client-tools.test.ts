import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ClientToolInput } from '../../../src/core/turn/plan.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { turnNames } from '../../../src/engine/plan/plan-names.ts';
import { planTurn, type PlanRequest } from '../../../src/engine/plan/plan-turn.ts';
import { resolveName } from '../../../src/core/toolset/alias-map.ts';
import { createNodeCatalog, type NodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';

const definitions = [
  toolOf('builtin', 'bash', { kind: 'builtin' }),
  toolOf('builtin', 'read_file', { kind: 'builtin' }),
  toolOf('docs', 'search'),
  toolOf('web', 'search'),
];
const root: Principal = { workspace: 'default', keyId: 'root', scopes: ['admin'] };

let catalog: NodeCatalog;
const plan = (request: PlanRequest) => planTurn({ directory: catalog.directory, aliases: true }, root, request);
const tool = (name: string) => ({ name, description: '', inputSchema: { type: 'object' } });
const refusal = async (names: string[], request: Partial<PlanRequest> = {}) =>
  await plan({ model: 'rehearsal/default', toolset: 'demo', tools: names.map(tool), ...request }).then(
    () => [],
    (error) => error.extra.issues,
  );

const strict = { agent: 'strict', model: undefined, toolset: undefined };

beforeEach(async () => {
  catalog = createNodeCatalog({ definitions });
  await catalog.put('toolset', 'demo', {
    tools: [
      { tool: 'builtin.bash', name: 'run_it', aliases: ['shell', { name: 'secret-name', mode: 'hidden' }] },
      { tool: 'builtin.read_file' },
      { tool: 'docs.search', name: 'find_docs' },
      { tool: 'web.search', name: 'find_web' },
    ],
  });
  await catalog.put('agent', 'strict', { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' });
  await catalog.put('agent', 'reader', { model: 'rehearsal/default', toolset: 'demo', tools: ['read_file'] });
});

describe('client tools', () => {
  it('are in the plan when their names are free', async () => {
    expect((await plan({ model: 'rehearsal/default', toolset: 'demo', tools: [tool('get_position')] })).clientTools).toEqual([
      tool('get_position'),
    ]);
    expect((await plan({ model: 'rehearsal/default', tools: [tool('run_it')] })).clientTools).toEqual([tool('run_it')]);
    expect(await plan({ model: 'rehearsal/default', tools: [] })).not.toHaveProperty('clientTools');
  });

  it.each([
    ['run_it', ['builtin.bash']],
    ['RunIt', ['builtin.bash']],
    ['shell', ['builtin.bash']],
    ['Bash', ['builtin.bash']],
    ['secretName', ['builtin.bash']],
    ['read-file', ['builtin.read_file']],
    ['search', ['docs.search', 'web.search']],
  ])('called %s replace the server tools with that name, which the turn then does not offer', async (name, left) => {
    const made = await plan({ model: 'rehearsal/default', toolset: 'demo', tools: ['free', name].map(tool) });
    expect(made.replaced).toEqual(left.map((canonical) => ({ canonical, by: name })));
    const names = turnNames((await catalog.directory.toolset('default', 'demo')).names, made);
    if (names === null) throw new Error('the turn has no names');
    expect(resolveName(names, name)).toMatchObject({ ok: true, canonical: `client.${name}`, via: 'wire' });
    for (const canonical of left) expect(resolveName(names, canonical)).toMatchObject({ ok: false });
    const all = ['builtin.bash', 'builtin.read_file', 'docs.search', 'web.search'];
    expect(names.tools.map(({ canonical }) => canonical)).toEqual([
      ...all.filter((canonical) => !left.includes(canonical)),
      'client.free',
      `client.${name}`,
    ]);
  });

  it.each([
    ['run_it', 'builtin.bash (called run_it)'],
    ['RunIt', 'builtin.bash (called run_it)'],
    ['shell', 'builtin.bash (called run_it)'],
    ['secretName', 'builtin.bash (called run_it)'],
    ['read-file', 'builtin.read_file (called read_file)'],
    ['search', 'find_docs and find_web'],
    ['UseSkill', 'builtin.use_skill'],
  ])('called %s are rejected by a strict agent, naming %s as well', async (name, owner) => {
    const issues = await refusal(['free', name], strict);
    expect(issues).toEqual([{ path: 'tools[1].name', message: expect.stringContaining(`client.${name}`) }]);
    expect(issues[0].message).toContain(owner);
  });

  it('may be called like a tool that the service adds only where it adds it', async () => {
    await catalog.put('agent', 'coder', { model: 'rehearsal/default', toolset: 'demo', codeMode: true });
    expect(await refusal(['run_code', 'create_tool'])).toEqual([]);
    expect(await refusal(['run_code'], { agent: 'coder', model: undefined, toolset: undefined })).toHaveLength(1);
    expect(await refusal(['fetch-result'])).toHaveLength(1);
  });

  it('may not share a name in any spelling', async () => {
    expect(await refusal(['get_position', 'other', 'GetPosition'])).toEqual([
      { path: 'tools[2].name', message: expect.stringMatching(/"GetPosition".*client\.get_position.*client\.GetPosition/) },
    ]);
    expect(await refusal(['_', '__'])).toEqual([]);
    expect(await refusal(['_', '_'])).toHaveLength(1);
  });

  it('are compared with what the plan offers: a tool that the agent may not use reserves no name', async () => {
    expect(await refusal(['shell'], { agent: 'reader', model: undefined, toolset: undefined })).toEqual([]);
    await catalog.put('agent', 'strict', { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' });
    await catalog.put('agent', 'reader', { model: 'rehearsal/default', toolset: 'demo', tools: ['read_file'], clientTools: 'strict' });
    expect(await refusal(['read_file'], { agent: 'reader', model: undefined, toolset: undefined })).toHaveLength(1);
  });

  it('are rejected with the path of the name in the request', async () => {
    expect((await refusal(['run_it'], { ...strict, toolPath: (index) => `tools[${index}].function.name` }))[0].path).toBe(
      'tools[0].function.name',
    );
  });

  it('may be the forced tool of a request', async () => {
    const forced = { settings: { toolChoice: { tool: 'get_position' } } };
    expect((await plan({ model: 'rehearsal/default', tools: [tool('get_position')], ...forced })).settings).toEqual(forced.settings);
    await expect(plan({ model: 'rehearsal/default', tools: [tool('other')], ...forced })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('a client tool', () => {
  it("is read the same in our format and in OpenAI's", () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } } };
    const ours = ClientToolInput.parse({ name: 'a', description: 'b', inputSchema, strict: true });
    expect(
      ClientToolInput.parse({ type: 'function', function: { name: 'a', description: 'b', parameters: inputSchema, strict: true } }),
    ).toEqual(ours);
    expect(ClientToolInput.parse({ type: 'function', function: { name: 'a', parameters: null } })).toEqual(
      ClientToolInput.parse({ name: 'a' }),
    );
  });

  it.each([
    [{}],
    [{ name: 'a'.repeat(129) }],
    [{ name: 'a', parameters: {} }],
    [{ type: 'function', function: { name: 'a b' } }],
    [{ type: 'custom', name: 'a' }],
  ])('is invalid: %j', (value) => {
    expect(ClientToolInput.safeParse(value).success).toBe(false);
  });
});

it('must have a name that a turn can offer', () => {
  const character = fc.constantFrom('a', 'Z', '_', '-', '0', '.', ' ');
  const name = fc.oneof(
    fc.constantFrom('constructor', '__proto__', 'toString', 'toJSON', 'then', 'x', '_', `x${'y'.repeat(63)}`),
    fc.string({ unit: character, maxLength: 70 }),
  );
  fc.assert(
    fc.property(name, (text) => {
      const read = ClientToolInput.safeParse({ name: text });
      if (!read.success) return;
      const names = turnNames(null, { aliases: true, allow: null, clientTools: [read.data] });
      expect(names?.tools.map(({ canonical }) => canonical)).toEqual([`client.${text}`]);
    }),
  );
  for (const member of ['constructor', '__proto__', 'toJSON']) expect(ClientToolInput.safeParse({ name: member }).success).toBe(false);
});
