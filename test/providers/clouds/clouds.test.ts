/** Each cloud, with the fakes of the APIs of its models behind its own paths, credentials and frames. */
import { describe, expect, it } from 'vitest';
import { createDropped } from '../../../src/core/model/dropped.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import type { Logger } from '../../../src/ports/runtime.ts';
import { createModelLists } from '../../../src/providers/lists/model-list.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { chatModelContract, collect } from '../../contracts/chat-model.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { fakeAnthropic, signatureOf } from '../../fakes/upstreams/anthropic.ts';
import {
  awsKey,
  entraClient,
  eventMessage,
  eventOf,
  eventStream,
  fakeBedrock,
  fakeTokens,
  serviceAccount,
} from '../../fakes/upstreams/clouds.ts';
import { fakeGemini } from '../../fakes/upstreams/gemini.ts';
import { fakeOpenAi } from '../../fakes/upstreams/openai.ts';
import { partsOf } from '../said-parts.ts';
import { calls, scriptOf } from '../sdk-script.ts';
import { accessOf } from './access.ts';

const script = scriptOf({ text: { text: 'Hello there.' }, calls: { reasoning: 'I look both up.', text: 'One moment.', calls } });
const offered = calls.map(({ name }) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } }));
const requestOf = (access: ProviderAccess, model: string, text: string, fields: Partial<ChatRequest> = {}): ChatRequest => ({
  access,
  model,
  messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  tools: offered,
  toolChoice: 'auto',
  settings: {},
  ...fields,
});
const clock = fakeClock();
const modelOver = (handle: (request: Request) => Promise<Response>) => createChatModel({ http: handle, clock, rehearsal: rehearsalHttp });

const azureUrl = 'https://my.openai.azure.com';
const onAzure = (paths: string[], handle: (request: Request) => Promise<Response>) => async (request: Request) => {
  const { origin, pathname, search } = new URL(request.url);
  paths.push(origin + pathname + search);
  if (request.headers.get('api-key') !== 'azure-key')
    return Response.json({ error: { code: '401', message: 'Access denied' } }, { status: 401 });
  // The fake of the API knows keys in the usual header alone.
  const known = new Request(request);
  known.headers.set('authorization', 'Bearer x');
  return await handle(known);
};

const azure = await accessOf({ kind: 'azure-openai', baseUrl: azureUrl, apiVersion: '2024-10-21' }, 'azure-key');
const bedrock = await accessOf({ kind: 'bedrock', region: 'us-east-1' }, awsKey);
const vertex = await accessOf({ kind: 'vertex', project: 'my-project', region: 'us-central1' }, serviceAccount);

chatModelContract('Azure OpenAI', () => ({
  model: modelOver(onAzure([], fakeOpenAi(script).handle)),
  text: requestOf(azure, 'my-gpt', 'text'),
  twoCalls: requestOf(azure, 'my-gpt', 'calls'),
  refused: requestOf({ ...azure, headers: {} }, 'my-gpt', 'text'),
}));
chatModelContract('Claude on Bedrock', () => ({
  model: modelOver(fakeBedrock(fakeAnthropic(script)).handle),
  text: requestOf(bedrock, 'us.anthropic.claude-haiku-4-5-20251001-v1:0', 'text'),
  twoCalls: requestOf(bedrock, 'us.anthropic.claude-haiku-4-5-20251001-v1:0', 'calls'),
  refused: requestOf(bedrock, '..', 'text'),
}));
chatModelContract('Converse of Bedrock', () => ({
  model: modelOver(fakeBedrock(fakeAnthropic(script)).handle),
  text: requestOf(bedrock, 'amazon.nova-pro-v1:0', 'text'),
  twoCalls: requestOf(bedrock, 'amazon.nova-pro-v1:0', 'calls'),
  refused: requestOf({ ...bedrock, baseUrl: 'https://bedrock.example.com/nowhere' }, 'amazon.nova-pro-v1:0', 'text'),
}));
chatModelContract('Gemini on Vertex AI', () => ({
  model: modelOver(fakeTokens(clock.now).guarded(fakeGemini(script).handle)),
  text: requestOf({ ...vertex, cloud: { ...vertex.cloud } as typeof vertex.cloud & object }, 'google/gemini-2.5-flash', 'text'),
  twoCalls: requestOf({ ...vertex, cloud: { ...vertex.cloud } as typeof vertex.cloud & object }, 'gemini-2.5-flash', 'calls'),
  refused: requestOf(vertex, 'anthropic/..', 'text'),
}));

describe('a request to a model on Bedrock', () => {
  const sentTo = async (model: string, fields: Partial<ChatRequest> = {}): Promise<Request> => {
    const sent: Request[] = [];
    const fake = fakeBedrock(fakeAnthropic(script));
    await collect(
      modelOver((request) => {
        sent.push(request.clone());
        return fake.handle(request);
      }),
      requestOf(bedrock, model, 'text', fields),
    );
    expect(sent).toHaveLength(1);
    return sent[0] as Request;
  };

  it.each([
    'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1b2c3d4e5f6',
    'meta.llama3-1-8b-instruct-v1:0',
    "odd (name)*'!~",
  ])('is signed with the path of the model %s', async (model) => {
    // The fake computes the signature, too, and refuses another one.
    const { pathname } = new URL((await sentTo(model)).url);
    expect(decodeURIComponent(pathname.split('/')[2] ?? '')).toBe(model);
  });

  it('is sent with the key of Bedrock as a bearer, if that is what the provider has', async () => {
    const access = await accessOf({ kind: 'bedrock', region: 'eu-central-1' }, 'ABSKQmVkcm9ja0FQSUtleQ==');
    const sent: Request[] = [];
    const handle = (request: Request) => {
      sent.push(request);
      return Promise.resolve(
        Response.json({ output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } }, stopReason: 'end_turn' }),
      );
    };
    await collect(modelOver(handle), requestOf(access, 'amazon.nova-lite-v1:0', 'text', { whole: true }));
    expect(sent[0]?.url).toBe('https://bedrock-runtime.eu-central-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse');
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer ABSKQmVkcm9ja0FQSUtleQ==');
    expect(sent[0]?.headers.has('x-amz-date')).toBe(false);
  });

  it('has settings, cache points, images, documents and results in the form of Converse', async () => {
    const image = { type: 'image' as const, mediaType: 'image/png', data: 'iVBORw0KGgo=' };
    const pdf = { type: 'file' as const, mediaType: 'application/pdf', data: 'JVBERi0=', name: 'My_report: 1.pdf' };
    const call = { type: 'tool-call' as const, callId: 'c1', requested: 'get_weather', canonical: null, arguments: { city: 'Oslo' } };
    const result = { type: 'tool-result' as const, callId: 'c1', requested: 'get_weather', canonical: null, isError: true, content: [] };
    const messages: ChatRequest['messages'] = [
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.', cache: {} }] } as never,
      { role: 'user', parts: [image, pdf] },
      { role: 'assistant', parts: [call as never] },
      { role: 'tool', parts: [result as never] },
      { role: 'user', parts: [{ type: 'text', text: 'text' }] },
    ];
    const settings = { maxOutputTokens: 50, temperature: 0.5, stop: ['END'] };
    const sent = await bodyFor('amazon.nova-pro-v1:0', { messages, settings, toolChoice: { tool: 'get_weather' } });
    expect(sent).toMatchObject({
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      inferenceConfig: { maxTokens: 50, temperature: 0.5, stopSequences: ['END'] },
      messages: [
        {
          role: 'user',
          content: [
            { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
            { document: { format: 'pdf', name: 'My report 1 pdf 2', source: { bytes: 'JVBERi0=' } } },
            { text: 'See the document.' },
          ],
        },
        { role: 'assistant', content: [{ toolUse: { name: 'get_weather', input: { city: 'Oslo' } } }] },
        {
          role: 'user',
          content: [{ toolResult: { status: 'error', content: [{ text: 'The tool failed without output.' }] } }, { text: 'text' }],
        },
      ],
      toolConfig: { toolChoice: { tool: { name: 'get_weather' } } },
    });
    expect(JSON.stringify(sent)).not.toMatch(/"(type":"text"|cache_control|model|stream)/);
  });

  it('declares no tools if none may be called, and has earlier calls as text then', async () => {
    const call = { type: 'tool-call', callId: 'c1', requested: 'get_weather', canonical: null, arguments: { city: 'Oslo' } };
    const result = {
      type: 'tool-result',
      callId: 'c1',
      requested: 'get_weather',
      canonical: null,
      isError: false,
      content: [{ type: 'text', text: 'cold' }],
    };
    const messages = [
      { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [result] },
    ] as never;
    const sent = await bodyFor('amazon.nova-pro-v1:0', { messages, toolChoice: 'none' });
    expect(sent.toolConfig).toBeUndefined();
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ text: 'hi' }] },
      { role: 'assistant', content: [{ text: '[Call of get_weather] {"city":"Oslo"}' }] },
      { role: 'user', content: [{ text: '[Result] cold' }] },
    ]);
  });

  const bodyFor = async (model: string, fields: Partial<ChatRequest>): Promise<Record<string, unknown>> => {
    const sent: unknown[] = [];
    const handle = async (request: Request) => {
      sent.push(await request.json());
      return Response.json({ output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } }, stopReason: 'end_turn' });
    };
    await collect(modelOver(handle), requestOf(bedrock, model, 'text', { whole: true, ...fields }));
    return sent[0] as Record<string, unknown>;
  };

  it('has the effort of models that reason in their own members', async () => {
    const settings = { reasoningEffort: 'high' as const };
    expect(await bodyFor('openai.gpt-oss-120b-1:0', { settings })).toMatchObject({
      additionalModelRequestFields: { reasoning_effort: 'high' },
    });
    expect(await bodyFor('us.amazon.nova-2-lite-v1:0', { settings })).toMatchObject({
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    });
    expect(await bodyFor('meta.llama3-1-8b-instruct-v1:0', { settings })).not.toHaveProperty('additionalModelRequestFields');
  });

  it('reports settings that Converse does not have', async () => {
    const dropped = createDropped();
    await bodyFor('amazon.nova-pro-v1:0', { settings: { topK: 4, seed: 1, user: 'u' }, dropped });
    expect(dropped.items().map(({ name }) => name)).toEqual(expect.arrayContaining(['topK', 'seed', 'user']));
  });

  it('returns reasoning with its signature in the next request', async () => {
    const fake = fakeBedrock(fakeAnthropic(script));
    const model = modelOver(fake.handle);
    const first = requestOf(bedrock, 'amazon.nova-pro-v1:0', 'calls');
    const parts = partsOf(await collect(model, first));
    const results = parts.flatMap((part) =>
      part.type === 'tool-call'
        ? [{ type: 'tool-result' as const, callId: part.callId, requested: part.requested, canonical: null, isError: false, content: [] }]
        : [],
    );
    const messages = [
      ...first.messages,
      { role: 'assistant', parts, model: 'cloud/amazon.nova-pro-v1:0' },
      { role: 'tool', parts: results },
    ];
    const events = await collect(model, { ...first, messages: messages as never });
    expect(events[0]).toEqual({ type: 'text', text: 'Done.' });
    expect(fake.understood[1]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', calls, returned: [signatureOf('I look both up.')] },
      { role: 'tool', results: [{ text: '(no output)' }, { text: '(no output)' }] },
    ]);
  });
});

describe('a reply of Bedrock', () => {
  const eventsOf = async (response: () => Response, model = 'amazon.nova-pro-v1:0') =>
    await collect(
      modelOver(() => Promise.resolve(response())),
      requestOf(bedrock, model, 'text'),
    );
  const text = eventOf('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' }, p: 'ab' });

  it('has usage with the tokens of the cache', async () => {
    const usage = { inputTokens: 5, outputTokens: 2, totalTokens: 17, cacheReadInputTokens: 7, cacheWriteInputTokens: 3 };
    const events = await eventsOf(() =>
      eventStream([text, eventOf('messageStop', { stopReason: 'end_turn' }), eventOf('metadata', { usage })]),
    );
    expect(events).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'usage', usage: { inputTokens: 15, outputTokens: 2, cachedInputTokens: 7, cacheWriteInputTokens: 3 } },
      { type: 'finish', reason: 'stop', raw: 'end_turn' },
    ]);
  });

  it.each([
    ['guardrail_intervened', 'content-filter'],
    ['content_filtered', 'content-filter'],
    ['max_tokens', 'length'],
    ['stop_sequence', 'stop'],
  ])('that stops with %s ends with %s', async (stopReason, reason) => {
    const events = await eventsOf(() => eventStream([text, eventOf('messageStop', { stopReason }), eventOf('metadata', { usage: {} })]));
    expect(events.at(-1)).toEqual({ type: 'finish', reason, raw: stopReason });
  });

  it('with a malformed call is a failure', async () => {
    const events = await eventsOf(() => eventStream([text, eventOf('messageStop', { stopReason: 'malformed_tool_use' })]));
    expect(events.at(-1)).toMatchObject({ type: 'error', retryable: true });
  });

  it.each([
    ['throttlingException', 'rate_limited'],
    ['serviceUnavailableException', 'unavailable'],
    ['modelStreamErrorException', 'upstream_error'],
  ])('with the exception %s in its stream ends with the problem %s', async (name, code) => {
    const exception = eventMessage({ ':message-type': 'exception', ':exception-type': name }, JSON.stringify({ message: 'No capacity.' }));
    const events = await eventsOf(() => eventStream([text, exception]));
    expect(events).toMatchObject([{ type: 'text' }, { type: 'error', problem: { code, detail: expect.stringContaining('No capacity.') } }]);
  });

  it('that is cut off, or has a wrong checksum, ends with an error', async () => {
    const damaged = Uint8Array.from(text);
    damaged[damaged.length - 6] = (damaged[damaged.length - 6] ?? 0) ^ 1;
    for (const last of [text.subarray(0, 20), damaged])
      expect((await eventsOf(() => eventStream([text, last]))).at(-1)).toMatchObject({
        type: 'error',
        problem: { code: 'upstream_error' },
      });
  });

  it('that refuses the request is reported with the message of AWS', async () => {
    const refusal = () => Response.json({ message: 'Malformed input request: #/maxTokens' }, { status: 400 });
    await expect(eventsOf(refusal)).rejects.toMatchObject({
      detail: expect.stringContaining('Malformed input request'),
      extra: { upstreamStatus: 400 },
    });
  });
});

describe('a token of a cloud', () => {
  const send = async (tokens: ReturnType<typeof fakeTokens>, access: ProviderAccess) => {
    const model = modelOver(
      tokens.guarded(() => Promise.resolve(Response.json({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }))),
    );
    return await collect(model, requestOf(access, access.kind === 'vertex' ? 'meta/llama-4' : 'gpt', 'text', { whole: true, tools: [] }));
  };
  const entra = { kind: 'azure-openai', baseUrl: azureUrl };

  it('is bought once, and again shortly before it expires', async () => {
    const tokens = fakeTokens(clock.now);
    const access = await accessOf(entra, entraClient);
    await send(tokens, access);
    await send(tokens, access);
    expect(tokens.state.bought).toEqual([
      `https://login.microsoftonline.com/${entraClient.tenantId}/oauth2/v2.0/token https://cognitiveservices.azure.com/.default`,
    ]);
    await clock.advance(3550_000);
    await send(tokens, access);
    expect(tokens.state.bought).toHaveLength(2);
  });

  it('that the service refuses is bought again, once', async () => {
    const tokens = fakeTokens(clock.now);
    const access = await accessOf({ kind: 'vertex', project: 'my-project' }, serviceAccount);
    await send(tokens, access);
    tokens.state.valid = 'another';
    await send(tokens, access);
    expect(tokens.state.bought).toHaveLength(2);
    const requests: string[] = [];
    const model = modelOver((request) => {
      requests.push(new URL(request.url).host);
      return Promise.resolve(
        Response.json(requests.at(-1) === 'oauth2.googleapis.com' ? { access_token: 't', expires_in: 3599 } : {}, {
          status: requests.at(-1) === 'oauth2.googleapis.com' ? 200 : 401,
        }),
      );
    });
    const fresh = await accessOf({ kind: 'vertex', project: 'my-project' }, serviceAccount);
    await expect(collect(model, requestOf(fresh, 'gemini-2.5-flash', 'text'))).rejects.toMatchObject({
      code: 'upstream_error',
      extra: { upstreamStatus: 401 },
    });
    expect(requests).toEqual(['oauth2.googleapis.com', 'aiplatform.googleapis.com', 'oauth2.googleapis.com', 'aiplatform.googleapis.com']);
  });

  it('is bought for each provider apart', async () => {
    const tokens = fakeTokens(clock.now);
    await send(tokens, await accessOf(entra, entraClient));
    await send(tokens, await accessOf(entra, entraClient));
    expect(tokens.state.bought).toHaveLength(2);
  });

  it('is removed from what a server returns that is not one of the cloud', async () => {
    const token = `ey${'x'.repeat(40)}`;
    const proxied = await accessOf({ kind: 'azure-openai', baseUrl: 'https://proxy.example.com' }, entraClient);
    const model = modelOver((request) => {
      if (new URL(request.url).host === 'login.microsoftonline.com')
        return Promise.resolve(Response.json({ access_token: token, expires_in: 3599 }));
      const content = `You sent ${request.headers.get('authorization')}`;
      return Promise.resolve(Response.json({ choices: [{ message: { content }, finish_reason: 'stop' }] }));
    });
    const events = await collect(model, requestOf(proxied, 'gpt', 'text', { whole: true, tools: [] }));
    expect(JSON.stringify(events)).toContain('You sent Bearer');
    expect(JSON.stringify(events)).not.toContain(token);
  });

  it('that is not issued is a problem that names the host and the reason, without the secret', async () => {
    const tokens = fakeTokens(clock.now);
    const wrong = await accessOf(entra, { ...entraClient, clientSecret: 'secret~that.is.wrong' });
    const problem: unknown = await send(tokens, wrong).catch((error: unknown) => error);
    expect(problem).toMatchObject({
      code: 'not_configured',
      detail: 'The provider "cloud" gets no token from login.microsoftonline.com (401: invalid_client).',
    });
    const noKey = await accessOf({ kind: 'vertex', project: 'my-project' }, { ...serviceAccount, private_key: 'nonsense' });
    await expect(send(tokens, noKey)).rejects.toMatchObject({ code: 'not_configured', detail: expect.stringContaining('not an RSA key') });
  });
});

describe('a request to Azure or Vertex AI', () => {
  const urlFor = async (access: ProviderAccess, model: string, fields: Partial<ChatRequest> = {}): Promise<string> => {
    const urls: string[] = [];
    const handle = (request: Request) => {
      urls.push(request.url);
      return Promise.resolve(new Response('{"error":{"message":"no"}}', { status: 400 }));
    };
    await collect(modelOver(handle), requestOf(access, model, 'text', fields)).catch(() => undefined);
    return urls.at(-1) ?? '';
  };

  it.each([
    [undefined, 'https://my.openai.azure.com/openai/v1/chat/completions'],
    ['v1', 'https://my.openai.azure.com/openai/v1/chat/completions'],
    ['preview', 'https://my.openai.azure.com/openai/v1/chat/completions?api-version=preview'],
    ['2024-10-21', 'https://my.openai.azure.com/openai/deployments/my%2Fgpt/chat/completions?api-version=2024-10-21'],
  ])('has the path of the version %s', async (apiVersion, url) => {
    for (const baseUrl of [azureUrl, `${azureUrl}/`, `${azureUrl}/openai`, `${azureUrl}/openai/v1/`])
      expect(await urlFor(await accessOf({ kind: 'azure-openai', baseUrl, apiVersion }, 'k'), 'my/gpt')).toBe(url);
  });

  it('is sent by Responses without a deployment in the path', async () => {
    const profile = { api: 'responses' };
    const dated = await accessOf({ kind: 'azure-openai', baseUrl: azureUrl, apiVersion: '2025-04-01-preview', profile }, 'k');
    expect(await urlFor(dated, 'gpt')).toBe(`${azureUrl}/openai/responses?api-version=2025-04-01-preview`);
    expect(await urlFor(await accessOf({ kind: 'azure-openai', baseUrl: azureUrl, profile }, 'k'), 'gpt')).toBe(
      `${azureUrl}/openai/v1/responses`,
    );
  });

  const project = 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global';
  it.each([
    ['gemini-2.5-pro', `${project}/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`],
    ['google/gemini-2.5-pro', `${project}/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`],
    ['projects/other/locations/x/publishers/google/models/g', `${project}/publishers/google/models/g:streamGenerateContent?alt=sse`],
    ['claude-sonnet-4-5@20250929', `${project}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:streamRawPredict`],
    ['anthropic/claude-sonnet-4-5', `${project}/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict`],
    ['meta/llama-4-maverick', `${project}/endpoints/openapi/chat/completions`],
    ['endpoints/123', `${project}/endpoints/123:streamGenerateContent?alt=sse`],
  ])('is sent for the model %s to its API', async (model, url) => {
    // The key is a token here.
    expect(await urlFor(await accessOf({ kind: 'vertex', project: 'my-project' }, 'ya29.token'), model)).toBe(url);
  });

  it.each([
    ['us-central1', 'us-central1-aiplatform.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
  ])('goes to the host of the location %s', async (region, host) => {
    const access = await accessOf({ kind: 'vertex', project: 'my-project', region }, 'ya29.token');
    expect(new URL(await urlFor(access, 'gemini-2.5-pro')).host).toBe(host);
  });

  it('is refused for a model that would change the path, before anything is sent', async () => {
    for (const [access, model] of [
      [azure, '..'],
      [bedrock, '.'],
      [bedrock, ''],
    ] as const)
      expect(await urlFor(access, model)).toBe('');
  });
});

describe('what Azure filters', () => {
  it('is reported with its code, before and in a stream', async () => {
    const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: { hate: { filtered: true, severity: 'high' } } };
    const error = {
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror,
    };
    const refused = modelOver(() => Promise.resolve(Response.json({ error }, { status: 400 })));
    await expect(collect(refused, requestOf(azure, 'gpt', 'text'))).rejects.toMatchObject({
      extra: { reported: { code: 'content_filter', param: 'prompt' } },
    });
    const chunks = [
      {
        choices: [],
        created: 0,
        id: '',
        model: '',
        object: '',
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { filtered: false, severity: 'safe' } } }],
      },
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'gpt-4o',
        choices: [{ index: 0, delta: { content: 'Hi', role: 'assistant' }, finish_reason: null, content_filter_results: {} }],
      },
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'gpt-4o',
        choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }],
      },
    ];
    const stream = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
    const filtered = modelOver(() => Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } })));
    const events = await collect(filtered, requestOf(azure, 'gpt', 'text'));
    expect(events[0]).toEqual({ type: 'text', text: 'Hi' });
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'content-filter', raw: 'content_filter' });
  });
});

it('a cloud is not asked for a list of models, and those of the document are listed', async () => {
  const providers = [
    { name: 'aws', models: [] },
    { name: 'google', models: ['gemini-2.5-pro'] },
  ];
  const directory = { providers: () => Promise.resolve(providers), provider: () => Promise.resolve(bedrock) } as unknown as Directory;
  const outbound = () => Promise.reject(new Error('is not called'));
  const lines: string[] = [];
  const log = { info: (message: string) => void lines.push(message) } as unknown as Logger;
  const { listed } = await createModelLists({ directory, outbound, clock, log }).models('w');
  expect(listed.map(({ provider, model }) => `${provider}/${model}`)).toEqual(['google/gemini-2.5-pro']);
  expect(lines).toEqual([]);
});
