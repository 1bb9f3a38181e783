/**
 * Fakes of Azure OpenAI, Amazon Bedrock and Vertex AI: what stands around the fakes of the APIs that they have. They check paths, versions and
 * credentials (signatures and assertions are computed here once more, with Node's own cryptography), and frame replies as the clouds do.
 */
import { createHash, createHmac, createVerify, generateKeyPairSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../../src/core/json/wire-value.ts';
import { SseParser } from '../../../src/net/sse.ts';
import type { FakeUpstream } from './upstream.ts';

type Handle = (request: Request) => Promise<Response>;

// ---- AWS ----

export const awsKey = {
  AccessKeyId: 'AKIDEXAMPLE0000EXAMPLE',
  SecretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  SessionToken: 'of+the/session==',
};

/** Returns the `Authorization` that a request must have (guide "Create a signed AWS API request"). */
export async function awsAuthorization(request: Request, { AccessKeyId, SecretAccessKey }: typeof awsKey, region: string): Promise<string> {
  const { pathname, host, searchParams } = new URL(request.url);
  const date = request.headers.get('x-amz-date') ?? '';
  const names = /SignedHeaders=([^,]+)/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const twice = pathname.replace(/[^A-Za-z0-9\-._~/]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const headers = names
    .split(';')
    .map((name) => `${name}:${name === 'host' ? (request.headers.get('host') ?? host) : request.headers.get(name)}\n`);
  const canonical = [request.method, twice, searchParams.toString(), headers.join(''), names, sha(await request.clone().text())].join('\n');
  const scope = `${date.slice(0, 8)}/${region}/bedrock/aws4_request`;
  const key = [date.slice(0, 8), region, 'bedrock', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${SecretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha(canonical)].join('\n')).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${AccessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}

/** Returns one message of an event stream (Smithy, "Amazon Event Stream"). */
export function eventMessage(headers: Readonly<Record<string, string>>, payload: string | Uint8Array): Uint8Array {
  const body = Buffer.from(payload);
  const head = Buffer.concat(
    Object.entries({ ...headers, ':content-type': 'application/json' }).map(([name, value]) => {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), size, Buffer.from(value)]);
    }),
  );
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(Buffer.concat([prelude, head, body])));
  return new Uint8Array(Buffer.concat([prelude, head, body, end]));
}

export const eventOf = (name: string, value: unknown): Uint8Array =>
  eventMessage({ ':message-type': 'event', ':event-type': name }, JSON.stringify(value));

export function eventStream(messages: readonly Uint8Array[], status = 200): Response {
  return new Response(Buffer.concat(messages), { status, headers: { 'content-type': 'application/vnd.amazon.eventstream' } });
}

const awsError = (status: number, type: string, message: string): Response =>
  Response.json({ message }, { status, headers: { 'x-amzn-errortype': type } });

/** Bedrock in one region: Claude by `InvokeModel`, all other models by `Converse`. `claude`: the fake of the Messages API behind both. */
export function fakeBedrock(claude: FakeUpstream, region = 'us-east-1'): FakeUpstream {
  const messages = async (body: Json, model: string, stream: boolean): Promise<Response> =>
    await claude.handle(
      new Request('http://claude.test/messages', {
        method: 'POST',
        headers: { 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ ...body, model, stream }),
      }),
    );
  /** Base models only; the body is one of `InvokeModel`. */
  const countTokens = async (model: string, { input }: Json): Promise<Response> => {
    const encoded = recordOf(recordOf(input).invokeModel).body;
    if (typeof encoded !== 'string' || !/^anthropic\./.test(model))
      return awsError(400, 'ValidationException', "The provided model doesn't support counting tokens.");
    const body = JSON.parse(Buffer.from(encoded, 'base64').toString()) as Json;
    if (body.anthropic_version !== 'bedrock-2023-05-31' || !Number.isInteger(body.max_tokens) || 'model' in body)
      return awsError(400, 'ValidationException', 'max_tokens: Field required');
    return Response.json({ inputTokens: JSON.stringify(body.messages).length });
  };
  return {
    understood: claude.understood,
    refused: claude.refused,
    async handle(request) {
      const { pathname } = new URL(request.url);
      const [, encoded = '', operation = ''] = /^\/model\/([^/]+)\/([a-z-]+)$/.exec(pathname) ?? [];
      const authorization = request.headers.get('authorization');
      if (authorization !== (await awsAuthorization(request, awsKey, region)))
        return awsError(403, 'InvalidSignatureException', 'The request signature we calculated does not match the signature you provided.');
      if (request.headers.get('x-amz-security-token') !== awsKey.SessionToken)
        return awsError(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.');
      const model = decodeURIComponent(encoded);
      const body = JSON.parse(await request.text()) as Json;
      const isStream = operation.endsWith('-stream');
      if (operation === 'count-tokens') return await countTokens(model, body);
      if (operation === 'invoke' && !/anthropic/.test(model)) return embed(model, body);
      if (operation.startsWith('invoke')) {
        const { anthropic_version: version, anthropic_beta: _beta, ...rest } = body;
        const extra = ['model', 'stream'].find((name) => name in rest);
        if (version !== 'bedrock-2023-05-31' || extra !== undefined)
          return awsError(400, 'ValidationException', `${extra ?? 'anthropic_version'}: Extra inputs are not permitted`);
        const reply = await messages(rest, model, isStream);
        if (!reply.ok) return awsError(400, 'ValidationException', stringOf(recordOf(recordOf(await reply.json()).error).message));
        if (!isStream) return reply;
        const events = new SseParser()
          .take(await reply.text())
          .map(({ data }) => eventOf('chunk', { bytes: Buffer.from(data).toString('base64'), p: 'abcdef' }));
        return eventStream(events);
      }
      const converted = asMessages(body);
      if (typeof converted === 'string') return awsError(400, 'ValidationException', converted);
      const reply = await messages(converted, model, isStream);
      if (!reply.ok) return awsError(400, 'ValidationException', stringOf(recordOf(recordOf(await reply.json()).error).message));
      if (!isStream) return Response.json(asConverse((await reply.json()) as Json));
      return eventStream(converseFrames(new SseParser().take(await reply.text()).map(({ data }) => JSON.parse(data) as Json)));
    },
  };
}

/** Embeddings: Titan takes one text, Cohere 96. The first number is the length of the text. */
function embed(model: string, { inputText, dimensions, texts, input_type: type, embedding_types: types }: Json): Response {
  const vectorOf = (text: unknown) => [String(text).length, 0.5];
  if (/titan/.test(model))
    return typeof inputText === 'string' && (dimensions === undefined || [256, 512, 1024].includes(Number(dimensions)))
      ? Response.json({ embedding: vectorOf(inputText), inputTextTokenCount: 2, embeddingsByType: { float: vectorOf(inputText) } })
      : awsError(400, 'ValidationException', 'Malformed input request, please reformat your input and try again.');
  if (!Array.isArray(texts) || texts.length > 96 || typeof type !== 'string' || JSON.stringify(types) !== '["float"]')
    return awsError(400, 'ValidationException', 'invalid request');
  const headers = { 'x-amzn-bedrock-input-token-count': String(texts.length * 3) };
  return Response.json({ id: 'e', texts, embeddings: { float: texts.map(vectorOf) }, response_type: 'embeddings_by_type' }, { headers });
}

const requestMembers = ['messages', 'system', 'toolConfig', 'inferenceConfig', 'additionalModelRequestFields', 'outputConfig'];

/** Returns the request as one of the Messages API; a text: why Bedrock refuses it. */
function asMessages(body: Json): Json | string {
  const unknown = Object.keys(body).find((name) => !requestMembers.includes(name));
  if (unknown !== undefined) return `Unknown member ${unknown}`;
  const { maxTokens = 1000, temperature, topP, stopSequences } = recordOf(body.inferenceConfig);
  const { tools = [], toolChoice } = recordOf(body.toolConfig);
  const { any, tool } = recordOf(toolChoice);
  return JSON.parse(
    JSON.stringify({
      messages: listOf(body.messages)
        .map(recordOf)
        .map(({ role, content }) => ({ role, content: listOf(content).map(recordOf).map(asBlock) })),
      max_tokens: maxTokens,
      system: body.system === undefined ? undefined : listOf(body.system).map((block) => ({ type: 'text', ...recordOf(block) })),
      temperature,
      top_p: topP,
      stop_sequences: stopSequences,
      ...recordOf(body.additionalModelRequestFields),
      tools: listOf(tools).map((one) => {
        const { name, description, inputSchema } = recordOf(recordOf(one).toolSpec);
        return { name, description, input_schema: recordOf(inputSchema).json };
      }),
      tool_choice: any !== undefined ? { type: 'any' } : isRecord(tool) ? { type: 'tool', name: tool.name } : undefined,
    }),
  ) as Json;
}

function asBlock({ text, toolUse, toolResult, reasoningContent, image }: Json): Json {
  if (text !== undefined) return { type: 'text', text };
  if (isRecord(toolUse)) return { type: 'tool_use', id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input };
  if (isRecord(toolResult)) {
    const content = listOf(toolResult.content).map(recordOf).map(asBlock);
    return { type: 'tool_result', tool_use_id: toolResult.toolUseId, content, is_error: toolResult.status === 'error' };
  }
  if (isRecord(image)) {
    const source = { type: 'base64', media_type: `image/${stringOf(image.format)}`, data: recordOf(image.source).bytes };
    return { type: 'image', source };
  }
  const { text: thinking, signature } = recordOf(recordOf(reasoningContent).reasoningText);
  return { type: 'thinking', thinking, signature };
}

const usageOf = (usage: Json): Json => ({
  inputTokens: usage.input_tokens,
  outputTokens: usage.output_tokens,
  totalTokens: Number(usage.input_tokens) + Number(usage.output_tokens),
  cacheReadInputTokens: usage.cache_read_input_tokens,
  cacheWriteInputTokens: usage.cache_creation_input_tokens,
});

function asConverse({ content, stop_reason: stopReason, usage }: Json): Json {
  const blocks = listOf(content)
    .map(recordOf)
    .map((block): Json => {
      if (block.type === 'text') return { text: block.text };
      if (block.type === 'tool_use') return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
      return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
    });
  return {
    output: { message: { role: 'assistant', content: blocks } },
    stopReason,
    usage: usageOf(recordOf(usage)),
    metrics: { latencyMs: 551 },
  };
}

function converseFrames(events: readonly Json[]): Uint8Array[] {
  let usage: Json = {};
  return events.flatMap((event): Uint8Array[] => {
    const contentBlockIndex = event.index;
    const { type, id, name } = recordOf(event.content_block);
    const delta = recordOf(event.delta);
    usage = { ...usage, ...recordOf(event.usage ?? recordOf(event.message).usage) };
    switch (event.type) {
      case 'message_start':
        return [eventOf('messageStart', { role: 'assistant', p: 'abc' })];
      case 'content_block_start':
        // Texts and reasoning have no start.
        return type === 'tool_use'
          ? [eventOf('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } })]
          : [];
      case 'content_block_delta': {
        const { text, thinking, signature, partial_json: input } = delta;
        const wire =
          text !== undefined
            ? { text }
            : input !== undefined
              ? { toolUse: { input } }
              : { reasoningContent: thinking !== undefined ? { text: thinking } : { signature } };
        return [eventOf('contentBlockDelta', { contentBlockIndex, delta: wire, p: 'abcd' })];
      }
      case 'content_block_stop':
        return [eventOf('contentBlockStop', { contentBlockIndex })];
      case 'message_delta':
        return [eventOf('messageStop', { stopReason: delta.stop_reason })];
      case 'message_stop':
        return [eventOf('metadata', { usage: usageOf(usage), metrics: { latencyMs: 900 } })];
      default:
        return [];
    }
  });
}

// ---- Google and Microsoft ----

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

export const serviceAccount = {
  type: 'service_account',
  project_id: 'my-project',
  private_key_id: 'key1',
  private_key: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  client_email: 'models@my-project.iam.gserviceaccount.com',
  client_id: '1',
  token_uri: 'https://oauth2.googleapis.com/token',
  universe_domain: 'googleapis.com',
};
export const entraClient = { tenantId: '11111111-2222-3333-4444-555555555555', clientId: 'client', clientSecret: 'secret~of.the.client' };

/** The token endpoints of both. Their tokens are `token-1`, `token-2` …; `valid` is the only one that `guarded` accepts. */
export function fakeTokens(now: () => number) {
  const state = { bought: [] as string[], valid: '' };
  const issue = (url: string): Response => {
    state.bought.push(url);
    state.valid = `token-${state.bought.length}`;
    return Response.json({ token_type: 'Bearer', expires_in: 3599, access_token: state.valid });
  };
  const handle: Handle = async (request) => {
    const form = new URLSearchParams(await request.text());
    if (request.url === 'https://oauth2.googleapis.com/token') {
      const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
      const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(rsa.publicKey, Buffer.from(signature, 'base64url'));
      const { iss, aud, iat, exp, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
      const isValid =
        iss === serviceAccount.client_email && aud === request.url && iat === Math.floor(now() / 1000) && exp === Number(iat) + 3600;
      if (!isSigned || !isValid || scope !== 'https://www.googleapis.com/auth/cloud-platform')
        return Response.json({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, { status: 400 });
      return issue(request.url);
    }
    if (form.get('client_secret') !== entraClient.clientSecret)
      return Response.json(
        { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' },
        { status: 401 },
      );
    return issue(`${request.url} ${form.get('scope')}`);
  };
  /** Sends requests with the valid token on. */
  const guarded =
    (service: Handle): Handle =>
    async (request) => {
      if (/^(oauth2\.googleapis\.com|login\.microsoftonline\.)/.test(new URL(request.url).host)) return await handle(request);
      if (request.headers.get('authorization') !== `Bearer ${state.valid}`)
        return Response.json(
          { error: { code: 401, status: 'UNAUTHENTICATED', message: 'Request had invalid credentials.' } },
          { status: 401 },
        );
      return await service(request);
    };
  return { state, guarded };
}
