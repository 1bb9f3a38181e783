/** The measured scenarios, each with its floor. The two sides of a pair alternate, in reverse order every other round. */
import { prepare, type Prepared } from './load.ts';
import { listPairs } from './pairs.ts';
import type { Servers } from './servers.ts';
import { makeSessions } from './setup.ts';

export type Scenario = {
  name: string;
  connections: number;
  sse: boolean;
  /** The number of events in a complete response, so that a broken stream does not count as a fast one. */
  events?: number;
  /** Fewer rounds suffice where one response takes a second. */
  ms?: number;
  /** Replaces the setting of the run. */
  rounds?: number;
  /** How long each side is warmed up; otherwise 600 ms. */
  warmMs?: number;
  floor(servers: Servers): Prepared[];
  ours(servers: Servers): Prepared[] | Promise<Prepared[]>;
};

/** `rows`: SQLite rows that the hop writes, as many as a turn's events. */
export function listScenarios(rows: number): Scenario[] {
  return [
    // The runtime optimizes its code in the first seconds.
    { ...chat('chat', 1, {}), warmMs: 4_000 },
    chat('chat', 10, {}),
    chat('chat, 30 tools', 10, { tools: sampleTools(30) }),
    ...[1, 10].map((connections) => stream('stream passed, burst', connections, 'mock', 'p0')),
    ...[1, 10].map((connections) => stream('stream passed, yield', connections, 'mock', 'py')),
    ...[1, 10].map((connections) => stream('stream passed with tools, burst', connections, 'mock', 'p0', { tools: sampleTools(3) })),
    ...[1, 10].map((connections) => stream('stream rewritten, burst', connections, 'mock-normalized', 'p0')),
    ...[1, 10].map((connections) => stream('stream rewritten, yield', connections, 'mock-normalized', 'py')),
    { ...stream('stream passed, paced', 20, 'mock', 'p5'), ms: 3_000, rounds: 3 },
    { ...stream('stream rewritten, paced', 20, 'mock-normalized', 'p5'), ms: 3_000, rounds: 3 },
    ...[1, 10].map((connections) => sessionTurn(connections, rows)),
    ...[1, 10].map(turnWithTool),
    ...[1, 10].map(newSession),
    ...listPairs(),
  ];
}

const messages = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'Hello, what is the weather in Paris today?' },
];

function chat(name: string, connections: number, extra: Record<string, unknown>): Scenario {
  const model = 'mock-c20';
  return {
    name,
    connections,
    sse: false,
    floor: ({ floor }) => [prepare(`${floor.url}/v1/chat/completions`, { body: { model, messages, ...extra, stream: false } })],
    ours: ({ ours, key }) => [
      prepare(`${ours.url}/v1/chat/completions`, {
        headers: bearer(key),
        body: { model: `mock/${model}`, messages, ...extra, stream: false },
      }),
    ],
  };
}

function stream(name: string, connections: number, provider: string, pace: string, extra: Record<string, unknown> = {}): Scenario {
  const model = `mock-c200-${pace}`;
  return {
    name,
    connections,
    sse: true,
    // Rewriting may join several deltas into one event.
    events: provider === 'mock' ? 200 : 1,
    floor: ({ floor }) => [prepare(`${floor.url}/v1/chat/completions`, { body: { model, messages, ...extra, stream: true } })],
    ours: ({ ours, key }) => [
      prepare(`${ours.url}/v1/chat/completions`, {
        headers: bearer(key),
        body: { model: `${provider}/${model}`, messages, ...extra, stream: true },
      }),
    ],
  };
}

function sessionTurn(connections: number, rows: number): Scenario {
  const body = { model: 'mock-c20', messages, stream: true };
  return {
    name: `session turn; floor: one hop and ${rows} rows`,
    connections,
    sse: true,
    events: 1,
    floor: ({ floor }) =>
      Array.from({ length: 64 }, (_, index) => prepare(`${floor.url}/hop/${index}/v1/chat/completions?rows=${rows}`, { body })),
    ours: async (servers) => {
      const ids = await makeSessions(servers, 128);
      const headers = { ...bearer(servers.key), accept: 'text/event-stream' };
      return ids.map((id) => prepare(`${servers.ours.url}/v1/sessions/${id}/turns`, { headers, body: { input: 'Hello' } }));
    },
  };
}

/** Two model calls of the built-in model and a call of a built-in tool, answered as JSON; the floor writes as many rows as such a turn may. */
function turnWithTool(connections: number): Scenario {
  return {
    name: 'turn with a tool; floor: one hop and 20 rows',
    connections,
    sse: false,
    floor: ({ floor }) =>
      Array.from({ length: 64 }, (_, index) =>
        prepare(`${floor.url}/hop/${index}/v1/chat/completions?rows=20`, { body: { model: 'mock-c20', messages } }),
      ),
    ours: async (servers) => {
      const ids = await makeSessions(servers, 192, 'rehearsal/default');
      const body = { input: '/bench_3 {"path": "/"}' };
      return ids.map((id) => prepare(`${servers.ours.url}/v1/sessions/${id}/turns`, { headers: bearer(servers.key), body }));
    },
  };
}

function newSession(connections: number): Scenario {
  return {
    name: 'POST session; floor: a new object with one row',
    connections,
    sse: false,
    floor: ({ floor }) => [prepare(`${floor.url}/new?rows=1`)],
    ours: ({ ours, key }) => [
      prepare(`${ours.url}/v1/sessions`, { headers: bearer(key), body: { model: 'rehearsal/default', toolset: 'bench' } }),
    ],
  };
}

/** Tool definitions of a client, about 600 bytes each. */
export function sampleTools(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => sampleTool(index));
}

function sampleTool(index: number): unknown {
  const parameters = {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where to read' },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      filter: {
        type: 'object',
        properties: { field: { type: 'string' }, op: { enum: ['eq', 'lt', 'gt'] }, value: { type: 'string' } },
        required: ['field', 'op'],
      },
    },
    required: ['path'],
  };
  return {
    type: 'function',
    function: { name: `tool_${index}`, description: 'Reads rows of a table and returns them. '.repeat(4), parameters },
  };
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
