/** Providers that exist without a document: built in, and of the settings. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const canary = 'sk-canary-of-the-settings';
const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };

let h: Harness;
beforeEach(() => {
  h = createHarness({
    OPENAI_API_KEY: canary,
    ANTHROPIC_API_KEY: canary,
    MONIKER_OLLAMA_URL: 'http://user:canary-password@127.0.0.1:11434',
  });
});

/** The names of all pages of one item each. */
async function listNames(): Promise<string[]> {
  const names: string[] = [];
  let cursor = '';
  do {
    const { items, nextCursor } = await bodyOf(await h.send('GET', `/v1/providers?limit=1${cursor}`));
    expect(items).toHaveLength(1);
    names.push(items[0].name);
    cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`;
  } while (cursor !== '' && names.length < 20);
  return names;
}

describe('GET /v1/providers', () => {
  it('lists those of the settings and the built-in one, without their keys', async () => {
    const answer = await h.send('GET', '/v1/providers');
    const text = await answer.text();
    expect(text).not.toContain('canary');
    expect(JSON.parse(text)).toEqual({
      items: [
        { name: 'anthropic', kind: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', hasApiKey: true, source: 'settings' },
        { name: 'ollama', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', hasApiKey: false, source: 'settings' },
        { name: 'openai', kind: 'openai', baseUrl: 'https://api.openai.com/v1', hasApiKey: true, source: 'settings' },
        { name: 'openai-responses', kind: 'openai-responses', baseUrl: 'https://api.openai.com/v1', hasApiKey: true, source: 'settings' },
        { name: 'rehearsal', kind: 'rehearsal', models: ['default'], hasApiKey: false, source: 'builtin' },
      ],
      nextCursor: null,
    });
    const one = await h.send('GET', '/v1/providers/anthropic');
    expect([one.status, one.headers.get('etag'), (await bodyOf(one)).source]).toEqual([200, null, 'settings']);
    expect((await h.send('GET', '/v1/providers/gemini')).status).toBe(404);
  });

  it('pages through stored and other ones in one order', async () => {
    for (const name of ['aaa', 'openai-eu', 'zzz']) await h.send('PUT', `/v1/providers/${name}`, local);
    const expected = ['aaa', 'anthropic', 'ollama', 'openai', 'openai-eu', 'openai-responses', 'rehearsal', 'zzz'];
    expect(await listNames()).toEqual(expected);
  });

  it('lists a document in place of the one of the settings', async () => {
    const written = await h.send('PUT', '/v1/providers/openai', { kind: 'openai', apiKey: 'sk-own', models: ['m'] });
    expect(written.status).toBe(201);
    expect((await listNames()).filter((name) => name === 'openai')).toEqual(['openai']);
    expect(await bodyOf(await h.send('GET', '/v1/providers/openai'))).toMatchObject({ models: ['m'], source: 'document' });
    expect((await h.send('DELETE', '/v1/providers/openai')).status).toBe(204);
    expect(await bodyOf(await h.send('GET', '/v1/providers/openai'))).toMatchObject({ hasApiKey: true, source: 'settings' });
  });

  it('accepts the output of GET as a document', async () => {
    const shown = await bodyOf(await h.send('GET', '/v1/providers/openai'));
    expect((await h.send('PUT', '/v1/providers/openai', { ...shown, apiKey: 'sk-own' })).status).toBe(201);
  });

  it.each(['PATCH', 'DELETE'])('%s needs a document', async (method) => {
    const body = method === 'PATCH' ? { models: ['m'] } : undefined;
    const ofSettings = await h.send(method, '/v1/providers/anthropic', body);
    expect([ofSettings.status, (await bodyOf(ofSettings)).detail]).toEqual([409, expect.stringContaining('with PUT')]);
    expect(await problemIn(await h.send(method, '/v1/providers/rehearsal', body))).toBe('409 conflict');
    expect((await h.send(method, '/v1/providers/unknown', body)).status).toBe(404);
  });
});
