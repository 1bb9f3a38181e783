/** The JSON Schema of project files, for editors: served at `/moniker.schema.json`, and stored in the repository as `docs/moniker.schema.json`. */
import { z } from 'zod';
import { Project } from './project.ts';

/** Strings with a pattern or a format may be variables instead: the service checks them after they were expanded. */
const variable = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}' };

type Json = Record<string, unknown>;

export function projectJsonSchema(): Json {
  const { $schema, ...schema } = z.toJSONSchema(Project, { io: 'input', unrepresentable: 'any', override: withVariables }) as Json;
  return { $schema, title: 'Moniker project file', ...schema };
}

function withVariables({ jsonSchema, path }: { jsonSchema: Json; path: readonly (string | number)[] }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.type !== 'string' || path.at(-1) === 'propertyNames') return;
  const { type, pattern, format, minLength, maxLength, allOf, ...described } = jsonSchema;
  if (pattern === undefined && format === undefined && allOf === undefined) return;
  for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
  const plain = Object.entries({ type, pattern, format, minLength, maxLength, allOf }).filter(([, value]) => value !== undefined);
  Object.assign(jsonSchema, described, { anyOf: [Object.fromEntries(plain), variable] });
}
