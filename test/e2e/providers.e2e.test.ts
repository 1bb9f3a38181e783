import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

describe('providers and models that misbehave', () => {
  const dataDir = makeDataDir();
  let service: RunningService;
  let provider: ScriptedProvider;

  beforeAll(async () => {
    provider = await startScriptedProvider();
    service = await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
    const put = await service.call('PUT', '/v1/providers/scripted', {
      kind: 'openai-compatible',
      baseUrl: provider.baseUrl,
      apiKey: 'sk-secret',
    });
    expect(put.status, put.text).toBe(201);
  });

  afterAll(async () => {
    await service.stop();
    provider.close();
    removeDataDir(dataDir);
  });

  async function runTurn(model: string) {
    const { json } = await service.call('POST', '/v1/sessions', { model: `scripted/${model}`, toolset: 'demo' });
    const turn = await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: 'continue' });
    return { turn, session: json.id as string };
  }

  it.each(['status-401', 'status-429', 'status-500', 'html', 'nothing', 'half', 'garbage'])(
    '%s: the turn ends with the reason and leaks nothing',
    async (model) => {
      const { turn, session } = await runTurn(model);
      expect(turn.status).toBe(200);
      expect(['failed', 'completed']).toContain(turn.json.status);
      if (model !== 'garbage')
        expect(turn.json).toMatchObject({ status: 'failed', problem: { code: expect.stringMatching(/^upstream_|rate_limited/) } });
      expect(turn.text).not.toContain('sk-secret');
      // The session continues.
      expect((await service.call('GET', `/v1/sessions/${session}`)).json.turn.status).toBe(turn.json.status);
    },
  );

  it.each(['status-401', 'status-429', 'status-500', 'html', 'nothing'])(
    '%s: the proxy responds with an error in the OpenAI format',
    async (model) => {
      const answer = await service.call('POST', '/v1/chat/completions', {
        model: `scripted/${model}`,
        messages: [{ role: 'user', content: 'hi' }],
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.json.error).toMatchObject({ message: expect.any(String) });
      expect(answer.text).not.toContain('sk-secret');
    },
  );

  it('cancels the provider’s stream when the caller disconnects from a proxied stream', async () => {
    const left = provider.left();
    const caller = new AbortController();
    const answer = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'scripted/endless', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
      signal: caller.signal,
    });
    await answer.body?.getReader().read();
    caller.abort();
    await left;
  });

  it('a caller that disconnects from a session’s stream cancels nothing; a cancel request does, and reaches the provider', async () => {
    const { json } = await service.call('POST', '/v1/sessions', { model: 'scripted/endless' });
    const caller = new AbortController();
    const answer = await fetch(`${service.url}/v1/sessions/${json.id}/turns`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: '{"input": "hi"}',
      signal: caller.signal,
    });
    await answer.body?.getReader().read();
    caller.abort();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await service.call('GET', `/v1/sessions/${json.id}`)).json.turn.status).toBe('running');
    const left = provider.left();
    expect((await service.call('POST', `/v1/sessions/${json.id}/cancel`)).json.cancelled).toBe(true);
    await left;
    expect((await service.call('GET', `/v1/sessions/${json.id}`)).json.turn.status).toBe('cancelled');
  });

  it('returns a call of an unknown tool as a result, and the turn continues', async () => {
    const { turn } = await runTurn('unknown-tool');
    expect(turn.json).toMatchObject({ status: 'completed', text: 'done' });
    expect(turn.json.toolCalls[0]).toMatchObject({ requested: 'no_such_tool', canonical: null, isError: true, code: 'unknown_tool' });
  });

  it('resolves a near miss to its tool', async () => {
    const { turn } = await runTurn('near-miss');
    expect(turn.json.toolCalls[0]).toMatchObject({ requested: 'Terminal_Run', canonical: 'builtin.bash', via: 'folded', isError: false });
  });

  it('names invalid arguments by path', async () => {
    const { turn } = await runTurn('bad-arguments');
    expect(turn.json.toolCalls[0]).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(turn.json.toolCalls[0].content[0].text).toContain('command');
  });

  it('ends a turn that repeats the same call endlessly, with a result for each call', async () => {
    const { turn } = await runTurn('for-ever');
    expect(['completed', 'failed']).toContain(turn.json.status);
    const codes = turn.json.toolCalls.map((call: { code?: string }) => call.code ?? 'ok');
    expect(codes.slice(0, 3)).toEqual(['ok', 'ok', 'ok']);
    expect(codes.slice(3).every((code: string) => code === 'limit_reached')).toBe(true);
    expect(codes.length).toBeLessThanOrEqual(64);
  });

  it('cancels a turn, and the session accepts the next one', async () => {
    const { json } = await service.call('POST', '/v1/sessions', { agent: 'demo' });
    const accepted = await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: '/shell sleep 20' }, { prefer: 'respond-async' });
    expect(accepted.status).toBe(202);
    const cancelled = await service.call('POST', `/v1/sessions/${json.id}/cancel`, {});
    expect(cancelled.status).toBe(200);
    const next = await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: '/shell echo next' });
    expect(next.json.toolCalls[0].content[0].text).toContain('next');
    const { json: messages } = await service.call('GET', `/v1/sessions/${json.id}/messages`);
    expect(JSON.stringify(messages)).toContain('sleep 20');
  });

  it('joins the same turn for a repeated idempotency key, and rejects it with another body', async () => {
    const { json } = await service.call('POST', '/v1/sessions', { agent: 'demo' });
    const headers = { 'idempotency-key': 'once-1' };
    const post = (input: string) => service.call('POST', `/v1/sessions/${json.id}/turns`, { input }, headers);
    const [first, second] = await Promise.all([post('/shell echo once >> log.txt'), post('/shell echo once >> log.txt')]);
    expect(first.json.turn).toBe(second.json.turn);
    expect((await service.call('GET', `/v1/sessions/${json.id}/files/workspace/log.txt`)).text).toBe('once\n');
    const other = await post('/shell echo other');
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_mismatch']);
  });
});
