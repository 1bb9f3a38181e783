/** Every client dialect over every model API: the stock clients, the running service, the strict stand-ins. Prints the matrix. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Say, Understood } from '../fakes/upstreams/upstream.ts';
import { type Asking, type ClientReply, clients, type DialectClient, type OwnTool, wiresFor } from './dialect-clients.ts';
import { apis, type FakeProviders, type Fault, refOf, startFakeProviders, type StartedStory, type Wire } from './fake-providers.ts';
import { shareService } from './shared-service.ts';
import { printStatistics } from '../statistics.ts';

const weather: OwnTool = {
  name: 'get_weather',
  description: 'The weather of a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } } },
};
const files: OwnTool = {
  name: 'list_files',
  description: 'Files of a folder.',
  schema: { type: 'object', properties: { path: { type: 'string' } } },
};
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const asks: Say = {
  reasoning: 'First the weather, then the files.',
  text: 'One moment.',
  calls: [
    { name: 'get_weather', arguments: { city: 'Zürich – “18°”' } },
    { name: 'list_files', arguments: {} },
  ],
};
const mixes: Say = {
  reasoning: 'Both at once.',
  text: 'I look at both.',
  calls: [
    { name: 'reckon', arguments: { expression: '6 * 7' } },
    { name: 'get_weather', arguments: { city: 'Oslo' } },
  ],
};
const answers: Say = { reasoning: 'Now I know.', text: 'Sunny, and three files.' };
const inTwoSteps = { say: (_heard: unknown, index: number): Say => (index === 0 ? asks : answers) };
const system = 'Be brief.\nAnd kind.';

/** All input tokens including cached ones, as the stand-ins report them. */
const usageOf = (wire: Wire) => (wire === 'anthropic' ? { inputTokens: 15, outputTokens: 7 } : { inputTokens: 120, outputTokens: 30 });

const matrix = new Map<string, Record<string, string>>();

describe('every dialect over every API', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    const { status, text } = await service.call('PUT', '/v1/toolsets/desk', {
      tools: [{ tool: 'local.calculate', aliases: ['sum_up', 'reckon'] }],
    });
    expect(status, text).toBe(201);
  });
  afterAll(() => {
    fakes.close();
    printMatrix();
  });

  describe.each(clients.map((client) => [client.name, client] as const))('the %s client', (_name, client) => {
    describe.concurrent.each(wiresFor('pairs', client))('over %s', (wire) => {
      const tools = [weather, files];
      const ask = (asking: Partial<Asking> & Pick<Asking, 'items'>) => client.ask(service, { model: refOf(wire), system, ...asking });
      const cell = async (column: string, check: () => Promise<void>): Promise<void> => {
        const row = matrix.get(`${client.name} → ${wire}`) ?? {};
        matrix.set(`${client.name} → ${wire}`, row);
        row[column] = 'no';
        await check();
        row[column] = 'yes';
      };

      /** Calls its two tools in parallel and returns their results. */
      const loop = async (story: StartedStory, model: string, streamed: boolean): Promise<void> => {
        const items = [client.user(`What is new? ${story.mark}`)];
        const first = await ask({ model, items, tools, streamed });
        checkFirst(first, wire);
        const results = client.results(first.calls, ['sunny', 'a, b and c']);
        const second = await ask({ model, items: [...items, ...first.items, ...results], tools, streamed });
        expect(second).toMatchObject({ ...answers, calls: [], finish: 'stop', usage: usageOf(wire) });
        checkHeard(story, { client, wire, model, sent: [first.sent, second.sent] });
      };

      it.each([
        ['plain', false],
        ['streamed', true],
      ])("%s: calls its two tools in parallel and returns their results; the model's opaque data is sent back", async (how, streamed) => {
        await cell(how, () => loop(fakes.start(`${client.name} ${wire} ${how}`, inTwoSteps), refOf(wire), streamed));
      });

      it.runIf(client.ownWire === wire)('gets the same where requests of the same wire are translated', async () => {
        const model = `alike-${wire}/${apis[wire].model}`;
        await cell('anew', async () => {
          for (const streamed of [false, true])
            await loop(fakes.start(`${client.name} ${wire} anew ${streamed}`, inTwoSteps), model, streamed);
        });
      });

      it('streams text unchanged where there are no tools', async () => {
        await cell('words', async () => {
          const story = fakes.start(`${client.name} ${wire} words`, { say: () => answers });
          const reply = await ask({ items: [client.user(`Well? ${story.mark}`)], streamed: true });
          expect(reply).toMatchObject({ ...answers, calls: [], finish: 'stop', usage: usageOf(wire) });
          if (client.ownWire !== wire) return;
          const again = await service.call('POST', client.path(refOf(wire)), reply.sent);
          expect(again.text).toBe(story.heard[1]?.reply);
        });
      });

      it('sends an image to the model', async () => {
        await cell('image', async () => {
          const story = fakes.start(`${client.name} ${wire} image`, { say: () => ({ text: 'A dot.' }) });
          const model = wire === 'cohere' ? refOf(wire).replace(apis[wire].model, 'command-a-vision-07-2025') : refOf(wire);
          const reply = await ask({ model, items: [client.user(`What is it? ${story.mark}`, pixel)] });
          expect(reply).toMatchObject({ text: 'A dot.', finish: 'stop' });
          expect(story.understood).toMatchObject([{ system, messages: [{ role: 'user', text: `What is it? ${story.mark}`, images: 1 }] }]);
          expect(story.heard[0]?.text).toContain(pixel);
        });
      });

      it.each(refusals)(
        'receives a $status before the first byte in its own error format, without a retry',
        async ({ status, headers, message, seen: expected }) => {
          await cell(String(status), async () => {
            for (const streamed of [false, true]) {
              const fault: Fault = () => Promise.resolve(Response.json(errorBody(wire, status, message), { status, headers }));
              const story = fakes.start(`${client.name} ${wire} ${status} ${streamed}`, { say: () => answers, faults: { 0: fault } });
              const refused = await ask({ items: [client.user(`Hello. ${story.mark}`)], streamed }).catch((error: unknown) => error);
              expect(refused).toMatchObject({ status: expected.status, message: expect.stringContaining(message) });
              // A type that the provider gave stays.
              const isOwnType = (client.name === 'chat' || client.name === 'responses') && wire === 'anthropic' && status === 404;
              expect(wordOf(refused)).toBe(isOwnType ? 'not_found_error' : expected[client.name]);
              expect(new Headers((refused as { headers?: Headers }).headers).get('retry-after')).toBe(expected.retryAfter ?? null);
              expect(story.heard).toHaveLength(1);
            }
          });
        },
      );

      it.each([
        ['plain', false],
        ['streamed', true],
      ])('%s: a server tool runs inside, its own call is returned, and both results are sent in order', async (how, streamed) => {
        await cell(`mixed ${how}`, async () => {
          const story = fakes.start(`${client.name} ${wire} mixed ${how}`, { say: (_heard, index) => (index === 0 ? mixes : answers) });
          const asking = { tools: [weather], streamed, headers: { 'x-moniker-toolset': 'desk' } };
          const items = [client.user(`What is new? ${story.mark}`)];
          const first = await ask({ ...asking, items });
          expect(first).toMatchObject({ finish: 'calls', text: mixes.text, calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] });
          expect(first.calls).toHaveLength(1);
          const second = await ask({ ...asking, items: [...items, ...first.items, ...client.results(first.calls, ['snow'])] });
          expect(second).toMatchObject({ text: answers.text, calls: [], finish: 'stop' });
          expect(second.headers.get('x-moniker-session')).toBe(first.headers.get('x-moniker-session'));
          checkMixed(story, wire);
        });
      });
    });
  });

  it('the stand-ins rejected no translated request', () => {
    expect(fakes.refused()).toEqual([]);
  });
});

function checkFirst(reply: ClientReply, wire: Wire): void {
  expect(reply).toMatchObject({ text: asks.text, reasoning: asks.reasoning, finish: 'calls', usage: usageOf(wire) });
  expect(reply.calls.map(({ id: _id, ...call }) => call)).toEqual(asks.calls);
  expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(2);
}

type Pair = { client: DialectClient; wire: Wire; model: string; sent: readonly string[] };

function checkHeard({ heard, understood, mark }: StartedStory, { client, wire, model, sent }: Pair): void {
  for (const one of understood) {
    expect(one.model).toBe(apis[wire].model);
    expect(one.system.startsWith(system)).toBe(true);
    expect(one.messages[0]).toEqual({ role: 'user', text: `What is new? ${mark}`, images: 0 });
    if (wire === 'text') expect(one.system).toContain('"name":"get_weather"');
    else expect(one.tools).toEqual(['get_weather', 'list_files']);
  }
  // Same wire: the caller's own bytes, except for the model.
  if (client.ownWire === wire)
    expect(heard.map(({ text }) => text)).toEqual(
      sent.map((text) => text.replace(JSON.stringify(model), JSON.stringify(apis[wire].model))),
    );
  if (wire === 'text') {
    expect(understood[1]?.messages.at(-1)).toMatchObject({ role: 'user', text: expect.stringMatching(/sunny.*\n.*a, b and c/) });
    return;
  }
  const { said, results } = secondStep(understood);
  expect(said.calls.map(({ id: _id, ...call }) => call)).toEqual(asks.calls);
  expect(results.map(({ id }) => id)).toEqual(said.calls.map(({ id }) => id));
  expect(results.map(({ text }) => text)).toEqual(['sunny', 'a, b and c']);
  // Chat Completions has no field for a provider's opaque data.
  const wanted = wantedBack[wire](heard[0]?.reply ?? '');
  for (const token of client.name === 'chat' ? [] : wanted) expect(said.returned).toContain(token);
  if (client.name !== 'chat') expect(wanted.length > 0).toBe(wire !== 'openai');
}

/** The results as the second request has them. A session stores the provider's opaque data. */
function checkMixed({ heard, understood }: StartedStory, wire: Wire): void {
  expect(understood).toHaveLength(2);
  if (wire === 'text') {
    expect(understood[1]?.messages.at(-1)).toMatchObject({ role: 'user', text: expect.stringMatching(/42.*\n.*snow/) });
    return;
  }
  const { said, results } = secondStep(understood);
  expect(results.map(({ text }) => text)).toEqual([expect.stringContaining('42'), 'snow']);
  for (const token of wantedBack[wire](heard[0]?.reply ?? '')) expect(said.returned).toContain(token);
}

function secondStep(understood: readonly Understood[]) {
  const [user, said, results] = understood[1]?.messages ?? [];
  if (user?.role !== 'user' || said?.role !== 'assistant' || results?.role !== 'tool') throw new Error('unexpected roles');
  return { said, results: results.results };
}

/** The parts of a reply that must be sent back with its message, in each API's format. */
const wantedBack: Readonly<Record<Exclude<Wire, 'text'>, (reply: string) => string[]>> = {
  openai: () => [],
  'openai-responses': (reply) => [...new Set([...valuesOf('encrypted_content', reply), ...valuesOf('phase', reply)])],
  anthropic: (reply) => valuesOf('signature', reply),
  gemini: (reply) => valuesOf('thoughtSignature', reply),
  // Its reasoning is in blocks, which carry no other mark.
  cohere: (reply) => [valuesOf('thinking', reply).join('')],
};

function valuesOf(field: string, reply: string): string[] {
  return [...reply.matchAll(new RegExp(`"${field}": ?"([^"]+)"`, 'g'))].map(([, value = '']) => value);
}

function printMatrix(): void {
  const columns = [...new Set([...matrix.values()].flatMap((row) => Object.keys(row)))];
  const lines = [...matrix].map(([pair, row]) => `${pair.padEnd(30)}${columns.map((column) => (row[column] ?? '-').padEnd(15)).join('')}`);
  printStatistics([`${''.padEnd(30)}${columns.map((column) => column.padEnd(15)).join('')}`, ...lines].join('\n'));
}

// ---- Refusals ----

type Seen = { status: number; retryAfter?: string } & Record<DialectClient['name'], string>;

const same = (type: string) => ({ chat: type, responses: type, messages: type });

type Refusal = { status: number; headers: Record<string, string>; message: string; seen: Seen };

/** `seen`: the status and the error code that clients branch on, for proxied and for translated requests. */
const refusals: readonly Refusal[] = [
  {
    status: 429,
    // Longer than any client here waits.
    headers: { 'retry-after': '33' },
    message: 'slow down',
    seen: { status: 429, retryAfter: '33', ...same('rate_limit_error'), gemini: 'RESOURCE_EXHAUSTED' },
  },
  {
    status: 400,
    headers: {},
    message: 'unknown parameter: colour',
    seen: { status: 400, ...same('invalid_request_error'), gemini: 'INVALID_ARGUMENT' },
  },
  {
    status: 401,
    headers: {},
    message: 'no such key',
    // The provider's key is not the client's.
    seen: { status: 403, ...same('permission_error'), gemini: 'PERMISSION_DENIED' },
  },
  {
    status: 404,
    headers: {},
    message: 'the model does not exist',
    seen: { status: 404, ...same('invalid_request_error'), messages: 'not_found_error', gemini: 'NOT_FOUND' },
  },
];

function wordOf(error: unknown): unknown {
  return (error as { type?: unknown }).type;
}

const errorTypes: Readonly<Record<number, string>> = { 401: 'authentication_error', 404: 'not_found_error', 429: 'rate_limit_error' };

/** In each API's error format. */
function errorBody(wire: Wire, status: number, message: string): unknown {
  switch (wire) {
    case 'anthropic':
      return { type: 'error', error: { type: errorTypes[status] ?? 'invalid_request_error', message } };
    case 'gemini':
      return { error: { code: status, message, status: status === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT' } };
    case 'cohere':
      return { id: 'fake', message };
    case 'openai':
    case 'openai-responses':
    case 'text':
      return {
        error: {
          message,
          type: status === 404 ? 'invalid_request_error' : (errorTypes[status] ?? 'invalid_request_error'),
          param: null,
          code: status === 404 ? 'model_not_found' : null,
        },
      };
    default:
      return wire satisfies never;
  }
}
