/** Versions of agents, the policy and shared made tools. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const agent = (instructions: string) => ({ model: 'rehearsal/default', instructions });
const policy = (tool: string) => ({ rules: [{ decision: 'deny', tool }] });
const made = (description: string) => ({ description, implementation: 'return 1' });

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

const kinds: [path: string, first: object, second: object][] = [
  ['/v1/agents/helper', agent('one'), agent('two')],
  ['/v1/policy', policy('builtin.bash'), policy('builtin.read_file')],
  ['/v1/tools/made.twice', made('One.'), made('Two.')],
];

describe.each(kinds)('%s', (path, first, second) => {
  const read = async (query = '') => await h.send('GET', path + query);

  it('can be read at each version, and restored', async () => {
    await h.send('PUT', path, first);
    const original = await bodyOf(await read());
    await h.send('PUT', path, second);
    const { items, nextCursor } = await bodyOf(await h.send('GET', `${path}/versions?limit=1`));
    expect(items).toEqual([{ version: 2, createdAt: expect.any(String), removed: false }]);
    const rest = await bodyOf(await h.send('GET', `${path}/versions?cursor=${nextCursor}`));
    expect(rest.items.map(({ version }: { version: number }) => version)).toEqual([1]);
    const earlier = await read('?version=1');
    const shown = await bodyOf(earlier);
    expect([earlier.headers.get('etag'), shown]).toEqual(['"1"', original]);
    expect(await bodyOf(await read('?version=2'))).toEqual(await bodyOf(await read()));
    expect((await h.send('PUT', path, path.includes('/tools/') ? first : shown)).status).toBe(200);
    expect((await read()).headers.get('etag') ?? '"3"').toBe('"3"');
  });

  it('is not found at other versions, and without any after its deletion', async () => {
    expect((await h.send('GET', `${path}/versions`)).status).toBe(404);
    await h.send('PUT', path, first);
    for (const version of ['2', '999999999']) expect([version, (await read(`?version=${version}`)).status]).toEqual([version, 404]);
    for (const version of ['0', '-1', '1.5', 'one', ''])
      expect([version, (await read(`?version=${version}`)).status]).toEqual([version, 422]);
    await h.send('DELETE', path);
    expect((await h.send('GET', `${path}/versions`)).status).toBe(404);
    expect((await read('?version=1')).status).toBe(404);
  });

  it('shows earlier versions to no bound key', async () => {
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash' }] });
    await h.send('PUT', path, first);
    for (const bindings of [{ agents: ['helper'] }, { toolsets: ['demo'] }]) {
      const key = await h.key({ scopes: ['admin'], ...bindings });
      expect((await h.send('GET', `${path}/versions`, undefined, key)).status).toBe(403);
      expect((await h.send('GET', `${path}?version=1`, undefined, key)).status).toBe(403);
    }
  });
});

it('tools that are not made have no versions, and private ones have none either', async () => {
  expect((await h.send('GET', '/v1/tools/builtin.bash/versions')).status).toBe(404);
  expect((await h.send('GET', '/v1/tools/builtin.bash?version=1')).status).toBe(404);
  expect(await problemIn(await h.send('GET', '/v1/tools/made.twice?version=1&owner=me'))).toBe('422 invalid_request at version');
  expect(await problemIn(await h.send('GET', '/v1/providers/acme?version=1'))).toBe('422 invalid_request at version');
});
