/** Gemini's API over HTTP: paths, keys, errors, the forms of a stream, models, token counts and embeddings. */
import { beforeEach, describe, expect, it } from 'vitest';
import { toToolCallId } from '../../src/core/text/reference.ts';
import type { AskedChat } from '../../src/engine/proxy/translate-chat.ts';
import type { PassedRequest } from '../../src/providers/passed/passed-request.ts';
import { bodyOf, createChatHarness, rootKey, type Harness } from './harness.ts';

let h: Harness;
let sent: Omit<AskedChat, 'signal'>[] = [];
let passed: PassedRequest[] = [];
beforeEach(async () => {
  sent = [];
  passed = [];
  h = await createChatHarness({
    proxyChat: async (_principal, request) => {
      sent.push(request);
      if (request.body.stream !== true) return Response.json({ candidates: [] });
      const events = ['data: {"a":1}\n\n', 'data: {"candidates":[]}\n\ndata: {"b"', ':"x\\ny"}\n\n'];
      const source = new ReadableStream<Uint8Array>({
        start(to) {
          for (const text of events) to.enqueue(new TextEncoder().encode(text));
          to.close();
        },
      });
      return new Response(source, { headers: { 'content-type': 'text/event-stream' } });
    },
    countTokens: async (_principal, request) => {
      sent.push(request);
      return String(request.ref).startsWith('google/') ? Response.json({ totalTokens: 7 }) : null;
    },
    passRequest: async (_principal, request) => {
      passed.push(request);
      const { method, body } = request.gemini ?? { method: '', body: () => ({}) };
      if (String(request.ref).startsWith('google/')) {
        const own = body('models/embed') as { requests: unknown[] };
        return Response.json({ method, embeddings: own.requests.map((_one, index) => ({ values: [index, 0.5] })) });
      }
      if (request.ref === 'openai/broken') return Response.json({ data: [{ embedding: 'base64' }] });
      return Response.json({
        data: [
          { index: 1, embedding: [3] },
          { index: 0, embedding: [1, 2] },
        ],
      });
    },
  });
});

const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
const ask = (model: string, body: object = { contents }, headers?: Record<string, string | undefined>, method = 'generateContent') =>
  h.send('POST', `/v1beta/models/${model}:${method}`, body, headers);
const partsOf = async (answer: Response): Promise<unknown[]> => (await bodyOf(answer)).candidates[0].content.parts;
const mine = { functionDeclarations: [{ name: 'mine', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } }] };

describe('a request without agent, toolset and session', () => {
  it.each(['google/gemini-3-pro', 'google%2Fgemini-3-pro'])('names its model in the path: %s', async (model) => {
    const body = { contents, safetySettings: [{ category: 'x' }], toolset: null };
    expect((await ask(model, body)).status).toBe(200);
    expect((await ask(model, body, {}, 'streamGenerateContent?alt=sse')).status).toBe(200);
    expect(sent.map(({ ref, dialect, body: { stream } }) => [ref, dialect.name, stream])).toEqual([
      ['google/gemini-3-pro', 'gemini', false],
      ['google/gemini-3-pro', 'gemini', true],
    ]);
    expect(sent[0]?.body).toMatchObject({ contents, safetySettings: body.safetySettings });
  });

  it('may have a model with a colon, and the version v1 in the path', async () => {
    expect((await h.send('POST', '/v1/models/local/llama3:8b:generateContent', { contents })).status).toBe(200);
    expect(sent[0]?.ref).toBe('local/llama3:8b');
  });

  it('is refused if its body has another model, or says that it streams', async () => {
    for (const [body, path] of [
      [{ contents, model: 'models/google/other' }, 'model'],
      [{ contents, stream: true }, 'stream'],
    ] as const) {
      const answer = await ask('google/gemini-3-pro', body);
      const { error } = await bodyOf(answer);
      expect([answer.status, error.status, error.details[1].fieldViolations[0].field]).toEqual([422, 'INVALID_ARGUMENT', path]);
    }
    expect((await ask('google/gemini-3-pro', { contents, model: 'models/google/gemini-3-pro' })).status).toBe(200);
    expect(sent).toHaveLength(1);
  });

  it('streams a JSON array without alt=sse, and events with it', async () => {
    const array = await ask('google/x', { contents }, {}, 'streamGenerateContent');
    expect([array.headers.get('content-type'), await array.json()]).toEqual([
      'application/json',
      [{ a: 1 }, { candidates: [] }, { b: 'x\ny' }],
    ]);
    const events = await ask('google/x', { contents }, {}, 'streamGenerateContent?alt=sse');
    expect([events.headers.get('content-type'), await events.text()]).toEqual([
      'text/event-stream',
      'data: {"a":1}\n\ndata: {"candidates":[]}\n\ndata: {"b":"x\\ny"}\n\n',
    ]);
  });

  it.each([
    ['an unknown method', 'POST', '/v1beta/models/google/x:predict', 405],
    ['an unknown path', 'GET', '/v1beta/cachedContents', 404],
    ['no body', 'POST', '/v1beta/models/google/x:generateContent', 415],
  ])('gets an error of Google’s form for %s', async (_what, method, path, status) => {
    const answer = await h.send(method, path);
    expect([answer.status, (await bodyOf(answer)).error.code]).toEqual([status, status]);
  });

  it('gets the error of an unknown model in Google’s form', async () => {
    const { error } = await bodyOf(await ask('gpt'));
    expect(error).toMatchObject({ code: 404, status: 'NOT_FOUND', details: [{ reason: 'model_not_found', domain: 'moniker' }] });
  });
});

describe('a request with server tools', () => {
  it('returns one message of an unlisted session', async () => {
    const answer = await ask('agent/helper', {
      contents,
      system_instruction: { parts: [{ text: 'In French.' }] },
      generation_config: { max_output_tokens: 100 },
    });
    expect(await bodyOf(answer)).toEqual({
      candidates: [{ content: { parts: [{ text: 'You said: hello' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      modelVersion: 'agent/helper',
      responseId: answer.headers.get('x-moniker-completion'),
    });
    expect(answer.headers.get('x-moniker-edition')).toBe('demo@1.1');
    expect(h.sessions.submitted[0]?.plan).toMatchObject({ instructions: 'Help.\n\nIn French.', settings: { maxOutputTokens: 100 } });
  });

  it('streams frames that begin with their data, since clients read no others', async () => {
    const answer = await ask('agent/helper', { contents }, {}, 'streamGenerateContent?alt=sse');
    const frames = (await answer.text()).split('\n\n').slice(0, -1);
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames) expect(frame).toMatch(/^data: \{.*\}$/);
    expect(frames.at(-1)).toContain('"finishReason":"STOP"');
  });

  it.each([
    ['body', { toolset: 'demo' }, {}],
    ['header', {}, { 'x-moniker-toolset': 'demo' }],
  ])('reads the toolset from the %s', async (_where, body, headers) => {
    const answer = await ask('rehearsal/default', { contents, ...body }, headers);
    expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'demo@1.1']);
  });

  it('also offers the caller’s own functions, and returns their calls whole', async () => {
    const asked = { contents: [{ parts: [{ text: 'client' }] }], tools: [mine] };
    expect((await partsOf(await ask('agent/helper', asked))).at(-1)).toEqual({
      functionCall: { id: expect.any(String), name: 'mine', args: expect.any(Object) },
    });
    const text = await (await ask('agent/helper', asked, {}, 'streamGenerateContent?alt=sse')).text();
    expect(text.match(/"functionCall"/g)).toHaveLength(1);
  });

  it('finds the session of its calls by their ids, also behind the name of the tool, as gemini-cli writes them', async () => {
    const id = toToolCallId('call_1', 'ab'.repeat(32));
    for (const written of [id, `mine__${id}`]) {
      const parts = [{ functionCall: { id: written, name: 'mine', args: {} } }];
      const results = [{ functionResponse: { id: written, name: 'mine', response: { output: 'r' } } }];
      const answer = await ask('rehearsal/default', {
        contents: [...contents, { role: 'model', parts }, { role: 'user', parts: results }],
        tools: [mine],
      });
      expect([answer.status, sent.length]).toEqual([200, 0]);
      expect(h.sessions.submitted.at(-1)?.chat?.results).toEqual([{ callId: id, content: [{ type: 'text', text: 'r' }], isError: false }]);
    }
  });

  it('runs a repeated request once, and refuses its key for another model', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, second] = [await ask('agent/helper', { contents }, headers), await ask('agent/helper', { contents }, headers)];
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('x-moniker-completion')).toBe(first.headers.get('x-moniker-completion'));
    await h.send('PUT', '/v1/agents/other', { model: 'rehearsal/default', toolset: 'demo' });
    const other = await ask('agent/other', { contents }, headers);
    expect([other.status, (await bodyOf(other)).error.details[0].reason]).toEqual([422, 'idempotency_mismatch']);
  });

  it('refuses more candidates than one, and a tool that only its provider runs', async () => {
    for (const [body, path] of [
      [{ generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
      [{ tools: [{ urlContext: {} }] }, 'tools[0].urlContext'],
      [{ cachedContent: 'cachedContents/x' }, 'cachedContent'],
    ] as const) {
      const { error } = await bodyOf(await ask('agent/helper', { contents, ...body }));
      expect(error.details[1].fieldViolations).toMatchObject([{ field: path }]);
    }
  });

  it('names what it leaves out', async () => {
    const answer = await ask('agent/helper', { contents, safetySettings: [{ category: 'x' }], tools: [mine, { url_context: {} }] });
    expect(answer.headers.get('x-moniker-dropped')).toBe('safetySettings, tools[].urlContext');
  });
});

describe('the key', () => {
  it('is accepted as x-goog-api-key on these paths, and on no other', async () => {
    const headers = { authorization: undefined, 'x-goog-api-key': rootKey };
    expect((await ask('agent/helper', { contents }, headers)).status).toBe(200);
    for (const path of ['/v1beta/models', '/v1/models']) expect((await h.send('GET', path, undefined, headers)).status).toBe(200);
    for (const path of ['/v1/toolsets', '/v1/messages/msg_x']) expect((await h.send('GET', path, undefined, headers)).status).toBe(401);
    const other = { authorization: undefined, 'x-api-key': rootKey };
    expect((await h.send('GET', '/v1beta/models', undefined, other)).status).toBe(401);
  });

  it('is not read from the URL, and the error names the header', async () => {
    const answer = await h.send('GET', `/v1beta/models?key=${rootKey}`, undefined, { authorization: undefined });
    const { error } = await bodyOf(answer);
    expect([answer.status, error.status]).toEqual([401, 'UNAUTHENTICATED']);
    expect(error.message).toContain('`x-goog-api-key: <key>`. A key in the URL is not read');
    expect(error.message).not.toContain(rootKey);
  });
});

describe('the models', () => {
  it('are listed, and read with and without an encoded slash', async () => {
    const { models } = await bodyOf(await h.send('GET', '/v1beta/models?pageSize=10'));
    expect(models).toContainEqual(expect.objectContaining({ name: 'models/agent/helper' }));
    for (const path of ['agent/helper', 'agent%2Fhelper'])
      expect(await bodyOf(await h.send('GET', `/v1beta/models/${path}`))).toMatchObject({ name: 'models/agent/helper' });
    expect((await bodyOf(await h.send('GET', '/v1beta/models/agent/nothing'))).error.status).toBe('NOT_FOUND');
  });

  it('have this form on the path of all APIs for clients that send its header', async () => {
    const headers = { authorization: undefined, 'x-goog-api-key': rootKey };
    const { models } = await bodyOf(await h.send('GET', '/v1/models', undefined, headers));
    expect(models).toContainEqual(expect.objectContaining({ name: 'models/agent/helper' }));
    expect(await bodyOf(await h.send('GET', '/v1/models/agent/helper', undefined, headers))).toMatchObject({ name: 'models/agent/helper' });
    expect(await bodyOf(await h.send('GET', '/v1/models'))).not.toHaveProperty('models');
  });
});

describe('the token count', () => {
  const count = (model: string, body: object) => ask(model, body, {}, 'countTokens');

  it('is the provider’s own count for contents alone', async () => {
    expect(await bodyOf(await count('google/x', { contents }))).toEqual({ totalTokens: 7 });
    expect(sent[0]?.body).toEqual({ contents, model: 'google/x' });
  });

  it('is otherwise a marked estimate, which grows with the request', async () => {
    const long = [{ role: 'user', parts: [{ text: 'x'.repeat(40) }] }];
    expect(await bodyOf(await count('rehearsal/default', { contents: long }))).toEqual({ totalTokens: 10, estimated: true });
    const whole = { model: 'models/google/x', contents: long, systemInstruction: { parts: [{ text: 'x'.repeat(40) }] } };
    for (const model of ['google/x', 'agent/plain']) {
      const { totalTokens, estimated } = await bodyOf(await count(model, { generateContentRequest: whole }));
      expect([estimated, totalTokens > 19]).toEqual([true, true]);
    }
    expect((await count('rehearsal/default', {})).status).toBe(422);
  });
});

describe('embeddings', () => {
  const content = { parts: [{ text: 'a' }, { text: 'b' }] };

  it('are made by a provider with OpenAI’s API, in the order of the texts', async () => {
    const body = {
      requests: [
        { content, taskType: 'SEMANTIC_SIMILARITY', outputDimensionality: 2 },
        { content: { parts: [{ text: 'c' }] }, output_dimensionality: 2 },
      ],
    };
    const answer = await ask('openai/embed', body, {}, 'batchEmbedContents');
    expect(await bodyOf(answer)).toEqual({ embeddings: [{ values: [1, 2] }, { values: [3] }] });
    expect(answer.headers.get('x-moniker-dropped')).toBe('requests[].taskType');
    expect(passed[0]).toMatchObject({
      ref: 'openai/embed',
      path: '/embeddings',
      body: { model: 'openai/embed', input: ['a\nb', 'c'], encoding_format: 'float', dimensions: 2 },
    });
  });

  it('are made by a provider of the same API with all that the request has', async () => {
    const answer = await ask('google/embed', { content, taskType: 'X' }, {}, 'embedContent');
    expect([answer.headers.get('x-moniker-dropped'), await bodyOf(answer)]).toEqual([null, { embedding: { values: [0, 0.5] } }]);
    expect(passed[0]?.gemini?.body('models/e')).toEqual({ requests: [{ content, taskType: 'X', model: 'models/e' }] });
  });

  it('are refused without a text, of an agent, of different sizes, and if the provider sends none', async () => {
    const requests = [{ content, outputDimensionality: 1 }, { content }];
    const status = async (model: string, body: object, method: string) => (await ask(model, body, {}, method)).status;
    expect(await status('openai/embed', { content: { parts: [{ inlineData: {} }] } }, 'embedContent')).toBe(422);
    expect(await status('agent/helper', { content }, 'embedContent')).toBe(404);
    expect(await status('openai/embed', { requests }, 'batchEmbedContents')).toBe(422);
    expect(await status('openai/broken', { content }, 'embedContent')).toBe(502);
  });
});
