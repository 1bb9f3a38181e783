/**
 * Mutated documents over HTTP and the real catalog: a smaller version of `test/http/hostile-documents.all.test.ts`, which uses the
 * in-memory one.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { bodyOf } from '../../http/harness.ts';
import { checkWrite, hostileTexts, placesOf, prepareDocuments, spoiling, spoilt, valid } from '../../http/hostile-documents.ts';
import { serverOf } from '../../http/hostile-rows.ts';
import { send } from './real-service.ts';

beforeAll(() => prepareDocuments(send));

describe.each(Object.entries(valid))('a %s', (_kind, { path, body }) => {
  it('with any value in any place is rejected with its path, or stored and read back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(spoiling, { minLength: 1, maxLength: 2 }), async (spoilings) => {
        await checkWrite(send, path, spoilings.reduce(spoilt, body));
        await send('PUT', path, body);
      }),
      { numRuns: 40 },
    );
  });

  it('is stored as sent or refused, whatever names of Object.prototype or invalid names it has', async () => {
    for (const at of placesOf(body).keys()) {
      const name = hostileTexts[at % hostileTexts.length] ?? '';
      await checkWrite(send, path, spoilt(body, { at, how: 'replace', name, value: name }));
      await checkWrite(send, path, spoilt(body, { at, how: 'add', name, value: { polluted: true } }));
    }
    await send('PUT', path, body);
  });

  it('is written only with the current version', async () => {
    const before = await send('GET', path);
    const text = await before.text();
    // UI tools are read like other tools; the response to the write has the version.
    const tag = before.headers.get('etag') ?? (await send('PUT', path, body)).headers.get('etag') ?? '';
    for (const [condition, status] of [
      [`W/${tag}`, 412],
      ['"1000000"', 412],
      ['"abc"', 412],
      [`${tag}, "1000000"`, 422],
      [tag, 200],
      ['*', 200],
    ] as const)
      expect([condition, (await send('PUT', path, body, { 'if-match': condition })).status]).toEqual([condition, status]);
    expect(await (await send('GET', path)).text()).toBe(text);
  });
});

it('a listing without names removes no tool', async () => {
  const before = await (await send('GET', '/v1/servers/weather')).text();
  const answer = await send('PUT', '/v1/servers/weather', serverOf([{ name: 42 }, { description: 'x' }]));
  expect([answer.status, (await bodyOf(answer)).issues]).toMatchObject([422, [{ path: 'tools[0].name' }, { path: 'tools[1].name' }]]);
  expect(await (await send('GET', '/v1/servers/weather')).text()).toBe(before);
});

it('an agent has warnings about missing tools of its skills', async () => {
  const content =
    '---\nname: lost\ndescription: Lost.\nallowed-tools: Bash(git:*) get_city\nrequires: constructor nowhere_tool\n---\nGo.\n';
  expect((await send('PUT', '/v1/skills/lost', { content })).status).toBe(201);
  const agent = { model: 'rehearsal/default', toolset: 'steady', skills: ['lost', 'nothing'] };
  const { warnings } = await bodyOf(await send('PUT', '/v1/agents/lost', agent));
  expect(warnings).toEqual([
    { path: 'skills[0]', message: expect.stringMatching(/needs constructor, nowhere_tool, Bash/) },
    { path: 'skills[1]', message: expect.stringContaining('The skill "nothing" does not exist yet') },
  ]);
});
