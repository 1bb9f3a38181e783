/** Work behind an answer: kept alive after the request, or the object's event, in which it was begun. Nobody waits for it, and it must not fail. */
import { waitUntil } from 'cloudflare:workers';

export type Background = (work: Promise<unknown>) => void;

export const inBackground: Background = (work) => waitUntil(work);
