/** The parameters of an operation: which become arguments, and how they are written. OpenAPI 3.1.1, "Parameter Object". */
import type { OperationParameter } from '../tools/server-operation.ts';
import { isRecord, listOf, type Json } from '../json/wire-value.ts';
import { quoted } from '../problem.ts';
import { account, resolveReference, type FoundOperation, type OpenApiDescription } from './description.ts';

export type FoundParameter = Omit<OperationParameter, 'argument'> & {
  isRequired: boolean;
  isDeprecated: boolean;
  description: string | null;
  schema: unknown;
};

/** `query`: decoded names and values that the path fixes. */
export type FoundParameters = { parameters: FoundParameter[]; query: readonly (readonly [name: string, value: string])[] };

/**
 * Returns the operation's parameters, and those of its path that it does not override; in the order path, query, header, cookie. Without
 * those that `isGiven` says the server sends.
 */
export function parametersOf(
  api: OpenApiDescription,
  { operation, item, target }: FoundOperation,
  where: string,
  isGiven: (place: string, name: string) => boolean,
): FoundParameters {
  const found = new Map<string, FoundParameter>();
  const all = [...listOf(item.parameters), ...listOf(operation.parameters)];
  api.spend(all.length * partsOfParameter);
  for (const written of all) {
    const parameter = resolveReference(api, written, `${where}.parameters`);
    if (parameter === null || (typeof parameter.name === 'string' && isGiven(String(parameter.in), parameter.name))) continue;
    const read = readParameter(api, parameter, where);
    if (read !== null) found.set(`${read.in} ${read.name}`, read);
  }
  const inPath = new Set([...target.path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name));
  for (const name of inPath) if (!found.has(`path ${name}`)) found.set(`path ${name}`, { ...bareText, name });
  const query = target.query.filter(([name, value]) => !isGiven('query', name) && !takeTemplate(found, inPath, name, value));
  for (const [name] of query)
    if (found.delete(`query ${name}`)) api.warn(`${where}.parameters.${name}`, 'is no argument: the query of the path has its value');
  for (const [key, { in: place, name }] of found) {
    if (place !== 'path' || inPath.has(name)) continue;
    found.delete(key);
    api.warn(`${where}.parameters.${name}`, 'is skipped: the path does not contain it');
  }
  return { parameters: places.flatMap((place) => [...found.values()].filter((parameter) => parameter.in === place)), query };
}

/** Whether a value of the path's query is a parameter, as in `/search?q={term}`, which then becomes one of the query. */
function takeTemplate(found: Map<string, FoundParameter>, inPath: ReadonlySet<string>, name: string, value: string): boolean {
  const [, term] = /^\{([^{}]+)\}$/.exec(value) ?? [];
  if (term === undefined) return false;
  const described = found.get(`path ${term}`) ?? found.get(`query ${term}`) ?? found.get(`query ${name}`) ?? bareText;
  for (const place of ['path', 'query']) if (place === 'query' || !inPath.has(term)) found.delete(`${place} ${term}`);
  found.set(`query ${name}`, { ...described, in: 'query', name, ...(described.in === 'path' && styleOf({}, 'query')) });
  return true;
}

/** What reading a parameter costs beside its members. */
const partsOfParameter = 10;

const places = ['path', 'query', 'header', 'cookie'] as const;

/** A path parameter that the document does not describe. */
const bareText: Omit<FoundParameter, 'name'> = {
  ...{ in: 'path' as const, style: 'simple' as const, explode: false },
  ...{ isRequired: true, isDeprecated: false, description: null, schema: { type: 'string' } },
};

function readParameter(api: OpenApiDescription, parameter: Json, where: string): FoundParameter | null {
  const { name, description } = parameter;
  const place = places.find((known) => known === parameter.in);
  if (typeof name !== 'string' || name === '' || place === undefined) {
    const message =
      name === undefined || parameter.in === undefined ? 'without `name` or `in`' : `with \`in\` ${quoted(String(parameter.in))}`;
    api.warn(`${where}.parameters`, `has a parameter ${message}; skipped`);
    return null;
  }
  const at = `${where}.parameters.${name}`;
  const unsendable = faultOf(place, name);
  if (unsendable !== null) {
    api.warn(at, unsendable);
    return null;
  }
  account(api, 'Parameter', parameter, at);
  const types = isRecord(parameter.content) ? Object.entries(parameter.content) : [];
  const [media] = types;
  const content = media === undefined ? null : resolveReference(api, media[1], at);
  const isJson = media !== undefined && /[/+]json\b/i.test(media[0]);
  if (content !== null) account(api, 'Media Type', content, `${at}.content`);
  if (types.length > 1) api.warn(`${at}.content`, `has several types; ${quoted(media?.[0] ?? '')} is used`);
  if (media !== undefined && !isJson) api.warn(`${at}.content`, `is sent as text, which the caller writes as ${quoted(media[0])}`);
  const style = styleOf(parameter, place);
  if (parameter.style !== undefined && parameter.style !== style.style)
    api.warn(`${at}.style`, `${quoted(String(parameter.style))} is not a style for in: ${place}; ${style.style} is used`);
  return {
    name,
    in: place,
    ...style,
    ...(isJson && { isJson: true as const }),
    isRequired: place === 'path' || parameter.required === true,
    isDeprecated: parameter.deprecated === true,
    description: typeof description === 'string' ? description : null,
    schema: media !== undefined && !isJson ? { type: 'string' } : ((content ?? parameter).schema ?? {}),
  };
}

/** Why a parameter cannot be an argument; null: it can. */
function faultOf(place: OperationParameter['in'], name: string): string | null {
  if (place !== 'header' && place !== 'cookie') return null;
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) return `is skipped: its name is not valid in a ${place}`;
  if (place === 'cookie' || !setElsewhere.has(name.toLowerCase())) return null;
  return 'is no argument: this header is set for each call. To send your own value, set it in the headers of the server’s document';
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
