/** Builds the bundle once for all services that the e2e tests start; otherwise each service builds it on its first start. */
import { ensureBundle } from '../../src/local/build/bundle.ts';
import { builtBundles } from './service.ts';

export default async function setup(): Promise<void> {
  // Workers of the tests start later, with this environment.
  process.env.MONIKER_TEST_BUNDLE = await ensureBundle(builtBundles, () => undefined);
}
