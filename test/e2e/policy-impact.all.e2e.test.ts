/** Rules are changed after a day of calls: the impact says which calls they would decide differently, and which rules match nothing. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { type FakeProviders, refOf, startFakeProviders } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const waiting = { timeout: waitMs, interval: 200 };
const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
let fakes: FakeProviders;
let session: string;
beforeAll(async () => {
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
  const tools = [{ tool: 'local.calculate', name: 'reckon' }, { tool: 'builtin.write_file' }, { tool: 'builtin.delete_file' }];
  await service.call('PUT', '/v1/toolsets/bureau', { tools });
  await service.call('PUT', '/v1/agents/clerk', { model: refOf('openai'), toolset: 'bureau' });
  const story = fakes.start('files', {
    say: (_request, index) =>
      index === 0
        ? {
            calls: [
              { name: 'write_file', arguments: { path: 'notes/a.txt', content: 'a' } },
              { name: 'write_file', arguments: { path: 'b.txt', content: 'b' } },
            ],
          }
        : { text: 'Done.' },
  });
  session = (await service.call('POST', '/v1/sessions', { agent: 'clerk' })).json.id;
  const turn = await service.call('POST', `/v1/sessions/${session}/turns`, { input: story.mark });
  expect(turn.json.text, turn.text).toBe('Done.');
  for (let call = 0; call < 3; call += 1)
    await service.call('POST', '/v1/toolsets/bureau/calls', { name: 'reckon', arguments: { expression: '6*7' } });
  await vi.waitFor(async () => expect((await impactOf([])).judged).toBe(5), waiting);
});
afterAll(() => fakes.close());

const impactOf = async (rules: unknown, headers?: Record<string, string>) =>
  (await service.call('POST', '/v1/policy/impact', { rules }, headers)).json;

describe('the impact of other rules', () => {
  it('names the calls that they decide differently, by tool and rule, with who made them', async () => {
    const impact = await impactOf([
      { decision: 'deny', tool: 'local.calculate' },
      { decision: 'ask', path: '/workspace/notes' },
      { decision: 'deny', effect: 'send' },
    ]);
    expect(impact.changed).toMatchObject([
      {
        ...{ tool: 'local.calculate', calls: 3, keys: ['root'], agents: [], sessions: [] },
        ...{ was: { verdict: 'allow', rule: null }, now: { verdict: 'deny', rule: 0, reason: expect.stringContaining('Rule 0') } },
      },
      {
        ...{ tool: 'builtin.write_file', calls: 1, agents: ['clerk'], sessions: [session] },
        ...{ was: { verdict: 'allow' }, now: { verdict: 'ask', rule: 1, reason: expect.stringContaining('/workspace/notes/a.txt') } },
      },
    ]);
    expect(impact).toMatchObject({ judged: 5, changedCalls: 4, idle: [2], turns: { read: 1, left: 0, more: false } });
    expect(impact.unjudged).toEqual({ arguments: 0, tools: 0, inner: 0 });
  });

  it('is nothing for the stored rules', async () => {
    const rules = [
      { decision: 'ask', tool: 'local.calculate', key: 'root' },
      { decision: 'deny', path: '/workspace/b.txt' },
    ];
    await service.call('PUT', '/v1/policy', { rules });
    expect(await impactOf(rules)).toMatchObject({ judged: 5, changedCalls: 0, changed: [], idle: [] });
    const without = await impactOf([]);
    expect(
      without.changed.map(({ was, now }: { was: { verdict: string }; now: { verdict: string } }) => [was.verdict, now.verdict]),
    ).toEqual([
      ['ask', 'allow'],
      ['deny', 'allow'],
    ]);
    await service.call('DELETE', '/v1/policy');
  });

  it('warns of rules that name what is not there, with near names, also in tests and writes', async () => {
    const rules = [
      { decision: 'deny', tool: 'bureau.send' },
      { decision: 'deny', tool: 'local.*', agent: 'clark' },
      { decision: 'deny', secret: 'TOKEN' },
      { decision: 'deny', tool: 'client.anything' },
    ];
    const expected = [
      { path: 'rules[0].tool', message: expect.stringContaining('unknown tool "bureau.send"') },
      { path: 'rules[1].agent', message: expect.stringContaining('did you mean clerk?') },
      { path: 'rules[2].secret', message: expect.stringContaining('matches nothing') },
    ];
    expect((await impactOf(rules)).warnings).toEqual(expected);
    const asked = { effect: { kind: 'network', host: 'a.example', method: 'GET' }, policy: { rules } };
    expect((await service.call('POST', '/v1/policy/test', asked)).json.warnings).toEqual(expected);
    expect((await service.call('PUT', '/v1/policy', { rules })).json.warnings).toEqual(expected);
    await service.call('DELETE', '/v1/policy');
    expect((await impactOf([{ decision: 'deny', tool: 'builtin.bahs' }])).issues).toEqual([
      { path: 'rules[0].tool', message: expect.stringContaining('did you mean builtin.bash') },
    ]);
    // Names of the workspace are for administrators.
    const key = (await service.call('POST', '/v1/keys', { name: 'tools', scopes: ['tools'] })).json;
    const limited = { authorization: `Bearer ${key.key}` };
    const tested = await service.call('POST', '/v1/policy/test', asked, limited);
    expect([tested.status, tested.json.warnings]).toEqual([200, undefined]);
    expect((await impactOf(rules, limited)).code).toBe('forbidden');
  });
});

describe('the impact of an edited toolset', () => {
  const decisionsOf = async (tools: unknown) => (await service.call('POST', '/v1/toolsets/bureau/impact', { tools })).json.decisions;

  it('has the calls that its entries and the policy would ask or deny', async () => {
    const tools = [
      { tool: 'local.calculate', name: 'reckon', approval: 'always' },
      { tool: 'builtin.write_file' },
      { tool: 'builtin.delete_file' },
    ];
    expect(await decisionsOf(tools)).toMatchObject({
      ...{ judged: 5, changedCalls: 3 },
      changed: [{ tool: 'local.calculate', calls: 3, was: { verdict: 'allow' }, now: { verdict: 'ask', rule: null } }],
    });
    const preset = { preset: { path: '/workspace/notes/fixed.txt' } };
    await service.call('PUT', '/v1/policy', { rules: [{ decision: 'deny', path: '/workspace/notes' }] });
    const moved = await decisionsOf([
      { tool: 'local.calculate', name: 'reckon' },
      { tool: 'builtin.write_file', arguments: preset },
    ]);
    expect(moved.changed).toMatchObject([
      { tool: 'builtin.write_file', calls: 1, sessions: [session], was: { verdict: 'allow' }, now: { verdict: 'deny', rule: 0 } },
    ]);
    await service.call('DELETE', '/v1/policy');
  });

  it('is nothing for the stored toolset', async () => {
    const { json } = await service.call('GET', '/v1/toolsets/bureau');
    expect(await decisionsOf(json.tools)).toMatchObject({ judged: 5, changedCalls: 0, changed: [] });
  });
});

it('no longer has the arguments of a session that was deleted', async () => {
  const rules = [{ decision: 'deny', path: '/workspace' }];
  expect((await impactOf(rules)).changed).toMatchObject([{ tool: 'builtin.write_file', calls: 2, sessions: [session] }]);
  expect((await service.call('DELETE', `/v1/sessions/${session}`)).status).toBe(204);
  expect(await impactOf(rules)).toMatchObject({
    ...{ judged: 3, changedCalls: 0, changed: [] },
    ...{ unjudged: { arguments: 2, tools: 0, inner: 0 }, turns: { read: 0, left: 1, more: false } },
  });
});
