/** The HTTP surface over the real catalog, with the root key; requires the Workers runtime. */
import { createApp } from '../../src/http/app.ts';
import { wire } from '../../src/wire.ts';
import type { Send } from '../http/hostile-rows.ts';
import { testEnv } from '../storage/workspace.ts';

const app = createApp(wire);
export const send: Send = async (method, path, body, headers = {}) => {
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const all = {
    authorization: `Bearer ${testEnv.MONIKER_ROOT_KEY}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  };
  return await app.request(path, { method, headers: all, body: text }, testEnv);
};
