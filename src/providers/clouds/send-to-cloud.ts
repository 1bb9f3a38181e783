/**
 * Sends a request to a model of a cloud: its path, its body and its credentials where they differ from those of the API that the adapter knows.
 * Replies come back in the form of that API. Loaded with the first such request. Sources: references "Azure OpenAI v1 API" and "REST API",
 * "InvokeModel", "Converse" and "CountTokens" of Amazon Bedrock, guides "Claude on Vertex AI", "Count tokens for Claude models" and "Signature Version 4".
 */
import { AwsV4Signer } from 'aws4fetch';
import { type CloudAccess, vertexModel } from '../../core/model/cloud-access.ts';
import { isDatedVersion } from '../../core/names/provider-kind.ts';
import { invalidRequest } from '../../core/problem.ts';
import { isCount, type Json, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { MB } from '../../core/limits/units.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { matchBytes, SecretFilter } from '../../core/redaction/secret-filter.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { toBase64 } from '../../core/text/bytes.ts';
import { malformedProblem } from '../provider-error.ts';
import type { ProviderExchange } from '../provider-exchange.ts';
import { bearerToken, forgetToken, type TokenDeps } from './bearer-tokens.ts';
import { fromConverse, toConverse } from './converse.ts';
import { toServerEvents } from './event-stream.ts';
import { withoutLength } from './reply-headers.ts';

const maxReplyBytes = 32 * MB;

/** What differs from the exchange. `form`: of a successful reply. */
type Call = Partial<Pick<ProviderExchange, 'path' | 'body' | 'headers'>> & { form?: 'converse' | 'invoke' | 'count' };

/** `toRequest`: makes the request of the exchange with these changes. Resolves with any response, as `http` does. */
export async function sendToCloud(deps: TokenDeps, exchange: ProviderExchange, toRequest: (call: Call) => Request): Promise<Response> {
  const { access } = exchange;
  const cloud = access.cloud as CloudAccess; // The transport sends only these here.
  const { form, ...call } = callOf(cloud, exchange);
  for (let attempt = 0; ; attempt += 1) {
    const path = call.path ?? exchange.path;
    const own = await credentialsFor(deps, exchange, cloud, { url: access.baseUrl + path, body: call.body });
    const response = await deps.http(toRequest({ ...call, headers: { ...(call.headers ?? exchange.headers), ...own } }));
    // A token that was revoked, or bought with a key that was replaced.
    if (response.status === 401 && attempt === 0 && forgetToken(cloud)) await response.body?.cancel();
    else
      return response.ok && form !== undefined ? await readable(response, form, access) : withoutToken(response, access, own.authorization);
  }
}

async function credentialsFor(
  deps: TokenDeps,
  { access }: ProviderExchange,
  cloud: CloudAccess,
  { url, body }: { url: string; body: unknown },
): Promise<Record<string, string>> {
  if (cloud.key === undefined) return {};
  if (cloud.kind !== 'bedrock') return { authorization: `Bearer ${await bearerToken(deps, access.name, cloud)}` };
  const { AccessKeyId, SecretAccessKey, SessionToken } = cloud.key;
  const signer = new AwsV4Signer({
    method: 'POST',
    url,
    // The client is given a string for every body here.
    body: body as string,
    service: 'bedrock',
    region: cloud.region,
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    ...(SessionToken != null && { sessionToken: SessionToken }),
    datetime: new Date(deps.now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  return Object.fromEntries((await signer.sign()).headers);
}

function callOf(cloud: CloudAccess, exchange: ProviderExchange): Call {
  const { access, path, model } = exchange;
  switch (cloud.kind) {
    case 'azure-openai': {
      const { apiVersion } = cloud;
      const query = apiVersion === undefined || apiVersion === 'v1' ? '' : `${path.includes('?') ? '&' : '?'}api-version=${apiVersion}`;
      const isByDeployment = isDatedVersion(apiVersion) && !path.startsWith('/responses');
      return { path: `${isByDeployment ? `/deployments/${segment(model)}` : ''}${path}${query}` };
    }
    case 'vertex':
      return access.kind === 'anthropic' ? claudeCall(exchange, 'vertex-2023-10-16') : {};
    case 'bedrock': {
      if (access.kind === 'anthropic') return claudeCall(exchange, 'bedrock-2023-05-31');
      if (path === '/invoke')
        return { path: `/model/${segment(model)}/invoke`, body: JSON.stringify(bodyOf(exchange)), headers: { accept: 'application/json' } };
      const isStream = path === '/converse-stream';
      const headers = { accept: isStream ? eventStream : 'application/json' };
      const body = JSON.stringify(toConverse(bodyOf(exchange), model));
      return { path: `/model/${segment(model)}${path}`, body, headers, form: 'converse' };
    }
    default:
      return cloud satisfies never;
  }
}

const eventStream = 'application/vnd.amazon.eventstream';
/** Of the adapter of the Messages API. */
const countTokensPath = '/messages/count_tokens';

/** A request of the Messages API. The path has the model and says whether the reply is a stream; beta features are a header, or a member. */
function claudeCall(exchange: ProviderExchange, version: string): Call {
  const { model: _model, stream, ...body } = bodyOf(exchange);
  const { 'anthropic-beta': beta, 'anthropic-version': _version, ...headers } = exchange.headers ?? {};
  const isStream = stream === true;
  const counts = exchange.path === countTokensPath;
  if (version.startsWith('vertex')) {
    const { name } = vertexModel(exchange.model);
    return {
      path: counts ? '/models/count-tokens:rawPredict' : `/models/${segment(name)}:${isStream ? 'streamRawPredict' : 'rawPredict'}`,
      headers: { ...headers, ...(beta !== undefined && { 'anthropic-beta': beta }) },
      body: JSON.stringify({ ...(counts && { model: name }), ...body, ...(isStream && { stream }), anthropic_version: version }),
    };
  }
  const betas = beta?.split(',').map((name) => name.trim());
  if (counts) {
    // `InvokeModel` requires it, and more than the budget of thinking. It is not counted.
    const max_tokens = body.max_tokens ?? Number(recordOf(body.thinking).budget_tokens ?? 0) + 1;
    const invoked = JSON.stringify({ ...body, max_tokens, ...(betas && { anthropic_beta: betas }), anthropic_version: version });
    return {
      // Inference profiles are not counted, and their models are.
      path: `/model/${segment(exchange.model.replace(/^.*(?=anthropic\.claude)/i, ''))}/count-tokens`,
      headers: { ...headers, accept: 'application/json' },
      body: JSON.stringify({ input: { invokeModel: { body: toBase64(new TextEncoder().encode(invoked)) } } }),
      form: 'count',
    };
  }
  return {
    path: `/model/${segment(exchange.model)}/invoke${isStream ? '-with-response-stream' : ''}`,
    headers: { ...headers, accept: isStream ? eventStream : 'application/json' },
    body: JSON.stringify({ ...body, ...(betas && { anthropic_beta: betas }), anthropic_version: version }),
    form: 'invoke',
  };
}

/** A client's body that is passed on is text. */
function bodyOf({ body }: ProviderExchange): Json {
  return recordOf(typeof body === 'string' ? tryParse(body) : body);
}

/** Returns the model as one segment of a path, escaped as signatures are computed. Throws for one that would change the path. */
function segment(model: string): string {
  if (/^\.{0,2}$/.test(model)) throw invalidRequest([{ path: 'model', message: 'is not the name of a model' }]);
  return encodeURIComponent(model.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

async function readable(response: Response, form: NonNullable<Call['form']>, access: ProviderAccess): Promise<Response> {
  const { body, headers } = response;
  if (form !== 'count' && stringOf(headers.get('content-type')).startsWith(eventStream)) return toServerEvents(response, form);
  if (form === 'invoke' || body === null) return response;
  const { bytes, truncated } = await readBounded(response, maxReplyBytes);
  if (truncated) throw malformedProblem(access, `sent more than ${maxReplyBytes} bytes`);
  const text = new TextDecoder().decode(bytes);
  const reply = tryParse(text);
  if (form === 'count' && !isCount(recordOf(reply).inputTokens)) throw malformedProblem(access, 'sent no count of tokens');
  const read = form === 'count' ? { input_tokens: recordOf(reply).inputTokens } : fromConverse(reply);
  return new Response(reply === undefined ? text : JSON.stringify(read), { headers: withoutLength(headers) });
}

/** Removes a token that was bought from a reply, as `provider-secrets.ts` does with keys. The services that accept it do not return it. */
function withoutToken(response: Response, { baseUrl }: ProviderAccess, authorization: string | undefined): Response {
  const token = /^Bearer (.{16,})$/.exec(authorization ?? '')?.[1];
  const isOfCloud = /(^|[.-])(googleapis|azure)\.com$/.test(new URL(baseUrl).hostname);
  if (token === undefined || isOfCloud || response.body === null) return response;
  const filter = new SecretFilter(matchBytes([token]));
  const filtered = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => controller.enqueue(filter.push(bytes)),
    flush: (controller) => controller.enqueue(filter.end()),
  });
  return new Response(response.body.pipeThrough(filtered), { status: response.status, headers: withoutLength(response.headers) });
}
