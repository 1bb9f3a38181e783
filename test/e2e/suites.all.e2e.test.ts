/** Suites over recorded work: what they select, who sees it, and what cannot be replayed. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { type FakeProviders, refOf, startFakeProviders } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
let fakes: FakeProviders;
let key: string;
const sessions: string[] = [];

/** A turn in which the model calls a tool, or only answers. */
async function turnOf(session: string, name: string, calls: boolean, headers = {}): Promise<string> {
  const story = fakes.start(name, {
    say: (_request, index) =>
      calls && index === 0 ? { calls: [{ name: 'reckon', arguments: { expression: '6*7' } }] } : { text: 'Done.' },
  });
  const turn = await service.call('POST', `/v1/sessions/${session}/turns`, { input: story.mark }, headers);
  expect(turn.json.text, turn.text).toBe('Done.');
  return turn.json.turn;
}

const cases = async (suite: string, query = '', headers = {}) =>
  (await service.call('GET', `/v1/suites/${suite}/cases${query}`, undefined, headers)).json;
const turnsIn = async (suite: string, headers = {}): Promise<string[]> =>
  (await cases(suite, '', headers)).items.map((item: { turn: string }) => item.turn);
const put = async (suite: string, body: object): Promise<number> => (await service.call('PUT', `/v1/suites/${suite}`, body)).status;

beforeAll(async () => {
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
  await service.call('PUT', '/v1/toolsets/sums', { tools: [{ tool: 'local.calculate', name: 'reckon' }] });
  await service.call('PUT', '/v1/agents/clerk', { model: refOf('openai'), toolset: 'sums' });
  key = (await service.call('POST', '/v1/keys', { name: 'maker', scopes: ['chat', 'toolsets'] })).json.key;
});
afterAll(() => fakes.close());

describe('a suite', () => {
  const own = () => ({ authorization: `Bearer ${key}` });
  const turns: string[] = [];

  it('selects recorded turns by agent and by the tools that they called, the newest first', async () => {
    for (const headers of [{}, own()]) sessions.push((await service.call('POST', '/v1/sessions', { agent: 'clerk' }, headers)).json.id);
    const [one = '', other = ''] = sessions;
    turns.push(await turnOf(one, 'suite one', true));
    turns.push(await turnOf(one, 'suite two', false));
    turns.push(await turnOf(other, 'suite three', true, own()));
    expect(await put('all', { select: { agent: 'clerk' } })).toBe(201);
    expect(await put('called', { select: { agent: 'clerk', tools: ['local.*'] }, rules: [{ calls: 'same' }] })).toBe(201);
    await vi.waitFor(async () => expect(await turnsIn('all')).toEqual([turns[2], turns[1], turns[0]]), { timeout: waitMs, interval: 300 });
    expect(await turnsIn('called')).toEqual([turns[2], turns[0]]);
    await put('all', { select: { agent: 'clerk', limit: 1 } });
    expect(await cases('all')).toMatchObject({
      items: [{ turn: turns[2], agent: 'clerk', model: refOf('openai') }],
      left: 2,
      nextCursor: null,
    });
    expect((await cases('called', '?limit=1')).nextCursor).toEqual(expect.any(String));
  });

  it('shows a key only its own work, also in sessions that the suite names', async () => {
    expect(await turnsIn('called', own())).toEqual([turns[2]]);
    await put('listed', { cases: sessions.map((session) => ({ session })) });
    expect(await turnsIn('listed')).toEqual(turns);
    expect((await cases('listed', '', own())).items).toMatchObject([
      { session: sessions[0], turn: null, agent: null, reason: 'The session is gone, or belongs to another key.' },
      { turn: turns[2], reason: null },
    ]);
    await put('foreign', { select: { key: 'root' } });
    expect((await service.call('GET', '/v1/suites/foreign/cases', undefined, own())).status).toBe(403);
  });

  it('is not for keys that are bound to an agent', async () => {
    const bound = (await service.call('POST', '/v1/keys', { name: 'bound', scopes: ['chat', 'toolsets'], agents: ['clerk'] })).json.key;
    for (const path of ['/v1/suites', '/v1/suites/all', '/v1/suites/all/cases', '/v1/suites/none/cases'])
      expect((await service.call('GET', path, undefined, { authorization: `Bearer ${bound}` })).status).toBe(403);
  });

  it('names a session that was deleted since', async () => {
    await service.call('DELETE', `/v1/sessions/${sessions[0]}`);
    expect((await cases('listed')).items).toMatchObject([{ session: sessions[0], turn: null }, { turn: turns[2] }]);
    const { items, left } = await cases('called');
    // Of its two turns, one called no tool.
    expect([items.length, left]).toEqual([1, 1]);
  });

  it('has versions, which can be read and written again', async () => {
    const read = async (query = '') => (await service.call('GET', `/v1/suites/all${query}`)).json;
    const { items } = (await service.call('GET', '/v1/suites/all/versions')).json;
    expect(items.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
    expect((await read('?version=1')).select).toEqual({ agent: 'clerk' });
    await put('all', await read('?version=1'));
    expect((await read()).select).toEqual({ agent: 'clerk' });
  });

  it('is refused if it is too large, has too much, or judges with a model', async () => {
    const text = 'x'.repeat(10_000);
    const rules = Array.from({ length: 50 }, () => ({ answer: { contains: text } }));
    const faultOf = async (body: object) => {
      const { status, json } = await service.call('PUT', '/v1/suites/bad', body);
      return [status, json.issues?.[0]?.path];
    };
    expect(await faultOf({ select: {}, rules })).toEqual([422, '']);
    expect(await faultOf({ cases: Array.from({ length: 1_001 }, (_, index) => ({ session: String(index) })) })).toEqual([422, 'cases']);
    expect(
      await faultOf({ cases: Array.from({ length: 1_000 }, () => ({ session: 's', rules: [{ answer: { contains: text } }] })) }),
    ).toEqual([413, undefined]);
    expect(await faultOf({ select: {}, rules: [{ judge: 'Is it good?' }] })).toEqual([422, expect.stringContaining('rules[0]')]);
    expect((await service.call('GET', '/v1/suites/bad')).status).toBe(404);
  });
});
