/** Builds the bundle once for all the services that the stories start: each would otherwise build its own, as a fresh machine does. */
import { ensureBundle } from '../../src/local/bundle.ts';
import { builtBundles } from './service.ts';

export default async function setup(): Promise<void> {
  await ensureBundle(builtBundles, () => undefined);
}
