/**
 * The request body of an operation. The properties of an object become separate arguments if the schema has no other rules; any other body
 * is one argument. OpenAPI 3.1.1, "Request Body Object", "Encoding Object".
 */
import { quoted } from '../problem.ts';
import type { OperationBody, OperationParameter } from '../tools/server-operation.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, type Json, recordOf } from '../json/wire-value.ts';
import { bareType, bodyForm, type BodyForm } from './body-form.ts';
import { account, resolveReference, resolveSchema, type FoundOperation, type OpenApiDescription } from './description.ts';
import { styleOf } from './parameters.ts';
import { appliesToSide, hasKeywordsBeside, ignoredBeside } from './schemas.ts';

export type FoundBody = Pick<OperationBody, 'contentType' | 'isRequired' | 'styles' | 'types'> & {
  description: string | null;
  form: BodyForm;
  /** As in the document; `{}` if not described. */
  schema: unknown;
  /** The object whose members are arguments; null: the body is one argument. */
  object: BodyMembers | null;
};

/** `additional`: the schema of unnamed members; undefined: not described. */
export type BodyMembers = { properties: ReadonlyMap<string, unknown>; required: ReadonlySet<string>; additional: unknown };

/** null: no body. */
export function bodyOf(api: OpenApiDescription, { operation, method }: FoundOperation, where: string): FoundBody | null {
  if (operation.requestBody === undefined) return null;
  const place = `${where}.requestBody`;
  const body = resolveReference(api, operation.requestBody, place);
  if (body === null) return null;
  account(api, 'Request Body', body, place);
  // Fetch Standard, Request.
  if (method === 'GET' || method === 'HEAD') {
    api.warn(place, `is skipped: a ${method} request cannot have a body`);
    return null;
  }
  const picked = pickMedia(api, body.content, place);
  if (picked === null) {
    api.warn(place, 'is skipped: it has no content type that can be sent');
    return null;
  }
  const { contentType, media } = picked;
  const form = bodyForm(contentType);
  const schema = media.schema ?? {};
  const object = form === 'text' || form === 'binary' ? null : mergedObject(api, schema, place);
  const needsMembers = object !== null && object.required.size > 0;
  const at = `${place}.content.${picked.written}`;
  account(api, 'Media Type', media, at);
  const isForm = form === 'form' || form === 'multipart';
  if (form === 'text' && bareType(contentType) !== 'text/plain' && media.schema !== undefined)
    api.warn(at, 'its schema is not shown: the caller writes the body as text');
  const { styles, types } = isForm ? encodingOf(api, media.encoding, schema, at) : { styles: {}, types: {} };
  return {
    contentType,
    form,
    schema,
    object,
    // Many documents omit `required`; a body with required members is required.
    isRequired: body.required === true || needsMembers,
    description: typeof body.description === 'string' ? body.description : null,
    ...(Object.keys(styles).length > 0 && { styles }),
    ...(Object.keys(types).length > 0 && { types }),
  };
}

/** How the properties of a form are written, from the encoding and, for the content types of files, from the schema. */
function encodingOf(
  api: OpenApiDescription,
  encoding: unknown,
  schema: unknown,
  where: string,
): Required<Pick<OperationBody, 'styles' | 'types'>> {
  const styles = new Map<string, Pick<OperationParameter, 'style' | 'explode'>>();
  const types = new Map<string, string>();
  const properties = recordOf(recordOf(schema).properties);
  for (const [name, property] of Object.entries(properties)) {
    const { contentMediaType, items } = recordOf(property);
    const type = contentMediaType ?? recordOf(items).contentMediaType;
    if (typeof type === 'string' && isSendable(type)) types.set(name, type);
  }
  for (const [name, how] of Object.entries(recordOf(encoding))) {
    if (!isRecord(how)) continue;
    const at = `${where}.encoding.${name}`;
    account(api, 'Encoding', how, at);
    if (how.style !== undefined || how.explode !== undefined) styles.set(name, styleOf(how, 'query'));
    if (typeof how.contentType !== 'string') continue;
    const [type = ''] = how.contentType.split(',');
    // A range, such as image/*, leaves the type to the caller.
    if (isSendable(type)) types.set(name, type.trim());
    if (how.contentType.includes(',')) api.warn(`${at}.contentType`, `lists several types; ${quoted(type.trim())} is sent`);
  }
  return { styles: Object.fromEntries(styles), types: Object.fromEntries(types) };
}

function isSendable(type: string): boolean {
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:\s*;\s*[\w-]{1,50}=[\w.-]{1,50})?$/.test(type.trim());
}

/**
 * Returns an object that consists of properties only; the branches of an `allOf` are merged, since one branch may require another one's
 * properties.
 */
function mergedObject(api: OpenApiDescription, schema: unknown, where: string): BodyMembers | null {
  const object = objectOf(api, schema, where, 0);
  if (object === null || object.properties.size === 0) return null;
  return { ...object, required: new Set([...object.required].filter((name) => object.properties.has(name))) };
}

function objectOf(api: OpenApiDescription, schema: unknown, where: string, depth: number): BodyMembers | null {
  if (depth > maxDepth || !isRecord(schema)) return null;
  const isReference = typeof schema.$ref === 'string';
  // Keywords beside a reference apply together with its target: as one argument.
  if (isReference && hasKeywordsBeside(schema) && !api.isOld) return null;
  if (isReference && hasKeywordsBeside(schema)) api.warn(where, ignoredBeside);
  const part = isReference ? resolveSchema(api, schema, where) : schema;
  if (part === null || !isObject(part) || Object.keys(part).some((keyword) => !mergeable.has(keyword) && !keyword.startsWith('x-')))
    return null;
  account(api, 'Schema', part, where);
  api.spend(Object.keys(recordOf(part.properties)).length);
  const own = isRecord(part.properties) ? Object.entries(part.properties).filter(([, property]) => isSent(api, property, where)) : [];
  const properties = new Map(own);
  const required = new Set(Array.isArray(part.required) ? part.required.filter((name) => typeof name === 'string') : []);
  for (const branch of Array.isArray(part.allOf) ? part.allOf : []) {
    const object = objectOf(api, branch, where, depth + 1);
    // Such a branch forbids the properties of the others.
    if (object === null || object.additional === false) return null;
    for (const [name, property] of object.properties) {
      const known = properties.get(name);
      properties.set(name, known === undefined ? property : { allOf: [known, property] });
    }
    for (const name of object.required) required.add(name);
  }
  return { properties, required, additional: part.additionalProperties };
}

const maxDepth = 8;

function isObject({ type, properties, allOf, nullable }: Json): boolean {
  return nullable !== true && (type === 'object' || (type === undefined && (isRecord(properties) || Array.isArray(allOf))));
}

function isSent(api: OpenApiDescription, property: unknown, where: string): boolean {
  if (!appliesToSide(property, 'input')) return false;
  return !isRecord(property) || typeof property.$ref !== 'string' || appliesToSide(resolveSchema(api, property, where), 'input');
}

const mergeable: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'allOf', 'title', 'description', 'default', 'example', 'examples'],
  ...['deprecated', 'externalDocs', 'xml', 'discriminator', 'nullable', 'readOnly', 'writeOnly', '$comment'],
]);

/** For forms: whether the property is a file or a list of files. */
export function isFile(api: OpenApiDescription, property: unknown, form: BodyForm): boolean {
  if (form !== 'multipart' || !isRecord(property)) return false;
  const part = typeof property.$ref === 'string' ? resolveSchema(api, property, 'requestBody') : property;
  if (part === null) return false;
  if (part.type === 'array') return isRecord(part.items) && part.items.type !== 'array' && isFile(api, part.items, form);
  return part.type !== 'object' && (part.format === 'binary' || part.contentMediaType !== undefined || part.contentEncoding === 'base64');
}

/** Returns the schema of a file for models. */
export function fileSchema(property: unknown): JsonSchema {
  const { type, description, items } = isRecord(property) ? property : ({} as Json);
  if (type === 'array') return { type: 'array', items: fileSchema(items), ...(typeof description === 'string' && { description }) };
  const words = typeof description === 'string' && description !== '' ? `${description} ` : '';
  return { type: 'string', contentEncoding: 'base64', description: `${words}(The file’s bytes, in base64.)` };
}

// Content types, and the one that a tool uses. OpenAPI 3.1.1, "Media Type Object".

const preference: readonly BodyForm[] = ['json', 'form', 'multipart', 'text', 'binary'];

/** What comparing schemas costs. */
const charactersOfPart = 20;

type PickedMedia = { written: string; contentType: string; media: Json };

/** Returns the content type that the tool uses; null: none is described. Reports those whose body is another one. */
export function pickMedia(api: OpenApiDescription, content: unknown, where: string): PickedMedia | null {
  const types = Object.entries(recordOf(content)).flatMap(([written, media]) => {
    const contentType = sendable(written);
    if (contentType === null) api.warn(`${where}.content`, `${quoted(written)} is not a content type that can be sent; skipped`);
    return contentType === null ? [] : [{ written, contentType, media }];
  });
  const rank = ({ contentType }: { contentType: string }): number =>
    preference.indexOf(bodyForm(contentType)) + (isPlainJson(contentType) ? -1 : 0);
  const [best, ...others] = types.sort((a, b) => rank(a) - rank(b));
  if (best === undefined) return null;
  const { written, contentType } = best;
  const media = resolveReference(api, best.media ?? {}, where) ?? {};
  const known = others.length === 0 ? undefined : JSON.stringify(media.schema);
  api.spend(((known?.length ?? 0) * (others.length + 1)) / charactersOfPart);
  for (const other of others)
    if (JSON.stringify(recordOf(other.media).schema) !== known)
      api.warn(`${where}.content.${other.written}`, `is not used, although its schema differs: the body is sent as ${contentType}`);
  const type = bareType(written);
  if (contentType !== type) api.warn(`${where}.content.${written}`, `is sent as ${contentType}`);
  return { written, contentType, media };
}

function isPlainJson(contentType: string): boolean {
  return bareType(contentType) === 'application/json';
}

/** Returns the content type as it can be sent, for a range one that matches it; null: not valid as a header. */
function sendable(written: string): string | null {
  const type = bareType(written);
  if (!/^[a-z0-9*][a-z0-9!#$&^_.+*-]{0,99}\/[a-z0-9*][a-z0-9!#$&^_.+*-]{0,99}$/.test(type)) return null;
  if (!type.includes('*')) return bodyForm(type) === 'multipart' ? 'multipart/form-data' : type;
  if (type === '*/*' || type === 'application/*') return 'application/json';
  return type === 'text/*' ? 'text/plain' : 'application/octet-stream';
}
