/** Where `fetch-openapi-document.ts` stores the real OpenAPI document of the tests. */
import { join } from 'node:path';

const folder = join('node_modules', '.cache', 'openapi');

export const realOpenApiDocument = { source: '@octokit/openapi@2.2.1', folder, path: join(folder, 'api.github.com.json') };
