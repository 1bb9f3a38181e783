/**
 * Embeddings in the form of OpenAI's API from providers that have their own: Gemini (`batchEmbedContents`), Vertex AI (`predict`), Cohere (`embed`,
 * version 2) and Titan and Cohere on Bedrock (`InvokeModel`). What they cannot be sent is refused, or named as dropped. Sources: the API references of these
 * operations; user guide of Amazon Bedrock, "Amazon Titan Embeddings Text" and "Cohere Embed models".
 */
import type { Dropped } from '../../core/model/dropped.ts';
import { calledName } from '../../core/model/model-name.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { isCount, type Json, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { MB } from '../../core/limits/units.ts';
import { invalidRequest } from '../../core/problem.ts';
import { toBase64 } from '../../core/text/bytes.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { malformedProblem } from '../provider-error.ts';

const maxReplyBytes = 32 * MB;

/** Calls for one request, of a model that takes one text at a time. */
const maxCalls = 256;
/** Connections that a Worker opens at the same time. */
const maxOpenCalls = 6;
const noMember = 'the provider’s embeddings do not have it';

/** `vectors`: of a reply; an item that is no list of numbers makes it invalid. `tokens`: null, if the API does not count. `perCall`: texts; absent: all. */
type OwnCall = {
  path: string;
  perCall?: number;
  body(texts: readonly unknown[]): Json;
  vectors(reply: Json): readonly unknown[];
  tokens(reply: Json, headers: Headers): unknown;
};
type Part = { vectors: readonly (readonly unknown[])[]; tokens: unknown; headers: Headers };

/**
 * Returns what sends the request in the provider's own form, with `open` for each call, and returns the reply in OpenAI's form; null: the provider has OpenAI's API, or
 * no embeddings. It throws `upstream_error` for a reply that has not one vector for each text.
 */
export function ownEmbeddings(access: ProviderAccess, model: string, request: Json, dropped: Dropped) {
  const isBedrock = access.kind === 'bedrock';
  const isCohere = access.kind === 'cohere' || (isBedrock && /(^|[./])cohere\.embed/i.test(model));
  const isTitan = isBedrock && /(^|[./])amazon\.titan-embed-text/i.test(model);
  if (access.kind !== 'gemini' && !isCohere && !isTitan) return null;
  const { input, dimensions, encoding_format: format = 'float', model: _model, ...others } = request;
  const texts = typeof input === 'string' ? [input] : listOf(input);
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    throw invalidRequest([{ path: 'input', message: 'must be a text or a list of texts, because this provider takes no tokens' }]);
  if (format !== 'float' && format !== 'base64') throw invalidRequest([{ path: 'encoding_format', message: 'must be float or base64' }]);
  const { input_type: inputType = 'search_document', ...unsent } = others;
  for (const name of Object.keys(isCohere ? unsent : others)) dropped.add(name, noMember);
  const own = isCohere
    ? cohereCall(access, { model, dimensions, inputType })
    : isTitan
      ? titanCall(model, dimensions, dropped)
      : geminiCall(access, model, dimensions);
  const perCall = own.perCall ?? texts.length;
  if (texts.length > perCall * maxCalls)
    throw invalidRequest([{ path: 'input', message: `has more than ${perCall * maxCalls} texts, the maximum for this model` }]);
  const calls = Array.from({ length: Math.ceil(texts.length / perCall) }, (_, index) =>
    texts.slice(index * perCall, (index + 1) * perCall),
  );

  const readPart = async (response: Response, count: number): Promise<Part> => {
    const { bytes, truncated } = await readBounded(response, maxReplyBytes);
    const reply = recordOf(truncated ? null : tryParse(new TextDecoder().decode(bytes)));
    const vectors = own.vectors(reply).map((vector) => listOf(vector));
    if (vectors.length !== count || !vectors.every((vector) => vector.length > 0 && vector.every(Number.isFinite)))
      throw malformedProblem(access, 'sent a reply that has not one embedding for each text');
    return { vectors, tokens: own.tokens(reply, response.headers), headers: response.headers };
  };
  const toReply = (parts: readonly Part[]): Response => {
    const data = parts
      .flatMap(({ vectors }) => vectors)
      .map((vector, index) => ({ object: 'embedding', index, embedding: format === 'base64' ? packed(vector) : vector }));
    const counts = parts.map(({ tokens }) => tokens).filter(isCount);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const usage = counts.length === parts.length ? { usage: { prompt_tokens: total, total_tokens: total } } : {};
    const headers = new Headers(parts[0]?.headers);
    for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name);
    return Response.json({ object: 'list', data, model, ...usage }, { headers });
  };
  /** `retried`: sends one call, and again if it fails. */
  return async (open: (call: { path: string; body: Json }) => Promise<Response>, retried: <T>(send: () => Promise<T>) => Promise<T>) => {
    const parts: Part[] = [];
    for (let from = 0; from < calls.length; from += maxOpenCalls) {
      const now = calls.slice(from, from + maxOpenCalls);
      const send = (part: readonly unknown[]) =>
        retried(async () => await readPart(await open({ path: own.path, body: own.body(part) }), part.length));
      parts.push(...(await Promise.all(now.map(send))));
    }
    return toReply(parts);
  };
}

/** 32-bit floats, little-endian. */
function packed(vector: readonly unknown[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, Number(value), true);
  return toBase64(new Uint8Array(view.buffer));
}

function geminiCall(access: ProviderAccess, written: string, dimensions: unknown): OwnCall {
  const name = calledName({ kind: 'gemini', model: written });
  const path = `/models/${encodeURIComponent(name.toWellFormed())}`;
  if (access.cloud !== undefined) {
    const parameters = dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } };
    return {
      path: `${path}:predict`,
      body: (texts) => ({ instances: texts.map((content) => ({ content })), ...parameters }),
      vectors: ({ predictions }) => listOf(predictions).map((one) => recordOf(recordOf(one).embeddings).values),
      tokens: ({ predictions }) =>
        listOf(predictions).reduce(
          (sum: number, one) => sum + Number(recordOf(recordOf(recordOf(one).embeddings).statistics).token_count),
          0,
        ),
    };
  }
  const size = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  return {
    path: `${path}:batchEmbedContents`,
    body: (texts) => ({ requests: texts.map((text) => ({ model: `models/${name}`, content: { parts: [{ text }] }, ...size })) }),
    vectors: ({ embeddings }) => listOf(embeddings).map((one) => recordOf(one).values),
    tokens: ({ usageMetadata }) => recordOf(usageMetadata).promptTokenCount,
  };
}

/** On Bedrock, the path has the model, and a header the count ("InvokeModel": `X-Amzn-Bedrock-Input-Token-Count`). */
function cohereCall(
  { kind }: ProviderAccess,
  { model, dimensions, inputType }: { model: string; dimensions: unknown; inputType: unknown },
): OwnCall {
  const members = {
    ...(kind === 'cohere' && { model }),
    ...{ input_type: stringOf(inputType), embedding_types: ['float'] },
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  };
  return {
    ...(kind === 'cohere' ? { path: '/embed' } : { path: '/invoke', perCall: 96 }),
    body: (texts) => ({ ...members, texts }),
    vectors: ({ embeddings }) => listOf(recordOf(embeddings).float),
    tokens: ({ meta }, headers) => (kind === 'cohere' ? recordOf(recordOf(meta).billed_units).input_tokens : countedBy(headers)),
  };
}

function titanCall(model: string, dimensions: unknown, dropped: Dropped): OwnCall {
  const hasSize = !/titan-embed-text-v1|titan-embed-g1/i.test(model);
  if (dimensions !== undefined && !hasSize) dropped.add('dimensions', noMember);
  return {
    ...{ path: '/invoke', perCall: 1 },
    body: ([inputText]) => ({ inputText, ...(dimensions !== undefined && hasSize && { dimensions }) }),
    vectors: ({ embedding }) => [embedding],
    tokens: ({ inputTextTokenCount }, headers) => inputTextTokenCount ?? countedBy(headers),
  };
}

function countedBy(headers: Headers): number | null {
  const text = headers.get('x-amzn-bedrock-input-token-count');
  return text === null ? null : Number(text);
}
