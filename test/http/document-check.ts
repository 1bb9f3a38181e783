/** Compares responses with the OpenAPI document: status, content type, headers and JSON body, by a validator that is not our own. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';

type Content = Record<string, { schema: object }>;
type DocumentedResponse = { content?: Content; headers?: Record<string, unknown> };
export type DocumentedOperation = { operationId: string; responses: Record<string, DocumentedResponse> };
export type ApiDocument = { paths: Record<string, Record<string, DocumentedOperation>>; components: { schemas: Record<string, object> } };

/** Headers that every response may have, or that belong to its representation. */
const commonHeaders = new Set(
  [
    [
      'cache-control',
      'content-length',
      'content-type',
      'vary',
      'x-content-type-options',
      'x-request-id',
      'request-id',
      'ratelimit',
      'ratelimit-policy',
    ],
    ['access-control-allow-origin', 'access-control-expose-headers', 'www-authenticate', 'allow'],
    ['retry-after', 'retry-after-ms', 'x-should-retry'],
    ['content-disposition', 'content-security-policy', 'referrer-policy', 'x-robots-tag', 'x-accel-buffering'],
    ['connection', 'date', 'keep-alive', 'transfer-encoding', 'content-encoding'],
  ].flat(),
);

/** The schema with objects that have no other properties than those it names, unless it says so: a field that is not documented is a difference. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, name === 'example' ? part : closed(part)]));
  return 'properties' in parts && parts.type === 'object' && !('additionalProperties' in parts)
    ? { ...parts, additionalProperties: false }
    : parts;
}

export type DocumentCheck = {
  /** The operation of a request; null for a path or method that the document does not have. */
  find(method: string, path: string): DocumentedOperation | null;
  /** Returns what differs from the document. `text`: the body; null if it was not read. */
  differences(operation: DocumentedOperation, response: Pick<Response, 'status' | 'headers'>, text: string | null): string[];
};

export function createDocumentCheck(document: ApiDocument): DocumentCheck {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'document', components: closed(document.components) as object });
  // Hundreds of responses have the same schemas, and each takes milliseconds to compile.
  const validators = new Map<string, ValidateFunction>();
  const texts = new Map<object, string>();
  const validatorOf = (schema: object): ValidateFunction => {
    const text = texts.get(schema) ?? JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    texts.set(schema, text);
    const validate = validators.get(text) ?? ajv.compile(closed(JSON.parse(text)) as object);
    validators.set(text, validate);
    return validate;
  };
  const paths = Object.entries(document.paths).map(([path, operations]) => ({
    pattern: new RegExp(
      `^${path.replaceAll(/[.+*?^$()[\]|\\]/g, '\\$&').replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'path' ? '[^]+' : '[^/]+'))}$`,
    ),
    literals: path.replaceAll(/\{\w+\}/g, '').length,
    operations,
  }));
  // As in a router, the path with the longest fixed text is the one that is meant.
  paths.sort((a, b) => b.literals - a.literals);

  return {
    find(method, path) {
      const name = method.toLowerCase() === 'head' ? 'get' : method.toLowerCase();
      return paths.find(({ pattern, operations }) => pattern.test(path) && name in operations)?.operations[name] ?? null;
    },
    differences({ responses }, response, text) {
      const documented = responses[response.status] ?? responses[`${Math.floor(response.status / 100)}XX`];
      if (documented === undefined) return [`status ${response.status} is not documented`];
      const found = [...response.headers.keys()]
        .filter((name) => !commonHeaders.has(name) && !/^(x|anthropic)-ratelimit-/.test(name) && documented.headers?.[name] === undefined)
        .map((name) => `header ${name} of ${response.status} is not documented`);
      const type = response.headers.get('content-type')?.split(';', 1)[0] ?? null;
      if (type === null || text === '') return found;
      if (documented.content?.['*/*'] !== undefined) return found;
      const content = documented.content?.[type];
      if (content === undefined) return [...found, `content type ${type} of ${response.status} is not documented`];
      if (!/[/+]json$/.test(type) || text === null) return found;
      const validate = validatorOf(content.schema);
      if (validate(JSON.parse(text))) return found;
      return [
        ...found,
        ...(validate.errors ?? [])
          .slice(0, 5)
          .map(({ instancePath, message, params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`),
      ];
    },
  };
}
