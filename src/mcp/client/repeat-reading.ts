/** Which requests of a client have no effect at their server, and are sent once more if the connection breaks. */
import { Problem } from '../../core/problem.ts';
import type { UpstreamMethod } from '../../core/tools/upstream-method.ts';

/** After these, nothing was done. */
export const handshakes: ReadonlySet<UpstreamMethod> = new Set(['initialize', 'server/discover', 'logging/setLevel']);

/** Sends a request: a reading one once more if its connection, which may have been kept open and closed by the server just then, breaks. */
export async function postRepeatably(method: UpstreamMethod, post: () => Promise<void>, isOpen: () => boolean): Promise<void> {
  try {
    await post();
  } catch (error) {
    const isLost = error instanceof Problem && error.extra.sent === true;
    if (!isLost || !isReading(method) || !isOpen()) throw error;
    await post();
  }
}

function isReading(method: UpstreamMethod): boolean {
  return handshakes.has(method) || method.endsWith('/list') || method === 'resources/read' || method === 'prompts/get';
}
