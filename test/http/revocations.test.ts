/** A tool that was revoked from a toolset cannot be called through any version of it, and does not come back silently. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const bash = { tool: 'builtin.bash', name: 'shell', approval: 'never' };
const read = { tool: 'builtin.read_file' };
const dice = { tool: 'local.roll_dice' };

let h: Harness;
beforeEach(async () => {
  h = createHarness();
  await put({ tools: [bash, read] });
});
const put = (body: object, headers?: Record<string, string>, query = '') => h.send('PUT', `/v1/toolsets/tight${query}`, body, headers);
const patch = (body: object, headers?: Record<string, string>) => h.send('PATCH', '/v1/toolsets/tight', body, headers);
const rollback = (body: object, headers?: Record<string, string>) => h.send('POST', '/v1/toolsets/tight/rollback', body, headers);
const stored = async () => bodyOf(await h.send('GET', '/v1/toolsets/tight'));
const toolsOf = async () => (await stored()).tools.map(({ tool }: { tool: string }) => tool);
/** Whether version 1 may still call the shell: the code of the result. */
const call = async (version = 1, name = 'shell') =>
  bodyOf(await h.send('POST', `/v1/toolsets/tight/calls?version=${version}`, { name, arguments: { command: 'date' } }));

describe('revoking a tool', () => {
  it.each<[string, () => Promise<Response>]>([
    ['a PUT with `revoke`', () => put({ tools: [read], revoke: true })],
    ['a PUT that names it', () => put({ tools: [read], revoked: ['builtin.bash'] })],
    ['a PATCH with `revoke`', () => patch({ tools: [read], revoke: true })],
    ['a PATCH that names it', () => patch({ tools: [read], revoked: ['builtin.bash'] })],
    ['a PUT of a pattern', () => put({ tools: [{ tool: 'builtin.*', except: ['bash'] }], revoke: true })],
    [
      'a rollback with `revoke`',
      async () => {
        await put({ tools: [read] });
        await put({ tools: [bash, read] });
        return rollback({ version: 2, revoke: true });
      },
    ],
    [
      'a PUT that names it after it was removed',
      async () => {
        await put({ tools: [read] });
        return put({ tools: [read], revoked: ['builtin.bash'] });
      },
    ],
  ])('works by %s, for every version at once', async (_how, revoke) => {
    expect((await call()).code).not.toBe('not_allowed');
    expect((await revoke()).status).toBe(200);
    expect(await stored()).toMatchObject({ revoked: ['builtin.bash'] });
    for (const name of ['shell', 'builtin.bash', 'bash', 'Shell', 'functions.shell']) {
      const refused = await call(1, name);
      expect(refused, name).toMatchObject({ isError: true, code: 'not_allowed', canonical: 'builtin.bash' });
      expect(refused.content[0].text).toContain('was revoked from this toolset, in every version of it');
    }
    expect((await call(1, 'read_file')).code).not.toBe('not_allowed');
    const { tools } = await bodyOf(await h.send('GET', '/v1/toolsets/tight/tools?version=1'));
    expect(tools).toMatchObject([
      { canonical: 'builtin.read_file', state: 'ready' },
      { canonical: 'builtin.bash', state: 'held', definition: null, held: { reason: 'revoked' }, left: 'it was revoked from this toolset' },
    ]);
  });

  it('is not what a removal without it does', async () => {
    await put({ tools: [read] });
    expect(await stored()).not.toHaveProperty('revoked');
    expect((await call()).code).not.toBe('not_allowed');
  });

  it('with `revoke` keeps what was revoked before, and revokes nothing that stays', async () => {
    await put({ tools: [read], revoke: true });
    await put({ tools: [dice], revoke: true });
    expect((await stored()).revoked).toEqual(['builtin.bash', 'builtin.read_file']);
    await put({ tools: [dice, { ...dice, name: 'dice_two' }], revoke: true });
    expect((await stored()).revoked).toEqual(['builtin.bash', 'builtin.read_file']);
  });

  it('is only checked by a dry run', async () => {
    expect((await put({ tools: [read], revoke: true }, undefined, '?dryRun=true')).status).toBe(200);
    expect((await call()).code).not.toBe('not_allowed');
  });

  it('is part of the versions and their differences', async () => {
    await put({ tools: [read] });
    await put({ tools: [read], revoked: ['builtin.bash'] });
    expect(await bodyOf(await h.send('GET', '/v1/toolsets/tight/diff'))).toMatchObject({
      from: 2,
      to: 3,
      fields: [{ path: '/revoked', to: ['builtin.bash'] }],
    });
  });

  it('warns about a name that no tool has', async () => {
    const { warnings } = await bodyOf(await put({ tools: [read], revoked: ['builtin.bassh'] }));
    expect(warnings).toEqual([{ path: 'revoked[0]', message: expect.stringMatching(/no tool has.*Similar names: builtin.bash/) }]);
  });

  it.each<[string, unknown]>([
    ['no list', 'builtin.bash'],
    ['no names', [1]],
    ['an own name', ['bash']],
    ['a pattern of all servers', ['*']],
    ['the name of a server', ['builtin']],
    ['too many', Array.from({ length: 1_001 }, (_, index) => `a.b${index}`)],
  ])('is refused with %s', async (_what, revoked) => {
    expect(await problemIn(await put({ tools: [read], revoked }))).toMatch(/^422 invalid_request at revoked(\[0\])?$/);
    expect(await problemIn(await put({ tools: [read], revoke: 'yes' }))).toBe('422 invalid_request at revoke');
  });
});

describe('a revoked tool', () => {
  beforeEach(async () => {
    await put({ tools: [read, dice], revoke: true });
    expect((await stored()).revoked).toEqual(['builtin.bash']);
  });

  it('stays revoked when a client that does not know of it replaces the toolset, which is told so', async () => {
    const { warnings } = await bodyOf(await put({ tools: [read] }));
    expect(warnings).toEqual([{ path: 'revoked', message: expect.stringContaining('builtin.bash stay revoked') }]);
    expect((await stored()).revoked).toEqual(['builtin.bash']);
    // GET and PUT, and a PATCH, have the member.
    expect((await bodyOf(await put(await stored()))).warnings).toEqual([]);
    expect((await bodyOf(await patch({ description: 'Tight.' }))).warnings).toEqual([]);
    expect((await call()).code).toBe('not_allowed');
  });

  it('cannot be listed again before it is given back', async () => {
    for (const attempt of [
      put({ tools: [read, bash] }),
      put({ tools: [read, bash], revoked: ['builtin.bash'] }),
      patch({ tools: [bash] }),
    ]) {
      const refused = await attempt;
      expect(refused.status).toBe(422);
      expect((await bodyOf(refused)).issues).toEqual([
        { path: expect.stringMatching(/^tools\[[01]\]\.tool$/), message: expect.stringContaining('send "revoked" without it') },
      ]);
    }
    const { issues, valid } = await bodyOf(await h.send('POST', '/v1/toolsets/tight/preview', { tools: [read, bash] }));
    expect([valid, issues]).toEqual([false, [{ path: 'tools[1].tool', message: expect.stringContaining('was revoked') }]]);
  });

  it.each<[string, () => Promise<Response>]>([
    ['a rollback', () => rollback({ version: 1 })],
    ['a copy of an earlier version', () => put({ from: 'tight@1' })],
    ['a pattern', () => put({ tools: [{ tool: 'builtin.*' }] })],
  ])('is left out by %s, with a warning', async (_way, write) => {
    const answer = await write();
    expect(answer.status).toBe(200);
    expect((await bodyOf(answer)).warnings).toContainEqual({ path: expect.anything(), message: expect.stringContaining('builtin.bash') });
    expect(await toolsOf()).toEqual(['builtin.read_file']);
    expect((await call()).code).toBe('not_allowed');
  });

  it('is left out of a copy to another toolset, too', async () => {
    const copy = await h.send('PUT', '/v1/toolsets/other', { from: 'tight@1' });
    expect([copy.status, (await bodyOf(copy)).warnings[0].message]).toEqual([201, expect.stringContaining('builtin.bash is left out')]);
    const { tools, revoked } = await bodyOf(await h.send('GET', '/v1/toolsets/other'));
    expect([tools.map(({ tool }: { tool: string }) => tool), revoked]).toEqual([['builtin.read_file'], undefined]);
  });

  it('makes a rollback fail that would leave no tool', async () => {
    await put({ tools: [dice], revoked: ['builtin.bash', 'builtin.read_file'] });
    const refused = await rollback({ version: 1 });
    expect([refused.status, (await bodyOf(refused)).issues[0].message]).toEqual([422, expect.stringContaining('only revoked tools')]);
  });

  it('stays revoked when the toolset is deleted and created again, or restored', async () => {
    await h.send('DELETE', '/v1/toolsets/tight');
    expect((await put({ tools: [read] })).status).toBe(201);
    expect((await call()).code).toBe('not_allowed');
    await h.send('DELETE', '/v1/toolsets/tight');
    expect((await rollback({ version: 1 })).status).toBe(201);
    expect(await toolsOf()).toEqual(['builtin.read_file']);
    expect((await call()).code).toBe('not_allowed');
  });

  it.each<[string, () => Promise<Response>]>([
    ['a PATCH with an empty list', () => patch({ revoked: [] })],
    ['a PATCH with null', () => patch({ revoked: null })],
    ['a PUT with an empty list', () => put({ tools: [read], revoked: [] })],
    ['a PUT that lists it again', () => put({ tools: [read, bash], revoked: [] })],
  ])('is given back by %s', async (_way, relist) => {
    expect((await relist()).status).toBe(200);
    expect(await stored()).not.toHaveProperty('revoked');
    expect((await call()).code).not.toBe('not_allowed');
  });

  it('is given back by a bound key only if the key has the tool', async () => {
    const bound = await h.key({ scopes: ['tools', 'toolsets'], toolsets: ['tight'] });
    for (const attempt of [patch({ revoked: [] }, bound), patch({ revoked: null }, bound), put({ tools: [read], revoked: [] }, bound)])
      expect([(await attempt).status, (await bodyOf(await attempt)).detail]).toEqual([
        403,
        expect.stringContaining('builtin.bash was revoked'),
      ]);
    // Not by a detour over a deleted toolset either.
    expect((await h.send('DELETE', '/v1/toolsets/tight', undefined, bound)).status).toBe(204);
    expect((await put({ tools: [read], revoked: [] }, bound)).status).toBe(403);
    await put({ tools: [read] });
    // Revoking more is taking away, which it may.
    expect((await patch({ tools: [read], revoked: ['builtin.bash', 'local.roll_dice'] }, bound)).status).toBe(200);
    await h.send('PUT', '/v1/toolsets/wide', { tools: [bash, dice] });
    const wide = await h.key({ scopes: ['tools', 'toolsets'], toolsets: ['tight', 'wide'] });
    expect((await patch({ revoked: [] }, wide)).status).toBe(200);
  });

  it('is revoked from its toolset only', async () => {
    await h.send('PUT', '/v1/toolsets/other', { tools: [bash] });
    const answer = await h.send('POST', '/v1/toolsets/other/calls', { name: 'shell', arguments: { command: 'date' } });
    expect((await bodyOf(answer)).code).not.toBe('not_allowed');
  });

  it('is refused in a dry run of the call', async () => {
    const answer = await h.send('POST', '/v1/toolsets/tight/calls?version=1&dryRun=true', {
      name: 'shell',
      arguments: { command: 'date' },
    });
    expect((await bodyOf(answer)).verdict).toBe('deny');
  });
});
