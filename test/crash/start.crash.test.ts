/** As users run it: `npm start` with the deployed bundle, killed and restarted on its data folder. */
import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from '../e2e/service.ts';
import { poll, terminalMs } from './cell.ts';
import { startScriptedModel, type ScriptedModel } from './scripted-model.ts';
import { startUpstream, type Upstream } from './upstream.ts';

describe('npm start, killed', () => {
  const dataDir = makeDataDir();
  const settings = { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' };
  let service: RunningService | null = null;
  let model: ScriptedModel;
  let upstream: Upstream;

  beforeAll(async () => {
    // Already built, as deployed.
    cpSync(dirname(inject('crash').deployed), join(dataDir, 'bundle'), { recursive: true });
    [model, upstream] = await Promise.all([startScriptedModel(), startUpstream()]);
  });

  afterAll(async () => {
    await service?.stop('SIGKILL');
    model.close();
    upstream.close();
    removeDataDir(dataDir);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('%s during a call: the turn resumes without a request', async (signal) => {
    service ??= await startService(dataDir, settings);
    const put = async (path: string, body: unknown): Promise<void> => {
      const { status, text } = await (service as RunningService).call('PUT', path, body); // it was started above
      expect([200, 201], text).toContain(status);
    };
    await put('/v1/providers/scripted', { kind: 'openai-compatible', baseUrl: model.baseUrl });
    await put('/v1/toolsets/effects', { tools: [{ tool: 'builtin.http_request', name: 'send', approval: 'never' }] });

    const { promise: never } = Promise.withResolvers<void>();
    upstream.hold(`${signal}/slow`, never);
    const get = { name: 'send', arguments: { url: upstream.urlOf(`${signal}/safe`) } };
    const slow = { name: 'send', arguments: { url: upstream.urlOf(`${signal}/slow`), method: 'POST' } };
    model.script(signal, [{ calls: [get, slow] }, { text: 'It has ended.' }]);
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'scripted/any', toolset: 'effects' });
    const input = `Begin. #${signal}#`;
    const accepted = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input }, { prefer: 'respond-async' });
    expect(accepted.status, accepted.text).toBe(202);
    await upstream.had(`${signal}/slow`);

    await service.stop(signal);
    service = await startService(dataDir, settings);
    // No request is sent: the resumed turn calls the model.
    await poll(async () => model.requests(signal).length === 2, Date.now() + terminalMs);
    await poll(
      async () => (await (service as RunningService).call('GET', `/v1/sessions/${session.id}`)).json.turn.status === 'completed',
      Date.now() + terminalMs,
    );
    expect(upstream.effects(`${signal}/slow`)).toHaveLength(1);
    expect(upstream.effects(`${signal}/safe`).length).toBeLessThanOrEqual(2);
    const { json } = await service.call('GET', `/v1/sessions/${session.id}/messages`);
    expect(JSON.stringify(json)).toContain('outcome_unknown');
    expect(JSON.stringify(json)).toContain('It has ended.');
  });
});
