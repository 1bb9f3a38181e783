/** Times that the Catalog checks: of keys, and of what a credential has made. The other kinds are in `test/http/token-times.test.ts`. */
import { expect, it } from 'vitest';
import { createCatalogClient } from '../../../../src/objects/catalog/client/catalog-client.ts';
import { bodyOf } from '../../../http/harness.ts';
import { testEnv } from '../../../storage/workspace.ts';
import { send } from '../real-service.ts';

const at = (ms: number): string => new Date(Date.now() + ms).toISOString();

it.each([
  ['in an hour', 201, () => at(3_600_000)],
  ['in a thousand years', 201, () => at(1_000 * 365 * 86_400_000)],
  ['never', 201, () => null],
  ['when nothing is said', 201, () => undefined],
  ['with a fraction', 201, () => at(3_600_000).replace(/\.\d+Z/, '.123456789Z')],
  ['a second ago', 422, () => at(-1_000)],
  ['in 1969', 422, () => '1969-12-31T23:59:59.000Z'],
  ['after all time', 422, () => '+275760-09-13T00:00:00.001Z'],
  ['in no month', 422, () => '2999-13-01T00:00:00Z'],
  ['at a number', 422, () => Date.now() + 3_600_000],
  ['at a text', 422, () => 'tomorrow'],
  ['at an empty text', 422, () => ''],
  ['at a list', 422, () => [at(3_600_000)]],
])('a key that expires %s: %s', async (_what, status, expiresAt) => {
  const response = await send('POST', '/v1/keys', { name: 'timed', scopes: ['tools'], expiresAt: expiresAt() });
  expect(response.status, await response.clone().text()).toBe(status);
});

it.each([
  ['now', true, () => 0],
  ['50 s ahead', true, () => 50_000],
  ['more than a minute ahead', false, () => 61_000],
  ['a year ahead', false, () => 365 * 86_400_000],
  ['before 1970', false, () => -Date.now() - 1],
  ['at no time', false, () => Number.NaN],
  ['never', false, () => Number.POSITIVE_INFINITY],
])('what a key made %s is of the key: %s', async (_what, isItsOwn, ahead) => {
  const { id } = await bodyOf(await send('POST', '/v1/keys', { name: 'maker', scopes: ['approve'] }));
  const rights = await createCatalogClient(testEnv, 'default').originRights({ keyId: id, at: Date.now() + ahead() });
  expect(rights).toEqual(isItsOwn ? { scopes: ['approve'] } : null);
});
