/** The typed client: documents, a streamed turn, an approval, a tool that this program runs, and lists. */
import { readFileSync } from 'node:fs';
// In your project: from '@moniker/client'.
import { createClient, followEvents, MonikerError, paginate, runTurn, streamTurn } from '../../client/src/index.ts';

const client = createClient({ baseUrl: process.env.MONIKER_URL ?? 'http://127.0.0.1:8787', key: readKey() });

const toolset = { tools: [{ tool: 'builtin.bash', name: 'shell' }] };
await client.put('/v1/toolsets/{toolset}', { params: { path: { toolset: 'desk' } }, body: toolset });
const agent = { model: 'rehearsal/default', toolset: 'desk', instructions: 'Keep the desk tidy.' };
await client.put('/v1/agents/{agent}', { params: { path: { agent: 'desk' } }, body: agent });
const { id: session } = await client.post('/v1/sessions', { body: { agent: 'desk' } });

for await (const event of streamTurn(client, session, '/shell echo draft > notes.txt')) {
  if (event.type === 'tool-input-end') console.log(`call ${JSON.stringify(event.arguments)}`);
  if (event.type === 'turn-end') console.log(`turn ${event.status}`);
}

const removed = await runTurn(client, session, '/shell rm notes.txt', {
  onApproval({ canonical, effects = [] }) {
    console.log(`${canonical} requires approval: ${effects.map(({ action, target }) => `${action} ${target}`).join(', ')}`);
    return 'approve';
  },
});
console.log(`turn ${removed.status}, ${removed.toolCalls.length} call`);

const located = await runTurn(client, session, '/get_position', {
  tools: {
    get_position: { description: 'Returns the position of the device.', inputSchema: { type: 'object' }, run: () => '47° N, 8° E' },
  },
});
console.log(located.toolCalls[0]?.canonical, located.toolCalls[0]?.content);

let ended = 0;
for await (const event of followEvents(client, session)) if (event.type === 'turn-end' && ++ended === 3) break;
const roles = [];
for await (const { role } of paginate(client, '/v1/sessions/{id}/messages', { path: { id: session } })) roles.push(role);
console.log(roles.join(' '));

try {
  await client.get('/v1/agents/{agent}', { params: { path: { agent: 'missing' } } });
} catch (error) {
  if (!(error instanceof MonikerError) || error.code !== 'not_found') throw error;
  console.log(error.message);
}

function readKey(): string {
  const key = process.env.MONIKER_ROOT_KEY ?? /^MONIKER_ROOT_KEY=(.*)$/m.exec(readFileSync('.moniker/keys', 'utf8'))?.[1];
  if (key === undefined) throw new Error('Start Moniker first (npm start) and run this in the same folder, or set MONIKER_ROOT_KEY.');
  return key;
}
