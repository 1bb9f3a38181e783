/** Imports an OpenAPI document, calls an operation of it, and approves one that deletes. */
import { readFileSync } from 'node:fs';
import { call, forget, put, until } from '../lib/moniker.mjs';
import { startApi } from '../lib/stand-ins.mjs';
import { shop } from './shop.mjs';

// For your own API leave this line out, and give its address as `baseUrl` (or nothing, if the document names it).
const api = await startApi(({ method, path, body }) => shop(method, path, body));
try {
  await forget('shop', 'shop');
  const document = JSON.parse(readFileSync(new URL('./shop-api.json', import.meta.url), 'utf8'));
  const { toolCount } = await put('/v1/servers/shop', { kind: 'openapi', document, baseUrl: api.url, trusted: true });
  console.log(`imported ${toolCount} operations`);
  await put('/v1/toolsets/shop', {
    tools: [{ tool: 'shop.list_products', aliases: ['catalog'] }, { tool: 'shop.create_order' }, { tool: 'shop.cancel_order' }],
  });
  const { id: session } = await call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'shop' });

  const pens = await call('POST', '/v1/toolsets/shop/calls', { name: 'catalog', arguments: { category: 'pens' } });
  console.log(`catalog: ${pens.content[0].text}`);

  // A DELETE requires approval, so the turn waits.
  const turn = await call('POST', `/v1/sessions/${session}/turns`, { input: '/cancel_order order=100' });
  const [{ callId, canonical }] = turn.pending;
  console.log(`${turn.status}: ${canonical} requires approval`);
  await call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });
  await until(
    'the turn continues and ends',
    async () => (await call('GET', `/v1/sessions/${session}`)).turn.status === 'completed' || null,
  );
  const { items } = await call('GET', `/v1/sessions/${session}/messages`);
  const result = items.find(({ role }) => role === 'tool').parts[0];
  console.log(`cancel_order: ${result.content[0].text}`);
} finally {
  api.close();
}
