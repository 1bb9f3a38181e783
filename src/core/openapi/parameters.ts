/** The parameters of an operation: which become arguments, and how they are written. OpenAPI 3.1.1, "Parameter Object". */
import type { OperationParameter } from '../tools/server-operation.ts';
import { isRecord, listOf, type Json } from '../json/wire-value.ts';
import { resolveReference, type FoundOperation, type OpenApiDescription } from './description.ts';

export type FoundParameter = Omit<OperationParameter, 'argument'> & { isRequired: boolean; description: string | null; schema: unknown };

/** Returns the operation's parameters, and those of its path that it does not override; in the order path, query, header, cookie. */
export function parametersOf(api: OpenApiDescription, { operation, item, path }: FoundOperation, where: string): FoundParameter[] {
  const found = new Map<string, FoundParameter>();
  for (const written of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = resolveReference(api, written, `${where}.parameters`);
    const read = parameter === null ? null : readParameter(api, parameter, where);
    if (read !== null) found.set(`${read.in} ${read.name}`, read);
  }
  const inPath = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name));
  for (const name of inPath) if (!found.has(`path ${name}`)) found.set(`path ${name}`, { ...bareText, name });
  return places.flatMap((place) =>
    [...found.values()].filter((parameter) => parameter.in === place && (place !== 'path' || inPath.has(parameter.name))),
  );
}

const places = ['path', 'query', 'header', 'cookie'] as const;

/** A path parameter that the document does not describe. */
const bareText = { in: 'path', style: 'simple', explode: false, isRequired: true, description: null, schema: { type: 'string' } } as const;

function readParameter(api: OpenApiDescription, parameter: Json, where: string): FoundParameter | null {
  const { name, description } = parameter;
  const place = places.find((known) => known === parameter.in);
  if (typeof name !== 'string' || name === '' || place === undefined) {
    api.warn(`${where}.parameters`, 'has a parameter without `name` or `in`; skipped');
    return null;
  }
  if (place === 'header' && (setElsewhere.has(name.toLowerCase()) || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name))) return null;
  if (place === 'cookie' && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) {
    api.warn(`${where}.parameters`, `has a cookie with an invalid name; skipped`);
    return null;
  }
  const [media] = isRecord(parameter.content) ? Object.entries(parameter.content) : [];
  const content = media === undefined ? null : resolveReference(api, media[1], `${where}.parameters`);
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

/** Headers that are not parameters (3.1.1: "shall be ignored"), belong to the connection, or are set by this service. */
const setElsewhere: ReadonlySet<string> = new Set([
  ...['accept', 'content-type', 'authorization', 'proxy-authorization', 'cookie', 'host', 'connection', 'content-length'],
  ...['content-encoding', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect', 'keep-alive', 'accept-encoding'],
  ...['idempotency-key', 'user-agent'],
]);

const styles = {
  path: ['simple', 'matrix', 'label'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const satisfies Record<OperationParameter['in'], readonly OperationParameter['style'][]>;

/** Returns the style; the default of its location if none or an invalid one is given. */
export function styleOf({ style, explode }: Json, place: OperationParameter['in']): Pick<OperationParameter, 'style' | 'explode'> {
  const possible: readonly OperationParameter['style'][] = styles[place];
  const read = possible.find((known) => known === style) ?? styles[place][0];
  return { style: read, explode: typeof explode === 'boolean' ? explode : read === 'form' || read === 'deepObject' };
}
