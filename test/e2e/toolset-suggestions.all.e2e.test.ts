/** A model calls names from habit, is refused, and makes the call that it meant: the toolset learns them, and the next turn needs fewer steps. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { type FakeProviders, refOf, startFakeProviders } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
let fakes: FakeProviders;
beforeAll(async () => {
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
  await service.call('PUT', '/v1/toolsets/habits', { tools: [{ tool: 'local.calculate', name: 'reckon' }, { tool: 'builtin.read_file' }] });
  await service.call('PUT', '/v1/agents/habitual', { model: refOf('openai'), toolset: 'habits' });
});
afterAll(() => fakes.close());

const tries = [
  { name: 'DoMaths', arguments: { expression: '6*7 + 1' } },
  { name: 'reckon', arguments: { formula: '6*7 + 1' } },
  { name: 'reckon', arguments: { expression: '6*7 + 1' } },
];

/** The steps that a turn needs until a call succeeds: the model tries its habits in order. */
async function stepsOf(name: string): Promise<number> {
  const story = fakes.start(name, {
    say: ({ messages }, index) => {
      const last = JSON.stringify(messages.at(-1));
      return index > 0 && last.includes('43')
        ? { text: 'It is 43.' }
        : { calls: [tries[Math.min(index, 2)] ?? { name: '', arguments: {} }] };
    },
  });
  const { id } = (await service.call('POST', '/v1/sessions', { agent: 'habitual' })).json;
  const turn = await service.call('POST', `/v1/sessions/${id}/turns`, { input: story.mark });
  expect(turn.json.text, turn.text).toBe('It is 43.');
  return turn.json.toolCalls.length;
}

const suggestions = async (query = '') => (await service.call('GET', `/v1/toolsets/habits/suggestions${query}`)).json;

it('suggests the names and arguments that models give from habit, and with them a turn needs fewer steps', async () => {
  expect(await stepsOf('first')).toBe(3);
  expect(await stepsOf('second')).toBe(3);
  await vi.waitFor(
    async () => {
      const { suggestions: found, turns } = await suggestions();
      expect(turns.read).toBe(2);
      expect(found).toMatchObject([
        { name: 'DoMaths', tool: 'local.calculate', argument: null, alias: 'domaths', seen: 2, agents: ['habitual'], isNoteOnly: false },
        { name: 'formula', tool: 'local.calculate', argument: 'expression', alias: 'formula', seen: 2, models: [refOf('openai')] },
      ]);
    },
    { timeout: waitMs, interval: 300 },
  );
  await vi.waitFor(async () => expect((await suggestions()).unknown).toMatchObject([{ requested: 'DoMaths', calls: 2 }]), {
    timeout: waitMs,
  });
  const examples = (name: string) => [{ [name]: '"6*7 + 1"' }, { [name]: '"6*7 + 1"' }];
  expect((await suggestions()).suggestions).toMatchObject([
    { name: 'DoMaths', preview: { found: 2, broken: 0 }, examples: examples('expression') },
    { name: 'formula', preview: { found: 2, broken: 0 }, examples: examples('formula') },
  ]);

  await service.call('PATCH', '/v1/toolsets/habits', { dismissed: ['do-maths', 'local.calculate#formula'] });
  expect(await suggestions()).toMatchObject({ suggestions: [], unknown: [], unused: null });

  const tools = [{ tool: 'local.calculate', name: 'reckon', aliases: ['domaths'], arguments: { alias: { formula: 'expression' } } }];
  await service.call('PATCH', '/v1/toolsets/habits', { tools });
  expect(await stepsOf('third')).toBe(1);
});

it('says which calls of turns an edit of arguments would refuse, with the alias that keeps them', async () => {
  const tools = [{ tool: 'local.calculate', name: 'reckon', aliases: ['domaths'], arguments: { rename: { term: 'expression' } } }];
  const impactOf = async (draft: unknown) => (await service.call('POST', '/v1/toolsets/habits/impact', { tools: draft })).json;
  // The second turn gave `formula`, which is an alias now; the first name of the argument is still the tool's own.
  const { arguments: judged, mended } = await impactOf(tools);
  expect(judged.turns).toEqual({ read: 3, left: 0, more: false });
  expect(judged.refused).toMatchObject([{ tool: 'local.calculate', mends: [{ argument: 'expression', alias: 'formula' }] }]);
  expect(judged.refused[0].sessions.length).toBeGreaterThan(0);
  expect((await impactOf(mended.tools)).arguments.refused).toEqual([]);
});

it('tells a key that sees only its own usage of nothing else', async () => {
  const key = (await service.call('POST', '/v1/keys', { name: 'other', scopes: ['toolsets'] })).json;
  const other = { authorization: `Bearer ${key.key}` };
  const answer = await service.call('GET', '/v1/toolsets/habits/suggestions?least=1', undefined, other);
  expect(answer.json, answer.text).toMatchObject({ suggestions: [], turns: { read: 0, left: 0 }, unknown: [], unused: null });
});
