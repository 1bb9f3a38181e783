/** An MCP server on standard input and output whose tools have an effect at a URL: `note` posts to it, `look` reads it. Run by the ledger as a command. */
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const inputSchema = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] };
const tools = [
  { name: 'note', description: 'Writes a note.', inputSchema },
  { name: 'look', description: 'Reads a note.', inputSchema, annotations: { readOnlyHint: true } },
];

async function answer({ id, method, params }) {
  if (method === 'initialize')
    return send({
      id,
      result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } },
    });
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method !== 'tools/call') return id === undefined ? undefined : send({ id, result: {} });
  const response = await fetch(params.arguments.url, { method: params.name === 'note' ? 'POST' : 'GET' });
  send({ id, result: { content: [{ type: 'text', text: await response.text() }] } });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  answer(message).catch((error) => send({ id: message.id, error: { code: -32603, message: String(error) } }));
});
