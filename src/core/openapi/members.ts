/**
 * What happens to each member of the objects of an OpenAPI document. A member without a text is used, or does not change calls (texts,
 * examples, tags). One with a text is not used, or used in another way, and an import says so with its path; so it does of a member that the
 * object does not have. OpenAPI 3.0.4, 3.1.1 and 3.2.0, "Fixed Fields"; `from-swagger.ts` gives documents of Swagger 2.0 the same form.
 */
import { type Json, recordOf } from '../json/wire-value.ts';

/** As the specification calls it, without "Object". */
export type OpenApiObject = keyof typeof objects;

/** Returns the members of the object that calls do not follow, with what happens instead; without empty ones and extensions (`x-…`). */
export function* lostMembers(kind: OpenApiObject, object: Json): Generator<{ member: string; message: string }> {
  const known: Members = objects[kind];
  for (const [member, value] of Object.entries(object)) {
    // An operation may be empty.
    if (member.startsWith('x-') || (kind !== 'Path Item' && isEmpty(value))) continue;
    const fate = known.get(member);
    const lost = typeof fate === 'function' ? fate(value, object) : fate;
    if (lost === undefined) yield { member, message: `is not a member of ${article(kind)} ${kind} Object; ignored` };
    else if (lost !== null) yield { member, message: lost };
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function article(kind: string): string {
  return /^[AEIOU]/.test(kind) ? 'an' : 'a';
}

/** null: nothing is lost. */
type Fate = string | null | ((value: unknown, object: Json) => string | null);
type Members = ReadonlyMap<string, Fate>;

function members(used: string, others: Readonly<Record<string, Fate>> = {}): Members {
  return new Map<string, Fate>([...used.split(' ').map((member) => [member, null] as const), ...Object.entries(others)]);
}

const encoded = 'is not used: reserved characters are percent-encoded, which servers decode to the same value';
const oneValue = 'is not used: the body is sent as one value';
const unsent = (method: string): string => `is skipped: ${method} requests cannot be sent`;

const objects = {
  OpenAPI: members('openapi info servers paths components security tags externalDocs', {
    webhooks: 'are skipped: the API sends them, and they are not operations',
    jsonSchemaDialect: (value) =>
      /^https:\/\/(?:spec\.openapis\.org\/oas\/3\.\d\/dialect\/|json-schema\.org\/draft\/2020-12\/schema)/.test(String(value))
        ? null
        : 'is not used: schemas are read as JSON Schema 2020-12',
    $self: 'is not used: relative URLs are resolved against the URL that the document was read from',
  }),
  Info: members('title summary description termsOfService contact license version'),
  Contact: members('name url email'),
  License: members('name identifier url'),
  Tag: members('name summary description externalDocs parent kind'),
  'External Documentation': members('description url'),
  Server: members('url description variables name'),
  'Server Variable': members('enum default description'),
  Components: members('schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems mediaTypes'),
  'Path Item': members('$ref summary description get put post delete options head patch servers parameters', {
    trace: unsent('TRACE'),
    query: unsent('QUERY'),
    additionalOperations: (value) => `are skipped: ${Object.keys(recordOf(value)).join(', ').slice(0, 100)} requests cannot be sent`,
  }),
  Operation: members('tags summary description externalDocs operationId parameters requestBody responses deprecated security servers', {
    callbacks: 'are skipped: requests that the API sends later are not received',
  }),
  Parameter: members('name in description required deprecated allowEmptyValue style explode schema example examples content', {
    allowReserved: encoded,
  }),
  'Request Body': members('description content required'),
  'Media Type': members('schema example examples encoding', {
    itemSchema: oneValue,
    prefixEncoding: oneValue,
    itemEncoding: oneValue,
  }),
  Encoding: members('contentType style explode', {
    headers: (value) =>
      Object.keys(recordOf(value)).every((name) => name.toLowerCase() === 'content-type') ? null : 'are not sent with the part',
    allowReserved: encoded,
    encoding: oneValue,
    prefixEncoding: oneValue,
    itemEncoding: oneValue,
  }),
  Response: members('summary description headers content links'),
  'Security Scheme': members('type description name in scheme bearerFormat flows openIdConnectUrl oauth2MetadataUrl deprecated'),
  'OAuth Flows': members('implicit password clientCredentials authorizationCode deviceAuthorization'),
  'OAuth Flow': members('authorizationUrl deviceAuthorizationUrl tokenUrl refreshUrl scopes'),
  Reference: members('$ref summary description'),
  Schema: members(
    [
      'title description default example examples deprecated readOnly writeOnly externalDocs xml nullable $comment $schema $defs definitions',
      'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems',
      'maxContains minContains maxProperties minProperties required dependentRequired format contentEncoding contentMediaType contentSchema',
      '$ref allOf anyOf oneOf not if then else dependentSchemas dependencies prefixItems items additionalItems contains properties',
      'patternProperties additionalProperties propertyNames unevaluatedItems unevaluatedProperties $anchor $dynamicAnchor $recursiveAnchor',
      '$vocabulary',
    ].join(' '),
    {
      $id: 'is not used: references are resolved from the root of the document',
      $dynamicRef: 'is not followed: any value is accepted',
      $recursiveRef: 'is not followed: any value is accepted',
      discriminator: (_value, { oneOf, anyOf }) =>
        oneOf === undefined && anyOf === undefined ? 'is not used: list the schemas that extend this one in oneOf' : null,
    },
  ),
} as const satisfies Readonly<Record<string, Members>>;
