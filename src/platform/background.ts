/** Work in the background: kept alive after the request or event that started it. No caller waits for it, and it must not fail. */
import { waitUntil } from 'cloudflare:workers';

export type WaitUntil = (work: Promise<unknown>) => void;

export const runInBackground: WaitUntil = (work) => waitUntil(work);
