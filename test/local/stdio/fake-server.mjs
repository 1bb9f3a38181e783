/**
 * An MCP server on standard input and output without dependencies, which misbehaves on request: the first argument is its mode, tools are
 * named by what they do. Run by tests as a command.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [mode = '', detail = ''] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const pending = new Map();
let count = 0;
const remembered = [];

function ask(method, params) {
  count += 1;
  const id = `ask-${count}`;
  send({ id, method, params });
  return new Promise((resolve) => pending.set(id, resolve));
}

const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });

const tools = {
  echo: async (args) => text(args),
  environment: async () => text(process.env),
  folder: async () => text(process.cwd()),
  identity: async () => text({ pid: process.pid, mode, detail }),
  count: async () => {
    count += 1;
    return text(String(count));
  },
  progress: async (_args, { progressToken }) => {
    for (const progress of [1, 2]) send({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } });
    return text('done');
  },
  ask: async () =>
    text(
      await ask('elicitation/create', { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }),
    ),
  // As servers that remember what they were sent in memory.
  remember: async ({ thought }) => {
    remembered.push(thought);
    return text(remembered);
  },
  log: async ({ line }) => {
    send({ method: 'notifications/message', params: { level: 'info', data: line } });
    return text('logged');
  },
  logLater: async ({ line }) => {
    setTimeout(() => send({ method: 'notifications/message', params: { level: 'info', data: line } }), 50);
    return text('later');
  },
  // Waits for none of the answers.
  askMany: async ({ times }) => {
    const asked = Array.from({ length: times }, () =>
      ask('elicitation/create', { message: 'Name?', requestedSchema: { type: 'object', properties: {} } }),
    );
    return text(await Promise.race(asked));
  },
  roots: async () => text(await ask('roots/list')),
  // Until the client cancels it.
  hang: () => new Promise(() => {}),
  garbage: async () => {
    process.stdout.write('Starting…\n{"not":"mcp"}\n\u001b[31mred\u001b[0m\n[1,2]\n');
    return text('after garbage');
  },
  flood: async ({ bytes }) => text('x'.repeat(bytes)),
  crash: async () => process.exit(3),
  changed: async () => {
    send({ method: 'notifications/tools/list_changed' });
    return text('announced');
  },
  fork: async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    return text({ pid: process.pid, child: child.pid });
  },
  print: async ({ line }) => {
    process.stderr.write(`${line}\n`);
    return text('printed');
  },
};

function initialize(params) {
  const result = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true }, logging: {} },
    serverInfo: { name: 'fake', version: '1.0.0' },
  };
  return { ...result, instructions: JSON.stringify(params.capabilities) };
}

async function respond({ id, method, params = {} }) {
  if (method === 'initialize') return send({ id, result: initialize(params) });
  if (method === 'tools/list')
    return send({
      id,
      result: {
        tools: Object.keys(tools).map((name) => ({
          name,
          description: `The tool ${name}.`,
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: true },
        })),
      },
    });
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: `no method ${method}` } });
  send({ id, result: await tools[params.name](params.arguments ?? {}, params._meta ?? {}) });
}

if (mode === 'exit') {
  process.stderr.write('the token is s3cret-value, and a file is missing\n');
  process.exit(7);
}
if (mode === 'garbage-first') process.stdout.write('Welcome to the server!\n');
if (mode === 'stubborn') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1_000);
}

if (mode !== 'silent') {
  createInterface(process.stdin).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) pending.get(message.id)?.(message.result ?? message.error);
    else if (message.id !== undefined) void respond(message);
    else process.stderr.write(`got ${message.method} ${JSON.stringify(message.params ?? null)}\n`);
  });
} else process.stdin.resume();
