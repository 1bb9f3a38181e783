/**
 * The service that the examples use: its address from MONIKER_URL (default http://127.0.0.1:8787), its key from MONIKER_ROOT_KEY or
 * `.moniker/keys`. Every example writes its documents with `put` and fails on the first error.
 */
import { readFileSync } from 'node:fs';

export const url = process.env.MONIKER_URL ?? 'http://127.0.0.1:8787';
export const key = process.env.MONIKER_ROOT_KEY ?? readKey();

/** Returns the JSON of a response; throws with the problem's text for every status from 400 on. */
export async function call(method, path, body, headers = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}

export async function put(path, body) {
  const written = await call('PUT', path, body);
  console.log(`wrote ${path}`);
  for (const { path: at, message } of written.warnings ?? []) console.log(`  warning: ${at} ${message}`);
  return written;
}

/**
 * Deletes a server of an earlier run, with the toolset that names its tools. The stand-ins of each run have another address, and tools whose
 * address changes are held until an administrator accepts them. Their definitions are forgotten when no toolset names them.
 */
export async function forget(server, toolset) {
  for (const path of [`/v1/servers/${server}`, `/v1/toolsets/${toolset}`]) {
    const response = await fetch(url + path, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } });
    if (!response.ok && response.status !== 404) throw new Error(`DELETE ${path}: ${response.status} ${await response.text()}`);
  }
}

/**
 * Writes the documents of a `setup.json`: `[{"path", "body"}, …]` in order. `insteadOf`: texts of the file and what replaces them, such as
 * the address of a real API and that of its stand-in.
 */
export async function setUp(file, insteadOf = {}) {
  let text = readFileSync(file, 'utf8');
  for (const [from, to] of Object.entries(insteadOf)) text = text.replaceAll(from, to);
  for (const { path, body } of JSON.parse(text)) await put(path, body);
}

/** Polls until `look` returns something other than null; at most 30 seconds. */
export async function until(what, look) {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Timeout: ${what}`);
}

function readKey() {
  try {
    return /^MONIKER_ROOT_KEY=(.*)$/m.exec(readFileSync('.moniker/keys', 'utf8'))[1];
  } catch {
    throw new Error('Start Moniker first (npm start) and run this in the same folder, or set MONIKER_ROOT_KEY.');
  }
}
