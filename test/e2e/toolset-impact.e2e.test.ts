/** A toolset is edited after a day of calls: the impact says what the edit breaks, and its mends keep it whole. */
import { describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { shareService } from './shared-service.ts';

const waiting = { timeout: waitMs, interval: 200 };

describe('the impact of an edited toolset', () => {
  const service = shareService({});
  const use = (name: string, headers?: Record<string, string>) =>
    service.call('POST', '/v1/toolsets/till/calls', { name, arguments: { expression: '6*7' } }, headers);
  const impactOf = async (tools: unknown, headers?: Record<string, string>) => {
    const answer = await service.call('POST', '/v1/toolsets/till/impact', { tools }, headers);
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };

  it('names the broken calls with who made them, and mends that keep them', async () => {
    await service.call('PUT', '/v1/toolsets/till', { tools: [{ tool: 'local.calculate', name: 'reckon', aliases: ['sum_up'] }] });
    const key = (await service.call('POST', '/v1/keys', { name: 'other', scopes: ['tools', 'toolsets'] })).json;
    const other = { authorization: `Bearer ${key.key}` };
    for (const name of ['reckon', 'Reckon', 'sum_up', 'local.calculate', 'Glob']) await use(name);
    await use('sum_up', other);
    const draft = [{ tool: 'local.calculate', name: 'compute' }];
    // All six calls are counted, each in its own time.
    await vi.waitFor(async () => {
      const { changed, same } = await impactOf(draft);
      expect(changed.reduce((sum: number, { calls }: { calls: number }) => sum + calls, same.calls)).toBe(6);
    }, waiting);
    const impact = await impactOf(draft);
    expect(impact.changed[0]).toMatchObject({ requested: 'sum_up', change: 'gone', was: 'local.calculate', wireName: 'compute', calls: 2 });
    expect(impact.changed[0].keys.toSorted()).toEqual(['root', key.id].toSorted());
    expect(impact.same).toEqual({ names: 2, calls: 2 });
    expect(impact.mends.map(({ alias }: { alias: string }) => alias).toSorted()).toEqual(['reckon', 'reckon', 'sum_up']);
    // A key that sees only its own usage is told of its own calls.
    expect((await impactOf(draft, other)).changed).toMatchObject([{ requested: 'sum_up', calls: 1, keys: [key.id] }]);

    expect((await service.call('PUT', '/v1/toolsets/till', impact.mended)).status).toBe(200);
    for (const name of ['reckon', 'Reckon', 'sum_up', 'compute']) {
      const { json } = await use(name);
      expect([name, json.isError]).toEqual([name, false]);
      if (name !== 'compute') expect(JSON.stringify(json.content)).toContain('use compute');
    }
    expect((await impactOf(impact.mended.tools)).changed).toEqual([]);
  });

  it('says that a draft is not valid, and compares its valid entries', async () => {
    const impact = await impactOf([{ tool: 'local.calculate' }, { tool: 'no.such' }]);
    expect(impact.valid).toBe(false);
  });
});
