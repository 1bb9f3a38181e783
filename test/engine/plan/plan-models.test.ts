/** Which models a turn may use: by the lists of its key, agent and workspace, after aliases, and with prices where costs are limited. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/core/people/principal.ts';
import { planTurn, type PlanRequest } from '../../../src/engine/plan/plan-turn.ts';
import { createModelFilter } from '../../../src/engine/plan/model-filter.ts';
import { readAllowedProvider } from '../../../src/engine/plan/plan-models.ts';
import { createNodeCatalog, type NodeCatalog } from '../../fakes/node-catalog.ts';

const root: Principal = { workspace: 'default', keyId: 'root', scopes: ['admin'] };
const withModels = (...models: string[]): Principal => ({ ...root, keyId: 'abcdefghijkl', models });
const price = { input: 1, output: 2 };

let catalog: NodeCatalog;
const plan = (request: PlanRequest, principal = root) => planTurn({ directory: catalog.directory, aliases: true }, principal, request);

beforeEach(async () => {
  catalog = createNodeCatalog({ definitions: [] });
  await catalog.put('provider', 'acme', { kind: 'openai', baseUrl: 'http://here', prices: { 'gpt-5*': price, big: price } });
  await catalog.put('provider', 'goo', { kind: 'gemini', apiKey: 'k', prices: { '*': price } });
  await catalog.put('model-alias', 'quick', { model: 'acme/gpt-5-mini' });
  await catalog.put('model-alias', 'smart*', { model: 'acme/big' });
  await catalog.put('agent', 'helper', { model: 'quick', fallbacks: ['acme/big'] });
});

describe('the list of a key', () => {
  it.each([
    [{ model: 'acme/gpt-5-mini' }, ['acme/gpt-5*']],
    [{ model: 'acme/GPT-5-MINI' }, ['acme/gpt-5*']],
    [{ model: 'quick' }, ['acme/gpt-5*']],
    [{ agent: 'helper' }, ['acme/*']],
    [{ model: 'goo/models/gemini-flash' }, ['goo/gemini-flash']],
    [{ model: 'acme/big', callsOnly: true as const }, ['acme/gpt-5*']],
  ])('allows %j under %j', async (request, models) => {
    await expect(plan(request, withModels(...models))).resolves.toMatchObject({ settings: {} });
  });

  it.each([
    [{ model: 'acme/big' }, ['acme/gpt-5*'], 'acme/big'],
    [{ model: 'smartest' }, ['acme/gpt-5*', 'acme/smartest'], 'acme/big'],
    [{ model: 'acme/gpt-5,big' }, ['acme/gpt-5*'], 'acme/gpt-5,big'],
    [{ model: 'acme/gpt-5 ' }, ['acme/gpt-5'], 'acme/gpt-5 '],
    [{ model: 'acme/../goo/gemini' }, ['goo/*'], 'acme/../goo/gemini'],
    [{ model: 'goo/gemini-flash/gemini-pro' }, ['goo/gemini-flash*'], 'goo/gemini-flash/gemini-pro'],
    [{ agent: 'helper' }, ['acme/gpt-5*'], 'acme/big'],
    [{ model: 'missing/x' }, ['acme/*'], 'missing/x'],
  ])('refuses %j under %j', async (request, models, ref) => {
    await expect(plan(request, withModels(...models))).rejects.toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining(models[0] ?? ''),
      extra: { of: 'key', name: 'abcdefghijkl', model: ref, param: 'model' },
    });
  });

  it('must have every model of a route', async () => {
    const route = { targets: [{ model: 'acme/gpt-5-mini' }, { model: 'goo/gemini' }], contextFallback: 'acme/big' };
    await catalog.put('model-alias', 'shared', route);
    await expect(plan({ model: 'shared' }, withModels('acme/*'))).rejects.toMatchObject({
      code: 'forbidden',
      extra: { model: 'goo/gemini' },
    });
    await expect(plan({ model: 'shared' }, withModels('acme/gpt-5*', 'goo/*'))).rejects.toMatchObject({ extra: { model: 'acme/big' } });
    expect(await plan({ model: 'shared' }, withModels('acme/*', 'goo/*'))).toMatchObject({
      model: 'acme/gpt-5-mini',
      fallbacks: ['goo/gemini', 'acme/big'],
      routes: [{ name: 'shared', ...route }],
    });
  });

  it('counts for requests outside of turns', async () => {
    const { directory } = catalog;
    expect(await readAllowedProvider(directory, withModels('acme/big'), 'acme/big')).toMatchObject({
      access: { name: 'acme' },
      isListed: true,
    });
    expect(await readAllowedProvider(directory, root, 'acme/big')).toMatchObject({ isListed: false });
    await expect(readAllowedProvider(directory, withModels('acme/big'), 'acme/bigger')).rejects.toMatchObject({ code: 'forbidden' });
    // The refusal does not tell whether the provider exists.
    await expect(readAllowedProvider(directory, withModels('acme/big'), 'none/x')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(readAllowedProvider(directory, root, 'none/x')).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('counts for lists of models', async () => {
    const allows = await createModelFilter(catalog.directory, withModels('acme/gpt-5*', 'goo/gemini-pro'));
    const refs = ['acme/gpt-5', 'acme/big', 'goo/models/gemini-pro', 'none/x'];
    expect(await Promise.all(refs.map((ref) => allows([ref])))).toEqual([true, false, true, false]);
    const agent = { model: 'acme/gpt-5', instructions: '', models: ['acme/gpt-5-mini'] };
    expect(await allows(['acme/gpt-5'], { name: 'a', agent })).toBe(false);
  });
});

describe('the lists of an agent and of a workspace', () => {
  it('apply to the agent, whatever an alias names today', async () => {
    await catalog.put('agent', 'bound', { model: 'quick', models: ['acme/gpt-5*'] });
    expect(await plan({ agent: 'bound' })).toMatchObject({ model: 'acme/gpt-5-mini' });
    await catalog.put('model-alias', 'quick', { model: 'acme/big' });
    await expect(plan({ agent: 'bound' })).rejects.toMatchObject({
      code: 'forbidden',
      extra: { of: 'agent', name: 'bound', model: 'acme/big' },
    });
    expect(await plan({ model: 'quick' })).toMatchObject({ model: 'acme/big' });
  });

  it('apply to everyone in the workspace, also to the root key and to triggers', async () => {
    await catalog.put('workspace', 'settings', { settings: { models: ['acme/gpt-5*'] } });
    const trigger: Principal = { workspace: 'default', keyId: 'webhook:in', scopes: ['chat'], agents: ['helper'] };
    for (const principal of [root, trigger, withModels('acme/*')])
      await expect(plan({ agent: 'helper' }, principal)).rejects.toMatchObject({
        code: 'forbidden',
        extra: { of: 'workspace', model: 'acme/big' },
      });
    expect(await plan({ model: 'acme/gpt-5' })).toMatchObject({ model: 'acme/gpt-5' });
  });
});

describe('a budget', () => {
  const limited: Principal = { ...root, keyId: 'abcdefghijkl', limits: { key: { dailyCost: 5 } } };

  it.each([
    [{ model: 'acme/unlisted' }, 'acme/unlisted'],
    [{ model: 'goo/models/gemini-pro' }, null],
    [{ model: 'acme/GPT-5' }, null],
    [{ model: 'rehearsal/default' }, null],
    [{ model: 'acme/unlisted', callsOnly: true as const }, null],
  ])('refuses the turn %j for its model without a price: %s', async (request, ref) => {
    const planned = plan(request, limited);
    if (ref === null) await expect(planned).resolves.toMatchObject({ settings: {} });
    else await expect(planned).rejects.toMatchObject({ code: 'invalid_request', extra: { limit: 'dailyCost', of: 'key', model: ref } });
  });

  it('of the agent and of the workspace does, too, also for a fallback', async () => {
    await catalog.put('agent', 'paid', { model: 'acme/gpt-5', fallbacks: ['acme/unlisted'], limits: { monthlyCost: 3 } });
    await expect(plan({ agent: 'paid' })).rejects.toMatchObject({
      extra: { limit: 'monthlyCost', of: 'agent', name: 'paid', model: 'acme/unlisted' },
    });
    await catalog.put('workspace', 'settings', { settings: { limits: { dailyCost: 9 } } });
    await expect(plan({ model: 'acme/unlisted' })).rejects.toMatchObject({ extra: { limit: 'dailyCost', of: 'workspace' } });
  });
});
