/**
 * Embeddings in the form of OpenAI's API from providers that have their own: Gemini (`batchEmbedContents`), Vertex AI (`predict`) and Cohere
 * (`embed`, version 2). What they cannot be sent is refused, or named as dropped. Sources: the API references of these operations.
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

/** `vectors`: of a reply; an item that is no list of numbers makes it invalid. `tokens`: null, if the API does not count. */
type OwnCall = { path: string; body: Json; vectors(reply: Json): readonly unknown[]; tokens(reply: Json): unknown };

/** Returns the request in the provider's own form, and what reads its reply; null: the provider has OpenAI's API, or no embeddings. */
export function ownEmbeddings(access: ProviderAccess, model: string, request: Json, dropped: Dropped) {
  if (access.kind !== 'gemini' && access.kind !== 'cohere') return null;
  const { input, dimensions, encoding_format: format = 'float', model: _model, ...others } = request;
  const texts = typeof input === 'string' ? [input] : listOf(input);
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    throw invalidRequest([{ path: 'input', message: 'must be a text or a list of texts, because this provider takes no tokens' }]);
  if (format !== 'float' && format !== 'base64') throw invalidRequest([{ path: 'encoding_format', message: 'must be float or base64' }]);
  const { input_type: inputType = 'search_document', ...unsent } = others;
  for (const name of Object.keys(access.kind === 'cohere' ? unsent : others)) dropped.add(name, 'the provider’s embeddings do not have it');
  const own = access.kind === 'cohere' ? cohereCall({ model, texts, dimensions, inputType }) : geminiCall(access, model, texts, dimensions);
  return {
    path: own.path,
    body: own.body,
    /** Returns the reply in OpenAI's form. Throws `upstream_error` for one that has not one vector for each text. */
    async toReply(response: Response): Promise<Response> {
      const { bytes, truncated } = await readBounded(response, maxReplyBytes);
      const reply = recordOf(truncated ? null : tryParse(new TextDecoder().decode(bytes)));
      const vectors = own.vectors(reply).map((vector) => listOf(vector));
      if (vectors.length !== texts.length || !vectors.every((vector) => vector.length > 0 && vector.every(Number.isFinite)))
        throw malformedProblem(access, 'sent a reply that has not one embedding for each text');
      const data = vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: format === 'base64' ? packed(vector) : vector,
      }));
      const tokens = own.tokens(reply);
      const usage = isCount(tokens) ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {};
      const headers = new Headers(response.headers);
      for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name);
      return Response.json({ object: 'list', data, model, ...usage }, { headers });
    },
  };
}

/** 32-bit floats, little-endian. */
function packed(vector: readonly unknown[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, Number(value), true);
  return toBase64(new Uint8Array(view.buffer));
}

function geminiCall(access: ProviderAccess, written: string, texts: readonly unknown[], dimensions: unknown): OwnCall {
  const name = calledName({ kind: 'gemini', model: written });
  const path = `/models/${encodeURIComponent(name.toWellFormed())}`;
  if (access.cloud !== undefined) {
    const parameters = dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } };
    return {
      path: `${path}:predict`,
      body: { instances: texts.map((content) => ({ content })), ...parameters },
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
    body: { requests: texts.map((text) => ({ model: `models/${name}`, content: { parts: [{ text }] }, ...size })) },
    vectors: ({ embeddings }) => listOf(embeddings).map((one) => recordOf(one).values),
    tokens: ({ usageMetadata }) => recordOf(usageMetadata).promptTokenCount,
  };
}

function cohereCall({
  model,
  texts,
  dimensions,
  inputType,
}: {
  model: string;
  texts: readonly unknown[];
  dimensions: unknown;
  inputType: unknown;
}): OwnCall {
  const size = dimensions === undefined ? {} : { output_dimension: dimensions };
  return {
    path: '/embed',
    body: { model, texts, input_type: stringOf(inputType), embedding_types: ['float'], ...size },
    vectors: ({ embeddings }) => listOf(recordOf(embeddings).float),
    tokens: ({ meta }) => recordOf(recordOf(meta).billed_units).input_tokens,
  };
}
