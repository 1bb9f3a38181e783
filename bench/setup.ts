/** The setup of a measurement: providers of every kind at the fake upstream, a toolset, agents, sessions. */
import type { Servers } from './servers.ts';

export type Api = { send<T>(method: string, path: string, body?: unknown): Promise<T> };

export function createApi(servers: Pick<Servers, 'ours' | 'key'>): Api {
  return {
    async send<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await fetch(servers.ours.url + path, {
        method,
        headers: { authorization: `Bearer ${servers.key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as T; // our own API's response
    },
  };
}

export const kinds = ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'] as const;

export async function setUp(servers: Servers): Promise<void> {
  const api = createApi(servers);
  const baseUrl = `${servers.upstream.url}/v1`;
  await api.send('PUT', '/v1/providers/mock', { kind: 'openai-compatible', baseUrl });
  await api.send('PUT', '/v1/providers/mock-normalized', { kind: 'openai-compatible', baseUrl, profile: { normalize: true } });
  for (const kind of kinds) await api.send('PUT', `/v1/providers/mock-${kind}`, { kind, baseUrl, apiKey: 'bench-key-0123456789' });
  const tools = ['builtin.bash', 'builtin.read_file', 'builtin.write_file', 'builtin.list_directory'];
  await api.send('PUT', '/v1/toolsets/bench', {
    tools: tools.map((tool, index) => ({ tool, name: `bench_${index}`, aliases: [`b${index}-one`] })),
  });
}

/** A turn's history is sent to the provider each time; many sessions keep it short. */
export async function makeSessions(servers: Servers, count: number, model = 'mock/mock-c20'): Promise<string[]> {
  const api = createApi(servers);
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const { id } = await api.send<{ id: string }>('POST', '/v1/sessions', { model, toolset: 'bench' });
    ids.push(id);
  }
  return ids;
}

/** The number of events of a turn: the floor writes as many rows. */
export async function eventsOfOneTurn(servers: Servers): Promise<number> {
  const [id] = await makeSessions(servers, 1);
  const response = await fetch(`${servers.ours.url}/v1/sessions/${id}/turns`, {
    method: 'POST',
    headers: { authorization: `Bearer ${servers.key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ input: 'Hello' }),
  });
  return (await response.text()).match(/^id: ?\d+$/gm)?.length ?? 0;
}
