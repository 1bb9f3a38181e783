/** What is exported, compared with the tables of the conventions: semantic-conventions-genai 0.1.0, and HTTP, server and error of semantic-conventions 1.45. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { telemetryMessages } from '../../../src/engine/telemetry/content-messages.ts';
import { Metrics } from '../../../src/core/telemetry/metrics.ts';
import { readTelemetrySettings, type TelemetrySettings } from '../../../src/core/telemetry/telemetry-settings.ts';
import { observeModel } from '../../../src/engine/telemetry/observe-model.ts';
import { createTelemetry } from '../../../src/platform/telemetry.ts';
import type { Telemetry } from '../../../src/ports/telemetry.ts';
import type { ChatModel, ChatRequest } from '../../../src/ports/chat-model.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';

const names = (prefix: string, text: string): string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((name) => prefix + name);

/** `docs/registry/attributes/gen-ai.md` and `mcp.md`, those of spans of models, agents, tools and MCP. */
const attributes = new Set([
  ...names('gen_ai.', 'operation.name provider.name conversation.id output.type input.messages output.messages system_instructions'),
  ...names('gen_ai.agent.', 'name version description id'),
  ...names(
    'gen_ai.request.',
    'model max_tokens choice.count temperature top_p top_k stop_sequences frequency_penalty presence_penalty seed',
  ),
  ...names('gen_ai.request.', 'stream reasoning.level previous_response.id'),
  ...names('gen_ai.response.', 'id model finish_reasons time_to_first_chunk'),
  ...names('gen_ai.usage.', 'input_tokens output_tokens cache_read.input_tokens cache_write.input_tokens reasoning.output_tokens'),
  ...names('gen_ai.tool.', 'name type description definitions call.id call.arguments call.result'),
  ...names('gen_ai.', 'token.modality prompt.name prompt.version'),
  ...names('mcp.', 'method.name protocol.version resource.uri session.id'),
  ...names('http.', 'request.method route response.status_code'),
  ...names('', 'server.address server.port error.type'),
]);

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const mcpSeconds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** Unit and bounds; null: a counter. */
const metrics: Readonly<Record<string, readonly [unit: string, bounds: readonly number[] | null]>> = {
  'gen_ai.client.inference.duration': ['s', seconds],
  'gen_ai.client.inference.time_to_first_chunk': ['s', seconds],
  'gen_ai.client.inference.usage.input_tokens': ['{token}', null],
  'gen_ai.client.inference.usage.output_tokens': ['{token}', null],
  'gen_ai.client.inference.usage.cache_read.input_tokens': ['{token}', null],
  'gen_ai.client.inference.usage.cache_write.input_tokens': ['{token}', null],
  'gen_ai.client.inference.usage.reasoning.output_tokens': ['{token}', null],
  'gen_ai.client.inference.operation.input_tokens': ['{token}', tokens],
  'gen_ai.client.inference.operation.output_tokens': ['{token}', tokens],
  'gen_ai.invoke_agent.duration': ['s', [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]],
  'gen_ai.execute_tool.duration': ['s', seconds],
  'mcp.server.operation.duration': ['s', mcpSeconds],
  'mcp.client.operation.duration': ['s', mcpSeconds],
  'http.server.request.duration': ['s', [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]],
};

const span = (kind: 'client' | 'server' | 'internal', given: Record<string, string | number>, error: string | null = null) => ({
  ...{ name: 'x', kind, error, parentId: null, startedAt: 0, endedAt: 10 },
  ...{ context: { traceId: '', spanId: '', sampled: true, state: '' }, attributes: new Map(Object.entries(given)) },
});

describe('the conventions', () => {
  it('have every attribute and metric that the code names, except those of our own', () => {
    const folder = join(import.meta.dirname, '../../../src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.ts$/.test(file));
    const named = new Set(
      files.flatMap((file) =>
        Array.from(
          readFileSync(join(folder, file), 'utf8').matchAll(
            /'((?:gen_ai|mcp\.(?!json)|http\.(?:request|response|server|route)|server\.(?:address|port))[a-z_.]+|error\.type)'/g,
          ),
          ([, name = '']) => name,
        ),
      ),
    );
    expect(named.size).toBeGreaterThan(30);
    expect([...named].filter((name) => !attributes.has(name) && !Object.hasOwn(metrics, name))).toEqual([]);
  });

  it('give the names, units and bounds of the metrics', () => {
    const all = new Metrics();
    const usage = { 'gen_ai.usage.input_tokens': 9, 'gen_ai.usage.output_tokens': 4, 'gen_ai.usage.reasoning.output_tokens': 3 };
    const cache = { 'gen_ai.usage.cache_read.input_tokens': 5, 'gen_ai.usage.cache_write.input_tokens': 1 };
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-5' };
    all.addSpan(span('client', { ...chat, ...usage, ...cache, 'gen_ai.response.time_to_first_chunk': 0.5 }));
    all.addSpan(span('client', chat, 'upstream_error'));
    all.addSpan(span('internal', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'clerk' }));
    all.addSpan(span('internal', { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'a.b' }));
    all.addSpan(span('server', { 'mcp.method.name': 'tools/list' }));
    all.addSpan(span('client', { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' }));
    all.addSpan(span('server', { 'http.request.method': 'GET' }));
    const foreign = all.all().filter(({ spec }) => !spec.name.startsWith('moniker.'));
    expect(Object.fromEntries(foreign.map(({ spec: { name, unit, bounds } }) => [name, [unit, bounds]]))).toEqual(metrics);

    const seriesOf = (name: string) => all.all().find(({ spec }) => spec.name === name)?.series ?? [];
    const labels = seriesOf('gen_ai.client.inference.usage.input_tokens').map((series) => Object.fromEntries(series.labels));
    expect(labels).toEqual([{ ...chat, 'gen_ai.token.modality': 'unknown' }]);
    // A failed call counts, with 0 tokens.
    const [, failed] = seriesOf('gen_ai.client.inference.operation.input_tokens');
    expect([failed?.count, failed?.sum, Object.fromEntries(failed?.labels ?? [])['error.type']]).toEqual([1, 0, 'upstream_error']);
    for (const { series } of foreign)
      for (const one of series) expect(one.labels.map(([name]) => name).filter((name) => !attributes.has(name))).toEqual([]);
  });

  it('give the name, the kind and the required attributes of the span of a model call', async () => {
    const sent: string[] = [];
    const background: Promise<unknown>[] = [];
    const clock = fakeClock();
    const environment: Record<string, string> = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    };
    const settings = readTelemetrySettings((name) => environment[name] ?? null) as TelemetrySettings;
    const send = async (request: Request): Promise<Response> => {
      if (request.url.endsWith('/v1/traces')) sent.push(await request.text());
      return new Response('{}');
    };
    const built = createTelemetry(settings, { clock, log: keptLog(), background: (work) => void background.push(work), send });
    const model: ChatModel = {
      async *stream() {
        await Promise.resolve();
        yield [
          { type: 'text', text: 'Hello' },
          { type: 'usage', usage: { inputTokens: 9, outputTokens: 4, reasoningTokens: 2, cacheWriteInputTokens: 1 } },
          { type: 'finish', reason: 'tool-calls', raw: null },
        ];
      },
    };
    const access = {
      name: 'mistral',
      kind: 'openai-compatible',
      baseUrl: 'https://api.mistral.ai/v1',
      headers: {},
      models: [],
      profile: {},
    };
    const request = {
      ...{ access, model: 'mistral-large-latest', tools: [], toolChoice: 'auto', settings: { temperature: 0.5, maxOutputTokens: 50 } },
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    } as unknown as ChatRequest;
    for await (const batch of observeModel(built as Telemetry, model).stream(request, new AbortController().signal))
      expect(batch).toHaveLength(3);
    await clock.advance(5_000);
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));

    const [exported] = JSON.parse(sent[0] ?? '').resourceSpans[0].scopeSpans[0].spans;
    const values = Object.fromEntries(
      exported.attributes.map(({ key, value }: { key: string; value: Record<string, unknown> }) => [key, Object.values(value)[0]]),
    );
    expect([exported.name, exported.kind]).toEqual(['chat mistral-large-latest', 3]);
    expect(Object.keys(values).filter((name) => !attributes.has(name))).toEqual([]);
    expect(values).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'mistral_ai',
      'server.address': 'api.mistral.ai',
      'server.port': '443',
      'gen_ai.request.stream': true,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': '50',
      'gen_ai.response.time_to_first_chunk': expect.anything(),
      'gen_ai.response.finish_reasons': { values: [{ stringValue: 'tool_call' }] },
      'gen_ai.usage.reasoning.output_tokens': '2',
      'gen_ai.usage.cache_write.input_tokens': '1',
      'gen_ai.input.messages': '[{"parts":[{"content":"Hi","type":"text"}],"role":"user"}]',
    });
    expect(JSON.parse(values['gen_ai.output.messages'])).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Hello' }], finish_reason: 'tool_call' },
    ]);
  });

  it.each([
    ['a text', 'Hi', [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }]],
    ['messages with text', [{ role: 'system', content: 'Be brief' }], [{ role: 'system', parts: [{ type: 'text', content: 'Be brief' }] }]],
    [
      'messages with parts',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: 'x' } },
          ],
        },
      ],
      [
        {
          role: 'user',
          parts: [
            { type: 'text', content: 'Hi' },
            { type: 'image_url', image_url: { url: 'x' } },
          ],
        },
      ],
    ],
    ['items without content', [{ type: 'function_call', name: 'a' }], [{ role: 'user', parts: [{ type: 'function_call', name: 'a' }] }]],
    [
      'calls',
      [{ role: 'assistant', parts: [{ type: 'tool-call', callId: '1', requested: 'a', arguments: {} }] }],
      [{ role: 'assistant', parts: [{ type: 'tool_call', id: '1', name: 'a', arguments: {} }] }],
    ],
    ['nothing', null, [{ role: 'user', parts: [{ type: 'other', role: 'user', content: null }] }]],
  ])('give the format of messages, for %s', (_, given, expected) => {
    expect(telemetryMessages(given)).toEqual(expected);
  });
});
