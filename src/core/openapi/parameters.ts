/** The parameters of an operation: what of them becomes an argument, and how it is written. OpenAPI 3.1.1, "Parameter Object". */
import type { OperationParameter } from '../servers/server-state.ts';
import { isRecord, listOf, type Json } from '../wire-value.ts';
import { follow, type FoundOperation, type OpenApiDocument } from './document.ts';

export type FoundParameter = Omit<OperationParameter, 'argument'> & { isRequired: boolean; description: string | null; schema: unknown };

/** Of the operation, and of its path where the operation does not say otherwise; path parameters first, then query, header, cookie. */
export function parametersOf(document: OpenApiDocument, { operation, item, path }: FoundOperation, where: string): FoundParameter[] {
  const found = new Map<string, FoundParameter>();
  for (const written of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = follow(document, written, `${where}.parameters`);
    const read = parameter === null ? null : readParameter(document, parameter, where);
    if (read !== null) found.set(`${read.in} ${read.name}`, read);
  }
  const inPath = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name));
  for (const name of inPath) if (!found.has(`path ${name}`)) found.set(`path ${name}`, { ...bareText, name });
  return places.flatMap((place) =>
    [...found.values()].filter((parameter) => parameter.in === place && (place !== 'path' || inPath.has(parameter.name))),
  );
}

const places = ['path', 'query', 'header', 'cookie'] as const;

/** In the path, and told of nowhere. */
const bareText = { in: 'path', style: 'simple', explode: false, isRequired: true, description: null, schema: { type: 'string' } } as const;

function readParameter(document: OpenApiDocument, parameter: Json, where: string): FoundParameter | null {
  const { name, description } = parameter;
  const place = places.find((known) => known === parameter.in);
  if (typeof name !== 'string' || name === '' || place === undefined) {
    document.warn(`${where}.parameters`, 'has a parameter without a name or a place (`in`); left out');
    return null;
  }
  if (place === 'header' && (setElsewhere.has(name.toLowerCase()) || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name))) return null;
  if (place === 'cookie' && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) {
    document.warn(`${where}.parameters`, `has a cookie whose name cannot be sent; left out`);
    return null;
  }
  const [media] = isRecord(parameter.content) ? Object.entries(parameter.content) : [];
  const content = media === undefined ? null : follow(document, media[1], `${where}.parameters`);
  return {
    name,
    in: place,
    ...styleOf(parameter, place),
    ...(media !== undefined && /[/+]json\b/i.test(media[0]) && { isJson: true as const }),
    isRequired: place === 'path' || parameter.required === true,
    description: typeof description === 'string' ? description : null,
    schema: (content ?? parameter).schema ?? {},
  };
}

/** Headers that are no parameters (3.1.1: "shall be ignored"), belong to the connection, or are ours to send. */
const setElsewhere: ReadonlySet<string> = new Set([
  ...[
    'accept',
    'content-type',
    'authorization',
    'proxy-authorization',
    'cookie',
    'host',
    'connection',
    'content-length',
    'content-encoding',
  ],
  ...['transfer-encoding', 'te', 'trailer', 'upgrade', 'expect', 'keep-alive', 'accept-encoding', 'idempotency-key', 'user-agent'],
]);

const styles = {
  path: ['simple', 'matrix', 'label'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const satisfies Record<OperationParameter['in'], readonly OperationParameter['style'][]>;

/** As is usual in its place where nothing else is said that may be there. */
export function styleOf({ style, explode }: Json, place: OperationParameter['in']): Pick<OperationParameter, 'style' | 'explode'> {
  const possible: readonly OperationParameter['style'][] = styles[place];
  const read = possible.find((known) => known === style) ?? styles[place][0];
  return { style: read, explode: typeof explode === 'boolean' ? explode : read === 'form' || read === 'deepObject' };
}
