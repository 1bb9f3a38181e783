/** Warnings about an agent's `tools` list on write and read, for the current toolset. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, type Harness } from './harness.ts';

let h: Harness;
beforeEach(async () => {
  h = createHarness();
  await h.send('PUT', '/v1/toolsets/demo', demo);
});

const put = (tools: string[] | undefined, more: object = {}) =>
  h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default', toolset: 'demo', ...(tools && { tools }), ...more });
const get = () => h.send('GET', '/v1/agents/helper');

describe('the list of an agent', () => {
  it('is stored as it was written, in any naming convention', async () => {
    const { warnings, tools } = await bodyOf(await put(['Shell', 'read-file']));
    expect([warnings, tools]).toEqual([undefined, ['Shell', 'read-file']]);
    expect(await bodyOf(await get())).toMatchObject({ tools: ['Shell', 'read-file'] });
  });

  it('has the same warnings about unmatched names when it is written and read', async () => {
    const written = (await bodyOf(await put(['Shell', 'Task', 'constructor', 'terminal']))).warnings;
    expect(written.map(({ path }: { path: string }) => path)).toEqual(['tools[1]', 'tools[2]', 'tools[3]']);
    expect((await bodyOf(await get())).warnings).toEqual(written);
  });

  it('has new warnings when its toolset has changed, without a write', async () => {
    await put(['read_file']);
    expect(await bodyOf(await get())).not.toHaveProperty('warnings');
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash' }] });
    const { warnings } = await bodyOf(await get());
    expect(warnings).toEqual([
      { path: 'tools[0]', message: '"read_file" matches no tool of the toolset "demo".' },
      { path: 'tools', message: 'No name in the list matches a tool, so this agent has no tools.' },
    ]);
    expect((await get()).headers.get('etag')).toBe('"1"');
  });

  it('has no warnings in lists of agents', async () => {
    await put(['Task']);
    const { items } = await bodyOf(await h.send('GET', '/v1/agents'));
    expect(items[0]).not.toHaveProperty('warnings');
  });

  it('can be sent back as it was read, including warnings, without a change', async () => {
    await put(['Task', 'Shell'], { instructions: 'Help.' });
    const read = await bodyOf(await get());
    expect(read.warnings).toHaveLength(1);
    const again = await h.send('PUT', '/v1/agents/helper', read);
    expect([again.status, again.headers.get('etag'), await bodyOf(again)]).toEqual([200, '"1"', read]);
  });

  it('has a warning if it is empty and allows nothing', async () => {
    expect((await bodyOf(await put([]))).warnings).toEqual([{ path: 'tools', message: expect.stringContaining('The list is empty') }]);
  });
});

it('with an invalid name is rejected with the rules for names', async () => {
  const refused = await h.send('PUT', '/v1/agents/Bad_Name', { model: 'rehearsal/default' });
  expect(refused.status).toBe(422);
  expect((await bodyOf(refused)).issues).toEqual([{ path: 'agent', message: expect.stringContaining('must be 1 to 50 of a-z') }]);
});

describe('an agent whose toolset is missing', () => {
  const ask = () => h.send('POST', '/v1/chat/completions', { model: 'agent/helper', messages: [{ role: 'user', content: 'x' }] });

  it('runs no turn, whatever its list says', async () => {
    await put(['Shell'], { toolset: 'later' });
    expect([(await ask()).status, h.sessions.all.size, h.proxied]).toEqual([404, 0, []]);
    await put(undefined, { toolset: 'later' });
    expect([(await ask()).status, h.sessions.all.size, h.proxied]).toEqual([404, 0, []]);
    await h.send('PUT', '/v1/toolsets/later', demo);
    expect((await ask()).status).toBe(200);
    await h.send('DELETE', '/v1/toolsets/later');
    expect([(await ask()).status, h.sessions.all.size]).toEqual([404, 1]);
  });

  it('runs no turn if it does not exist itself', async () => {
    expect((await ask()).status).toBe(404);
    expect(h.sessions.all.size).toBe(0);
  });
});
