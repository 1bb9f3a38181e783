/**
 * Reads the operations of an `openapi` server from its document, which is inline or fetched from its URL. References to other documents are
 * not fetched. `core/openapi/import.ts` converts the operations to tools.
 */
import { limits } from '../../core/limits/limits.ts';
import { descriptionFault } from '../../core/openapi/description.ts';
import { importOpenApi } from '../../core/openapi/import.ts';
import { Problem } from '../../core/problem.ts';
import { secretHostOf } from '../../core/secrets/secret.ts';
import { utf8Text } from '../../core/text/utf8.ts';
import { callUrlOf, type ServerAccess } from '../../core/servers/server.ts';
import { noOffers } from '../../core/servers/server-state.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { toServerHeaders, withServerQuery } from '../../net/headers.ts';
import type { ServerSource, UpstreamContext } from '../../ports/upstream.ts';
import { tryParse } from '../../core/json/wire-value.ts';
import { readYaml, TextFault } from '../../formats/read-yaml.ts';

/** Refresh interval of an OpenAPI document: it changes with releases of its API, and parsing takes up to a second. */
export const openApiTtlMs = 60 * 60_000;

export function createOpenApiSource(): ServerSource {
  return {
    async discover(server, context) {
      const text = (await context.document?.()) ?? (await fetchDocument(server, context));
      const { tools, operations, warnings } = importOpenApi(parseOpenApiText(text), {
        documentUrl: server.url,
        baseUrl: server.baseUrl,
        headers: Object.keys(server.headers ?? {}),
        query: Object.keys(server.query ?? {}),
        ...server.openapi,
      });
      return { tools, operations, warnings, connection: null, offers: noOffers, ttlMs: openApiTtlMs };
    },
  };
}

async function fetchDocument(server: ServerAccess, context: UpstreamContext): Promise<string> {
  const { url } = server;
  if (url === '') throw descriptionFault('is missing. Set url to its URL, or document to the document itself');
  const response = await context.fetch(await documentRequest(server, context));
  const { bytes, truncated } = await readBounded(response, limits.maxOpenApiBytes);
  if (!response.ok) {
    const unauthorized = response.status === 401 || response.status === 403;
    throw new Problem(
      'upstream_error',
      `The URL of the OpenAPI document returned status ${response.status}. ${remedyOf(response.status)}`,
      {
        ...(unauthorized && { unauthorized: true }),
        ...(response.status < 500 && { retryable: false }),
      },
    );
  }
  if (truncated)
    throw descriptionFault(
      `has more than ${limits.maxOpenApiBytes} bytes. Remove parts that no tool needs (descriptions, examples, operations)`,
    );
  const text = utf8Text(bytes);
  if (text === null) throw descriptionFault('is not UTF-8');
  return text;
}

function remedyOf(status: number): string {
  if (status === 401 || status === 403) return 'It requires credentials: set them in headers.';
  if (status === 429 || status >= 500) return 'Try again later.';
  return 'Set url to the URL of the document itself (JSON or YAML), or set document to its content.';
}

/**
 * Credentials are for the API, so a document on another host is read without any. A credential that is unavailable (not set yet, or bound
 * to tools) is left out: most documents are public, and the others respond with an error.
 */
async function documentRequest({ url, baseUrl, headers = {}, query = {} }: ServerAccess, context: UpstreamContext): Promise<Request> {
  const isOwnHost = secretHostOf(url) === secretHostOf(callUrlOf({ kind: 'openapi', url, baseUrl }) ?? url);
  const secret = (name: string, host: string): Promise<string> => context.secret(name, host);
  const sent = await toServerHeaders(url, {}, secret);
  for (const [name, value] of Object.entries(isOwnHost ? headers : {})) {
    const written = await ifAvailable(toServerHeaders(url, { [name]: value }, secret));
    for (const [key, text] of written ?? []) sent.set(key, text);
  }
  let target = url;
  for (const [name, value] of Object.entries(isOwnHost ? query : {})) {
    target = (await ifAvailable(withServerQuery(target, { [name]: value }, secret))) ?? target;
  }
  sent.set('accept', 'application/vnd.oai.openapi+json, application/json, application/yaml;q=0.9, */*;q=0.5');
  return new Request(target, { headers: sent });
}

async function ifAvailable<Value>(value: Promise<Value>): Promise<Value | null> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/**
 * An OpenAPI document in YAML: its commas, colons, brackets and line ends, each of which may cost 200 bytes; large public documents
 * of 5 MB have some 300,000.
 */
export const maxOpenApiYamlSeparators = 400_000;

/** Throws `upstream_error` if the text is neither JSON nor YAML. */
function parseOpenApiText(text: string): unknown {
  // A byte order mark is not part of JSON (RFC 8259 §8.1).
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') throw descriptionFault('is empty');
  if (bare.startsWith('<')) throw descriptionFault('is a page of HTML or XML, not JSON or YAML. Use the URL of the document itself');
  const value = bare.startsWith('{') || bare.startsWith('[') ? tryParse(bare) : undefined;
  return value === undefined ? parseYaml(bare) : value;
}

function parseYaml(text: string): unknown {
  try {
    return readYaml(text, {
      maxDepth: limits.maxOpenApiDepth,
      maxSeparators: maxOpenApiYamlSeparators,
      maxAliased: limits.maxOpenApiBytes,
    });
  } catch (error) {
    throw error instanceof TextFault ? toProblem(error) : error;
  }
}

function toProblem({ kind, message, place }: TextFault): Problem {
  const where = place === null ? '' : ` at line ${place.line}, column ${place.column}`;
  switch (kind) {
    case 'depth':
      return descriptionFault(`is nested too deeply (maximum: ${limits.maxOpenApiDepth} levels)`);
    case 'parts':
      return descriptionFault('has too many values for a YAML document. Convert it to JSON');
    case 'aliases':
      return descriptionFault(`cannot be read: ${message}${where}. Write them out, or use $ref`);
    case 'syntax':
      return descriptionFault(`is neither JSON nor YAML: ${message}${where}`);
  }
}
