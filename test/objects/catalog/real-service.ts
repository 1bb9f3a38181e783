/** The HTTP surface over the real catalog, with the root key; requires the Workers runtime. */
import { createApp } from '../../../src/http/app.ts';
import { wire } from '../../../src/wiring/wire.ts';
import type { Send } from '../../http/hostile-rows.ts';
import { watched } from '../../unread-refusals.ts';
import { testEnv } from '../../storage/workspace.ts';

/** For any body: the runtime warns when `text()` reads one whose content type is not text. */
export async function readText(response: Response): Promise<string> {
  return new TextDecoder().decode(await response.arrayBuffer());
}

const app = createApp(wire);
export const send: Send = async (method, path, body, headers = {}) => {
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const all = {
    authorization: `Bearer ${testEnv.MONIKER_ROOT_KEY}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  };
  return watched(await app.request(path, { method, headers: all, body: text }, testEnv), method, path);
};
