/**
 * The runtime in its own process, as `npm start` runs it, over a bundle of the tests. It takes two orders that only tests need: to
 * evict an object, and to continue with another build of the code.
 */
import { objectName } from '../../src/storage/keys.ts';
import { loopback } from '../../src/local/launch/port.ts';
import { startRuntime, type RuntimeOptions } from '../../src/local/launch/runtime.ts';
import { evictPath } from './crash-build.ts';

export type RuntimeSettings = Omit<RuntimeOptions, 'onLog'>;
export type Order = { order: 'evict'; object: string } | { order: 'reload'; bundle: string };
export type Report = { report: 'done' } | { report: 'failed'; reason: string };

const evictTimeoutMs = 60_000;

// Sent by `runtime.ts` in this folder.
const settings = JSON.parse(process.argv[2] ?? '{}') as RuntimeSettings;

const starting = startRuntime({ ...settings, onLog: (line) => console.log(line) });
await tell(starting);
const runtime = await starting;

process.on('message', (order: Order) => void tell(obey(order)));
// The same end as in `src/local/launch/start.ts`.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void runtime.dispose().then(() => process.exit(0)));
// A killed test run leaves no process behind.
process.once('disconnect', () => process.exit(1));

async function obey(order: Order): Promise<void> {
  if (order.order === 'reload') return await runtime.reload(order.bundle);
  const [kind, name] = order.object === 'catalog' ? ['CATALOG', await objectName('default', 'catalog', '')] : ['SESSION', order.object];
  const response = await fetch(`http://${loopback}:${settings.port}${evictPath}/${kind}/${name}`, {
    method: 'POST',
    signal: AbortSignal.timeout(evictTimeoutMs),
  });
  if (!response.ok) throw new Error(`evicting ${order.object}: ${response.status} ${await response.text()}`);
}

async function tell(work: Promise<unknown>): Promise<void> {
  const report: Report = await work.then(
    () => ({ report: 'done' }),
    (error: unknown) => ({ report: 'failed', reason: String(error) }),
  );
  process.send?.(report);
}
