/**
 * Writes the types of `src/schema.ts` from an OpenAPI document. Responses that many operations share become one component first: each
 * operation has ten error statuses, which would be most of the file. Used by `test/client/schema.test.ts` (`npm run client`).
 */
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

type Json = Record<string, unknown>;
type Operation = { responses: Record<string, Json> };
export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; responses?: Record<string, Json> };
};

const header = `/**
 * The types of the service's OpenAPI document (\`/openapi.json\`): \`npm run client\` writes this file with openapi-typescript.
 * Do not edit it.
 */

`;

export async function generateTypes(document: OpenApiDocument): Promise<string> {
  const schema = shareErrors(looseJson(document)) as unknown as OpenAPI3;
  const types = await openapiTS(schema, { alphabetize: true, defaultNonNullable: false, arrayLength: false });
  return header + astToString(types);
}

/** Any JSON value, which a schema describes by itself, becomes `unknown`: a property type cannot be a union with itself. */
function looseJson(document: OpenApiDocument): OpenApiDocument {
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas).map(([name, schema]) => {
      const isRecursive = 'anyOf' in schema && JSON.stringify(schema).includes(`"#/components/schemas/${name}"`);
      return [name, isRecursive ? { description: 'Any JSON value.' } : schema];
    }),
  );
  return { ...document, components: { ...document.components, schemas } };
}

/** Replaces the error responses by references to components, named by their content, for example `Problem404`. */
function shareErrors(document: OpenApiDocument): OpenApiDocument {
  const responses: Record<string, Json> = {};
  const share = ({ responses: own, ...operation }: Operation): Operation => ({
    ...operation,
    responses: Object.fromEntries(
      Object.entries(own).map(([status, response]) => {
        if (Number(status) < 400) return [status, response];
        const { description: _description, ...shared } = response;
        const base = `${schemaNameOf(response)}${status}`;
        const text = JSON.stringify(shared);
        let name = base;
        for (let count = 2; responses[name] !== undefined && JSON.stringify(responses[name]) !== text; count += 1)
          name = `${base}_${count}`;
        responses[name] = shared;
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    ),
  });
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, share(operation)])),
    ]),
  );
  return { ...document, paths, components: { ...document.components, responses } };
}

function schemaNameOf(response: Json): string {
  return /#\/components\/schemas\/(\w+)/.exec(JSON.stringify(response))?.[1] ?? 'Error';
}
