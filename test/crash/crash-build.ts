/**
 * The bundle that the crash tests run: the real one, not minified, with another body for the one empty function `failpoint`. It
 * sends a request to the recorder over loopback and continues when that responds. The output gate of a Durable Object delays the
 * request until everything written before it is durable, so what is stored at a point is exact.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mainModule, modulesFolder, readWorkerConfig, workerConfigFile } from '../../src/local/launch/worker-config.ts';

const emptyPoint = /\bfunction failpoint\(_name\) \{\s*\}/g;
/** A crash build adds a second step to the schema of a session, so that there is a migration to interrupt. */
const migrateStart = /\bfunction migrate\(\w+, (\w+), \w+ = \{\}\) \{/g;
export const addedColumn = 'crash_build';
const addedStep = `ALTER TABLE meta ADD COLUMN ${addedColumn} INTEGER NOT NULL DEFAULT 0;\n`;

/** The two objects that run background work. esbuild numbers names that a library also uses, such as `env2`. */
const objectConstructor =
  /(class(?: _\w+)? extends DurableObject\w* \{\s*static \{\s*__name\(this, "(Session|Catalog)"\);[\s\S]*?super\(ctx, env\d*\);)/g;

/**
 * `generation` distinguishes builds of the code: it is sent with every point, as is the object that reached it: the id of a session,
 * or `catalog`, of which a lane has one. A new object reports itself too. A point in code that cannot wait (`CRASH_STOP_AT` names it)
 * writes to standard output, and blocks until its process is killed, aborts its object (`CRASH_STOP_BY=abort`), or continues
 * (`evict`).
 */
const recordedPoint = (generation: string): string => `
import { AsyncLocalStorage as __CrashStorage } from 'node:async_hooks';
import { env as __crashEnv } from 'cloudflare:workers';
const __crashSession = new __CrashStorage();
const __crashIds = new WeakMap();
const __crashContexts = new Map();
const __crashStopped = new Set();
function __crashTell(what, session) {
  const query = '?generation=${generation}&session=' + session;
  return __crashEnv.PRIVATE_NETWORK.fetch(process.env.CRASH_RECORDER + what + query, { method: 'POST' });
}
function __crashWrap(prototype) {
  if (Object.hasOwn(prototype, '__crashWrapped')) return;
  Object.defineProperty(prototype, '__crashWrapped', { value: true });
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method = Object.getOwnPropertyDescriptor(prototype, name).value;
    if (name === 'constructor' || typeof method !== 'function') continue;
    prototype[name] = function (...args) {
      return __crashSession.run(__crashIds.get(this), () => method.apply(this, args));
    };
  }
}
function __crashMade(session, ctx, kind) {
  const id = kind === 'Catalog' ? 'catalog' : ctx.id.toString();
  __crashContexts.set(id, ctx);
  __crashIds.set(session, id);
  __crashWrap(Object.getPrototypeOf(session));
  void __crashTell('/made', id).catch(() => {});
}
async function __crashAsk(name) {
  const session = __crashSession.getStore();
  const answer = await (await __crashTell('/point/' + name, session)).text();
  if (answer !== 'abort') return;
  __crashContexts.get(session).abort('a crash test');
  await new Promise(() => {});
}
function failpoint(name) {
  if (process.env.CRASH_STOP_AT !== name) return __crashAsk(name);
  if (__crashStopped.has(name)) return;
  __crashStopped.add(name);
  console.log('crash point ' + name);
  if (process.env.CRASH_STOP_BY === 'evict') return;
  if (process.env.CRASH_STOP_BY === 'abort') throw new Error('a crash test');
  for (;;) {}
}
`;

/** POST to this path with the name of a binding, and the name or id of an object, evicts it. */
export const evictPath = '/crash-evict';

/** The entry module of a crash build: the Worker, and `evictPath`. */
const entry = `
import worker from './inner.mjs';
import unsafe from 'workerd:unsafe';
export * from './inner.mjs';
export default {
  async fetch(request, env, context) {
    const [, path, kind, name] = new URL(request.url).pathname.split('/');
    if ('/' + path !== '${evictPath}') return await worker.fetch(request, env, context);
    const id = kind === 'SESSION' ? env[kind].idFromString(name) : env[kind].idFromName(name);
    await unsafe.evict(env[kind].get(id), {});
    return new Response();
  },
};
`;

/** Every call of a crash point in the plain bundle. */
export function countEmptyPoints(bundle: string): number {
  return [...bundle.matchAll(emptyPoint)].length;
}

/** Writes the crash build of the plain modules in `from` to `to`. Throws when the bundle does not have the expected shape. */
export function writeCrashBuild(from: string, to: string, generation: string, settingsFrom: string): void {
  const modules = join(to, modulesFolder);
  cpSync(from, modules, { recursive: true });
  const config = readWorkerConfig(settingsFrom);
  config.compatibility_flags = [...config.compatibility_flags, 'unsafe_module'];
  writeFileSync(join(to, workerConfigFile), JSON.stringify(config));
  const file = join(modules, mainModule);
  const plain = readFileSync(file, 'utf8');
  const constructors = [...plain.matchAll(objectConstructor)].map(([, , name]) => name);
  const migrates = [...plain.matchAll(migrateStart)].length;
  if (countEmptyPoints(plain) !== 1 || migrates !== 1 || constructors.toSorted().join() !== 'Catalog,Session')
    throw new Error(
      `Expected one empty failpoint, one migrate, one Catalog and one Session, found ${countEmptyPoints(plain)}, ${migrates} and ${constructors.join()}.`,
    );
  const patched = plain
    .replace(emptyPoint, () => recordedPoint(generation))
    .replace(
      migrateStart,
      (start, steps) =>
        `${start}\n  if (${steps}[0].includes('CREATE TABLE turns (seq')) ${steps} = [...${steps}, ${JSON.stringify(addedStep)}];`,
    )
    .replace(objectConstructor, (start, _whole, name) => `${start}\n    __crashMade(this, ctx, '${name}');`);
  writeFileSync(join(modules, 'inner.mjs'), patched);
  writeFileSync(file, entry);
}
