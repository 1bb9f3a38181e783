/** Compiled, not run: what the types of the client accept, return and reject. Part of `npm run check`. */
import { createClient } from '../../client/src/client.ts';
import { followEvents } from '../../client/src/events.ts';
import { paginate } from '../../client/src/paginate.ts';

const client = createClient({ baseUrl: 'http://127.0.0.1:8787' });
const path = { id: 's' };

export async function accepted(): Promise<void> {
  const toolset = await client.get('/v1/toolsets/{toolset}', { params: { path: { toolset: 'demo' } } });
  toolset.name satisfies string;
  const session = await client.post('/v1/sessions', { body: { agent: 'demo' } });
  session.id satisfies string;
  const turn = await client.post('/v1/sessions/{id}/turns', { params: { path }, body: { input: 'hello' } });
  if ('status' in turn) turn.status satisfies 'completed' | 'failed' | 'cancelled' | 'interrupted' | 'waiting';
  const file = await client.get('/v1/sessions/{id}/files/{path}', { params: { path: { ...path, path: 'a' } }, parseAs: 'arrayBuffer' });
  file satisfies ArrayBuffer;
  for await (const row of paginate(client, '/v1/sessions')) row.id satisfies string;
  const messages = paginate(client, '/v1/sessions/{id}/messages', { path, query: { limit: 3 } });
  for await (const message of messages) message.role satisfies 'user' | 'assistant' | 'tool';
  for await (const event of followEvents(client, session.id)) {
    event.id satisfies number;
    if (event.type === 'text-delta') event.text satisfies string;
    if (event.type === 'approval-required') event.canonical satisfies string;
  }
  const { data, error } = await client.GET('/v1/agents/{agent}', { params: { path: { agent: 'demo' } } });
  if (error) error.code satisfies string;
  else data.model satisfies string;
}

export async function rejected(): Promise<void> {
  // @ts-expect-error: no such path
  await client.get('/v1/nothing');
  // @ts-expect-error: no such method
  await client.put('/v1/sessions');
  // @ts-expect-error: the parameters are missing
  await client.get('/v1/toolsets/{toolset}');
  // @ts-expect-error: no such parameter
  await client.get('/v1/toolsets/{toolset}', { params: { path: { toolsets: 'demo' } } });
  // @ts-expect-error: no such field
  await client.post('/v1/sessions', { body: { agents: 'demo' } });
  // @ts-expect-error: the session is missing
  paginate(client, '/v1/sessions/{id}/messages');
  // @ts-expect-error: not a list
  paginate(client, '/v1/policy');
  const { error } = await client.GET('/v1/agents/{agent}', { params: { path: { agent: 'demo' } } });
  // @ts-expect-error: no such code
  if (error?.code === 'not_fund') return;
}
