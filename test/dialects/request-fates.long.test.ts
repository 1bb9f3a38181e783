/** Each documented field of each dialect is sent to each provider's wire: it is mapped, refused with its path, or named in the response. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { ExtraSetting } from '../../src/core/model/provider-profile.ts';
import { type ProviderWire, wires } from '../../src/core/model/wire-settings.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ApiDialectName } from '../../src/core/text/reference.ts';
import { loadDialect } from '../../src/dialects/dialects.ts';
import { translateChat } from '../../src/engine/proxy/translate-chat.ts';
import type { OutboundHttp } from '../../src/ports/outbound.ts';
import { createChatModel } from '../../src/providers/chat-model.ts';
import { proxyChat } from '../../src/providers/passed/forward-chat.ts';
import { countedIds, fakeClock } from '../fakes/runtime.ts';
import { countsOf, fateOf, fatesAsMarkdown } from './request-fates.ts';
import { dialectExamples, unseen } from './request-fields.ts';
import { At, isMerged, isWhole } from './request-kinds.ts';

type Json = Record<string, unknown>;
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const text = { type: 'output_text', text: 'ok', annotations: [] };

/** A provider of each wire, with a model that accepts as much as its API has, and its reply. */
const providers: Readonly<
  Record<ProviderWire, { access: Partial<ProviderAccess> & Pick<ProviderAccess, 'kind'>; model: string; reply: Json }>
> = {
  'openai-chat': {
    access: {
      kind: 'openai-compatible',
      profile: {
        ...{ imagesInResults: true, files: ['pdf', 'audio', 'video', 'url'], echoReasoning: true },
        topK: true,
        webSearch: true,
        strictTools: true,
        extraSettings: ExtraSetting.options,
        cacheMarks: 'automatic',
      },
    },
    model: 'm',
    reply: {
      ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  },
  'openai-responses': {
    access: { kind: 'openai-responses', profile: { noSampling: false, webSearch: true, cacheMarks: 'breakpoint' } },
    model: 'gpt-5.2',
    reply: {
      ...{ id: 'resp_1', object: 'response', status: 'completed', usage },
      output: [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [text] }],
    },
  },
  anthropic: {
    access: { kind: 'anthropic', profile: { webSearch: true } },
    model: 'claude-opus-4-6',
    reply: {
      id: 'x',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'ok' }],
      stop_reason: 'end_turn',
      usage,
    },
  },
  gemini: {
    access: { kind: 'gemini' },
    model: 'gemini-3-flash',
    reply: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    },
  },
  cohere: {
    access: { kind: 'cohere', profile: { formatWithTools: true, images: true } },
    model: 'command-a-reasoning-08-2025',
    reply: {
      ...{ id: 'x', finish_reason: 'COMPLETE', usage: { tokens: usage } },
      message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
    },
  },
  bedrock: {
    access: {
      ...{ kind: 'bedrock', cloud: { kind: 'bedrock', region: 'us-east-1' } },
      profile: { outputSchema: true },
    },
    model: 'amazon.nova-2-lite-v1:0',
    reply: {
      output: { message: { role: 'assistant', content: [{ text: 'ok' }] } },
      ...{ stopReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
    },
  },
  ollama: {
    access: { kind: 'ollama', profile: { formatWithTools: true, imagesInResults: true } },
    model: 'qwen3:8b',
    reply: {
      ...{ model: 'qwen3:8b', created_at: '2025-07-07T20:22:19.184789Z', message: { role: 'assistant', content: 'ok' } },
      ...{ done: true, done_reason: 'stop', prompt_eval_count: 1, eval_count: 1 },
    },
  },
};

type Sent = { body: unknown; dropped: string[] };

async function send(dialect: ApiDialectName, wire: ProviderWire, body: Json): Promise<Sent> {
  const { access: own, model, reply } = providers[wire];
  const access = { name: 'a', baseUrl: 'https://a.example/v1', headers: {}, models: [], profile: {}, ...own };
  let sent: unknown;
  const http: OutboundHttp = async (request) => {
    sent = await request.json();
    return Response.json(reply);
  };
  const clock = fakeClock();
  const ids = countedIds();
  const given = { access, model, dialect: await loadDialect(dialect), body };
  const answer =
    dialectExamples[dialect].own === wire
      ? await proxyChat({ ...given, http, clock, ids })
      : await translateChat(
          { model: createChatModel({ http, rehearsal: http, clock }), clock, ids },
          { ...given, ref: 'a/b' },
          () => new AbortController().signal,
        );
  await answer.text();
  return { body: sent, dropped: answer.headers.get('x-moniker-dropped')?.split(', ') ?? [] };
}

const steps = (path: string): (string | number)[] =>
  path
    .replaceAll('[]', '[0]')
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));

function valueAt(body: unknown, path: string): unknown {
  return steps(path).reduce<unknown>((value, step) => (value as Record<string | number, unknown> | undefined)?.[step], body);
}

function withValue(body: Json, path: string, value: unknown): Json {
  const copy = structuredClone(body);
  const places = steps(path);
  const last = places.pop() ?? '';
  let at: Record<string | number, unknown> = copy;
  for (const step of places) {
    at[step] ??= {};
    at = at[step] as Record<string | number, unknown>;
  }
  at[last] = value;
  return copy;
}

/** A tool is named by its name, every other place by its path. */
const generalName = (name: string): string => name.replace(/^tools\.(?:weather|web_search\w*)\./, 'tools[].');

async function observe(dialect: ApiDialectName, wire: ProviderWire, path: string): Promise<string> {
  const { body, examples } = dialectExamples[dialect];
  const example = examples[path];
  const place = example instanceof At ? example.path : path;
  const value = example instanceof At ? example.value : example;
  const plain = await send(dialect, wire, body);
  try {
    const whole = isMerged(example) ? { ...body, ...example.value } : withValue(body, place, value);
    const { body: sent, dropped } = await send(dialect, wire, whole);
    const names = dropped.map(generalName);
    if (names.includes((example instanceof At ? example.name : undefined) ?? nameOf(path))) return 'dropped';
    if (names.some((name) => path.startsWith(`${name}.`) || name === path.replace('tools[].function.', 'tools[].'))) return 'dropped';
    if (dialectExamples[dialect].own === wire)
      return isMerged(example) || JSON.stringify(valueAt(sent, place)) === JSON.stringify(value) ? 'passed' : 'lost';
    if (JSON.stringify(sent) === JSON.stringify(plain.body)) return 'unseen';
    return isWhole(example, sent) ? 'mapped' : 'lost';
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_request') throw error;
    const [issue] = error.extra.issues as { path: string }[];
    const general = issue?.path.replaceAll(/\[\d+\]/g, '[]') ?? '';
    return path.startsWith(general) || general.startsWith(path.replace(/\.type=.*$/, '')) ? 'refused' : `refused at ${general}`;
  }
}

/** `input[].web_search_call` for a kind of items. */
const nameOf = (path: string): string => path.replace(/type=(\S+).*$/, '$1');

describe.each(Object.entries(dialectExamples))('a request of %s', (name, { fields, body, examples, own }) => {
  const dialect = name as ApiDialectName;

  it('has an example of each field of the table', () => {
    const missing = Object.keys(fields).filter((path) => !(path in examples) && !isInside(body, path));
    expect(missing).toEqual([]);
  });

  it.each(wires)('is followed to %s: each field is mapped, refused with its path, or named', async (wire) => {
    const wrong: string[] = [];
    for (const path of Object.keys(examples)) {
      const expected = fateOf(fields[path], wire, own);
      if (expected === 'served' || (expected === 'mapped' && unseen.has(path))) continue;
      const observed = await observe(dialect, wire, path);
      if (observed !== expected) wrong.push(`${path}: ${observed}, not ${expected}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** Whether some item has the field. */
function isInside(value: unknown, path: string): boolean {
  const [first = '', ...rest] = path.split('.');
  const inner = (value as Json | undefined)?.[first.replaceAll('[]', '')];
  const items = first.endsWith('[]') ? (Array.isArray(inner) ? inner : []) : [inner];
  return items.some((item) => item !== undefined && (rest.length === 0 || isInside(item, rest.join('.'))));
}

it('is documented in docs/request-fields.md, as vitest --update writes it', async () => {
  const page = await readFile('docs/request-fields.md', 'utf8');
  const [before = '', rest = ''] = page.split('<!-- fates: written by test/dialects/request-fates.long.test.ts -->\n');
  const [, after = ''] = rest.split('<!-- end of fates -->\n');
  const whole = `${before}<!-- fates: written by test/dialects/request-fates.long.test.ts -->\n\n${fatesAsMarkdown()}\n<!-- end of fates -->\n${after}`;
  await expect(whole).toMatchFileSnapshot('../../docs/request-fields.md');
  for (const dialect of Object.values(dialectExamples)) console.log(dialect.title, Object.keys(dialect.fields).length, countsOf(dialect));
});
