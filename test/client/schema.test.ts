/** `npm run client` runs this file with `--update`, which writes the types. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generateTypes, type OpenApiDocument } from '../../client/generate.ts';
import { createHarness } from '../http/harness.ts';

const file = join(import.meta.dirname, '../../client/src/schema.ts');

it('the types of the client are those of the current OpenAPI document', async () => {
  const document = (await (await createHarness().send('GET', '/openapi.json')).json()) as OpenApiDocument;
  await expect(await generateTypes(document), 'Run `npm run client` and commit client/src/schema.ts.').toMatchFileSnapshot(file);
});
