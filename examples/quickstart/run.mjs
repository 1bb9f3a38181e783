/** A toolset with names of your own, an agent over it, one streamed answer, and the events of the turn. */
import { call, key, put, url } from '../lib/moniker.mjs';

await put('/v1/toolsets/notes', {
  tools: [
    { tool: 'builtin.write_file', name: 'save_note', aliases: ['note'] },
    { tool: 'builtin.read_file', name: 'show_note' },
  ],
});
// With a key for a provider, replace the model: see docs/getting-started.md.
await put('/v1/agents/notes', { model: 'rehearsal/default', toolset: 'notes', instructions: 'Keep the notes of the user.' });

const { id: session } = await call('POST', '/v1/sessions', { agent: 'notes' });
const response = await fetch(`${url}/v1/sessions/${session}/turns`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
  body: JSON.stringify({ input: '/note path=todo.txt content="Buy milk"\n\n/show_note path=todo.txt' }),
});
let rest = '';
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  const records = (rest + chunk).split('\n\n');
  rest = records.pop();
  for (const record of records) show(record);
}

/** One server-sent event: `id`, `event` and `data` lines. */
function show(record) {
  const data = /^data: (.*)$/m.exec(record)?.[1];
  if (data === undefined) return;
  const event = JSON.parse(data);
  if (event.type === 'tool-input-end') console.log(`step ${event.step}: call ${JSON.stringify(event.arguments)}`);
  if (event.type === 'tool-result') console.log(`step ${event.step}: ${event.name} is ${event.canonical} (via ${event.via})`);
  if (event.type === 'turn-end') console.log(`turn ${event.status}`);
}
