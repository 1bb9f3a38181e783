/** Open event streams end soon after the DELETE of their key, over real HTTP, although something still writes to them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';
import { waitFor } from '../wait-for.ts';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { printStatistics } from '../statistics.ts';

let dataDir = '';
let service: RunningService;
const providers: ScriptedProvider[] = [];

beforeAll(async () => {
  dataDir = makeDataDir();
  service = await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
});
afterAll(async () => {
  await service.stop();
  for (const provider of providers) provider.close();
  removeDataDir(dataDir);
});

async function createKey() {
  const { json } = await service.call('POST', '/v1/keys', { name: 'leaked', scopes: ['chat'] });
  return { id: json.id as string, headers: { authorization: `Bearer ${json.key}`, 'content-type': 'application/json' } };
}

/** Resolves with the text when the stream ends; `text` before has what was received so far. */
function collect(answer: Response) {
  const collected = { text: '', ended: Promise.resolve() };
  collected.ended = (async () => {
    for await (const chunk of (answer.body ?? new Blob([]).stream()).pipeThrough(new TextDecoderStream())) collected.text += chunk;
  })();
  return collected;
}

async function addProvider(name: string, settings: { kind: string; apiKey?: string | undefined }) {
  const provider = await startScriptedProvider();
  providers.push(provider);
  const put = await service.call('PUT', `/v1/providers/${name}`, { ...settings, baseUrl: provider.baseUrl });
  expect(put.status, put.text).toBe(201);
  return provider;
}

async function streamChat(headers: Record<string, string>, model: string, more: object = {}) {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }], ...more });
  return collect(await fetch(`${service.url}/v1/chat/completions`, { method: 'POST', headers, body }));
}

async function statusOf(key: string): Promise<unknown> {
  return (await service.call('GET', `/v1/requests?limit=1&key=${key}`)).json.items[0]?.status;
}

it('ends the stream of a session with an error event', async () => {
  const { id, headers } = await createKey();
  const session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' }, headers)).json.id;
  const say = (text: string) => service.call('POST', `/v1/sessions/${session}/turns`, { input: text });
  await say('before');
  const stream = collect(await fetch(`${service.url}/v1/sessions/${session}/events?after=0`, { headers }));
  expect((await service.call('DELETE', `/v1/keys/${id}`)).status).toBe(204);
  const revokedAt = Date.now();
  const talking = setInterval(() => void say('still here'), 2_000);
  await stream.ended.finally(() => clearInterval(talking));
  printStatistics(`the stream ended ${Date.now() - revokedAt} ms after the key was revoked`);
  expect(stream.text).toContain('"text":"before"');
  expect(stream.text).toMatch(/event: error\ndata: .*"code":"unauthenticated".*\n\n$/);
});

describe.concurrent('a stream that is forwarded from a provider', () => {
  it.each([
    ['pumped by the runtime', 'pumped', { kind: 'openai' }, { include_usage: true }],
    ['pumped by the runtime, without usage', 'unmetered', { kind: 'openai' }, undefined],
    ['searched for the provider’s key', 'searched', { kind: 'openai', apiKey: 'sk-of-the-provider' }, { include_usage: true }],
    ['rewritten', 'rewritten', { kind: 'openai-compatible' }, { include_usage: true }],
  ])('ends after a whole frame with an error in its format, and the provider is left: %s', async (_how, name, settings, stream_options) => {
    const provider = await addProvider(name, settings);
    const { id, headers } = await createKey();
    const left = provider.left();
    const stream = await streamChat(headers, `${name}/endless`, { stream_options });
    await waitFor(() => expect(stream.text).toContain('and on '));
    expect((await service.call('DELETE', `/v1/keys/${id}`)).status).toBe(204);
    await Promise.all([stream.ended, left]);
    const frames = stream.text.split('\n\n').map((frame) => frame.replace('data: ', ''));
    expect(frames.splice(-2)).toEqual(['[DONE]', '']);
    expect(JSON.parse(frames.pop() ?? '').error).toMatchObject({ code: 'unauthenticated' });
    expect(frames.length).toBeGreaterThan(10);
    for (const frame of frames) expect(JSON.parse(frame).choices[0].delta.content ?? 'on ').toContain('on ');
    await waitFor(async () => expect(await statusOf(id)).toBe('cancelled'));
  });

  it('breaks for its client if the provider breaks it', async () => {
    await addProvider('breaking', { kind: 'openai' });
    const stream = await streamChat((await createKey()).headers, 'breaking/half');
    await expect(stream.ended).rejects.toThrow();
    expect(stream.text).toContain('half of it');
  });

  it('ends as the provider ends it', async () => {
    await addProvider('whole', { kind: 'openai' });
    const { id, headers } = await createKey();
    const stream = await streamChat(headers, 'whole/plain');
    await stream.ended;
    expect(stream.text).toMatch(/"content":"done".*data: \[DONE\]\n\n$/s);
    await waitFor(async () => expect(await statusOf(id)).toBe('completed'));
  });
});
