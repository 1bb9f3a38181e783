/**
 * The runtime in its own process, as `npm start` runs it, over a bundle of the tests. It takes two orders that only tests need: to
 * evict an object, and to continue with another build of the code.
 */
import { Miniflare } from 'miniflare';
import { objectName } from '../../src/storage/keys.ts';
import { toMiniflareOptions, type RuntimeOptions } from '../../src/local/runtime.ts';

export type RuntimeSettings = Omit<RuntimeOptions, 'onLog'>;
export type Order = { order: 'evict'; object: string } | { order: 'reload'; directory: string };
export type Report = { report: 'done' } | { report: 'failed'; reason: string };

// Sent by `runtime.ts` in this folder.
const settings = JSON.parse(process.argv[2] ?? '{}') as RuntimeSettings;
const optionsOf = (directory: string) =>
  toMiniflareOptions({
    ...settings,
    bundle: { ...settings.bundle, directory },
    onLog: (line) => console.log(line),
  });

const miniflare = new Miniflare(optionsOf(settings.bundle.directory));
await tell(miniflare.ready);

process.on('message', (order: Order) => void tell(obey(order)));
// The same end as in `src/local/start.ts`.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.removeAllListeners(signal);
  process.once(signal, () => void miniflare.dispose().then(() => process.exit(0)));
}
// A killed test run leaves no process behind.
process.once('disconnect', () => process.exit(1));

async function obey(order: Order): Promise<unknown> {
  if (order.order === 'evict' && order.object === 'catalog')
    return await miniflare.unsafeEvictDurableObject('moniker', 'Catalog', { name: await objectName('default', 'catalog', '') });
  if (order.order === 'evict') return await miniflare.unsafeEvictDurableObject('moniker', 'Session', { id: order.object });
  return await miniflare.setOptions(optionsOf(order.directory));
}

async function tell(work: Promise<unknown>): Promise<void> {
  const report: Report = await work.then(
    () => ({ report: 'done' }),
    (error: unknown) => ({ report: 'failed', reason: String(error) }),
  );
  process.send?.(report);
}
