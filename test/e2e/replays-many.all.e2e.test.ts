/** A replay of 200 recorded sessions with two models whose differences from the recordings are known exactly. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import type { UnderstoodMessage } from '../fakes/upstreams/upstream.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
let fakes: FakeProviders;
let upstream: RecordingUpstream;
const numbers = Array.from({ length: 200 }, (_, index) => index + 1);

beforeAll(async () => {
  fakes = await startFakeProviders();
  upstream = await startRecordingUpstream();
  await fakes.putAll(service.call);
  const tools = [
    { tool: 'local.calculate', name: 'reckon' },
    { tool: 'builtin.http_request', name: 'send', approval: 'never' },
  ];
  await service.call('PUT', '/v1/toolsets/work', { tools });
  await service.call('PUT', '/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'work' });
  await service.call('PUT', '/v1/suites/all', { select: { agent: 'clerk', limit: 1_000 }, rules: [{ calls: 'same' }, { maxCalls: 2 }] });
});
afterAll(() => {
  fakes.close();
  upstream.close();
});

type Call = { name: string; arguments: Record<string, unknown> };
const reckon = (number: number): Call => ({ name: 'reckon', arguments: { expression: `${number}+1` } });
const send = (number: number): Call => ({
  name: 'send',
  arguments: { url: `${upstream.url}/effect/${number}`, method: 'POST', body: 'x' },
});

/** The first model sends nothing in every fourth session. */
const thrifty = (number: number): Call[] => (number % 4 === 0 ? [reckon(number)] : [reckon(number), send(number)]);
/** The second one reckons something else in every fifth session, and reckons twice in every eighth of the others. */
const careless = (number: number): Call[] => {
  if (number % 5 === 0) return [reckon(number + 1_000), send(number)];
  return number % 8 === 0 ? [reckon(number), reckon(number), send(number)] : [reckon(number), send(number)];
};

async function replayWith(wire: Wire) {
  const started = await service.call('POST', '/v1/replays', { suite: 'all', with: { model: refOf(wire) }, concurrency: 8 });
  const path = `/v1/replays/${started.json.id}`;
  const ended = async () => expect((await service.call('GET', path)).json.status, started.text).not.toBe('running');
  await vi.waitFor(ended, { timeout: 4 * waitMs, interval: 1_000 });
  return (await service.call('GET', path)).json;
}

const lastUser = (messages: readonly UnderstoodMessage[]): number => messages.findLastIndex(({ role }) => role === 'user');

it('finds exactly the differences of 200 sessions, and calls no tool', async () => {
  let calls = thrifty;
  const record = async (number: number): Promise<void> => {
    const story = fakes.start(`case ${number}`, {
      say: ({ messages }) => (lastUser(messages) === messages.length - 1 ? { calls: calls(number) } : { text: 'Done.' }),
    });
    const written = [reckon(number), send(number)].map((call) => `/${call.name} ${JSON.stringify(call.arguments)}`);
    const { json } = await service.call('POST', '/v1/sessions', { agent: 'clerk' });
    const turn = await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: [story.mark, ...written].join('\n') });
    expect(turn.json.status, turn.text).toBe('completed');
  };
  for (let start = 0; start < numbers.length; start += 10) await Promise.all(numbers.slice(start, start + 10).map(record));
  const selected = async () => {
    const { items } = (await service.call('GET', '/v1/requests?agent=clerk&limit=100')).json;
    expect(items).toHaveLength(100);
    expect(await service.call('GET', '/v1/usage?by=agent&agent=clerk')).toMatchObject({ json: { items: [{ calls: 400 }] } });
  };
  await vi.waitFor(selected, { timeout: waitMs, interval: 500 });
  expect(upstream.requests).toHaveLength(200);

  const count = (fits: (number: number) => boolean): number => numbers.filter(fits).length;
  const missing = count((number) => number % 4 === 0);
  expect(await replayWith('openai')).toMatchObject({
    status: 'completed',
    cases: { total: 200, left: 0, done: 200, same: 200 - missing, different: missing, ended: 0, failed: 0, unreadable: 0 },
    rules: { passed: 400 - missing, failed: missing },
    recorded: { calls: 400 },
    replayed: { calls: 400 - missing, steps: 400 },
  });

  calls = careless;
  const changed = count((number) => number % 5 === 0);
  const repeated = count((number) => number % 5 !== 0 && number % 8 === 0);
  const replay = await replayWith('anthropic');
  expect(replay).toMatchObject({
    status: 'completed',
    cases: { total: 200, same: 200 - changed - repeated, different: repeated, ended: changed, failed: 0, unreadable: 0 },
    rules: { passed: 400 - changed - 2 * repeated, failed: changed + 2 * repeated },
    recorded: { calls: 400 },
    replayed: { calls: 400 + repeated },
  });
  const ended = (await service.call('GET', `/v1/replays/${replay.id}/cases?status=ended&limit=100`)).json.items;
  expect(ended.map((one: { calls: object }) => one.calls)).toEqual(
    Array.from({ length: changed }, () => ({ same: 1, changed: 1, added: 0, missing: 0 })),
  );
  expect(upstream.requests).toHaveLength(200);
}, 600_000);
